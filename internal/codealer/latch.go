package codealer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"shuffled/client"
	"shuffled/internal/dealer/api"
	"shuffled/internal/process"
)

// latchSuffix ends the name of the file that stops a house's deals with a co-dealer. The file is
// next to that of what was seen of the co-dealer.
const latchSuffix = ".forked"

// latch is set when checkpoints of a co-dealer contradict each other. It stays set, over
// restarts, until a person clears it with Clear.
type latch struct {
	mu   sync.Mutex
	path string
	why  string // "": it is not set
}

// Contradiction is the content of the file of a latch.
type Contradiction struct {
	CoDealer string    `json:"co_dealer"` // origin
	Time     time.Time `json:"time"`
	What     string    `json:"what"`
	One      string    `json:"one"` // signed checkpoints
	Other    string    `json:"other"`
}

func (l *latch) load(path string) error {
	l.path = path
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the latch: %w", err)
	}
	var c Contradiction
	if err := json.Unmarshal(b, &c); err != nil || c.What == "" {
		c.What = "the latch is set, and its file " + path + " cannot be read" // in doubt it is set
	}
	l.why = c.What
	return nil
}

// Readable returns nil if Open can read the latch of a co-dealer.
func Readable(state string) error { return new(latch).load(state + latchSuffix) }

// set returns api.ErrCoDealerForked if the latch is set, and otherwise nil.
func (l *latch) set() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", api.ErrCoDealerForked, l.why)
}

// trip sets the latch. If its file cannot be written, the latch is set until this process ends.
func (l *latch) trip(log *slog.Logger, now time.Time, origin string, fault *client.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != "" {
		return
	}
	l.why = fault.What
	b, err := json.Marshal(Contradiction{origin, now.UTC(), fault.What, string(fault.Answer), string(fault.Other)})
	if err == nil {
		err = process.ReplaceBytes(l.path, 0o600, b)
	}
	log.Error("the co-dealer showed two histories: nothing is dealt with it until this is cleared", "co_dealer", origin,
		"what", fault.What, "file", l.path, "error", err)
}

// Clear clears a latch that is set, and forgets what was seen of the co-dealer. Both files are
// kept under other names. The daemon must not be running.
func Clear(state string, now time.Time) (cleared bool, err error) {
	if _, err := os.Stat(state + latchSuffix); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	kept := now.UTC().Format(".20060102T150405Z")
	if err := os.Rename(state, state+kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("renaming the saved state of the co-dealer: %w", err)
	}
	if err := os.Rename(state+latchSuffix, state+latchSuffix+kept); err != nil {
		return false, fmt.Errorf("clearing the latch of the co-dealer: %w", err)
	}
	return true, nil
}

// checkSoon has the client check, in the background, that the co-dealer's ledger only grew. The deal does not wait for
// that. If two checkpoints contradict each other, the latch is set, and no further deal is asked for.
func (p *peer) checkSoon(to *client.Client) {
	select {
	case p.due <- to:
	default: // a check that begins later is due, and sees this answer too
	}
}

// checks makes the checks that are due, until the co-dealers are closed.
func (p *peer) checks() {
	for {
		select {
		case <-p.all.running.Done():
			return
		case to := <-p.due:
			ctx, cancel := context.WithTimeout(p.all.running, callTimeout)
			err := to.Check(ctx)
			cancel()
			if err = p.said(err); err != nil && p.all.running.Err() == nil { // the next answer has it checked again
				p.all.cfg.Log.Warn("the co-dealer's checkpoints could not be compared with each other", "co_dealer", p.Origin, "error", err)
			}
		}
	}
}
