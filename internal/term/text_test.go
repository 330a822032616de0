package term

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plain text":            "plain text",
		"♠ 漢字 é":                "♠ 漢字 é",
		"\x1b[2J\x1b]0;title\a": `\x1b[2J\x1b]0;title\a`,
		"a\nb\rc\td":            `a\nb\rc\td`,
		"\u009b31m":             `\u009b31m`,
		"\u202e\u2066\ufeff":    `\u202e\u2066\ufeff`,
		"bad \xff\x9b utf-8":    `bad \xff\x9b utf-8`,
		"\x7f\x00":              `\x7f\x00`,
		"\"C:\\new\"\n":         `"C:\new"\n`,
	}
	for in, want := range tests {
		if got := Visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSpelt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"As": "As", "\u0410s": "\u0410s (U+0410)",
		"\u202e\U0001d11e": "\\u202e\U0001d11e (U+202E U+1D11E)"} {
		if got := Spelt(in); got != want {
			t.Errorf("Spelt(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzVisible: whatever comes in, nothing that moves a cursor comes out.
func FuzzVisible(f *testing.F) {
	f.Add("\x1b[2J")
	f.Add("\xc2\x9b")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Visible(s) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q gives %q", s, Visible(s))
			}
		}
	})
}

// TestPrintJSON: what is escaped is still the same value.
func TestPrintJSON(t *testing.T) {
	t.Parallel()
	want := map[string]string{"a": "\x1b[2J\u009b\u007f\u202e\U000e0001 ♠ 漢字 <&>", "b\u009b": ""}
	var out strings.Builder
	if err := PrintJSON(&out, want); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSuffix(line, "\n"); Visible(line) != line {
			t.Errorf("%q", line)
		}
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		n    int
		want []string
	}{
		{"", 10, nil},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 80, []string{"one two three"}},
		{"a abcdefghij b", 4, []string{"a", "abcd", "efgh", "ij b"}},
		{"漢字漢字 x", 5, []string{"漢字", "漢字", "x"}},
	}
	for _, test := range tests {
		got := Wrap(test.text, test.n)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("wrap(%q, %d) (-want +got):\n%s", test.text, test.n, diff)
		}
		for _, line := range got {
			if Cells(line) > test.n {
				t.Errorf("wrap(%q, %d): %q is too long", test.text, test.n, line)
			}
		}
	}
}
