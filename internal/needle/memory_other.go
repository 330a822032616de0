//go:build !linux

package needle

import (
	"errors"
	"io"
)

// regions returns an error: memory is read on Linux only.
func regions(int, func(name string, r io.Reader) error) error { return errors.ErrUnsupported }
