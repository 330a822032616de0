package term

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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

// TestReportJSON: with --json an error is an object, and the exit code is in it.
func TestReportJSON(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, ""}, {ErrFails, ""},
		{errors.New("no \x1b"), `{"error":"no \u001b","exit":3}`},
		{WithHint(Usage("wrong"), "do %s", "this"), `{"error":"wrong","hint":"do this","exit":2}`},
		{WithHint(WithCode(errors.New("no"), "place"), "go on"), `{"error":"no","hint":"go on","code":"place","exit":3}`},
	} {
		var out, compact bytes.Buffer
		code := reportJSON(&out, test.err)
		if out.Len() > 0 && json.Compact(&compact, out.Bytes()) != nil || compact.String() != test.want ||
			code != Report(io.Discard, test.err) {
			t.Errorf("%v: %d %s, want %s", test.err, code, out.String(), test.want)
		}
	}
	var errs strings.Builder
	p := Program{Name: "p", Grammar: new(struct{ N int }), Before: func(string) (any, error) { return nil, nil }}
	code := p.Run(context.Background(), []string{"--n", "x", "--json"}, Streams{Out: io.Discard, Err: &errs})
	if code != ExitUsage || !strings.HasPrefix(errs.String(), "{") {
		t.Errorf("%d %s", code, errs.String())
	}
}
