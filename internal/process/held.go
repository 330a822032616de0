package process

import (
	"fmt"
	"os"
	"path/filepath"
)

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
