package audit

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	fenced       = regexp.MustCompile("(?s)\n```.*?\n```")
	quoted       = regexp.MustCompile("`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”")
	keyWord      = regexp.MustCompile(`\b(MUST|REQUIRED|SHALL|SHOULD|RECOMMENDED|MAY|OPTIONAL)\b`)
	keyWordLower = regexp.MustCompile(`\b(must|required|shall|should|recommended|may|optional)\b`)
	ends         = regexp.MustCompile(`[.:;]\s+|\n\n|\n *- |\n *[0-9]+\. `)
)

// specLines is how many lines docs/SPEC.md may have.
const specLines = 2850

// TestSpecLanguage: the specification uses the key words of BCP 14 in capitals and nowhere else, one a sentence, and
// none in a remark, which begins with >. Its lines have at most 120 columns, except those of tables.
func TestSpecLanguage(t *testing.T) {
	for _, name := range []string{"SPEC", "SPEC-BLIND"} {
		lines := strings.Split(string(mustRead(t, "../../docs/"+name+".md")), "\n")
		if len(lines) > specLines {
			t.Errorf("docs/%s.md has %d lines, more than %d", name, len(lines), specLines)
		}
		for i, line := range lines {
			if n := utf8.RuneCountInString(line); n > 120 && (name == "SPEC" || line[0] != '|') {
				t.Errorf("docs/%s.md: line %d has %d columns", name, i+1, n)
			}
		}
	}
	text := quoted.ReplaceAllString(fenced.ReplaceAllString(specText(t), ""), "")
	var rules, remarks strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ">") {
			remarks.WriteString(line)
			line = "\n"
		}
		rules.WriteString(line)
	}
	for _, m := range keyWord.FindAllString(remarks.String(), -1) {
		t.Errorf("a remark says %s", m)
	}
	required := 0
	for _, sentence := range ends.Split(rules.String(), -1) {
		if m := keyWordLower.FindString(sentence); m != "" {
			t.Errorf("a rule says %q in lower case: %.200s", m, sentence)
		}
		n := len(keyWord.FindAllString(sentence, -1))
		if required += n; n > 1 {
			t.Errorf("%d requirements in one sentence: %.200s", n, sentence)
		}
	}
	if n := strings.Count(rules.String(), "BCP 14"); n != 2 || required < 50 || remarks.Len() < 5000 {
		t.Errorf("BCP 14 is named %d times, in section 1 and the references; %d requirements, %d bytes of remarks", n,
			required, remarks.Len())
	}
}
