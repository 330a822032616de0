package term

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"shuffled/internal/near"
)

// ManCmd prints the manual page of a command, or writes all pages.
type ManCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as: ledger create. Without one, the whole program."`
	Dir     string   `placeholder:"DIR" help:"Write the pages of all commands to this directory, such as /usr/local/share/man/man1."`
}

// Help shows examples.
func (ManCmd) Help() string {
	return `Examples:

    shuffled man deal | man -l -
    shuffled man --dir /usr/local/share/man/man1`
}

// Run prints a page in the language of man(7).
func (c ManCmd) Run(s Streams, program *kong.Kong) error {
	asked := strings.Join(append([]string{program.Model.Name}, c.Command...), " ")
	found := false
	var names []string
	var failed error
	each(program.Model.Node, program.Model.Name, func(path string, n *kong.Node) {
		names = append(names, strings.TrimPrefix(path, program.Model.Name+" "))
		switch page := manPage(path, n, program.Model.Help); {
		case failed != nil:
		case c.Dir != "":
			name := filepath.Join(c.Dir, strings.ReplaceAll(path, " ", "-")+".1")
			failed = os.WriteFile(name, []byte(page), 0o644)
		case path == asked:
			found = true
			_, failed = fmt.Fprint(s.Out, page)
		}
	})
	switch {
	case failed != nil:
		return fmt.Errorf("writing a manual page: %w", failed)
	case !found && c.Dir == "":
		return Usage("%q is no command: %s help lists them.%s", asked, program.Model.Name,
			near.Hint(strings.Join(c.Command, " "), names))
	}
	return nil
}

// manPage is the page of a command.
func manPage(path string, n *kong.Node, about string) string {
	program, _, _ := strings.Cut(path, " ")
	var b strings.Builder
	head := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	name := strings.ReplaceAll(path, " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", roff(strings.ToUpper(name)), roff(program))
	head("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(name), roff(strings.TrimSuffix(cmp.Or(n.Help, about), ".")))
	head("SYNOPSIS")
	fmt.Fprintf(&b, "%s\n", roff(strings.Replace(n.Summary(), n.Path(), path, 1)))
	if n.Detail != "" {
		head("DESCRIPTION")
		b.WriteString(manText(n.Detail))
	}
	if len(n.Positional) > 0 {
		head("ARGUMENTS")
		for _, arg := range n.Positional {
			fmt.Fprintf(&b, ".TP\n\\fI%s\\fR\n%s\n", roff(arg.Name), roff(arg.Help))
		}
	}
	if n.Leaf() || n.Parent == nil && len(n.Flags) > 1 {
		head("OPTIONS")
		for _, flag := range n.Flags {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR%s\n%s\n", roff("--"+flag.Name), manValue(flag), roff(manHelp(flag)))
		}
	}
	manCommands(&b, path, n)
	head("EXIT STATUS")
	for code, means := range []string{"Done; for evidence: proved.", "The evidence fails, or a check fails.",
		"The command line is wrong.", "The command could not run, or could not judge."} {
		fmt.Fprintf(&b, ".TP\n%d\n%s\n", code, means)
	}
	if path != program {
		head("SEE ALSO")
		fmt.Fprintf(&b, ".BR %s (1)\n", roff(program))
	}
	return b.String()
}

// manCommands lists the commands below a command, in their groups.
func manCommands(b *strings.Builder, path string, n *kong.Node) {
	group := ""
	for i, leaf := range n.Leaves(true) {
		if leaf == n {
			return
		}
		if i == 0 {
			fmt.Fprint(b, ".SH COMMANDS\n")
		}
		if g := leaf.ClosestGroup(); g != nil && g.Title != group && n.Parent == nil {
			group = g.Title
			fmt.Fprintf(b, ".SS %s\n", roff(group))
		}
		name := strings.TrimSpace(strings.TrimPrefix(leaf.FullPath(), n.FullPath()))
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roff(path+" "+name), roff(leaf.Help))
	}
}

// manValue is the value of a flag as a page shows it.
func manValue(flag *kong.Flag) string {
	if flag.IsBool() {
		return ""
	}
	value := cmp.Or(strings.Trim(flag.FormatPlaceHolder(), `"`), strings.ToUpper(flag.Name))
	return "=\\fI" + roff(value) + "\\fR"
}

// manHelp is the help of a flag, with its values, its default and its variables.
func manHelp(flag *kong.Flag) string {
	help := flag.Help
	if values := valuesOf(flag.Value); values != nil && !strings.Contains(help, values[0]) {
		help += " One of: " + strings.Join(values, ", ") + "."
	}
	if flag.HasDefault && flag.Default != "" && flag.Default != "false" {
		help += " Default: " + flag.Default + "."
	}
	if len(flag.Envs) > 0 {
		help += " Environment: " + strings.Join(flag.Envs, ", ") + "."
	}
	return help
}

// manText formats text for people: paragraphs, and examples, which are indented.
func manText(text string) string {
	var b strings.Builder
	example := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case line == "":
			if !example {
				b.WriteString(".PP\n")
			}
			continue
		case indented && !example:
			b.WriteString(".RS\n.nf\n")
		case !indented && example:
			b.WriteString(".fi\n.RE\n")
		}
		example = indented
		b.WriteString(roff(strings.TrimSpace(line)) + "\n")
	}
	if example {
		b.WriteString(".fi\n.RE\n")
	}
	return b.String()
}

// roff escapes text for man(7): a hyphen stays a hyphen, and no line is read as a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
