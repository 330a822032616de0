//go:build !unix

package process

import (
	"errors"
	"os"
)

// LockFile returns errors.ErrUnsupported: files cannot be locked here.
func LockFile(*os.File) error { return errors.ErrUnsupported }

// UnlockFile does nothing.
func UnlockFile(*os.File) {}
