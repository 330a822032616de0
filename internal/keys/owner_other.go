//go:build !unix

package keys

import "io/fs"

// othersRootFile is for systems that have root.
func othersRootFile(fs.FileInfo) bool { return false }
