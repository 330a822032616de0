package sequencer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
)

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
	if cause := stops.Of(err); cause != "" && !l.begun() {
		l.cfg.Step(string(cause))
	}
}

// freeze stops signing. Only resume ends that.
func (l *Ledger) freeze(err error) {
	if !errors.Is(err, ledger.ErrFrozen) {
		err = fmt.Errorf("%w: %w", ledger.ErrFrozen, err)
	}
	l.to(phaseFrozen, err)
	l.cfg.Log.Error("signing stopped", "size", l.memory.Head.Size, "error", err)
}

// alarm has an alarm written at the next probe at which entries can be written. It runs on the sequencer's goroutine.
func (l *Ledger) alarm(kind audit.Alarm, reason string) {
	l.cfg.Log.Error("alarm", "kind", kind.String(), "reason", reason)
	l.alarms = append(l.alarms, audit.Event{Kind: audit.EventAlarm, Alarm: kind, Reason: reason})
}

// announcement is this daemon's instance_start. If there was no mark, an entry follows that
// says who vouched for the stored head. It runs on the sequencer's goroutine.
func (l *Ledger) announcement() ledger.Proposal {
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
		bodies = append(bodies, &audit.Event{Kind: audit.EventHeadAdopted, Size: l.memory.Head.Size,
			Digest: l.memory.Head.Root, Reason: l.cfg.AdoptHead})
	}
	return ledger.Proposal{Actor: audit.Daemon, Bodies: bodies}
}

// to changes the phase, and logs when the ledger stops and begins to be writable: nobody may ask in that time. why says
// why nothing can be written; it is nil for phaseWriting alone.
func (l *Ledger) to(next phase, why error) {
	if !slices.Contains(follows[l.phase], next) || (why == nil) != (next == phaseWriting) {
		panic(fmt.Sprintf("ledger: from phase %d to %d: %v", l.phase, next, why))
	}
	switch {
	case l.phase == phaseWriting && next == phaseWaiting:
		l.cfg.Log.Warn("the ledger cannot be written", "error", why)
	case l.phase == phaseWaiting && next == phaseWriting:
		l.cfg.Log.Warn("the ledger can be written again")
	}
	l.phase = next
	l.shown.Why.Store(&why)
}

// starts reports whether the proposal is an announcement.
func starts(p *ledger.Proposal) bool {
	e, ok := p.Bodies[0].(*audit.Event)
	return ok && e.Kind == audit.EventInstanceStart
}

// errBegun refuses a second instance_start of this daemon: begin and recheck may both propose one.
var errBegun = errors.New("the instance_start of this daemon is already written")

// begun reports whether this daemon's instance_start stands.
func (l *Ledger) begun() bool { return l.instance != 0 }

// stopping waits for d, or until the ledger is being closed, which it reports.
func (l *Ledger) stopping(d time.Duration) bool {
	return !ledger.Sleep(l.life.Running, d, nil)
}
