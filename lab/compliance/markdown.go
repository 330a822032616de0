package compliance

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const preamble = `<!-- Written by go generate -C lab ./compliance. Change the table there. -->

# Compliance, clause by clause

What is asked of a generator and of the records around it, and what shows it here: tests, commands or sections. Where software cannot show something, the row says that.

` + "```sh" + `
make compliance              # runs what is quick, and prints each clause with its result
make compliance ARGS=-long   # also what takes minutes
` + "```" + `

A test stands as directory.Test: ` + "`go test ./internal/shuffle -run '^TestVectors$'`" + ` runs internal/shuffle.TestVectors, and ` +
	"`go test -C lab ./battery -run '^TestHolm$'`" + ` runs lab/battery.TestHolm, each from the root of the source. ` +
	"`shuffled …`" + ` is the binary alone, or for ` + "`shuffled lab`" + ` the one of the lab with it. A test sees that no row names a test, a command or a section that is not there.

Statistics on a cryptographic generator are smoke tests; docs/LAB.md says what is proved instead, and in which cases the program was tried. A true generator is rejected by one run of the battery in 4,975 at most, as far as its p-values are exact, so that one run of this in 1,000 or so fails by chance: run it again. This is not legal advice, and no laboratory has certified anything by it.
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
	b.WriteString(profilesText())
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
	if e.Tests != nil {
		names := "`" + e.Package + "." + strings.Join(e.Tests, "`, `"+e.Package+".") + "`"
		return fmt.Sprintf("%s%s: %s", e.Shows, minutes, names)
	}
	return fmt.Sprintf("%s%s: `%s`", e.Shows, minutes, strings.Join(e.Command(), " "))
}

// Command returns the command that runs the evidence, as in a shell at the root of the source; nil for a document.
func (e Evidence) Command() []string {
	switch {
	case e.Tests != nil:
		dir, pkg := e.Module()
		command := []string{"go", "test"}
		if dir != "." {
			command = append(command, "-C", dir)
		}
		return append(command, pkg, "-run", "'"+Pattern(e.Tests)+"'")
	case e.Args != nil:
		return append([]string{"shuffled"}, e.Args...)
	}
	return nil
}

// Module returns the directory of the module of the evidence's package, and the package as it is named there.
func (e Evidence) Module() (dir, pkg string) {
	if top, rest, _ := strings.Cut(e.Package, "/"); slices.Contains([]string{"lab", "perf", "test"}, top) {
		return top, "./" + rest
	}
	return ".", "./" + e.Package
}

// Pattern returns the argument of go test -run that matches exactly the tests.
func Pattern(names []string) string {
	if len(names) == 1 {
		return "^" + names[0] + "$"
	}
	return "^(" + strings.Join(names, "|") + ")$"
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
