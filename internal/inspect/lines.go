package inspect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// ShuffleLine is a line of the file of shuffles.
type ShuffleLine struct {
	ID        uint64 `json:"id"`
	Table     string `json:"table"`
	Serial    uint64 `json:"serial"`
	Committed string `json:"committed_at"`
	CloseBy   string `json:"close_by"`
	State     string `json:"state"` // open, overdue or closed
	Closed    string `json:"closed_at,omitempty"`
	Entry     uint64 `json:"close_entry,omitempty"` // index of the close
	Outcome   string `json:"outcome,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Places    int    `json:"places"`
	Dealt     int    `json:"dealt"`
	Level     string `json:"level"`
	Tape      string `json:"tape,omitempty"` // of a closed one
}

// lines writes JSON lines. A nil *lines writes none.
type lines struct {
	f   *os.File
	w   *bufio.Writer
	enc *json.Encoder
}

func openLines(name string) (*lines, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("writing shuffles: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	return &lines{f, w, json.NewEncoder(w)}, nil
}

func (l *lines) write(line *ShuffleLine) error {
	if l == nil {
		return nil
	}
	if err := l.enc.Encode(line); err != nil {
		return fmt.Errorf("writing shuffles: %w", err)
	}
	return nil
}

// flush makes what was written durable.
func (l *lines) flush() error {
	if l == nil {
		return nil
	}
	if err := errors.Join(l.w.Flush(), l.f.Sync()); err != nil {
		return fmt.Errorf("writing shuffles: %w", err)
	}
	return nil
}

func (l *lines) close() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}
