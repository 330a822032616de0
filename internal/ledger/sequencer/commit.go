package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// write commits the draft and answers its requests. It returns those that must be prepared again, because another
// daemon moved the head first or another request of the draft repeated a key. If the outcome of the commit is unknown,
// write finds it out before it returns. Until then nothing else is written, so that nothing is disclosed twice or
// answered wrongly.
func (l *Ledger) write(d *draft) (again []*request) {
	var duplicate *DuplicateError
	for unknown := false; ; {
		began := time.Now()
		l.shown.writing.Store(began.UnixNano())
		err := l.cfg.Store.Append(context.Background(), l.id, l.memory.head, d.batch)
		l.shown.writing.Store(0)
		switch {
		case err == nil:
			if l.cfg.Appended != nil && !unknown {
				l.cfg.Appended(time.Since(began), len(d.batch.Rows))
			}
			l.landed(d)
			return nil
		case errors.Is(err, ErrStale) && !unknown:
			return l.behind(d, nil)
		case errors.Is(err, ErrStale):
			return l.overtaken(d, nil)
		case errors.As(err, &duplicate) && !unknown:
			l.memory.state.Rollback(d.mark)
			return l.duplicated(d, duplicate)
		case errors.As(err, &duplicate):
			// The batch itself may be what stands there.
			return l.overtaken(d, duplicate)
		case errors.Is(err, ErrUnknownOutcome):
			unknown = true
			l.appends.unknown.Add(1)
			l.wait(withCause(fmt.Errorf("%w: a commit is being resolved", ErrUnavailable), CauseOf(err)))
			l.cfg.Log.Error("the outcome of a commit is unknown; resolving it", "ledger", l.cfg.Info.Name, "error", err)
		case unknown:
			// Nothing was written this time; the first attempt is still open.
		case errors.Is(err, ErrFrozen):
			l.memory.state.Rollback(d.mark)
			l.freeze(err)
			answerAll(d.all, l.Ready())
			return nil
		default:
			l.appends.failed.Add(1)
			l.memory.state.Rollback(d.mark)
			l.resumed = true // once an append works again
			l.wait(Unavailable(err))
			answerAll(d.all, l.Ready())
			return nil
		}
		if l.stopping(l.cfg.Probe) {
			l.giveUp(d)
			return nil
		}
	}
}

// giveUp answers a draft whose outcome this daemon will not learn, because it is closing.
func (l *Ledger) giveUp(d *draft) {
	l.memory.state.Rollback(d.mark)
	answerAll(d.requests, ErrUnknownOutcome)
	for _, r := range d.refused {
		r.request.answer(Answer{Err: ErrClosed})
	}
}

// landed takes a durable draft into memory, writes the mark, and answers the requests.
func (l *Ledger) landed(d *draft) {
	l.memory.state.Commit()
	l.showKeys()
	proofs := make([]audit.Receipt, len(d.batch.Rows))
	for i, row := range d.batch.Rows {
		proof, err := tlog.ProveRecord(d.growth.size, int64(row.Index), d.growth)
		if err != nil {
			// The root was computed from the same nodes.
			panic("ledger: no proof for an entry of this batch: " + err.Error())
		}
		proofs[i] = audit.Receipt{Index: row.Index, Entry: row.Entry, Proof: proof, Checkpoint: d.batch.Head.Checkpoint}
	}
	l.shown.edge.Lock()
	l.shown.tree.grow(d.growth, d.batch.Tiles)
	l.shown.edge.Unlock()
	l.memory.head = d.batch.Head
	if starts(&d.requests[0].Proposal) {
		l.instance = d.batch.Rows[0].Index
	}
	if l.keepMark() {
		l.to(phaseWriting, nil)
	}
	l.appends.landed.Add(1)
	l.publish()
	d.answerRefused()
	i := 0
	for _, r := range d.requests {
		a := Answer{Appended: make([]Appended, len(r.Bodies))}
		for j := range a.Appended {
			a.Appended[j] = Appended{Index: proofs[i].Index, Entry: d.entries[i], Receipt: proofs[i]}
			l.logAct(proofs[i].Index, d.entries[i])
			i++
		}
		r.answer(a)
	}
}

