package arrows

import (
	"regexp"
	"strings"
	"testing"
)

var (
	blockOf = regexp.MustCompile("(?ms)^```.*?^```$")
	codeIn  = regexp.MustCompile("`[^`]+`")
	measure = regexp.MustCompile(`[0-9] ?(?:ns|µs|ms|kB|MB|MiB|GiB|[a-z]*/s)(?:[^a-z]|$)|[0-9] ×|[0-9] [a-z]+ a second`)
	makesIt = regexp.MustCompile(`go (?:test|run|build) |make [a-z]|sh scripts/|shuffled(?:-[a-z]+)? [a-z]|` +
		`(?:curl|node|npm|openssl|psql|python3) `)
)

// set are the sections whose figures are limits or settings: nobody measured them.
var set = map[string]string{
	"docs/LAB.md: The report":                    "a limit of size",
	"docs/SIZING.md: Two questions, two runs":    "a setting",
	"docs/SPEC.md: 14.2 Verdict, level, figures": "limits of the verdict",
	"docs/operations/keys.md: Keys and secrets":  "the host's limit of locked memory",
}

// uncommanded returns the headings of a document's sections that have a measured figure in a
// sentence or a table, and no command that makes it.
func uncommanded(text string) (titles []string) {
	text = blockOf.ReplaceAllStringFunc(text, func(block string) string {
		return "`" + strings.NewReplacer("`", "", "\n", " ").Replace(block) + "`"
	})
	starts := append(heading.FindAllStringSubmatchIndex(text, -1), []int{len(text)})
	for i, at := range starts[:len(starts)-1] {
		section := text[at[1]:starts[i+1][0]]
		code := strings.Join(codeIn.FindAllString(section, -1), " ")
		if measure.MatchString(codeIn.ReplaceAllString(section, "")) &&
			!makesIt.MatchString(strings.ReplaceAll(code, "\n", " ")) {
			titles = append(titles, text[at[2]:at[3]])
		}
	}
	return titles
}

// TestFigures: a section of the documents that states what was measured says how: it has a
// command, with which a reader makes it again.
func TestFigures(t *testing.T) {
	unused := map[string]bool{}
	for section := range set {
		unused[section] = true
	}
	eachFile(t, func(file string, text []byte) {
		if file != "README.md" && !strings.HasPrefix(file, "docs/") || !strings.HasSuffix(file, ".md") {
			return
		}
		for _, title := range uncommanded(string(text)) {
			section := file + ": " + title
			if delete(unused, section); set[section] == "" {
				t.Errorf("%s has a figure and no command that makes it", section)
			}
		}
	})
	for section := range unused {
		t.Errorf("%s stands among the limits, and has no figure without a command", section)
	}
}

// TestUncommanded: what is a figure, and what a command.
func TestUncommanded(t *testing.T) {
	const text = "# One\n\n3 ms\n\n## Two\n\n3 ms (`go test ./x -bench Y`)\n\n## Three\n\n| a | 7 hands/s |\n\n" +
		"## Four\n\n1.5 × that\n\n```sh\n# make bench\nmake bench\n```\n\n## Five\n\n`8 MiB` and 3 decks\n\n## Six\n\n1.5 × that\n"
	if got := strings.Join(uncommanded(text), " "); got != "One Three Six" {
		t.Error(got)
	}
}
