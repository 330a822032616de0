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

// TestSpecLanguage: the specification uses the key words of BCP 14 in capitals and nowhere else, one a sentence, and
// none in a remark, which begins with >. docs/SPEC.md has at most 2,850 lines of at most 120 columns.
func TestSpecLanguage(t *testing.T) {
	for i, line := range strings.Split(string(mustRead(t, "../../docs/SPEC.md")), "\n") {
		if n := utf8.RuneCountInString(line); n > 120 || i > 2850 {
			t.Errorf("line %d has %d columns", i+1, n)
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
