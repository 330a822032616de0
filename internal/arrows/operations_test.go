package arrows

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// paragraphLines is how many lines a paragraph for somebody on call may have.
const paragraphLines = 5

var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// anchors are the names by which links reach the headings of a document. A heading that stands twice has two.
func anchors(text string) (all []string) {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		name = strings.ReplaceAll(name, " ", "-")
		if slices.Contains(all, name) {
			name += "-1"
		}
		all = append(all, name)
	}
	return all
}

// tooLong returns the first lines of the paragraphs with more lines than they may have.
// Tables, headings and blocks of code are none; an item of a list is one.
func tooLong(text string) (first []string) {
	inBlock := false
	var paragraph []string
	end := func() {
		if len(paragraph) > paragraphLines {
			first = append(first, paragraph[0])
		}
		paragraph = nil
	}
	item := regexp.MustCompile(`^\s*(- |\d+\. )`)
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		inBlock = inBlock != fence
		if inBlock || fence || strings.TrimSpace(line) == "" || line[0] == '|' || line[0] == '#' {
			end()
			continue
		}
		if item.MatchString(line) {
			end()
		}
		paragraph = append(paragraph, line)
	}
	end()
	return first
}

// TestOperations: the chapters for operators are in short paragraphs, and docs/OPERATIONS.md
// lists every section of each.
func TestOperations(t *testing.T) {
	chapters, err := filepath.Glob(filepath.Join(root, "docs", "operations", "*.md"))
	if err != nil || len(chapters) < 6 {
		t.Fatalf("%d chapters, %v", len(chapters), err)
	}
	list := readFile(t, "docs/OPERATIONS.md")
	for _, path := range chapters {
		name := "operations/" + filepath.Base(path)
		text := readFile(t, filepath.Join("docs", name))
		for _, first := range tooLong(text) {
			t.Errorf("docs/%s: the paragraph %q has more than %d lines", name, first, paragraphLines)
		}
		for _, anchor := range anchors(text)[1:] {
			if !strings.Contains(list, "("+name+"#"+anchor+")") {
				t.Errorf("docs/OPERATIONS.md does not list %s#%s", name, anchor)
			}
		}
	}
	for _, first := range tooLong(list) {
		t.Errorf("docs/OPERATIONS.md: the paragraph %q has more than %d lines", first, paragraphLines)
	}
}

// TestTooLong: what TestOperations lets through, and what not.
func TestTooLong(t *testing.T) {
	six := strings.Repeat("a line\n", 6)
	for text, want := range map[string]int{
		six: 1, strings.Repeat("a line\n", 5): 0,
		"- item\n" + strings.Repeat("  more\n", 5): 1, "```\n" + six + "```\n": 0,
		strings.Repeat("| a | row |\n", 9): 0, strings.Repeat("- item\n", 9): 0, "a\n\n" + six + "\nb\n": 1,
	} {
		if got := tooLong(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}
