package ledger

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// ReadMark returns the newest checkpoint of a high-water mark file that one of
// keys signed, for a check alongside the daemon whose mark it is. ErrNoMark is
// matched when there is no file.
func ReadMark(path string, keys ...note.Verifier) (audit.Checkpoint, error) {
	c, _, err := readMark(path, keys...)
	if errors.Is(err, errNoMark) {
		return c, fmt.Errorf("%w (%s)", ErrNoMark, path)
	}
	return c, err
}
