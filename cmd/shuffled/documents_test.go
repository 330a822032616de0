package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestDocumentedCommands: each command of the program in a block of the documents has a
// name and flags that there are. Those that a test can type, tests do.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(new(cli), kong.Name("shuffled"))
	if err != nil {
		t.Fatal(err)
	}
	var documents []string
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, found...)
	}
	commands := 0
	for _, path := range documents {
		for _, block := range fences(t, strings.TrimPrefix(path, "../../")) {
			if block.kind != "sh" {
				continue
			}
			for _, command := range commandsOf(block.text) {
				commands++
				if fault := unknownIn(parser.Model.Node, command); fault != "" {
					t.Errorf("%s:%d: %s: %s", path, block.line, strings.Join(command, " "), fault)
				}
			}
		}
	}
	if commands < 100 {
		t.Errorf("only %d commands were found", commands)
	}
}

// commandsOf are the words of the program's commands in a script, without comments and what
// stands in quotes.
func commandsOf(script string) (commands [][]string) {
	script = strings.ReplaceAll(script, "\\\n", " ")
	script = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'`).ReplaceAllString(script, "quoted")
	script = regexp.MustCompile(`(?m)(^|\s)#.*$`).ReplaceAllString(script, "")
	for _, m := range regexp.MustCompile(`(?m)(?:^|[ (;|])(?:shuffled|go run ./cmd/shuffled) ([^\n|;)>]*)`).
		FindAllStringSubmatch(script, -1) {
		commands = append(commands, strings.Fields(m[1]))
	}
	return commands
}

// unknownIn says which word of a command the grammar does not have.
func unknownIn(n *kong.Node, words []string) string {
	flags := map[string]bool{}
	add := func(n *kong.Node) {
		for _, f := range n.Flags {
			flags["--"+f.Name] = true
		}
	}
	add(n)
	for n.Children != nil && len(words) > 0 {
		var next *kong.Node
		for _, child := range n.Children {
			if child.Name == words[0] {
				next = child
			}
		}
		if next == nil {
			break
		}
		n, words = next, words[1:]
		add(n)
	}
	if len(n.Children) > 0 {
		return "there is no such command"
	}
	if n.Passthrough {
		return ""
	}
	for _, word := range words {
		if name, _, _ := strings.Cut(word, "="); strings.HasPrefix(word, "--") && !flags[name] {
			return "there is no " + name
		}
	}
	return ""
}
