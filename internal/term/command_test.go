package term

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
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
		code := report(&out, test.err, true)
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

// TestReadBounded: what editors add to a text is taken off, and what cannot be read is named.
func TestReadBounded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "text")
	for text, want := range map[string]string{
		"quorum w\n": "quorum w\n", "\ufeffquorum w\r\n\r\n": "quorum w\n\n", "": "",
		"\xff\xfeq\x00": "is in UTF-16: save it as UTF-8", "\xfe\xff\x00q": "is in UTF-16: save it as UTF-8",
		strings.Repeat("x", 21): "more than the 20 bytes",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := ReadBounded(file, 20)
		if err == nil && string(b) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", text, b, err)
		}
	}
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 of 1,000 entries":                               progressLine("entries", 0, 1000, time.Hour),
		"999 of 1,000 entries":                             progressLine("entries", 999, 1000, time.Millisecond),
		"250,000 of 1,000,000 entries, 50,000/s, 15s left": progressLine("entries", 250_000, 1_000_000, 5*time.Second),
		"5 of 5 entries, 2/s, 0s left":                     progressLine("entries", 5, 5, 2*time.Second),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var b bytes.Buffer
	p := NewProgress(&b, "entries")
	p.At(1, 2)
	p.End()
	if b.Len() > 0 {
		t.Errorf("%q where nobody looks", b.String())
	}
}
