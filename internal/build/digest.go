package build

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
)

// Digest returns the SHA-256 of the program that runs.
func Digest() (sum [32]byte, err error) {
	path, err := os.Executable()
	if err != nil {
		return sum, fmt.Errorf("finding the executable: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return sum, fmt.Errorf("reading the executable: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, fmt.Errorf("reading the executable: %w", err)
	}
	h.Sum(sum[:0])
	return sum, nil
}
