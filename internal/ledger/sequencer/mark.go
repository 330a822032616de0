package sequencer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/process"
	"shuffled/internal/stops"
)

// mark is the high-water mark: the newest checkpoint that this host has seen, in a file
// outside the database. The stored head is compared with it at the start and by resume.
//
// The file has two slots, which are written in turn and in place, so that a torn write spoils at most one. The
// checkpoint's signature serves as the checksum. The mark is written before a batch is answered; from then on it
// survives the end of the process. It is synced at an interval, which bounds how much of it a power cut can take.
type mark struct {
	file *os.File
	held process.Held // the same file; for the sequencer's goroutine

	mu    sync.Mutex
	slot  int64
	dirty bool
	err   error // of a sync; the next write reports it
}

const markSlot = 1024 // bytes; a checkpoint with two signatures has at most 645 (an origin has 128)

// ReadMark returns the newest checkpoint of a mark file that one of keys signed, and its slot. A file without such a
// checkpoint is damaged, which is an error; without a file it is a stops.NoMark. The daemon may be running.
func ReadMark(path string, keys ...note.Verifier) (newest audit.Checkpoint, in int, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(b) == 0 {
		return newest, 0, fmt.Errorf("%w (%s)", stops.NoMark, path)
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

// openMark opens the mark file, or makes one. The first write goes to slot 0.
func openMark(path string) (*mark, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the high-water mark: %w", err)
	}
	// Two daemons on one data directory would each believe in the other's mark.
	if err := process.LockFile(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		f.Close()
		return nil, fmt.Errorf("locking the high-water mark %s: %w: %w", path, stops.MarkLocked, err)
	}
	m := &mark{file: f}
	if err := m.held.Add(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

// write puts a signed checkpoint into the next slot. It leaves out signature lines of
// ML-DSA-44, for which a slot has no room: only this host reads the file. After an error the
// mark guards nothing any more, and the caller stops signing.
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

// syncEvery syncs the file at an interval, until running ends.
func (m *mark) syncEvery(running context.Context, interval time.Duration) {
	for ledger.Sleep(running, interval, nil) {
		m.sync()
	}
}

// sync makes the file durable. It does not hold the lock during the system call: a write in
// that time makes the file dirty again.
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

// close syncs and closes the file. syncEvery has ended.
func (m *mark) close() error {
	m.sync()
	process.UnlockFile(m.file)
	return errors.Join(m.err, m.file.Close())
}
