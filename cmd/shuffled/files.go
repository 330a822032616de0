package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"shuffled/internal/keys"
	"shuffled/internal/seal"
)

// files are the files that belong to one ledger.
type files struct {
	key, vkey, mark string
}

// filesOf returns where a ledger's files are in the data directory.
func filesOf(data, ledger string) files {
	at := func(suffix string) string { return filepath.Join(data, ledger+suffix) }
	return files{key: at(".key"), vkey: at(".vkey"), mark: at(".mark")}
}

// makeData makes the data directory, closed to others.
func makeData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readKeyring reads the sealing keys; the first is the current one.
func readKeyring(paths []string, passphrase keys.Secret) (*seal.Keyring, error) {
	var ring []*seal.Key
	for _, path := range paths {
		secret, err := keys.ReadSealing(path, passphrase)
		if err != nil {
			return nil, err
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
