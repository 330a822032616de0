package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
)

// storeTimeout bounds one look at the store while an outcome is resolved.
const storeTimeout = 10 * time.Second

// write commits the draft and answers its requests. It returns those that must
// be prepared again, because another daemon moved the head first or some of
// their neighbours repeated a key. An unknown outcome is resolved before write
// returns: nothing else is written, and so nothing can be disclosed twice or
// answered wrongly, until the store says what happened.
func (l *Ledger) write(d *draft) (again []*request) {
	var duplicate *DuplicateError
	for unknown := false; ; {
		err := l.cfg.Store.Append(context.Background(), l.id, l.head, d.batch)
		switch {
		case err == nil:
			l.landed(d)
			return nil
		case errors.Is(err, ErrStale):
			return l.overtaken(d)
		case errors.As(err, &duplicate) && !unknown:
			l.state.Rollback(d.mark)
			return answerDuplicates(d.requests, duplicate)
		case errors.As(err, &duplicate):
			// The batch itself may be what stands there.
			return l.overtaken(d)
		case errors.Is(err, ErrUnknownOutcome):
			unknown = true
			l.setStatus(fmt.Errorf("%w: a commit is being resolved", ErrUnavailable))
			l.cfg.Log.Error("the outcome of a commit is unknown; resolving it", "ledger", l.cfg.Info.Name, "error", err)
		case unknown:
			// Nothing was written this time; the first attempt is still open.
		default:
			l.state.Rollback(d.mark)
			l.setStatus(fmt.Errorf("%w: %w", ErrUnavailable, err))
			answerAll(d.requests, fmt.Errorf("%w: %w", ErrUnavailable, err))
			return nil
		}
		if l.stopping(l.cfg.Probe) {
			l.state.Rollback(d.mark)
			answerAll(d.requests, ErrUnknownOutcome)
			return nil
		}
	}
}

// stopping waits for d and reports whether the ledger is being closed.
func (l *Ledger) stopping(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.stop:
		return true
	case <-t.C:
		return false
	}
}

// landed makes a durable draft what memory knows, writes the mark, and answers.
func (l *Ledger) landed(d *draft) {
	l.state.Commit()
	proofs := make([]audit.Receipt, len(d.batch.Rows))
	for i, row := range d.batch.Rows {
		proof, err := d.growth.prove(int64(row.Index))
		if err != nil {
			// The root was computed from the same nodes.
			panic("ledger: no proof for an entry of this batch: " + err.Error())
		}
		proofs[i] = audit.Receipt{Index: row.Index, Entry: row.Entry, Proof: proof, Checkpoint: d.batch.Head.Checkpoint}
	}
	l.edge.Lock()
	l.tree.grow(d.growth, d.batch.Tiles)
	l.edge.Unlock()
	l.head = d.batch.Head
	if d.requests[0].starts {
		l.instance = d.batch.Rows[0].Index
	}
	l.keepMark()
	l.publish()
	i := 0
	for _, r := range d.requests {
		a := answer{appended: make([]Appended, len(r.Bodies))}
		for j := range a.appended {
			a.appended[j] = Appended{Index: proofs[i].Index, Entry: d.entries[i], Receipt: proofs[i]}
			i++
		}
		r.answer(a)
	}
}

// keepMark raises the high-water mark to the head. Without the guard no more is
// signed; what is durable is still answered.
func (l *Ledger) keepMark() {
	if err := l.mark.write(l.head.Checkpoint); err != nil {
		l.freeze(fmt.Errorf("%w: %w", ErrFrozen, err))
		return
	}
	l.setStatus(nil)
}

// overtaken handles a head that is not the one this daemon knows: either the
// draft itself was written by an attempt whose reply was lost, or another daemon
// was first. It returns the requests to prepare again.
func (l *Ledger) overtaken(d *draft) (again []*request) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		ours, err := l.isStored(ctx, d)
		if err == nil && ours {
			cancel()
			l.landed(d)
			return nil
		}
		if err == nil {
			l.state.Rollback(d.mark)
			err = l.catchUp(ctx)
			cancel()
			if err == nil {
				return d.requests
			}
			l.unreadable(err)
			answerAll(d.requests, l.Ready())
			return nil
		}
		cancel()
		l.setStatus(fmt.Errorf("%w: %w", ErrUnavailable, err))
		if l.stopping(l.cfg.Probe) {
			l.state.Rollback(d.mark)
			answerAll(d.requests, ErrUnknownOutcome)
			return nil
		}
	}
}

