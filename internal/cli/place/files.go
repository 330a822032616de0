package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"shuffled/internal/keys"
	"shuffled/internal/seal"
	"shuffled/internal/term"
)

// Files are the files that belong to one ledger.
type Files struct {
	Key, VKey, Mark string
}

// FilesOf returns where a ledger's files are in the data directory.
func FilesOf(data, ledger string) Files {
	at := func(suffix string) string { return filepath.Join(data, ledger+suffix) }
	return Files{Key: at(".key"), VKey: at(".vkey"), Mark: at(".mark")}
}

// MakeData makes the data directory, closed to others.
func MakeData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	return nil
}

// Exists reports whether there is something at the path, or something keeps from seeing it.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadKeyring reads the sealing keys; the first is the current one.
func ReadKeyring(paths []string, passphrase keys.Secret) (*seal.Keyring, error) {
	var ring []*seal.Key
	for _, path := range paths {
		secret, err := keys.ReadSealing(path, passphrase)
		if err != nil {
			return nil, agentHint(err)
		}
		k, err := seal.NewKey(secret.Bytes())
		if err != nil {
			return nil, fmt.Errorf("reading a sealing key: %s: %w", path, err)
		}
		ring = append(ring, k)
	}
	if len(ring) == 0 {
		return nil, errors.New("no sealing key is configured")
	}
	return seal.NewKeyring(ring[0], ring[1:]...)
}

// agentHint says what to do when a key is outside and its agent does not answer: there is
// no other key to take.
func agentHint(err error) error {
	if errors.Is(err, keys.ErrAgent) {
		return term.WithHint(err, "start the agent that the key file names, give it the key, and let this user reach its socket")
	}
	return err
}
