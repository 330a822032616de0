package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// State keeps some bytes for a client, so that after a restart it still refuses a ledger that does not extend what it
// saw before: one that was rolled back, or begun anew under the same key. The bytes are signed checkpoints, and not
// secret. The client saves before it returns an answer under a newer checkpoint. If Save fails, so does the call. One
// goroutine at a time calls Save.
type State interface {
	Load() ([]byte, error) // nil without an error before the first Save
	Save([]byte) error
}

// FileState keeps the state in a file, which is replaced as a whole. File and directory are flushed to disk before Save
// returns, so that the newest state survives a crash of the machine: back end and daemon may be on one machine, and
// start anew together. A new checkpoint costs two flushes, which concurrent calls share. Each client needs a file of
// its own.
func FileState(path string) State { return fileState(path) }

type fileState string

func (f fileState) Load() ([]byte, error) {
	b, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	return b, nil
}

func (f fileState) Save(b []byte) error { return f.save(b, (*os.File).Sync) }

// save is Save with a way to flush files, so that tests can make it fail.
func (f fileState) save(b []byte, flush func(*os.File) error) error {
	next, err := os.CreateTemp(filepath.Dir(string(f)), filepath.Base(string(f))+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(b)
	if err == nil {
		err = flush(next) // before the name: else a crash may leave an empty file
	}
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), string(f))
	}
	if err != nil {
		os.Remove(next.Name())
		return err
	}
	return flushDir(filepath.Dir(string(f)), flush)
}

// flushDir makes a rename durable. Windows cannot flush directories.
func flushDir(path string, flush func(*os.File) error) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(flush(d), d.Close())
}
