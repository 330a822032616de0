//go:build !unix

package bundle

import "os"

// lock does nothing where files cannot be locked.
func lock(*os.File, string) error { return nil }
