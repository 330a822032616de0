package term

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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
