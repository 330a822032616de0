//go:build unix

package keys

import (
	"io/fs"
	"os"
	"syscall"
)

// othersRootFile reports whether a file is root's and this process is not.
func othersRootFile(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 && os.Geteuid() != 0
}
