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

// Files are the paths of the files of one ledger.
type Files struct {
	Key, VKey, Mark string
}

// FilesOf returns the paths of a ledger's files in the data directory.
func FilesOf(data, ledger string) Files {
	at := func(suffix string) string { return filepath.Join(data, ledger+suffix) }
	return Files{Key: at(".key"), VKey: at(".vkey"), Mark: at(".mark")}
}

// MakeData makes the data directory, with mode 0700, unless it exists.
func MakeData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	return nil
}

// Exists reports whether something is at the path. It also returns true if that cannot be found out.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadKeyring reads the sealing keys. The first one seals.
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

// agentHint adds what to do if a key is held by an agent that does not answer.
func agentHint(err error) error {
	if errors.Is(err, keys.ErrAgent) {
		return term.WithHint(err, "start the agent that the key file names, give it the key, and let this user reach its socket")
	}
	return err
}
