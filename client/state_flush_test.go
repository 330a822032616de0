package client

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestFileStateFlushes: a state is kept when the file, and then its directory, have been flushed. Where either cannot
// be, Save says so, and one that could not be flushed does not take the place of the one before.
func TestFileStateFlushes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows flushes no directories")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	f := fileState(path)
	if err := f.Save([]byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("input/output error")
	for i, c := range []struct {
		what string // is flushed, and fails
		kept string
	}{{"a file", "old"}, {"a directory", "new"}} {
		var flushed []string
		err := f.save([]byte("new"), func(file *os.File) error {
			info, err := file.Stat()
			if err != nil {
				t.Fatal(err)
			}
			flushed = append(flushed, map[bool]string{false: "a file", true: "a directory"}[info.IsDir()])
			if b, err := os.ReadFile(path); !info.IsDir() && (err != nil || string(b) != "old") {
				t.Errorf("when the new file is flushed the state is %q already", b)
			}
			if len(flushed) == i+1 {
				return broken
			}
			return file.Sync()
		})
		if !errors.Is(err, broken) || flushed[i] != c.what {
			t.Errorf("%s cannot be flushed: %v; flushed %v", c.what, err, flushed)
		}
		if b, err := f.Load(); err != nil || string(b) != c.kept {
			t.Errorf("%s cannot be flushed, and the state is %q, %v", c.what, b, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// failing is a state that cannot be kept for a while.
type failing struct {
	broken error
	saved  [][]byte
}

func (*failing) Load() ([]byte, error) { return nil, nil }

func (f *failing) Save(b []byte) error {
	if f.broken != nil {
		return f.broken
	}
	f.saved = append(f.saved, slices.Clone(b))
	return nil
}

// TestSaveAgain: what could not be kept is not taken for kept: the same state is saved with the next answer.
func TestSaveAgain(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	state := &failing{broken: full}
	c := &Client{cfg: Config{State: state}, heads: newHeads()}
	c.heads.add(head{signed: []byte("newest")})
	for range 2 {
		if err := c.save(); !errors.Is(err, full) {
			t.Errorf("a state that cannot be kept: %v", err)
		}
	}
	state.broken = nil
	for range 2 { // the second is the same
		if err := c.save(); err != nil || len(state.saved) != 1 {
			t.Errorf("saved %d times, %v", len(state.saved), err)
		}
	}
}
