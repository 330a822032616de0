package keys

import (
	"fmt"

	"shuffled/internal/audit"
)

// ReadVKey reads a file with one verifier key and returns its text.
func ReadVKey(path string) (string, error) {
	b, err := readFile(path, false)
	if err != nil {
		return "", fmt.Errorf("reading a verifier key: %w", err)
	}
	vkey := string(trimNewline(b))
	if _, err := audit.ParseVKey(vkey); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return vkey, nil
}

// WriteVKey creates a file with one verifier key and mode 0644. An existing
// file is an error that matches fs.ErrExist.
func WriteVKey(path, vkey string) error {
	if _, err := audit.ParseVKey(vkey); err != nil {
		return err
	}
	return createFile(path, []byte(vkey+"\n"), modePublic)
}
