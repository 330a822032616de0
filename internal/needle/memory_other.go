//go:build !linux

package needle

import (
	"errors"
	"io"
)

// Regions reads the memory of a process on Linux only.
func Regions(int, func(name string, r io.Reader) error) error {
	return errors.ErrUnsupported
}
