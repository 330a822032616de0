package inspect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
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

// EventLine is an event that a reader of the report may ask about: a daemon's start, an alarm, a latch, a kill switch.
type EventLine struct {
	Entry      uint64 `json:"entry"` // index
	Time       string `json:"time"`
	Identity   string `json:"identity"`
	Credential string `json:"credential"`
	Kind       string `json:"kind"`             // as in docs/SPEC.md section 5.8
	Detail     string `json:"detail,omitempty"` // in plain words; may change
}

// note keeps an event of the period, at most MaxListed.
func (f *fold) note(e audit.Entry, index uint64) {
	b, ok := e.Body.(*audit.Event)
	if !ok || len(f.report.Events) == MaxListed || e.Time < f.opts.From || f.opts.To != 0 && e.Time >= f.opts.To {
		return
	}
	if detail, ok := telling(b); ok {
		f.report.Events = append(f.report.Events, EventLine{Entry: index, Time: bundle.FormatTime(e.Time),
			Kind: b.Kind.String(), Detail: detail, Identity: e.Actor.Identity, Credential: e.Actor.Credential})
	}
}

// telling describes an event of a kind that is listed; ok is false for other kinds.
func telling(e *audit.Event) (detail string, ok bool) {
	switch e.Kind {
	case audit.EventInstanceStart:
		fips := ""
		if e.FIPS {
			fips = ", in FIPS 140-3 mode"
		}
		return fmt.Sprintf("version %s, executable %x…%s", e.Name, e.Build[:8], fips), true
	case audit.EventLatchSet:
		return fmt.Sprintf("%s, seen by the daemon of entry %d", e.Latch, e.Instance), true
	case audit.EventLatchClear:
		return e.Reason, true
	case audit.EventAlarm:
		return fmt.Sprintf("%s: %s", e.Alarm, e.Reason), true
	case audit.EventKillSet, audit.EventKillClear:
		what := e.Scope.String()
		switch e.Scope {
		case audit.ScopeTable:
			what += " " + e.Name
		case audit.ScopeDeck:
			what += fmt.Sprintf(" %x…", e.Deck[:8])
		}
		return what + ": " + e.Reason, true
	}
	return "", false
}
