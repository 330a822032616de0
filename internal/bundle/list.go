package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// list is a list of checkpoints, in files of Width, to which an export appends.
type list struct {
	dir   *directory
	name  string
	count uint64
	file  [][]byte // the checkpoints of the file that is not full
	last  []byte   // the last checkpoint
	size  uint64   // of the last checkpoint
}

// continued opens the list in a directory of the bundle, up to the last checkpoint that is not larger than the bundle.
// An export that was cut may have left larger ones, which are dropped.
func (x *export) continued(name string) (*list, error) {
	l := &list{dir: x.dir, name: name}
	if x.old.Size == 0 {
		return l, nil
	}
	var err error
	if l.count, err = listed(x.fsys, name); err != nil {
		return nil, err
	}
	for ; l.count > 0; l.count -= uint64(len(l.file)) {
		index := (l.count - 1) / Width
		width := widthOf(l.count, index)
		if l.file, err = readFramed(x.fsys, framedPath(name, index, width), width, maxCheckpoints); err != nil {
			return nil, err
		}
		for n := len(l.file); n > 0; n-- {
			c, err := audit.CheckpointText(l.file[n-1])
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", framedPath(name, index, width), err)
			}
			if c.Size <= x.old.Size {
				l.count -= uint64(len(l.file) - n)
				l.file, l.last, l.size = l.file[:n%Width], l.file[n-1], c.Size
				return l, nil
			}
		}
	}
	l.file = nil
	return l, nil
}

// listed returns how many checkpoints a list holds. The name of its last file says it.
func listed(fsys fs.FS, name string) (count uint64, err error) {
	err = eachOfList(fsys, name, func(_ string, end uint64) error {
		count = max(count, end)
		return nil
	})
	return count, err
}

// eachOfList calls each for every file of a list. end is the number of checkpoints up to the end of the file.
func eachOfList(fsys fs.FS, name string, each func(path string, end uint64) error) error {
	err := fs.WalkDir(fsys, name, func(path string, _ fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil && leaves(fsys, path):
			return fmt.Errorf("%w: a link that leads nowhere in the bundle", audit.ErrMalformed)
		case err != nil:
			return err
		}
		t, err := tlog.ParseTilePath("tile/8/0/" + strings.TrimPrefix(path, name+"/"))
		if err != nil || t.N >= math.MaxInt64/Width {
			return nil // a directory, or no part of the list
		}
		return each(path, uint64(t.N)*Width+uint64(t.W))
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// Joined returns a signed checkpoint with more signature lines: those of another checkpoint of
// the same text, by keys that have no line in the first. No line is checked; the auditor does.
func Joined(checkpoint, other []byte) ([]byte, error) {
	var has, more *note.UnverifiedNoteError
	_, err := note.Open(checkpoint, note.VerifierList())
	_, err2 := note.Open(other, note.VerifierList())
	if !errors.As(err, &has) || !errors.As(err2, &more) || has.Note.Text != more.Note.Text {
		return nil, fmt.Errorf("%w: two checkpoints of one size with different texts", audit.ErrMalformed)
	}
	joined := slices.Clone(checkpoint)
	for _, s := range more.Note.UnverifiedSigs {
		by := func(of note.Signature) bool { return of.Name == s.Name && of.Hash == s.Hash }
		if !slices.ContainsFunc(has.Note.UnverifiedSigs, by) {
			joined = fmt.Appendf(joined, "— %s %s\n", s.Name, s.Base64)
			has.Note.UnverifiedSigs = append(has.Note.UnverifiedSigs, s)
		}
	}
	_, err = audit.CheckpointText(joined)
	return joined, err
}

// from returns the size of the first checkpoint in the file that is not full. If there is none,
// it returns the first size after the list.
func (l *list) from() (uint64, error) {
	if len(l.file) == 0 {
		return l.size + 1, nil
	}
	c, err := audit.CheckpointText(l.file[0])
	return c.Size, err
}

// rejoin adds the lines that came since to the checkpoint of this size, if it is in the file that is not full. It
// searches from number i on, since sizes ascend, and returns the number to continue from.
func (l *list) rejoin(i int, checkpoint []byte, size uint64) (int, error) {
	for ; i < len(l.file); i++ {
		c, err := audit.CheckpointText(l.file[i])
		if err != nil || c.Size > size {
			return i, err
		}
		if c.Size == size {
			l.file[i], err = Joined(l.file[i], checkpoint)
			l.last = l.file[len(l.file)-1]
			return i + 1, err
		}
	}
	return i, nil
}

func (l *list) add(checkpoint []byte, size uint64) error {
	l.file, l.last, l.size = append(l.file, checkpoint), checkpoint, size
	l.count++
	if len(l.file) < Width {
		return nil
	}
	return l.end()
}

// end puts the file that is not written yet, if there is one.
func (l *list) end() error {
	if len(l.file) == 0 {
		return nil
	}
	var b []byte
	for _, c := range l.file {
		b = appendFramed(b, c)
	}
	name := framedPath(l.name, (l.count-1)/Width, len(l.file))
	l.file = nil
	return l.dir.put(name, b)
}

// trim removes the files that end after the list. It is called when the list is on disk.
func (l *list) trim() error {
	return eachOfList(l.dir.root.FS(), l.name, func(path string, end uint64) error {
		if end <= l.count {
			return nil
		}
		return l.dir.root.RemoveAll(path)
	})
}
