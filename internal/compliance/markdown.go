package compliance

import (
	"fmt"
	"strings"
	"unicode"
)

const preamble = `<!-- Written by go generate ./internal/compliance. Change the table there. -->

# Compliance, clause by clause

What is asked of a generator and of the records around it, and what shows it here. Each row names tests, commands or sections; where software cannot show something, the row says that.

` + "```sh" + `
make compliance              # runs what is quick, and prints each clause with its result
make compliance ARGS=-long   # also what takes minutes
` + "```" + `

Tests run from the root of the source; ` + "`shuffled …`" + ` is the binary alone. A test sees that no row names a test, a command or a section that is not there. Statistics on a
cryptographic generator are smoke tests: that every outcome is equally likely is shown by enumeration. A true generator is
rejected by one run of the battery in 5,000 at most, so that one run of this in 1,000 or so fails by chance: run it again. This is not legal advice, and no laboratory has certified anything by it.
`

// Markdown returns docs/COMPLIANCE.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(preamble)
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", g.Title, g.About)
		for _, r := range g.Rows {
			r.markdown(&b)
		}
	}
	return b.String()
}

func (r Row) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s %s\n\n", r.ID, r.Title)
	if r.Clauses != "" {
		fmt.Fprintf(b, "*%s.* ", r.Clauses)
	}
	fmt.Fprintf(b, "%s\n\n", r.Requirement)
	for _, e := range r.Evidence {
		fmt.Fprintf(b, "- %s\n", e.markdown())
	}
	if r.NotShown != "" {
		fmt.Fprintf(b, "- **Not shown.** %s\n", r.NotShown)
	}
	if r.Duty != "" {
		fmt.Fprintf(b, "- **Organisational.** %s\n", r.Duty)
	}
}

func (e Evidence) markdown() string {
	minutes := ""
	if e.Long {
		minutes = " (minutes)"
	}
	if e.Document != "" {
		return fmt.Sprintf("%s: [%s, %s](%s#%s)", e.Shows, e.Document, e.Section, "../"+e.Document, Anchor(e.Section))
	}
	return fmt.Sprintf("%s%s: `%s`", e.Shows, minutes, strings.Join(e.Command(), " "))
}

// Command returns what runs the evidence, as in a shell at the root of the
// source; nil for a document.
func (e Evidence) Command() []string {
	switch {
	case e.Tests != nil:
		return []string{"go", "test", "./" + e.Package, "-run", "'" + Pattern(e.Tests) + "'"}
	case e.Args != nil:
		return append([]string{"shuffled"}, e.Args...)
	}
	return nil
}

// Pattern returns the argument of go test -run that matches exactly the tests.
// Tests with subtests named stand alone.
func Pattern(names []string) string {
	parts := strings.Split(names[0], "/")
	if len(names) > 1 {
		parts = []string{"(" + strings.Join(names, "|") + ")"}
	}
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return strings.Join(parts, "/")
}

// Anchor returns the name by which a heading can be linked to.
func Anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
