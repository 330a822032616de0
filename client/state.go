package client

import (
	"fmt"

	"shuffled/internal/process"
)

// State keeps some bytes for a client, so that after a restart it still refuses a ledger that does not extend what it
// saw before: one that was rolled back, or begun anew under the same key. The bytes are signed checkpoints, and not
// secret. The client saves before it returns an answer under a newer checkpoint. If Save fails, so does the call. One
// goroutine at a time calls Save.
type State interface {
	Load() ([]byte, error) // nil without an error before the first Save
	Save([]byte) error
}

// FileState keeps the state in a file, in place and in two slots, so that a write that is cut off leaves what was saved
// before. The bytes are flushed to disk before Save returns, so that the newest state survives a crash of the machine:
// back end and daemon may be on one machine, and start anew together. A new checkpoint costs one flush, which
// concurrent calls share. Each client needs a file of its own.
func FileState(path string) State { return &fileState{path: path} }

type fileState struct {
	path string
	file *process.Slots // nil: not opened
}

func (f *fileState) Load() (b []byte, err error) {
	if f.file, b, err = process.OpenSlots(f.path); err != nil {
		return nil, fmt.Errorf("reading the state %s: %w", f.path, err)
	}
	return b, nil
}

func (f *fileState) Save(b []byte) error {
	if f.file == nil {
		if _, err := f.Load(); err != nil {
			return err
		}
	}
	return f.file.Write(b)
}
