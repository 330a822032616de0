//go:build !unix

package keys

import "io/fs"

// othersRootFile returns false: this system has no root.
func othersRootFile(fs.FileInfo) bool { return false }
