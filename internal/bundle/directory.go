package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"shuffled/internal/process"
)

// writers is how many files are written at a time: each waits for the disk.
const writers = 8

// directory writes the files of a bundle. A file is written under another name,
// synced and renamed, so that under its own name it is always whole.
//
// put hands a file to one of the writers, which owns its bytes from then on;
// settle waits for all of them and is called by the goroutine that puts.
type directory struct {
	root *os.Root
	lock *os.File
	temp atomic.Uint64 // numbers the files in dirNew

	jobs    chan job
	pending sync.WaitGroup // jobs that were put and not written

	// keep are full files whose partial forms the published checkpoint needs: they
	// stay until prune. Set before the first put.
	keep map[string]bool

	mu    sync.Mutex
	err   error           // the first failure; guarded by mu
	stale map[string]bool // directories to sync; guarded by mu
}

type job struct {
	name string
	data []byte
}

// openDirectory opens dir for one export, and makes it if need be. It refuses a
// directory with anything in it that is not of a bundle.
func openDirectory(dir string) (*directory, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the directory: %w", err)
	}
	d := &directory{root: root, jobs: make(chan job, writers), stale: map[string]bool{".": true}}
	if d.lock, err = root.Open("."); err == nil {
		err = d.prepare(dir)
	}
	if err != nil {
		return nil, errors.Join(err, d.lock.Close(), root.Close())
	}
	for range writers {
		go d.write()
	}
	return d, nil
}

// prepare keeps the directory to this export, and removes what one that was cut left half
// written.
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
		case dirTiles, dirCosigned, dirSigned, dirDecks, dirTerms, dirNew,
			fileCheckpoint, fileManifest:
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

// close ends the writers and the lock.
func (d *directory) close() error {
	d.pending.Wait()
	close(d.jobs)
	return errors.Join(d.root.RemoveAll(dirNew), d.lock.Close(), d.root.Close())
}

// put writes a file some time before settle returns, and in no order: between two
// puts of one name stands a settle. It returns an earlier file's failure.
func (d *directory) put(name string, data []byte) error {
	d.pending.Add(1)
	d.jobs <- job{name, data}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// settle waits until everything that was put is on disk under its name.
func (d *directory) settle() error {
	d.pending.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
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

// publish writes one file and waits for it: it changes what the bundle is.
func (d *directory) publish(name string, data []byte) error {
	if err := d.put(name, data); err != nil {
		return err
	}
	return d.settle()
}

// write is a writer. It ends when jobs is closed.
func (d *directory) write() {
	for j := range d.jobs {
		if err := d.writeFile(j); err != nil {
			d.mu.Lock()
			if d.err == nil {
				d.err = fmt.Errorf("writing %s: %w", j.name, err)
			}
			d.mu.Unlock()
		}
		d.pending.Done()
	}
}

func (d *directory) writeFile(j job) error {
	temp := path.Join(dirNew, strconv.FormatUint(d.temp.Add(1), 10))
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(j.data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := d.makeDir(path.Dir(j.name)); err != nil {
		return err
	}
	if err := d.root.Rename(temp, j.name); err != nil {
		return err
	}
	if d.keep[j.name] || strings.HasSuffix(path.Dir(j.name), partialSuffix) {
		return nil
	}
	return d.root.RemoveAll(j.name + partialSuffix) // of an export that was cut
}

// partialSuffix ends the name of the directory with a file's partial forms.
const partialSuffix = ".p"

// makeDir makes a directory and those above it, and notes them for settle.
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

// prune removes the partial forms of files that are full now.
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
