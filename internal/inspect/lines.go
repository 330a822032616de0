package inspect

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"reflect"
)

// ShuffleLine is a line of the file of shuffles.
type ShuffleLine struct {
	ID        uint64 `json:"id"`
	Table     string `json:"table"`
	Serial    uint64 `json:"serial"`
	Owner     string `json:"owner"` // the identity that committed it
	GameRef   string `json:"game_ref,omitempty"`
	Shuffled  string `json:"shuffled"` // what was shuffled, as the report counts it
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

// lines writes JSON lines. A nil *lines writes none. Its errors name the file.
type lines struct {
	f    *os.File
	w    *bufio.Writer
	enc  *json.Encoder
	keep func(*ShuffleLine) bool // whether a line is written; nil: each is
}

func openLines(name string, keep func(*ShuffleLine) bool) (*lines, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	return &lines{f, w, json.NewEncoder(w), keep}, nil
}

func (l *lines) write(line *ShuffleLine) error {
	if l == nil || l.keep != nil && !l.keep(line) {
		return nil
	}
	return l.enc.Encode(line)
}

// close makes what was written durable.
func (l *lines) close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.w.Flush(), l.f.Sync(), l.f.Close())
}

// sum adds the figures of one struct to those of another of its type: its numbers, and those in its maps by name.
func sum[T any](to, from *T) {
	a, b := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range a.NumField() {
		switch figure := a.Field(i); figure.Kind() {
		case reflect.Uint64:
			figure.SetUint(figure.Uint() + b.Field(i).Uint())
		case reflect.Map:
			by := figure.Interface().(map[string]uint64)
			for name, n := range b.Field(i).Interface().(map[string]uint64) {
				by[name] += n
			}
		}
	}
}
