package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"shuffled/internal/term"
	"shuffled/internal/term/termtest"
	"shuffled/lab/compliance"
)

// TestComplianceCommands: each command line of docs/COMPLIANCE.md is one of a command
// that has help, with valid arguments.
func TestComplianceCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range compliance.Groups() {
		for _, r := range g.Rows {
			for _, e := range r.Evidence {
				if e.Args == nil || seen[strings.Join(e.Args, " ")] {
					continue
				}
				seen[strings.Join(e.Args, " ")] = true
				if err := types(t, e.Args); err != nil {
					t.Errorf("row %s: shuffled %s: %v", r.ID, strings.Join(e.Args, " "), err)
				}
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d commands: has the table lost some?", len(seen))
	}
	for _, args := range [][]string{{"lab", "nothing"}, {"version", "--nothing"}, {"lab"}} {
		if types(t, args) == nil {
			t.Errorf("shuffled %s: accepted", strings.Join(args, " "))
		}
	}
}

// types reports what is wrong with a command line. It is parsed and not run, if it
// is of the lab; the others take no time and are run.
func types(t *testing.T, args []string) error {
	if args[0] != "lab" {
		return exec.Command(termtest.Path(t, "shuffled"), args...).Run()
	}
	parser, err := kong.New(new(labCmd), kong.Name("shuffled lab"), kong.Writers(io.Discard, io.Discard),
		kong.BindTo(context.Background(), (*context.Context)(nil)), kong.Bind(term.Streams{}))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args[1:])
	if err != nil {
		return err
	}
	var help strings.Builder
	command := append(strings.Fields(parsed.Command()), "--help")
	if code := run(context.Background(), command,
		term.Streams{In: strings.NewReader(""), Out: &help, Err: &help}); code != term.ExitOK {
		return errors.New("it has no help")
	}
	if !strings.Contains(help.String(), "Usage: shuffled lab "+parsed.Command()) {
		return errors.New("its help is of another command")
	}
	return nil
}
