// Package process protects the process itself, and says what it knows of the machine: no core dumps, memory that is not
// written to swap, the kernel, and where its random bytes come from. It also has what files need: locks, and replacing
// a file as a whole.
//
// None of this stops root on the live host, who can read all memory.
package process

import (
	"bufio"
	"crypto/fips140"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Facts say where random bytes come from below this program, as far as it can tell.
type Facts struct {
	Kernel string // release of the kernel, as uname -r prints it; "" when it is not known
	VDSO   VDSO
	FIPS   bool // Go's cryptographic module runs in FIPS 140-3 mode
}

// VDSO says whether the kernel offers getrandom in its vDSO (Linux 6.11 and newer). If it does, Go's runtime asks
// there, and makes no system call for most reads: a state of the kernel's generator lies in memory of the process
// (internal/entropy).
type VDSO string

// Whether the vDSO has getrandom.
const (
	VDSOYes     VDSO = "yes"
	VDSONo      VDSO = "no"
	VDSOUnknown VDSO = "unknown" // the image could not be read, or this is no Linux
)

// Platform returns the facts. They do not change while the process lives.
var Platform = sync.OnceValue(func() Facts {
	return Facts{Kernel: kernelRelease(), VDSO: vdsoGetrandom(), FIPS: fips140.Enabled()}
})

// Locked says how much of the memory stays out of swap.
type Locked struct {
	All  bool   // all memory, whether it is mapped now or later
	Now  bool   // the memory that is mapped now
	Note string // for the log: what is locked, or why nothing is, and what would help
}

// ReplaceFile replaces a file, which need not exist, with what write writes. The new file is written under another
// name, synced and renamed, so that the file under path is always whole. The caller makes the name durable: SyncDir.
func ReplaceFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	if err = write(out); err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// ReplaceBytes is ReplaceFile with b. The file and its name are durable if it returns nil.
func ReplaceBytes(path string, mode fs.FileMode, b []byte) error {
	err := ReplaceFile(path, mode, func(out io.Writer) error { _, err := out.Write(b); return err })
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// CreateFile creates a file, which must not exist, with exactly the given mode. It returns when content and name are on
// the disk. It removes a file that it created and could not complete.
func CreateFile(path string, content []byte, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(path)
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil { // the umask does not apply
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Held are files that this process has open, by their paths. What is written to a file that was removed or replaced
// under its path is gone when the process ends, so a store that acknowledges what is written asks Check first. The
// zero value holds nothing. One goroutine at a time uses it.
type Held struct{ files []held }

type held struct {
	path string
	info os.FileInfo // of the open file, with the largest size that was seen
}

// Add takes the files under paths as they are now, just after they were opened. None of them ever becomes shorter.
func (h *Held) Add(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("looking at a file that is open: %w", err)
		}
		h.files = append(h.files, held{path, info})
	}
	return nil
}

// Check returns an error if another file, a shorter one or none is under a path now.
func (h *Held) Check() error {
	for i := range h.files {
		f := &h.files[i]
		switch now, err := os.Stat(f.path); {
		case err != nil:
			return fmt.Errorf("%s is open, and no file is there any more: %w", filepath.Base(f.path), err)
		case !os.SameFile(now, f.info):
			return fmt.Errorf("%s is open, and another file was put in its place", filepath.Base(f.path))
		case now.Size() < f.info.Size():
			return fmt.Errorf("%s was cut from %d to %d bytes while it is open", filepath.Base(f.path), f.info.Size(),
				now.Size())
		default:
			f.info = now
		}
	}
	return nil
}
