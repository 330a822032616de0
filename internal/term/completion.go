package term

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// CompletionCmd prints a script with which a shell completes the commands and flags of the program.
type CompletionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help shows examples.
func (CompletionCmd) Help() string {
	return `Examples:

    shuffled completion bash > /etc/bash_completion.d/shuffled
    shuffled completion zsh >> ~/.zshrc
    shuffled completion fish > ~/.config/fish/completions/shuffled.fish`
}

// Run prints the script. zsh uses the one of bash.
func (c CompletionCmd) Run(s Streams, program *kong.Kong) error {
	name := program.Model.Name
	if c.Shell == "fish" {
		return fish(s, name, program.Model.Node)
	}
	if c.Shell == "zsh" {
		fmt.Fprintln(s.Out, "autoload -U +X compinit bashcompinit && compinit && bashcompinit")
	}
	var paths, words strings.Builder
	each(program.Model.Node, "", func(path string, n *kong.Node) {
		if path != "" {
			fmt.Fprintf(&paths, "\t\t%q) at=%q ;;\n", path, path)
		}
		var offered []string
		for _, o := range offers(n) {
			offered = append(offered, o.word)
			if o.values != nil {
				fmt.Fprintf(&words, "\t%q) offered=%q ;;\n", path+" "+o.word, strings.Join(o.values, " "))
			}
		}
		fmt.Fprintf(&words, "\t%q*) offered=%q ;;\n", path+" ", strings.Join(offered, " "))
	})
	_, err := fmt.Fprintf(s.Out, `_%[1]s() {
	local word offered at=""
	for word in "${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
		case "$at $word" in
%[2]s		esac
	done
	[ "$word" = "=" ] && word=${COMP_WORDS[COMP_CWORD-2]}
	case "$at $word" in
%[3]s	esac
	word=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=($(compgen -W "$offered" -- "${word#=}"))
}
complete -o default -F _%[1]s %[1]s
`, name, paths.String(), words.String())
	return err
}

// fish prints the script for fish. It also says what each word is for.
func fish(s Streams, name string, program *kong.Node) error {
	var paths, words strings.Builder
	quoted := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	}
	each(program, "", func(path string, n *kong.Node) {
		if path != "" {
			fmt.Fprintf(&paths, "\t\t\tcase %s\n\t\t\t\tset path %s\n", quoted(path), quoted(path))
		}
		list := ""
		for _, o := range offers(n) {
			list += " " + quoted(o.word+"\t"+o.help)
			if o.values != nil {
				fmt.Fprintf(&words, "\t\tcase %s\n\t\t\tprintf '%%s\\n' %s\n", quoted(path+" "+o.word),
					strings.Join(o.values, " "))
			}
		}
		fmt.Fprintf(&words, "\t\tcase %s\n\t\t\tprintf '%%s\\n'%s\n", quoted(path+" *"), list)
		if n.Leaf() {
			fmt.Fprintf(&words, "\t\t\t__fish_complete_path (commandline -ct)\n")
		}
	})
	_, err := fmt.Fprintf(s.Out, `function __%[1]s_complete
	set -l path ''
	set -l word ''
	for word in (commandline -opc)[2..-1]
		switch "$path $word"
%[2]s		end
	end
	switch "$path $word"
%[3]s	end
end
complete -c %[1]s -f -a '(__%[1]s_complete)'
`, name, paths.String(), words.String())
	return err
}

// offer is a word that may follow a command. If it is a flag with few values, it has them.
type offer struct {
	word, help string
	values     []string
}

// offers returns the words that may follow a command.
func offers(n *kong.Node) (all []offer) {
	for _, child := range n.Children {
		if !child.Hidden {
			all = append(all, offer{word: child.Name, help: child.Help})
		}
	}
	for _, flag := range n.Flags {
		all = append(all, offer{"--" + flag.Name, flag.Help, valuesOf(flag.Value)})
	}
	return all
}

// valuesOf returns the values of a flag that lists them.
func valuesOf(v *kong.Value) (values []string) {
	for _, value := range v.EnumSlice() {
		if value != "" {
			values = append(values, value)
		}
	}
	return values
}

// each calls do for a command and for those below it, which come first. path has the words of the command.
// Hidden commands are left out.
func each(n *kong.Node, path string, do func(path string, n *kong.Node)) {
	for _, child := range n.Children {
		if !child.Hidden {
			each(child, path+" "+child.Name, do)
		}
	}
	do(path, n)
}
