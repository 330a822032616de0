package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// late asks the witnesses that have an interval. They are no part of the rounds: each is
// offered a cosigned head at most that often, and its cosignature is stored with the
// checkpoint as a late one.
type late struct {
	turn  sync.Mutex           // held by the goroutine that asks; guards the rest
	asked map[string]time.Time // when each was asked last, by the name of its key
	size  uint64               // of the newest late checkpoint, as far as known
}

// Look-ups of late checkpoints: a transcript is served under one of the first lateRows that
// cover it, and most of the time under one of the first few.
const (
	firstLateRows = 8
	lateRows      = 128
)

// hasInterval reports whether a witness is asked at an interval, if its policy allows it.
func (l *Ledger) hasInterval(one audit.Witness) bool { return l.cfg.Intervals[one.Key.Name()] > 0 }

// checkIntervals refuses a policy whose quorum cannot be met by the witnesses that are asked
// for every head.
func (l *Ledger) checkIntervals(p *audit.Policy) error {
	if p.MetWithout(l.hasInterval) {
		return nil
	}
	var slow []string
	for _, one := range p.Witnesses {
		if l.hasInterval(one) && !slices.Contains(slow, one.Key.Name()) {
			slow = append(slow, one.Key.Name())
		}
	}
	return fmt.Errorf("without the witnesses that the configuration gives an interval, %v, the quorum cannot be met: "+
		"take as many out of witness.intervals as the quorum needs", slow)
}

// checkIntervals refuses those under which the policy in force or one that waits could not
// be met.
func (w *witnesses) checkIntervals() error {
	for _, p := range w.policies.open() {
		if err := w.l.checkIntervals(p); err != nil {
			return err
		}
	}
	return nil
}

// split returns the witnesses that are asked for every head, and those that have an
// interval. If another daemon brought a policy that needs one of these, all are asked for
// every head: what waits for the quorum comes first.
func (w *witnesses) split() (fast, slow []audit.Witness) {
	all := w.policies.witnesses()
	if len(w.l.cfg.Intervals) == 0 || w.checkIntervals() != nil {
		return all, nil
	}
	for _, one := range all {
		if w.l.hasInterval(one) {
			slow = append(slow, one)
		} else {
			fast = append(fast, one)
		}
	}
	return fast, slow
}

// askLate offers the newest cosigned head to the witnesses whose interval is over. One
// goroutine does so at a time.
func (w *witnesses) askLate() {
	_, slow := w.split()
	head, ok := w.l.Cosigned()
	if len(slow) == 0 || !ok || !w.late.turn.TryLock() {
		return
	}
	w.group.Go(func() {
		defer w.late.turn.Unlock()
		if err := w.offer(head, slow); err != nil {
			w.l.cfg.Log.Error("asking witnesses that have an interval", "ledger", w.l.cfg.Info.Name, "size", head.Size,
				"error", err)
		}
	})
}

// offer asks for late cosignatures of a cosigned head, and stores them. What other daemons
// stored counts for the intervals.
func (w *witnesses) offer(head Head, slow []audit.Witness) error {
	l, t := w.l, &w.late
	if head.Size <= t.size || len(t.due(l.cfg.Intervals, slow)) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	rows, err := l.cfg.Store.NewestLate(ctx, l.id, lateRows)
	if err != nil {
		return err
	}
	t.read(rows, slow)
	due := t.due(l.cfg.Intervals, slow)
	if head.Size <= t.size || len(due) == 0 {
		return nil
	}
	for _, one := range due {
		t.asked[one.Key.Name()] = time.Now()
	}
	r := w.gateway.Cosign(l.running, gateway.Head{Size: head.Size, Root: head.Root, Checkpoint: l.signed(head)}, due)
	lines := r.Cosignatures(head.Checkpoint)
	if len(lines) == 0 {
		return nil // each error is in the roll
	}
	head.Checkpoint = append(slices.Clip(head.Checkpoint), lines...)
	if _, err := audit.CheckpointText(head.Checkpoint); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	if err := l.cfg.Store.PutLate(ctx, l.id, head); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	t.size = head.Size
	return nil
}

// read takes the times from the newest late checkpoints. A clock that is ahead puts nothing
// off: at the latest a witness was asked now.
func (t *late) read(rows []Head, slow []audit.Witness) {
	if len(rows) > 0 {
		t.size = max(t.size, rows[0].Size)
	}
	now := time.Now()
	for _, one := range slow {
		alone, name := audit.Policy{Witnesses: []audit.Witness{one}}, one.Key.Name()
		for _, h := range rows {
			if by := alone.Cosignatures(h.Checkpoint); len(by) > 0 {
				if at := time.Unix(by[0].Time, 0); at.After(now) {
					t.asked[name] = now
				} else if at.After(t.asked[name]) {
					t.asked[name] = at
				}
				break
			}
		}
	}
}

// due returns the lines of the witnesses to ask now. A witness with a longer interval is
// asked together with those that have shorter ones, so that there are checkpoints that
// have all their cosignatures.
func (t *late) due(intervals map[string]time.Duration, slow []audit.Witness) []audit.Witness {
	slow = slices.SortedStableFunc(slices.Values(slow), func(a, b audit.Witness) int {
		return cmp.Compare(intervals[a.Key.Name()], intervals[b.Key.Name()])
	})
	n := slices.IndexFunc(slow, func(one audit.Witness) bool {
		return time.Since(t.asked[one.Key.Name()]) < intervals[one.Key.Name()]
	})
	if n < 0 {
		return slow
	}
	return slow[:n]
}

// signed is a head with the ledger's own lines alone.
func (l *Ledger) signed(head Head) []byte {
	return gateway.LinesOf(head.Checkpoint, l.keys.Load().at(head.Size)...)
}

// BestHead returns the head to prove the entries up to index under: the first late
// checkpoint that covers them and has the cosignatures of all witnesses with an interval, or
// else the first late one, or else that of HeadFor.
func (l *Ledger) BestHead(ctx context.Context, index uint64) (Head, error) {
	if len(l.cfg.Intervals) == 0 {
		return l.HeadFor(index), nil
	}
	policies := *l.witnesses.policies.shown.Load()
	newest, best := l.Head().Size, Head{}
	from := index + 1
	for _, n := range []int{firstLateRows, lateRows} {
		rows, err := l.cfg.Store.LateFrom(ctx, l.id, from, n)
		if err != nil {
			return Head{}, Unavailable(fmt.Errorf("reading late checkpoints: %w", err))
		}
		for _, h := range rows {
			if h.Size > newest || !l.isCosigned(h, policies) {
				continue
			}
			if best.Size == 0 {
				best = h
			}
			if l.hasAllLate(h, policies.at(h.Size)) {
				return h, nil
			}
		}
		if len(rows) < n {
			break
		}
		from = rows[n-1].Size + 1
	}
	if best.Size > 0 {
		return best, nil
	}
	return l.HeadFor(index), nil
}

// hasAllLate reports whether every witness of a policy that has an interval cosigned a
// checkpoint, with one key of its or more.
func (l *Ledger) hasAllLate(h Head, p *audit.Policy) bool {
	by := make(map[string]bool) // names of keys
	for _, c := range p.Cosignatures(h.Checkpoint) {
		i := slices.IndexFunc(p.Witnesses, func(one audit.Witness) bool { return one.Name == c.Witness })
		by[p.Witnesses[i].Key.Name()] = true
	}
	return !slices.ContainsFunc(p.Witnesses, func(one audit.Witness) bool {
		return l.hasInterval(one) && !by[one.Key.Name()]
	})
}
