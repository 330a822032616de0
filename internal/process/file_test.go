package process_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"shuffled/internal/process"
)

// TestReplaceFile: a file is replaced as a whole, and what could not be written leaves the one before.
func TestReplaceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put := func(text string, then error) error {
		return process.ReplaceFile(path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, then)
		})
	}
	cut := errors.New("cut")
	for _, step := range []struct {
		text string
		then error
		want string
	}{{"one", nil, "one"}, {"half of two", cut, "one"}, {"three", nil, "three"}, {"", nil, ""}} {
		if err := put(step.text, step.then); !errors.Is(err, step.then) {
			t.Errorf("%q: %v", step.text, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("after %q the file has %q, %v", step.text, got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
