package term

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// CompletionCmd prints what makes a shell complete the commands and flags of the program.
type CompletionCmd struct {
	Shell string `arg:"" enum:"bash,zsh" help:"bash or zsh."`
}

// Help returns an example.
func (CompletionCmd) Help() string {
	return "Example:\n  shuffled completion bash > /etc/bash_completion.d/shuffled"
}

// Run prints the script. zsh runs the one of bash.
func (c CompletionCmd) Run(s Streams, program *kong.Kong) error {
	if c.Shell == "zsh" {
		fmt.Fprintln(s.Out, "autoload -U +X compinit bashcompinit && compinit && bashcompinit")
	}
	name := program.Model.Name
	var paths, words strings.Builder
	each(program.Model.Node, "", func(path string, offered []string) {
		if path != "" {
			fmt.Fprintf(&paths, "\t\t%q) path=%q ;;\n", path, path)
		}
		fmt.Fprintf(&words, "\t%q) words=%q ;;\n", path, strings.Join(offered, " "))
	})
	_, err := fmt.Fprintf(s.Out, `_%[1]s() {
	local word words path=""
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case "$path $word" in
%[2]s		esac
	done
	case "$path" in
%[3]s	esac
	COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _%[1]s %[1]s
`, name, paths.String(), words.String())
	return err
}

// each calls do for a command and those below it, with what may follow each.
func each(n *kong.Node, path string, do func(path string, offered []string)) {
	var offered []string
	for _, child := range n.Children {
		if !child.Hidden {
			offered = append(offered, child.Name)
		}
	}
	for _, flag := range n.Flags {
		offered = append(offered, "--"+flag.Name)
	}
	do(path, offered)
	for _, child := range n.Children {
		each(child, path+" "+child.Name, do)
	}
}
