package sequencer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
)

// write commits the draft and answers its requests. It returns those that must be prepared again, because another
// daemon moved the head first or another request of the draft repeated a key. If the outcome of the commit is unknown,
// write finds it out before it returns. Until then nothing else is written, so that nothing is disclosed twice or
// answered wrongly.
func (l *Ledger) write(d *draft) (again []*ledger.Request) {
	var duplicate *ledger.DuplicateError
	for unknown := false; ; {
		began := time.Now()
		l.shown.Writing.Store(began.UnixNano())
		err := l.cfg.Store.Append(context.Background(), l.ID(), l.memory.Head, d.batch)
		l.shown.Writing.Store(0)
		switch {
		case err == nil:
			if l.cfg.Appended != nil && !unknown {
				l.cfg.Appended(time.Since(began), len(d.batch.Rows))
			}
			l.landed(d)
			return nil
		case errors.Is(err, ledger.ErrStale) && !unknown:
			return l.behind(d, nil)
		case errors.Is(err, ledger.ErrStale):
			return l.overtaken(d, nil)
		case errors.As(err, &duplicate) && !unknown:
			l.memory.State.Rollback(d.mark)
			return l.duplicated(d, duplicate)
		case errors.As(err, &duplicate):
			// The batch itself may be what stands there.
			return l.overtaken(d, duplicate)
		case errors.Is(err, ledger.ErrUnknownOutcome):
			unknown = true
			l.appends.unknown.Add(1)
			open := fmt.Errorf("%w: a commit is being resolved", ledger.ErrUnavailable)
			l.wait(stops.With(open, stops.Of(err)))
			l.cfg.Log.Error("the outcome of a commit is unknown; resolving it", "error", err)
		case unknown:
			// Nothing was written this time; the first attempt is still open.
		case errors.Is(err, ledger.ErrFrozen):
			l.memory.State.Rollback(d.mark)
			l.freeze(err)
			answerAll(d.all, l.Ready())
			return nil
		default:
			l.appends.failed.Add(1)
			l.memory.State.Rollback(d.mark)
			l.resumed = true // once an append works again
			l.wait(ledger.Unavailable(err))
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
	l.memory.State.Rollback(d.mark)
	answerAll(d.requests, ledger.ErrUnknownOutcome)
	for _, r := range d.refused {
		r.request.Answer(ledger.Answer{Err: ledger.ErrClosed})
	}
}

// landed takes a durable draft into memory, writes the mark, and answers the requests.
func (l *Ledger) landed(d *draft) {
	l.memory.State.Commit()
	l.showKeys()
	proofs := make([]audit.Receipt, len(d.batch.Rows))
	for i, row := range d.batch.Rows {
		proof, err := tlog.ProveRecord(d.growth.Size, int64(row.Index), d.growth)
		if err != nil {
			// The root was computed from the same nodes.
			panic("ledger: no proof for an entry of this batch: " + err.Error())
		}
		proofs[i] = audit.Receipt{Index: row.Index, Entry: row.Entry, Proof: proof, Checkpoint: d.batch.Head.Checkpoint}
	}
	l.shown.Tree.Grow(d.growth)
	l.memory.Head = d.batch.Head
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
		a := ledger.Answer{Appended: make([]ledger.Appended, len(r.Bodies))}
		for j := range a.Appended {
			a.Appended[j] = ledger.Appended{Index: proofs[i].Index, Entry: d.entries[i], Receipt: proofs[i]}
			l.logAct(proofs[i].Index, d.entries[i])
			i++
		}
		r.Answer(a)
	}
}

// keepMark raises the high-water mark to the head. If it cannot, nothing more is signed; what
// is durable is still answered.
func (l *Ledger) keepMark() (kept bool) {
	if err := l.mark.held.Check(); err != nil {
		l.freeze(replaced(err))
		return false
	}
	if err := l.mark.write(l.memory.Head.Checkpoint); err != nil {
		l.freeze(fmt.Errorf("%w: %w", ledger.ErrFrozen, err))
		return false
	}
	return true
}

func replaced(err error) error {
	return stops.With(fmt.Errorf("%w: %w", ledger.ErrFrozen, err), stops.Replaced)
}

// overtaken handles a draft that the store refused after an attempt whose outcome is unknown.
// Either that attempt wrote the draft, or another daemon was first, or the store has keys or
// slots of the draft. It returns the requests to prepare again.
func (l *Ledger) overtaken(d *draft, duplicate *ledger.DuplicateError) (again []*ledger.Request) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), ledger.StoreTimeout)
		ours, err := l.isStored(ctx, d)
		cancel()
		switch {
		case err == nil && ours:
			l.landed(d)
			return nil
		case err == nil:
			return l.behind(d, duplicate)
		}
		l.wait(ledger.Unavailable(err))
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
func (l *Ledger) behind(d *draft, duplicate *ledger.DuplicateError) (again []*ledger.Request) {
	l.memory.State.Rollback(d.mark)
	if duplicate == nil {
		l.stopping(backOff(d)) // a daemon that closes reads once more, and answers
	}
	known := l.memory.Head.Size
	ctx, cancel := context.WithTimeout(context.Background(), ledger.StoreTimeout)
	defer cancel()
	err := l.catchUp(ctx)
	if err == nil && l.memory.Head.Size == known {
		if duplicate != nil {
			return l.duplicated(d, duplicate)
		}
		if !d.refusedInPlace() {
			return d.all
		}
		err = fmt.Errorf("%w: entry %d is stored, and no head covers it", ledger.ErrFrozen, known)
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
	head, err := l.cfg.Store.Head(ctx, l.ID())
	if err != nil {
		return false, fmt.Errorf("reading the head: %w", err)
	}
	first := d.batch.Rows[0].Index
	if head.Size <= first {
		return false, nil
	}
	stored, err := l.cfg.Store.CheckpointAfter(ctx, l.ID(), first)
	if err != nil {
		return false, fmt.Errorf("reading the checkpoint after entry %d: %w", first, err)
	}
	return stored.Size == d.batch.Head.Size && stored.Root == d.batch.Head.Root, nil
}

// catchUp folds what other daemons wrote, in steps from one of their checkpoints to a later
// one. Each is checked before it counts.
func (l *Ledger) catchUp(ctx context.Context) error {
	newest, err := l.cfg.Store.Head(ctx, l.ID())
	if err != nil {
		return fmt.Errorf("reading the head: %w", err)
	}
	if now := l.memory.Head; newest.Size == now.Size && newest.Root == now.Root &&
		bytes.Equal(newest.Checkpoint, now.Checkpoint) {
		l.isNewest()
		return nil // most often the head is the known one
	}
	known := l.memory.Head.Size
	for last := false; !last; {
		step, cancel := context.WithTimeout(context.Background(), ledger.StoreTimeout)
		next := newest
		if last = l.memory.Head.Size+loadChunk >= newest.Size; !last {
			next, err = l.cfg.Store.CheckpointAfter(step, l.ID(), l.memory.Head.Size+loadChunk-1)
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

// readNewer is catchUp, and says in the ledger's phase why it failed. It is ledger.Core.foldNewer.
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
	switch {
	case l.phase == phaseFrozen: // catchUp could not write the mark, and has said so
	case errors.Is(err, ledger.ErrFrozen), errors.Is(err, ledger.ErrNotFound):
		l.freeze(err)
	default:
		l.wait(ledger.Unavailable(err))
	}
}

// publish shows the head and the counts to readers, and the credentials, if they changed.
func (l *Ledger) publish() {
	head, s := l.memory.Head, l.memory.State
	if changes := s.HolderChanges(); l.shown.Holders.Load() == nil || changes != l.holderChanges {
		l.holderChanges = changes
		shown := make(map[string]rules.Holder)
		for _, h := range s.Holders() {
			shown[h.ID] = h
		}
		l.shown.Holders.Store(&shown)
	}
	l.live.Store(&ledger.Live{Size: head.Size, Time: s.Time(), Open: s.OpenCount(), Latched: s.Latched(),
		Killed: s.Killed(), Switches: len(s.Switches())})
	l.shown.Published.Store(&head)
	l.shown.Moved.Tell()
	l.Rounds.Wake()
	l.wakeCache()
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
	l.cfg.Log.Info("administrative act", "entry", index, "act", what, "of", of, "identity", e.Actor.Identity,
		"credential", e.Actor.Credential)
}

// isNewest notes that memory covers the store's newest entry now. It runs on the sequencer's goroutine.
func (l *Ledger) isNewest() { l.shown.Folded.Store(int64(l.Elapsed())) }

// draft is a batch before it is written: entries at their indexes, and the head that covers them.
type draft struct {
	all      []*ledger.Request // requests and refused, in the order in which they came
	requests []*ledger.Request // that have entries in it
	refused  []refusal         // that have none, because of a rule; answered when memory is known to be current
	later    []*ledger.Request // that wait for the next batch: they repeat a key or slot, or a signing key stands alone
	entries  []audit.Entry
	batch    ledger.Batch
	growth   *ledger.Growth
	mark     int // of the state, before the first entry
}

type refusal struct {
	request *ledger.Request
	err     error
}

func (d *draft) answerRefused() {
	for _, r := range d.refused {
		r.request.Answer(ledger.Answer{Err: r.err})
	}
}

// refusedInPlace notes that the store refused the draft although the head had not moved. It reports
// whether that had happened to each of its requests the time before as well.
func (d *draft) refusedInPlace() (twice bool) {
	twice = true
	for _, r := range d.requests {
		twice, r.Stale = twice && r.Stale, true
	}
	return twice
}

func answerAll(requests []*ledger.Request, err error) {
	for _, r := range requests {
		r.Answer(ledger.Answer{Err: err})
	}
}

// repeats reports whether a key tag or slot hash of r was noted for a request before it. If
// not, it notes them. Tags and slots are hashes, so that no tag is equal to a slot.
func repeats(noted map[[32]byte]bool, r *ledger.Request) bool {
	var hashes [][32]byte
	for _, b := range r.Bodies {
		if c, ok := b.(*audit.Commit); ok {
			hashes = append(append(hashes, c.Context.Slots()...), c.KeyTag)
		}
	}
	if slices.ContainsFunc(hashes, func(h [32]byte) bool { return noted[h] }) {
		return true
	}
	for _, h := range hashes {
		noted[h] = true
	}
	return false
}

// duplicated answers those requests of a refused draft whose key or slot is in the ledger, and returns the others.
func (l *Ledger) duplicated(d *draft, duplicate *ledger.DuplicateError) (again []*ledger.Request) {
	l.appends.duplicate.Add(1)
	for _, r := range d.all {
		var tags [][32]byte
		taken := -1
		for i, b := range r.Bodies {
			c, ok := b.(*audit.Commit)
			if ok && slices.Contains(duplicate.Tags, c.KeyTag) {
				tags = append(tags, c.KeyTag)
			}
			is := func(slot [32]byte) bool { return slices.Contains(duplicate.Slots, slot) }
			if ok && slices.ContainsFunc(c.Context.Slots(), is) {
				taken = i
			}
		}
		switch {
		case len(tags) > 0:
			r.Answer(ledger.Answer{Err: &ledger.DuplicateError{Tags: tags}})
		case taken >= 0:
			r.Answer(ledger.Answer{Err: &ledger.BodyError{Body: taken, Err: ledger.SlotTaken()}})
		default:
			again = append(again, r)
		}
	}
	return again
}

// Several daemons may write one ledger. The compare-and-swap of Store.Append keeps them apart: a daemon that loses it
// has written nothing. It waits for a short random time, folds what the others wrote, and prepares its requests again.
const (
	// mostTries is how often a request is prepared.
	mostTries = 64
	// The wait after a lost swap is below firstWait. That bound doubles with each further one, up to maxWait.
	firstWait = 500 * time.Microsecond
	maxWait   = 16 * time.Millisecond
)

// backOff returns how long to wait after the draft lost the swap: a share of the range that
// the clock chooses, so that two daemons do not choose the same one again and again.
func backOff(d *draft) time.Duration {
	var tries uint64
	for _, r := range d.requests {
		tries = max(tries, r.Tries)
	}
	limit := min(firstWait<<min(tries, 8), maxWait)
	return time.Duration(time.Now().UnixNano()) % limit
}

// overtook notes that another daemon was first, and returns those of the requests that are to
// be prepared again. It refuses a request that has been overtaken mostTries times.
func (l *Ledger) overtook(requests []*ledger.Request) (again []*ledger.Request) {
	l.appends.lost.Add(1)
	for _, r := range requests {
		r.Tries++
		r.Stale = false
		if r.Tries > l.appends.most.Load() {
			l.appends.most.Store(r.Tries)
		}
		if r.Tries == mostTries {
			r.Answer(ledger.Answer{Err: fmt.Errorf("%w: other daemons were first %d times in a row", ledger.ErrUnavailable,
				mostTries)})
		} else {
			again = append(again, r)
		}
	}
	return again
}
