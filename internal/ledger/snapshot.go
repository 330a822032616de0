package ledger

import (
	"context"
	"errors"
	"time"

	"shuffled/internal/audit"
)

// KeptSnapshots is how many snapshots of a ledger a store keeps: the newest ones,
// so that a damaged one costs the folding of no more than the distance to the one
// before.
const KeptSnapshots = 8

// Snapshot is the encoded state of all entries below a snapshot event.
type Snapshot struct {
	Index uint64 // of the event
	State []byte // docs/SPEC.md section 11.1
}

// Snapshots keeps encoded states, from which Open goes on. They are no evidence:
// what a store holds is believed only under the digest of a logged event, and any
// of them may be missing.
type Snapshots interface {
	// PutSnapshot keeps a snapshot and drops those that are older than the
	// KeptSnapshots newest up to it. One that is kept of this index stays. It returns
	// ErrNotFound for an unknown ledger. On any other error it may be kept or not.
	PutSnapshot(ctx context.Context, id ID, s Snapshot) error

	// SnapshotBelow returns the one with the largest index below, or ErrNotFound.
	SnapshotBelow(ctx context.Context, id ID, below uint64) (Snapshot, error)
}

// snapshotTimeout is how long keeping a snapshot may take: with a million open
// shuffles it has 270 MB.
const snapshotTimeout = time.Minute

// snapshotPause is how soon a snapshot that could not be logged is tried again.
const snapshotPause = time.Second

// errNotDue: another daemon logged the snapshot.
var errNotDue = errors.New("no snapshot is due")

// snapshots logs a snapshot event whenever the ledger's size has passed a multiple
// of Config.SnapshotEvery, and hands the state to the store when the event is
// durable: what was folded is encoded by the sequencer, in the batch of the event,
// and everything else is this goroutine's. A state that is not kept, for the daemon
// stopped in between, costs a later start some time.
//
// Of several daemons one logs it: for the others it is not due any more once they
// know the event, which the compare-and-swap makes them.
type snapshots struct {
	l    *Ledger
	due  chan struct{} // capacity 1
	done chan struct{} // closed by run
}

func (l *Ledger) newSnapshots() *snapshots {
	return &snapshots{l, make(chan struct{}, 1), make(chan struct{})}
}

// run keeps what the start found missing, and then logs snapshots until the ledger
// is closed.
func (s *snapshots) run(missing *Snapshot) {
	defer close(s.done)
	if missing != nil {
		s.keep(*missing)
	}
	for {
		select {
		case <-s.l.stop:
			return
		case <-s.due:
			if !s.log() && s.l.stopping(snapshotPause) {
				return
			}
		}
	}
}

// wake says that a snapshot is due, from the sequencer's goroutine.
func (s *snapshots) wake() {
	if !s.l.snapshotDue() {
		return
	}
	select {
	case s.due <- struct{}{}:
	default:
	}
}

// log appends the event and keeps the state; logged: there is an event now.
func (s *snapshots) log() (logged bool) {
	var taken Snapshot
	_, err := s.l.Append(s.l.running, Proposal{Actor: audit.Daemon, Bodies: []audit.Body{new(audit.Event)}, snapshot: &taken})
	var illegal *audit.Illegal
	switch {
	case errors.Is(err, errNotDue), errors.Is(err, context.Canceled), errors.Is(err, ErrClosed), errors.As(err, &illegal):
		return true // illegal: less than 1,024 entries after one that came late
	case err != nil:
		s.l.cfg.Log.Warn("logging a snapshot", "ledger", s.l.cfg.Info.Name, "error", err)
		return false
	}
	s.keep(taken)
	return true
}

// keep hands a snapshot to the store.
func (s *snapshots) keep(taken Snapshot) {
	ctx, cancel := context.WithTimeout(s.l.running, snapshotTimeout)
	defer cancel()
	if err := s.l.cfg.Store.PutSnapshot(ctx, s.l.id, taken); err != nil && ctx.Err() == nil {
		s.l.cfg.Log.Warn("keeping a snapshot: the next start will take longer", "ledger", s.l.cfg.Info.Name, "entry", taken.Index, "error", err)
	}
}

// snapshotDue reports whether the newest snapshot stands below the last multiple,
// and this daemon writes. It runs on the sequencer's goroutine.
func (l *Ledger) snapshotDue() bool {
	size, last := l.state.Size(), l.state.LastSnapshot()
	multiple := size - size%l.cfg.SnapshotEvery
	return l.started && multiple > last && size-last >= snapshotDistance(l.state.OpenCount())
}

// snapshotFree is how many open shuffles make snapshots no rarer.
const snapshotFree = 1 << 17

// snapshotDistance is how many entries come between two snapshots at least. All open
// shuffles are in each, so that with many of them the cost of an entry would grow:
// half as many entries as there are open shuffles above snapshotFree (docs/SPEC.md
// section 11.2).
func snapshotDistance(open int) uint64 { return uint64(max(0, open-snapshotFree) / 2) }

// takeSnapshot completes the proposal of a snapshot, which stands alone in it, at
// its place: the digest is of the entries below.
func (l *Ledger) takeSnapshot(p *Proposal) error {
	if p.snapshot == nil {
		return nil
	}
	if !l.snapshotDue() {
		return errNotDue
	}
	event, encoded := l.state.EncodedSnapshot()
	p.Bodies = []audit.Body{event}
	*p.snapshot = Snapshot{l.state.Size(), encoded}
	return nil
}