// keepMark raises the high-water mark to the head. If it cannot, nothing more is signed; what
// is durable is still answered.
func (l *Ledger) keepMark() (kept bool) {
	if err := l.mark.held.Check(); err != nil {
		l.freeze(replaced(err))
		return false
	}
	if err := l.mark.write(l.memory.head.Checkpoint); err != nil {
		l.freeze(fmt.Errorf("%w: %w", ErrFrozen, err))
		return false
	}
	return true
}

func replaced(err error) error {
	return &StoreError{Cause: CauseReplaced, Err: fmt.Errorf("%w: %w", ErrFrozen, err)}
}

// overtaken handles a draft that the store refused after an attempt whose outcome is unknown.
// Either that attempt wrote the draft, or another daemon was first, or the store has keys or
// slots of the draft. It returns the requests to prepare again.
func (l *Ledger) overtaken(d *draft, duplicate *DuplicateError) (again []*request) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), StoreTimeout)
		ours, err := l.isStored(ctx, d)
		cancel()
		switch {
		case err == nil && ours:
			l.landed(d)
			return nil
		case err == nil:
			return l.behind(d, duplicate)
		}
		l.wait(Unavailable(err))
		if l.stopping(l.cfg.Probe) {
			l.giveUp(d)
			return nil
		}
	}
}

// behind gives the draft up, reads what other daemons wrote, and returns the requests to prepare again.
//
// If the head is the one that this daemon knows, keys or slots were in the way, or else the
// store holds rows that no head covers, and nothing can be written there. The store must have
// refused twice in a row before that is believed: a server that was killed after it refused
// may have had a row in the way that the server promoted in its place does not have.
func (l *Ledger) behind(d *draft, duplicate *DuplicateError) (again []*request) {
	l.memory.state.Rollback(d.mark)
	if duplicate == nil {
		l.stopping(backOff(d)) // a daemon that closes reads once more, and answers
	}
	known := l.memory.head.Size
	ctx, cancel := context.WithTimeout(context.Background(), StoreTimeout)
	defer cancel()
	err := l.catchUp(ctx)
	if err == nil && l.memory.head.Size == known {
		if duplicate != nil {
			return l.duplicated(d, duplicate)
		}
		if !d.balked() {
			return d.all
		}
		err = fmt.Errorf("%w: entry %d is stored, and no head covers it", ErrFrozen, known)
	}
	if err != nil {
		l.unreadable(err)
		answerAll(d.all, l.Ready())
		return nil
	}
	return l.overtook(d.all)
}

// isStored reports whether the draft's batch stands in the store, behind the barrier of Head:
// whether the first checkpoint above its first entry is the draft's own. Rows would not tell:
// another daemon's batch can begin with the same bytes.
func (l *Ledger) isStored(ctx context.Context, d *draft) (bool, error) {
	head, err := l.cfg.Store.Head(ctx, l.id)
	if err != nil {
		return false, fmt.Errorf("reading the head: %w", err)
	}
	first := d.batch.Rows[0].Index
	if head.Size <= first {
		return false, nil
	}
	stored, err := l.cfg.Store.CheckpointAfter(ctx, l.id, first)
	if err != nil {
		return false, fmt.Errorf("reading the checkpoint after entry %d: %w", first, err)
	}
	return stored.Size == d.batch.Head.Size && stored.Root == d.batch.Head.Root, nil
}

