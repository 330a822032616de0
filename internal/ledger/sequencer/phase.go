package sequencer

import (
	"fmt"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// phase is what the sequencer can do now.
type phase int

const (
	phaseStarting phase = iota // nothing is written before the stored ledger was compared with what was seen
	phaseWriting               // entries are written
	phaseWaiting               // for the store, the clock or the signing key's holder
	phaseFrozen                // the stored ledger contradicts what was seen: nothing is signed, reads go on
	phaseClosed                // the sequencer has stopped
)

// follows lists which phase may come after which. A frozen ledger does not write before resume
// has compared it with everything that was seen.
var follows = map[phase][]phase{
	phaseStarting: {phaseStarting, phaseWriting, phaseFrozen, phaseClosed},
	phaseWriting:  {phaseWriting, phaseWaiting, phaseFrozen, phaseClosed},
	phaseWaiting:  {phaseWaiting, phaseWriting, phaseFrozen, phaseClosed},
	phaseFrozen:   {phaseFrozen, phaseWaiting, phaseClosed},
}

// standing is the phase of the sequencer, with what belongs to it. Only the sequencer's goroutine uses it, and only to
// changes the phase.
type standing struct {
	phase phase

	seen    *audit.Checkpoint // the high-water mark at the start; nil: there was none
	vouched voucher           // who vouched for the stored head at the start

	// What is to be written as soon as entries can be.
	resumed bool          // that entries are written again, after an append failed or signing stopped
	stepped string        // how far the clock stepped, until it is back
	alarms  []audit.Event // other alarms
}

// voucher is who vouched for the stored head at the start.
type voucher int

const (
	voucherNone           voucher = iota // nobody yet: the mark is not raised, and nothing is signed
	voucherMark                          // the high-water mark
	voucherWitnesses                     // a quorum of witnesses, as there is no mark; the ledger says so
	voucherAdministrators                // administrators by an act, as there is no mark; the ledger says so
)

// clock gives entries their time. It does not follow a wall clock that steps: the wall clock must stay within limit of
// where the monotonic clock expects it. It belongs to the sequencer's goroutine.
type clock struct {
	read  func() (wall time.Time, elapsed time.Duration)
	limit time.Duration

	started bool
	wall    time.Time // at the beginning
	elapsed time.Duration
}

// rebase is how long the wall clock is compared with the same beginning. It is so long that
// small steps, each below the limit, are noticed before they add up to much, and so short that
// the slewing of an honest clock, below 0.05 %, stays far below the limit.
const rebase = time.Hour

// now returns the time in UTC milliseconds, or ErrClock. The time is at least newest, the time of the newest entry.
func (c *clock) now(newest int64) (int64, error) {
	wall, elapsed := c.read()
	if c.started {
		expected := c.wall.Add(elapsed - c.elapsed)
		if step := wall.Round(0).Sub(expected.Round(0)); step.Abs() > c.limit {
			return 0, fmt.Errorf("%w by %s, more than %s", ledger.ErrClock, step.Round(time.Millisecond), c.limit)
		}
	}
	ms := wall.UnixMilli()
	if behind := newest - ms; behind > c.limit.Milliseconds() {
		return 0, fmt.Errorf("%w: it is %d ms behind the newest entry", ledger.ErrClock, behind)
	}
	if !c.started || elapsed-c.elapsed >= rebase {
		c.started, c.wall, c.elapsed = true, wall, elapsed
	}
	return max(ms, newest), nil
}
