package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readBounded reads a file of at most n bytes.
func readBounded(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, n+1))
	if err == nil && int64(len(b)) > n {
		err = fmt.Errorf("%s has more than %d bytes", path, n)
	}
	return b, err
}