// catchUp folds what other daemons wrote, in steps from one of their checkpoints to a later
// one. Each is checked before it counts.
func (l *Ledger) catchUp(ctx context.Context) error {
	newest, err := l.cfg.Store.Head(ctx, l.id)
	if err != nil {
		return fmt.Errorf("reading the head: %w", err)
	}
	if newest.Size == l.memory.head.Size && newest.Root == l.memory.head.Root && bytes.Equal(newest.Checkpoint, l.memory.head.Checkpoint) {
		l.isNewest()
		return nil // most often the head is the known one
	}
	known := l.memory.head.Size
	for last := false; !last; {
		step, cancel := context.WithTimeout(context.Background(), StoreTimeout)
		next := newest
		if last = l.memory.head.Size+loadChunk >= newest.Size; !last {
			next, err = l.cfg.Store.CheckpointAfter(step, l.id, l.memory.head.Size+loadChunk-1)
		}
		if err == nil {
			err = l.advance(step, next)
		}
		cancel()
		if err != nil {
			return err
		}
	}
	l.isNewest()
	if newest.Size == known {
		return nil
	}
	kept := l.vouched == voucherNone || l.keepMark() // with voucherNone the mark may be above this head
	l.publish()
	if !kept {
		return l.Ready()
	}
	return nil
}

// readNewer is catchUp, and says in the ledger's phase why it failed. It is core.foldNewer.
func (l *Ledger) readNewer(ctx context.Context) error {
	err := l.catchUp(ctx)
	if err != nil {
		l.unreadable(err)
		err = l.Ready()
	}
	return err
}

// unreadable notes why the ledger cannot be written after catchUp failed.
func (l *Ledger) unreadable(err error) {
	if l.phase == phaseFrozen {
		return // catchUp could not write the mark, and has said so
	}
	if errors.Is(err, ErrFrozen) || errors.Is(err, ErrNotFound) {
		l.freeze(err)
		return
	}
	l.wait(Unavailable(err))
}

// publish shows the head and the counts to readers.
func (l *Ledger) publish() {
	head := l.memory.head
	l.showHolders()
	l.live.Store(&Live{Size: head.Size, Time: l.memory.state.Time(), Open: l.memory.state.OpenCount(), Latched: l.memory.state.Latched(),
		Killed: l.memory.state.Killed(), Switches: len(l.memory.state.Switches())})
	l.shown.published.Store(&head)
	l.shown.moved.tell()
	l.witnesses.wake()
	l.cache.wake()
}

// logAct logs an administrative entry when it is durable: who did what, to what, and with which
// credential. The entry has the rest, such as the reason.
func (l *Ledger) logAct(index uint64, e audit.Entry) {
	var what, of string
	switch b := e.Body.(type) {
	case *audit.Key:
		what, of = "key_"+b.Subject.String(), b.Name
	case *audit.Credential:
		what, of = "credential_"+b.Kind.String(), b.ID
	case *audit.ActEntry:
		what = "act_" + b.Act.String()
	case *audit.Takeover:
		what, of = "takeover_"+b.Extent.String(), l.cfg.Info.Name
	case *audit.Event:
		switch b.Kind {
		case audit.EventTableOpen, audit.EventTableClose, audit.EventKillSet, audit.EventKillClear,
			audit.EventLatchClear, audit.EventHeadAdopted:
			what, of = b.Kind.String(), b.Name
		}
	}
	if what == "" || e.Actor == audit.Daemon { // most often the daemon's disclosure key
		return
	}
	l.cfg.Log.Info("administrative act", "ledger", l.cfg.Info.Name, "entry", index, "act", what, "of", of,
		"identity", e.Actor.Identity, "credential", e.Actor.Credential)
}

// showHolders shows the credentials of the published head, if they changed.
func (l *Ledger) showHolders() {
	changes := l.memory.state.HolderChanges()
	if l.shown.holders.Load() != nil && changes == l.holderChanges {
		return
	}
	l.holderChanges = changes
	shown := make(map[string]audit.Holder)
	for _, h := range l.memory.state.Holders() {
		shown[h.ID] = h
	}
	l.shown.holders.Store(&shown)
}

// isNewest notes that memory covers the store's newest entry now. It runs on the sequencer's goroutine.
func (l *Ledger) isNewest() { l.shown.folded.Store(int64(l.elapsed())) }
