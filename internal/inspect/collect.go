package inspect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"shuffled/internal/audit"
)

// collector takes the results of recomputing, in order. It belongs to the
// goroutine collect, and once that has ended to the fold.
type collector struct {
	faults findings
	tapes  map[string]map[string]uint64 // by table and word
	out    *lines                       // nil: no file of shuffles was asked for

	recomputed func(audit.Statement) // of Options
	orders     func(id uint64, context *audit.Context, values []uint32)

	mixed map[string]uint64 // closed ones by table; the fold counted them as witnessed
	// of them, drawn from lists of tickets
	mixedTickets uint64
}

func newCollector() *collector {
	return &collector{tapes: make(map[string]map[string]uint64), mixed: make(map[string]uint64)}
}

func (c *collector) take(b *batch) error {
	for _, r := range b.rounds {
		if x := r.fault(); x != nil {
			c.faults.add(*x)
		}
	}
	for i := range b.closings {
		x := &b.closings[i]
		// The mix came before the close, and so its check.
		if x.beacon != nil && x.beacon.Holds {
			if x.counted {
				c.mixed[x.table]++
				if x.tickets {
					c.mixedTickets++
				}
			}
			if x.line != nil {
				x.line.Level = LevelMixed
			}
		}
		if x.tape == TapeRecomputed && x.stated != nil {
			c.recomputed(*x.stated)
		}
		if x.values != nil {
			c.orders(x.id, x.context, x.values)
			x.values, x.context = nil, nil
		}
		if x.fault != nil {
			c.faults.add(*x.fault)
		}
		if x.counted {
			t := c.tapes[x.table]
			if t == nil {
				t = make(map[string]uint64)
				c.tapes[x.table] = t
			}
			t[x.tape]++
		}
		if x.line != nil {
			x.line.Tape = x.tape
			if err := c.out.write(x.line); err != nil {
				return err
			}
		}
	}
	return b.err
}

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

// lines writes JSON lines.
type lines struct {
	f *os.File
	w *bufio.Writer
}

func openLines(name string) (*lines, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("writing shuffles: %w", err)
	}
	return &lines{f: f, w: bufio.NewWriterSize(f, 1<<16)}, nil
}

func (l *lines) write(line *ShuffleLine) error {
	if l == nil {
		return nil
	}
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("writing shuffles: %w", err)
	}
	if _, err := l.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("writing shuffles: %w", err)
	}
	return nil
}

// flush makes what was written durable.
func (l *lines) flush() error {
	if l == nil {
		return nil
	}
	if err := l.w.Flush(); err != nil {
		return fmt.Errorf("writing shuffles: %w", err)
	}
	if err := l.f.Sync(); err != nil {
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
