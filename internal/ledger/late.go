package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// late is about the witnesses that have an interval. They take no part in the rounds. Each is offered a cosigned head,
// once in its interval at most. The checkpoint with its cosignature is stored as a late checkpoint.
type late struct {
	turn  sync.Mutex           // held by the goroutine that asks; guards the rest
	asked map[string]time.Time // when each was asked last, by the name of its key
	size  uint64               // of the newest late checkpoint, as far as known
}

// How many late checkpoints a look-up reads: first firstLateRows, because a transcript is
// mostly served under one of these, and then lateRows.
const (
	firstLateRows = 8
	lateRows      = 128
)

// hasInterval reports whether the configuration gives a witness an interval.
func (l *Ledger) hasInterval(one audit.Witness) bool { return l.cfg.Intervals[one.Key.Name()] > 0 }

// checkIntervals refuses a policy whose quorum cannot be met without the witnesses that have an interval.
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
	return fmt.Errorf("without the witnesses that have an interval in the configuration, %v, the quorum cannot be met: "+
		"remove as many of these witnesses from witness.intervals as the quorum needs", slow)
}

// checkIntervals is that for the policy in force and for each policy that waits.
func (w *witnesses) checkIntervals() error {
	for _, p := range w.policies.open() {
		if err := w.l.checkIntervals(p); err != nil {
			return err
		}
	}
	return nil
}

// split returns the witnesses that are asked for every head, and those that are asked at an interval. If another daemon
// wrote a policy whose quorum needs one of the latter, all are asked for every head.
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

// askLate offers the newest cosigned head to the witnesses whose interval is over. One goroutine does so at a time.
func (w *witnesses) askLate() {
	_, slow := w.split()
	head, ok := w.l.Cosigned()
	if len(slow) == 0 || !ok || !w.late.turn.TryLock() {
		return
	}
	w.group.Go(func() {
		defer w.late.turn.Unlock()
		if err := w.offer(head, slow); err != nil {
			w.l.cfg.Log.Error("witnesses that have an interval could not be asked", "ledger", w.l.cfg.Info.Name, "size", head.Size,
				"error", err)
		}
	})
}

// offer asks the witnesses whose interval is over for late cosignatures of a cosigned head, and
// stores these. A late checkpoint that another daemon stored counts for the intervals too.
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
	policies := w.policies.shown.Load()
	t.read(slices.DeleteFunc(rows, func(h Head) bool { return h.Size <= t.size || !l.isCosigned(h, policies) }), slow)
	due := t.due(l.cfg.Intervals, slow)
	if head.Size <= t.size || len(due) == 0 {
		return nil
	}
	now := time.Now()
	for _, one := range due {
		t.asked[one.Key.Name()] = now
	}
	bare := gateway.Head(head) // with the ledger's own signature lines alone
	bare.Checkpoint = gateway.LinesOf(head.Checkpoint, l.signedBy(head.Size)...)
	r := w.gateway.Cosign(l.running, bare, due)
	lines := r.Cosignatures(head.Checkpoint)
	if len(lines) == 0 {
		return nil // the roll has each error
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

// read takes the times of cosignatures from late checkpoints that hold and were not read before, newest first. It
// ignores a time in the future, which would put off the next question to the witness.
func (t *late) read(rows []Head, slow []audit.Witness) {
	if len(rows) > 0 {
		t.size = rows[0].Size
	}
	now := time.Now()
	for _, one := range slow {
		alone, name := audit.Policy{Witnesses: []audit.Witness{one}}, one.Key.Name()
		for _, h := range rows {
			by := alone.Cosignatures(h.Checkpoint)
			if len(by) == 0 {
				continue
			}
			if at := time.Unix(by[0].Time, 0); !at.After(now) {
				if at.After(t.asked[name]) {
					t.asked[name] = at
				}
				break
			}
		}
	}
}

// due returns the witnesses to ask now. A witness whose interval is over waits for all that have the same or a shorter
// interval, so that some checkpoints have the cosignatures of all. It waits for one more interval of its own at most.
func (t *late) due(intervals map[string]time.Duration, slow []audit.Witness) (due []audit.Witness) {
	slow = slices.SortedStableFunc(slices.Values(slow), func(a, b audit.Witness) int {
		return cmp.Compare(intervals[a.Key.Name()], intervals[b.Key.Name()])
	})
	now, together := time.Now(), true
	for _, one := range slow {
		every, since := intervals[one.Key.Name()], now.Sub(t.asked[one.Key.Name()])
		together = together && since >= every
		if together || since >= 2*every {
			due = append(due, one)
		}
	}
	return due
}

// BestHead returns the head under which the entries up to index are proved: the first late checkpoint that covers them
// and has the cosignatures of all witnesses with an interval; if there is none, the first late checkpoint; if there is
// none, that of HeadFor. After the first one, it checks only checkpoints whose lines name all these witnesses, so that
// a witness that is down makes no look-up slow.
func (l *Ledger) BestHead(ctx context.Context, index uint64) (Head, error) {
	if len(l.cfg.Intervals) == 0 {
		return l.HeadFor(index), nil
	}
	policies := l.witnesses.policies.shown.Load()
	newest, best := l.Head().Size, Head{}
	from, checked := index+1, 0
	for _, n := range []int{firstLateRows, lateRows} {
		rows, err := l.cfg.Store.LateFrom(ctx, l.id, from, n)
		if err != nil {
			return Head{}, Unavailable(fmt.Errorf("reading late checkpoints: %w", err))
		}
		for _, h := range rows {
			policy := policies.At(h.Size)
			if h.Size > newest || checked == maxUnheld || best.Size > 0 && !l.namesAllLate(h, policy) {
				continue
			}
			if checked++; !l.isCosigned(h, policies) {
				continue
			}
			if best.Size == 0 {
				best = h
			}
			if l.hasAllLate(h, policy) {
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

// namesAllLate reports whether hasAllLate is true if every signature line of h holds.
func (l *Ledger) namesAllLate(h Head, p *audit.Policy) bool {
	by := make(map[string]bool) // signers
	for line := range strings.Lines(string(h.Checkpoint)) {
		by[gateway.SignerOf(line)] = true
	}
	return l.allLate(p, func(one audit.Witness) bool { return by[gateway.Signer(one.Key)] })
}

// hasAllLate reports whether every witness of the policy that has an interval cosigned h, with
// at least one of its keys.
func (l *Ledger) hasAllLate(h Head, p *audit.Policy) bool {
	all := p.Cosignatures(h.Checkpoint)
	return l.allLate(p, func(one audit.Witness) bool {
		return slices.ContainsFunc(all, func(c audit.Cosignature) bool { return c.Witness == one.Name })
	})
}

// allLate reports whether for each key name that has an interval one key cosigned.
func (l *Ledger) allLate(p *audit.Policy, cosigned func(audit.Witness) bool) bool {
	if p == nil {
		return false
	}
	by := make(map[string]bool) // names of keys
	for _, one := range p.Witnesses {
		by[one.Key.Name()] = by[one.Key.Name()] || cosigned(one)
	}
	for name, has := range by {
		if l.cfg.Intervals[name] > 0 && !has {
			return false
		}
	}
	return true
}
