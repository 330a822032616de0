package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/process"
)

// mark is the high-water mark: the newest checkpoint this host has seen, in a
// file outside the database. A database cannot guard against its own rollback;
// the mark is held against the head at start and while signing.
//
// The file holds two slots, written in turn and in place, so that a torn write
// spoils one at most; the checkpoint's signature is the checksum. A write is
// made before the batch is answered, and survives a killed process at once; it
// is synced every interval, which bounds what a power cut can take.
type mark struct {
	file *os.File

	mu    sync.Mutex
	slot  int64
	dirty bool
	err   error // of a sync; the next write reports it

	stop chan struct{} // closed by close
	done chan struct{} // closed by the syncing goroutine
}

const markSlot = 1024 // bytes; a checkpoint with two signatures has at most 645 (an origin has 128)

// readMark returns the newest checkpoint of the mark file, signed by one of
// keys, and the slot it is in. A file without any is damaged, which is an error
// like any doubt.
func readMark(path string, keys ...note.Verifier) (newest audit.Checkpoint, in int, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(b) == 0 {
		return newest, 0, fmt.Errorf("%w (%s)", ErrNoMark, path)
	}
	if err != nil {
		return newest, 0, fmt.Errorf("reading the high-water mark: %w", err)
	}
	for slot := range 2 {
		from := min(len(b), slot*markSlot)
		signed := bytes.TrimRight(b[from:min(len(b), from+markSlot)], "\x00")
		if c, err := audit.OpenByAny(signed, keys...); err == nil && c.Size >= newest.Size {
			newest, in = c, slot
		}
	}
	if newest.Size == 0 {
		return newest, 0, fmt.Errorf("reading the high-water mark: %s holds no checkpoint of this ledger",
			filepath.Base(path))
	}
	return newest, in, nil
}

// ReadMark returns the newest checkpoint of a high-water mark file that one of
// keys signed, for a check alongside the daemon whose mark it is. ErrNoMark is
// matched when there is no file.
func ReadMark(path string, keys ...note.Verifier) (audit.Checkpoint, error) {
	c, _, err := readMark(path, keys...)
	return c, err
}

// makeMark makes the mark file of a new ledger.
func makeMark(path string, signed []byte) error {
	m, err := openMark(path, 0, time.Hour)
	if err != nil {
		return err
	}
	return errors.Join(m.write(signed), m.close())
}

// openMark opens or makes the mark file, whose first write goes to slot, and
// starts the goroutine that syncs it every interval, until close.
func openMark(path string, slot int, interval time.Duration) (*mark, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the high-water mark: %w", err)
	}
	// Two daemons on one data directory would each believe in the other's mark.
	if err := process.LockFile(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		f.Close()
		return nil, fmt.Errorf("locking the high-water mark %s: %w: %w", path, ErrMarkLocked, err)
	}
	m := &mark{file: f, slot: int64(slot), stop: make(chan struct{}), done: make(chan struct{})}
	go m.syncEvery(interval)
	return m, nil
}

// write puts a signed checkpoint into the next slot, without lines of ML-DSA-44, for
// which a slot has no room: the file is this host's own. An error means that the
// guard is gone: the caller stops signing.
func (m *mark) write(signed []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	signed = bytes.Join(slices.DeleteFunc(bytes.SplitAfter(signed, []byte("\n")),
		func(line []byte) bool { return len(line) > markSlot }), nil)
	if len(signed) > markSlot {
		return fmt.Errorf("writing the high-water mark: a checkpoint of %d bytes", len(signed))
	}
	b := make([]byte, markSlot)
	copy(b, signed)
	if _, err := m.file.WriteAt(b, m.slot*markSlot); err != nil {
		return fmt.Errorf("writing the high-water mark: %w", err)
	}
	m.slot, m.dirty = 1-m.slot, true
	return nil
}

func (m *mark) syncEvery(interval time.Duration) {
	defer close(m.done)
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-t.C:
			m.sync()
		}
	}
}

// sync makes what was written durable. The lock is not held over the system
// call: a write in that time makes the file dirty again.
func (m *mark) sync() {
	m.mu.Lock()
	dirty := m.dirty
	m.dirty = false
	m.mu.Unlock()
	if !dirty {
		return
	}
	if err := m.file.Sync(); err != nil {
		m.mu.Lock()
		m.err = fmt.Errorf("syncing the high-water mark: %w", err)
		m.mu.Unlock()
	}
}

func (m *mark) close() error {
	close(m.stop)
	<-m.done
	m.sync()
	process.UnlockFile(m.file)
	return errors.Join(m.err, m.file.Close())
}
