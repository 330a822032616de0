package sequencer

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
)

// A database cannot guard against its own rollback. So the stored head is compared with what lies outside the database:
// the high-water mark of this host, and what the witnesses have cosigned. Nothing is signed before all of that agrees
// with the stored ledger. Stored entries are read and proved in any case.

// objection returns why nothing may be signed on the stored head: what the head contradicts, or who has not confirmed
// it yet. It returns nil if entries may be signed. It runs on the sequencer's goroutine.
func (l *Ledger) objection(ctx context.Context) error {
	if c := l.Rounds.Doubt(ctx, l.memory.Head); c != nil {
		return fmt.Errorf("%w: witness %s: %w", ledger.ErrFrozen, c.Name, c)
	}
	if l.vouched == voucherNone {
		if err := l.holdAgainstMark(ctx); err != nil {
			return err
		}
	}
	if l.Genesis().Deals == audit.DealsCosigned && !l.Rounds.Confirmed() {
		return fmt.Errorf("%w: %w to confirm the stored head of size %d", ledger.ErrFrozen, ledger.ErrUnconfirmed,
			l.memory.Head.Size)
	}
	return nil
}

// compare lets the sequencer write if nothing objects, and freezes the ledger if the stored
// head contradicts what was seen. It returns the objection, for the start.
func (l *Ledger) compare(ctx context.Context) error {
	objection := l.objection(ctx)
	switch {
	case objection == nil:
		l.to(phaseWriting, nil)
	case errors.Is(objection, ledger.ErrFrozen):
		l.freeze(objection)
	}
	return objection
}

// holdAgainstMark compares the stored ledger with the high-water mark. If there is no mark,
// the witnesses must confirm the head or administrators must adopt it.
func (l *Ledger) holdAgainstMark(ctx context.Context) error {
	seen := l.seen
	switch {
	case seen == nil && l.Rounds.Confirmed():
		l.vouched = voucherWitnesses
	case seen == nil && l.cfg.AdoptHead != "":
		l.vouched = voucherAdministrators
	case seen == nil && l.Policies().At(l.memory.Head.Size).Asks():
		return fmt.Errorf("%w: %s (size %d, %s): %w", ledger.ErrFrozen, stops.NoMark, l.memory.Head.Size,
			l.cfg.Mark, ledger.ErrUnconfirmed)
	case seen == nil:
		return fmt.Errorf("%w (size %d, %s)", stops.NoMark, l.memory.Head.Size, l.cfg.Mark)
	case seen.Size > l.memory.Head.Size:
		return fmt.Errorf("%w: size %d where the high-water mark has %d", ledger.ErrFrozen, l.memory.Head.Size, seen.Size)
	default:
		root, err := l.RootAt(ctx, l.memory.Head, seen.Size)
		if err != nil {
			return err
		}
		if root != seen.Root {
			return fmt.Errorf("%w: another root at size %d than the high-water mark's", ledger.ErrFrozen, seen.Size)
		}
		l.vouched = voucherMark
	}
	return nil
}

// stopForDoubts stops signing if a witness has seen another history. Only resume ends that. It
// runs on the sequencer's goroutine.
func (l *Ledger) stopForDoubts() {
	ctx, cancel := context.WithTimeout(l.life.Running, ledger.StoreTimeout)
	defer cancel()
	c := l.Rounds.Doubt(ctx, l.memory.Head)
	if c != nil && l.phase != phaseFrozen {
		l.freeze(fmt.Errorf("%w: witness %s: %w", ledger.ErrFrozen, c.Name, c))
	}
}

// resume lets the ledger sign again if the stored head extends everything that was seen, and the mark can be written.
func (l *Ledger) resume(ctx context.Context) (resumed bool) {
	err := l.catchUp(ctx)
	if err == nil {
		err = l.objection(ctx)
	}
	if errors.Is(err, ledger.ErrFrozen) && err.Error() != l.Ready().Error() {
		l.freeze(err) // readiness shows the newest cause
	}
	if err != nil || !l.keepMark() {
		return false
	}
	l.cfg.Log.Warn("signing resumes", "size", l.memory.Head.Size)
	l.resumed = true
	l.to(phaseWaiting, fmt.Errorf("%w: signing resumes", ledger.ErrUnavailable))
	return true
}

// readMark reads the high-water mark, if there is one. This daemon has the lock of the file, so
// no other daemon raises the mark any more. The next write goes to the other slot.
func (l *Ledger) readMark() error {
	seen, in, err := ReadMark(l.cfg.Mark, l.markKeys()...)
	if errors.Is(err, stops.NoMark) {
		return nil
	}
	if err != nil {
		return err
	}
	l.seen, l.mark.slot = &seen, int64(1-in)
	return nil
}
