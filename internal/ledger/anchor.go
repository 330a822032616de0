package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// A database cannot guard against its own rollback, so the head is held against
// what stands outside of it: the high-water mark of this host and what the
// witnesses have cosigned. Until all of that agrees with the stored ledger
// nothing is signed; entries that stand are still read and proved.

// witnessStart is how long the start waits for the witnesses' first answers.
const witnessStart = gateway.Timeout + time.Second

// objection returns why nothing may be signed now, nil when nothing is in the
// way: what the stored head contradicts, or whose word is still missing. It runs
// on the sequencer's goroutine.
func (l *Ledger) objection(ctx context.Context) error {
	if c := l.witnesses.roll.doubt(ctx, l.head); c != nil {
		return fmt.Errorf("%w: witness %s: %w", ErrFrozen, c.Name, c)
	}
	if l.vouched == voucherNone {
		if err := l.holdAgainstMark(ctx); err != nil {
			return err
		}
	}
	if l.Genesis().Deals == audit.DealsCosigned && !l.witnesses.confirmed.Load() {
		return fmt.Errorf("%w: waiting for a quorum of witnesses to confirm the stored head of size %d", ErrFrozen,
			l.head.Size)
	}
	return nil
}

// holdAgainstMark compares the stored ledger with the high-water mark. Without a
// mark the witnesses must confirm the head, or an operator vouch for it.
func (l *Ledger) holdAgainstMark(ctx context.Context) error {
	seen := l.seen
	switch {
	case seen == nil && l.witnesses.confirmed.Load():
		l.vouched = voucherWitnesses
	case seen == nil && l.cfg.AdoptHead != "":
		l.vouched = voucherOperator
		l.cfg.Log.Error("the stored head is adopted on an operator's word, and every credential is revoked; "+
			"if a newer head was ever shown to anybody, what is signed from now on is a fork",
			"ledger", l.cfg.Info.Name, "size", l.head.Size)
	case seen == nil && l.asksWitnesses(l.head.Size):
		return fmt.Errorf("%w: %w (size %d, %s): waiting for a quorum of witnesses", ErrFrozen, ErrNoMark, l.head.Size,
			l.cfg.Mark)
	case seen == nil:
		return fmt.Errorf("%w (size %d, %s)", ErrNoMark, l.head.Size, l.cfg.Mark)
	case seen.Size > l.head.Size:
		return fmt.Errorf("%w: size %d where the high-water mark has %d", ErrFrozen, l.head.Size, seen.Size)
	default:
		root, err := l.rootAt(ctx, l.head, seen.Size)
		if err != nil {
			return err
		}
		if root != seen.Root {
			return fmt.Errorf("%w: another root at size %d than the high-water mark's", ErrFrozen, seen.Size)
		}
		l.vouched = voucherMark
	}
	return nil
}

// errBegun refuses a second instance_start of one daemon: begin and recheck may both ask
// for it.
var errBegun = errors.New("this daemon's instance_start stands")

// begin asks the witnesses, if there are any, and writes this daemon's
// instance_start. A ledger that contradicts what was seen, or whose signing key
// is not available, is opened nevertheless: it is read, its readiness says why it is
// not written, and recheck begins it when the cause is gone.
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
	begun := false
	if err := l.ask(ctx, func() {
		if begun = l.begun(); begun { // by recheck, when a doubt was gone
			return
		}
		if l.phase == phaseFrozen {
			objection = l.Ready() // what froze it must be gone first, which recheck sees
			return
		}
		if objection = l.objection(ctx); objection == nil {
			l.to(phaseWriting, nil)
		} else if errors.Is(objection, ErrFrozen) {
			l.freeze(objection)
		}
	}); err != nil {
		return err
	}
	if begun {
		return nil
	}
	if objection == nil {
		l.cfg.Step("the database, which writes that this daemon starts")
		_, objection = l.Append(ctx, l.announcement())
	}
	if errors.Is(objection, ErrFrozen) || errors.Is(objection, ErrNoKey) || errors.Is(objection, errBegun) {
		return nil
	}
	return objection
}

// announcement is this daemon's instance_start, with the word of anyone who
// vouched for a head without a mark.
func (l *Ledger) announcement() Proposal {
	start := l.cfg.Start
	start.Kind = audit.EventInstanceStart
	bodies := []audit.Body{&start}
	switch l.vouched {
	case voucherWitnesses:
		bodies = append(bodies, &audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmMarkAdopted,
			Reason: "a quorum of witnesses cosigned the stored head"})
	case voucherOperator:
		bodies = append(bodies, l.adoption()...)
	}
	return Proposal{Actor: audit.Daemon, Bodies: bodies, starts: true}
}

// adoption is the entry of a head that an operator vouched for, behind the act that
// approves it where one was given.
func (l *Ledger) adoption() []audit.Body {
	adopted := l.cfg.adopted(l.head)
	if l.cfg.AdoptAct == nil {
		return []audit.Body{adopted}
	}
	return []audit.Body{l.cfg.AdoptAct, adopted}
}

// adopted is the event of a head that is adopted for the configured reason.
func (c *Config) adopted(head Head) *audit.Event {
	return &audit.Event{Kind: audit.EventHeadAdopted, Size: head.Size, Digest: head.Root, Reason: c.AdoptHead}
}

// stopForDoubts stops the sequencer, on whose goroutine it runs, over a witness that has
// seen another history. Only thaw ends that.
func (l *Ledger) stopForDoubts() {
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	c := l.witnesses.roll.doubt(ctx, l.head)
	if c != nil && l.phase != phaseFrozen {
		l.freeze(fmt.Errorf("%w: witness %s: %w", ErrFrozen, c.Name, c))
	}
}

// thaw resumes signing if the stored head extends everything seen again and the
// mark can be written.
func (l *Ledger) thaw(ctx context.Context) {
	if err := l.catchUp(ctx); err != nil {
		l.refreeze(err)
		return
	}
	if err := l.objection(ctx); err != nil {
		l.refreeze(err)
		return
	}
	if !l.keepMark() {
		return
	}
	l.cfg.Log.Warn("signing resumes", "ledger", l.cfg.Info.Name, "size", l.head.Size)
	l.resumed = true
	l.to(phaseWaiting, fmt.Errorf("%w: signing resumes", ErrUnavailable))
	l.pay()
}

// refreeze keeps readiness true to the newest cause.
func (l *Ledger) refreeze(err error) {
	if errors.Is(err, ErrFrozen) && err.Error() != l.Ready().Error() {
		l.freeze(err)
	}
}
