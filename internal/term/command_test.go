package term

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestFlagErrors: a flag's error names the flag, the value and the rule in words, and no type.
func TestFlagErrors(t *testing.T) {
	type grammar struct {
		Take  int           `help:"x"`
		Of    uint64        `help:"x"`
		Wait  time.Duration `help:"x"`
		State string        `enum:",open,closed" default:"" help:"x"`
		Name  string        `help:"x"`
	}
	for args, want := range map[string]string{
		"--take x":     `--take must be a whole number, not "x"`,
		"--of two":     `--of must be a whole number, not "two"`,
		"--wait soon":  `--wait must be a duration such as 90s, 20m or 4h, not "soon"`,
		"--state opne": `--state must be one of "open","closed", not "opne". The nearest is "open".`,
		"--name":       `--name must have a value`,
		"--nmae x":     `unknown flag --nmae, did you mean "--name"?`,
	} {
		var out strings.Builder
		p := Program{Name: "p", Grammar: new(grammar), Before: func(string) (any, error) { return nil, nil }}
		code := p.Run(context.Background(), strings.Fields(args), Streams{Out: &out, Err: &out})
		if code != ExitUsage || !strings.Contains(out.String(), "error: "+want+"\n") {
			t.Errorf("%s: %d %s", args, code, out.String())
		}
	}
}