// isStored reports whether the draft's rows stand in the store, behind the
// barrier. A batch is one transaction: its first row decides for all.
func (l *Ledger) isStored(ctx context.Context, d *draft) (bool, error) {
	head, err := l.cfg.Store.Head(ctx, l.id)
	if err != nil {
		return false, fmt.Errorf("reading the head: %w", err)
	}
	first := d.batch.Rows[0]
	if head.Size <= first.Index {
		return false, nil
	}
	for row, err := range l.cfg.Store.Rows(ctx, l.id, first.Index, first.Index+1) {
		if err != nil {
			return false, fmt.Errorf("reading entry %d: %w", first.Index, err)
		}
		return bytes.Equal(row.Entry, first.Entry) && bytes.Equal(row.Sealed, first.Sealed), nil
	}
	return false, nil
}

// catchUp reads the head and folds what other daemons wrote.
func (l *Ledger) catchUp(ctx context.Context) error {
	head, err := l.cfg.Store.Head(ctx, l.id)
	if err != nil {
		return fmt.Errorf("reading the head: %w", err)
	}
	if err := l.advance(ctx, head); err != nil {
		return err
	}
	l.keepMark()
	l.publish()
	return nil
}

// unreadable notes why the ledger cannot be written after a failed catch-up.
func (l *Ledger) unreadable(err error) {
	if errors.Is(err, ErrFrozen) || errors.Is(err, ErrNotFound) {
		l.freeze(err)
		return
	}
	l.setStatus(fmt.Errorf("%w: %w", ErrUnavailable, err))
}

// freeze stops signing. Only thaw ends it.
func (l *Ledger) freeze(err error) {
	if !errors.Is(err, ErrFrozen) {
		err = fmt.Errorf("%w: %w", ErrFrozen, err)
	}
	l.setStatus(err)
	l.cfg.Log.Error("signing stopped", "ledger", l.cfg.Info.Name, "size", l.head.Size, "error", err)
}

// recheck looks whether what kept the ledger from being written is over, for no
// request may come while it is reported as not ready.
func (l *Ledger) recheck() {
	switch err := l.Ready(); {
	case err == nil:
	case errors.Is(err, ErrFrozen):
		l.thaw()
	default:
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		if _, err := l.clock.now(l.state.Time()); err != nil {
			return
		}
		if _, err := l.cfg.Store.Head(ctx, l.id); err == nil {
			l.setStatus(nil)
		}
	}
}

// thaw resumes signing if the stored head extends everything seen again, and
// writes an alarm that says so.
func (l *Ledger) thaw() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := l.catchUp(ctx); err != nil || l.Ready() != nil {
		return
	}
	l.cfg.Log.Warn("signing resumed", "ledger", l.cfg.Info.Name, "size", l.head.Size)
	alarm := &request{
		Proposal: Proposal{Actor: "daemon", Bodies: []audit.Body{
			&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmSigningResumed, Reason: "the stored head extends all that was seen"}}},
		reply: make(chan answer, 1),
	}
	l.process([]*request{alarm})
}

// answerDuplicates answers the requests whose key is in the ledger already and
// returns the others.
func answerDuplicates(requests []*request, duplicate *DuplicateError) (again []*request) {
	for _, r := range requests {
		var tags [][32]byte
		for _, b := range r.Bodies {
			if c, ok := b.(*audit.Commit); ok && slices.Contains(duplicate.Tags, c.KeyTag) {
				tags = append(tags, c.KeyTag)
			}
		}
		if len(tags) == 0 {
			again = append(again, r)
			continue
		}
		r.answer(answer{err: &DuplicateError{Tags: tags}})
	}
	return again
}
