//go:build !linux

package needle

import (
	"errors"
	"io"
)

// Regions returns an error: memory is read on Linux only.
func Regions(int, func(name string, r io.Reader) error) error {
	return errors.ErrUnsupported
}
