package term

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
