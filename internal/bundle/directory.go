package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"shuffled/internal/process"
)

// writers is how many files are written at a time: each waits for the disk.
const writers = 8

// directory writes the files of a bundle. A file is written under another name, synced and renamed, so that under its
// own name it is always whole. One goroutine owns the directory.
type directory struct {
	root *os.Root
	lock *os.File
	temp atomic.Uint64 // numbers the files in dirNew

	writes *errgroup.Group // files that were put since the last settle
	failed context.Context // of writes: ends with the first failure

	// keep are full files whose partial forms the published checkpoint needs: they
	// stay until prune. It is set before the first put.
	keep map[string]bool

	mu    sync.Mutex
	stale map[string]bool // directories to sync; guarded by mu
}

// openDirectory opens dir for one export, and makes it if it is not there. It refuses
// a directory that holds anything else than a bundle.
func openDirectory(dir string) (*directory, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the directory: %w", err)
	}
	d := &directory{root: root, stale: map[string]bool{".": true}}
	if d.lock, err = root.Open("."); err == nil {
		err = d.prepare(dir)
	}
	if err != nil {
		return nil, errors.Join(err, d.lock.Close(), root.Close())
	}
	d.begin()
	return d, nil
}

// begin makes a group of writers.
func (d *directory) begin() {
	d.writes, d.failed = errgroup.WithContext(context.Background())
	d.writes.SetLimit(writers)
}

// prepare locks the directory for this export, and removes the files that an export which was cut left half written.
func (d *directory) prepare(dir string) error {
	if err := process.LockFile(d.lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("locking %s: another export writes to it: %w", dir, err)
	}
	files, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return fmt.Errorf("reading the directory: %w", err)
	}
	for _, f := range files {
		switch f.Name() {
		case dirTiles, dirCosigned, dirSigned, dirDecks, dirTerms, dirNew, fileCheckpoint, fileManifest:
		default:
			return fmt.Errorf("%s is no directory for a bundle: it holds %s", dir, quoted(f.Name()))
		}
	}
	if err := d.root.RemoveAll(dirNew); err != nil {
		return fmt.Errorf("removing half-written files: %w", err)
	}
	if err := d.root.Mkdir(dirNew, 0o777); err != nil {
		return fmt.Errorf("making a directory for new files: %w", err)
	}
	return nil
}

// close waits for the writers, whose failure put or settle returned, and unlocks.
func (d *directory) close() error {
	_ = d.writes.Wait()
	return errors.Join(d.root.RemoveAll(dirNew), d.lock.Close(), d.root.Close())
}

// put writes a file before settle returns. Files are written in no order: settle is called between two puts of one
// name. data belongs to the writer from then on. put returns the failure of an earlier file.
func (d *directory) put(name string, data []byte) error {
	d.writes.Go(func() error {
		if err := d.write(name, data); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		return nil
	})
	return context.Cause(d.failed)
}

// settle waits until everything that was put is on disk under its name. After a
// failure it returns that failure each time.
func (d *directory) settle() error {
	if err := d.writes.Wait(); err != nil {
		return err
	}
	d.begin()
	for name := range d.stale {
		if err := d.sync(name); err != nil {
			return fmt.Errorf("syncing the directory: %w", err)
		}
	}
	clear(d.stale)
	return nil
}

func (d *directory) sync(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// publish writes one file and waits for it. The file changes what the bundle is.
func (d *directory) publish(name string, data []byte) error {
	if err := d.put(name, data); err != nil {
		return err
	}
	return d.settle()
}

func (d *directory) write(name string, data []byte) error {
	temp := path.Join(dirNew, strconv.FormatUint(d.temp.Add(1), 10))
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := d.makeDir(path.Dir(name)); err != nil {
		return err
	}
	if err := d.root.Rename(temp, name); err != nil {
		return err
	}
	if d.keep[name] || strings.HasSuffix(path.Dir(name), partialSuffix) {
		return nil
	}
	return d.root.RemoveAll(name + partialSuffix) // of an export that was cut
}

// partialSuffix ends the name of the directory that has the partial forms of a file.
const partialSuffix = ".p"

// makeDir makes a directory and those above it, and notes them for settle to sync.
func (d *directory) makeDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stale[dir] {
		return nil
	}
	if err := d.root.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for ; dir != "."; dir = path.Dir(dir) {
		d.stale[dir] = true
	}
	d.stale["."] = true
	return nil
}

// prune removes the kept partial forms of files that are full now.
func (d *directory) prune() error {
	for name := range d.keep {
		_, err := d.root.Stat(name)
		if err == nil {
			err = d.root.RemoveAll(name + partialSuffix)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the partial forms of %s: %w", name, err)
		}
	}
	return nil
}
