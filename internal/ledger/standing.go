package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
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

// follows lists which phase may come after which. A frozen ledger does not write before thaw
// has compared it with everything that was seen.
var follows = map[phase][]phase{
	phaseStarting: {phaseStarting, phaseWriting, phaseFrozen, phaseClosed},
	phaseWriting:  {phaseWriting, phaseWaiting, phaseFrozen, phaseClosed},
	phaseWaiting:  {phaseWaiting, phaseWriting, phaseFrozen, phaseClosed},
	phaseFrozen:   {phaseFrozen, phaseWaiting, phaseClosed},
}

// standing is the phase of the sequencer, with what belongs to it. Only the sequencer's
// goroutine uses it, except that any goroutine may read why. Only to changes phase and why.
type standing struct {
	phase phase
	why   atomic.Pointer[error] // why nothing can be written now; nil in phaseWriting

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

// to changes the phase. why says why nothing can be written; it is nil for phaseWriting alone.
func (s *standing) to(next phase, why error) {
	if !slices.Contains(follows[s.phase], next) || (why == nil) != (next == phaseWriting) {
		panic(fmt.Sprintf("ledger: from phase %d to %d: %v", s.phase, next, why))
	}
	s.phase = next
	if why == nil {
		s.why.Store(nil)
		return
	}
	s.why.Store(&why)
}

// begun reports whether this daemon's instance_start stands.
func (l *Ledger) begun() bool { return l.instance != 0 }

// wait notes why nothing can be written now. A frozen ledger stays frozen.
func (l *Ledger) wait(err error) {
	switch l.phase {
	case phaseFrozen:
		return
	case phaseStarting:
		l.to(phaseStarting, err) // until begin has compared the ledger with what was seen
	default:
		l.to(phaseWaiting, err)
	}
	if cause := CauseOf(err); cause != "" && !l.begun() {
		l.cfg.Step(string(cause))
	}
}

// freeze stops signing. Only thaw resumes it.
func (l *Ledger) freeze(err error) {
	if !errors.Is(err, ErrFrozen) {
		err = fmt.Errorf("%w: %w", ErrFrozen, err)
	}
	l.to(phaseFrozen, err)
	l.cfg.Log.Error("signing stopped", "ledger", l.cfg.Info.Name, "size", l.head.Size, "error", err)
}

// alarm has an alarm written at the next probe at which entries can be written. It runs on the sequencer's goroutine.
func (l *Ledger) alarm(kind audit.Alarm, reason string) {
	l.cfg.Log.Error("alarm", "ledger", l.cfg.Info.Name, "kind", kind.String(), "reason", reason)
	l.alarms = append(l.alarms, audit.Event{Kind: audit.EventAlarm, Alarm: kind, Reason: reason})
}

// pay writes what the ledger owes: the instance_start of this daemon if it does not stand yet, otherwise that entries
// are written again, and the alarms. It is called at every probe until that is durable.
func (l *Ledger) pay() {
	p := Proposal{Actor: audit.Daemon}
	if l.resumed {
		p.Bodies = append(p.Bodies, &audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmSigningResumed,
			Reason: "the store takes entries again, and extends all that was seen"})
	}
	for i := range l.alarms {
		p.Bodies = append(p.Bodies, &l.alarms[i])
	}
	if !l.begun() {
		p = l.announcement()
	}
	r := newRequest(p)
	l.process([]*request{r})
	if a := <-r.reply; a.Err != nil {
		return
	}
	l.resumed = false
	if !p.starts {
		l.alarms = nil
	}
}

// errBegun refuses a second instance_start of this daemon: begin and recheck may both propose one.
var errBegun = errors.New("the instance_start of this daemon is already written")

// begin waits for the first answers of the witnesses and writes this daemon's instance_start. If the stored ledger
// contradicts what was seen, or the signing key is not available, that is no error: the ledger is read, Ready says why
// it is not written, and recheck writes the instance_start when the cause is gone.
func (l *Ledger) begin(ctx context.Context) error {
	l.cfg.Step("the first answers of the witnesses")
	wait := time.NewTimer(witnessStart)
	defer wait.Stop()
	select {
	case <-l.witnesses.settled:
	case <-wait.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	var objection error
	var start Proposal
	if err := l.ask(ctx, func() {
		switch {
		case l.begun():
			objection = errBegun // recheck was first: a doubt was gone
		case l.phase == phaseFrozen:
			objection = l.Ready() // recheck begins when the cause is gone
		default:
			objection, start = l.compare(ctx), l.announcement()
		}
	}); err != nil {
		return err
	}
	if objection == nil {
		l.cfg.Step("the database, which writes that this daemon starts")
		_, objection = l.Append(ctx, start)
	}
	if errors.Is(objection, ErrFrozen) || errors.Is(objection, ErrNoKey) || errors.Is(objection, errBegun) {
		return nil
	}
	return objection
}

// announcement is this daemon's instance_start. If there was no mark, an entry follows that
// says who vouched for the stored head. It runs on the sequencer's goroutine.
func (l *Ledger) announcement() Proposal {
	start := l.cfg.Start
	start.Kind = audit.EventInstanceStart
	bodies := []audit.Body{&start}
	switch l.vouched {
	case voucherWitnesses:
		bodies = append(bodies, &audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmMarkAdopted,
			Reason: "a quorum of witnesses cosigned the stored head"})
	case voucherAdministrators:
		if l.cfg.AdoptAct != nil {
			bodies = append(bodies, l.cfg.AdoptAct) // which approves the next
		}
		bodies = append(bodies, &audit.Event{Kind: audit.EventHeadAdopted, Size: l.head.Size, Digest: l.head.Root,
			Reason: l.cfg.AdoptHead})
	}
	return Proposal{Actor: audit.Daemon, Bodies: bodies, starts: true}
}

// rebase is how long the wall clock is compared with the same beginning. It is so long that
// small steps, each below the limit, are noticed before they add up to much, and so short that
// the slewing of an honest clock, below 0.05 %, stays far below the limit.
const rebase = time.Hour

// clock gives entries their time. It does not follow a wall clock that steps: the wall clock must stay within limit of
// where the monotonic clock expects it. It belongs to the sequencer's goroutine.
type clock struct {
	read  func() (wall time.Time, elapsed time.Duration)
	limit time.Duration

	started bool
	wall    time.Time // at the beginning
	elapsed time.Duration
}

// now returns the time in UTC milliseconds, or ErrClock. The time is at least newest, the time of the newest entry.
func (c *clock) now(newest int64) (int64, error) {
	wall, elapsed := c.read()
	if c.started {
		expected := c.wall.Add(elapsed - c.elapsed)
		if step := wall.Round(0).Sub(expected.Round(0)); step.Abs() > c.limit {
			return 0, fmt.Errorf("%w by %s, more than %s", ErrClock, step.Round(time.Millisecond), c.limit)
		}
	}
	ms := wall.UnixMilli()
	if behind := newest - ms; behind > c.limit.Milliseconds() {
		return 0, fmt.Errorf("%w: it is %d ms behind the newest entry", ErrClock, behind)
	}
	if !c.started || elapsed-c.elapsed >= rebase {
		c.started, c.wall, c.elapsed = true, wall, elapsed
	}
	return max(ms, newest), nil
}
