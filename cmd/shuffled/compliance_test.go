package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"shuffled/internal/compliance"
)

// TestComplianceCommands: what docs/COMPLIANCE.md tells people to type is a
// command, which has help, with these arguments.
func TestComplianceCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range compliance.Groups() {
		for _, r := range g.Rows {
			for _, e := range r.Evidence {
				if e.Args == nil || seen[strings.Join(e.Args, " ")] {
					continue
				}
				seen[strings.Join(e.Args, " ")] = true
				if err := parses(e.Args); err != nil {
					t.Errorf("row %s: shuffled %s: %v", r.ID, strings.Join(e.Args, " "), err)
				}
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d commands: has the table lost some?", len(seen))
	}
	for _, args := range [][]string{{"lab", "nothing"}, {"version", "--nothing"}, {"lab"}} {
		if parses(args) == nil {
			t.Errorf("shuffled %s: accepted", strings.Join(args, " "))
		}
	}
}

// parses reports what is wrong with a command line, without running it.
func parses(args []string) error {
	parser, err := kong.New(new(cli), kong.Name("shuffled"), kong.Writers(io.Discard, io.Discard),
		kong.BindTo(context.Background(), (*context.Context)(nil)), kong.Bind(streams{}))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return err
	}
	var help strings.Builder
	command := append(strings.Fields(parsed.Command()), "--help")
	if code := run(context.Background(), command, streams{in: strings.NewReader(""), out: &help, err: &help}); code != exitOK {
		return errFails
	}
	if !strings.Contains(help.String(), "Usage: shuffled "+parsed.Command()) {
		return errFails
	}
	return nil
}
