//go:build !unix

package witness

import (
	"errors"
	"os"
)

// lock refuses: without a lock two processes could each cosign a branch of a fork.
func lock(*os.File) error { return errors.New("files cannot be locked on this system") }
