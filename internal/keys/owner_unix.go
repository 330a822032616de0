//go:build unix

package keys

import (
	"io/fs"
	"os"
	"syscall"
)

// othersRootFile reports whether a file is of root and this process is of another user.
func othersRootFile(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 && os.Geteuid() != 0
}
