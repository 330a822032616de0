package cosign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/witness/gateway"
)

// keepCosigned stores a cosigned checkpoint and then shows it. It reports whether it showed this one or a newer one.
// from is policyHistory.unseen: above 0 if the checkpoint lets a policy take over.
func (w *Rounds) keepCosigned(h ledger.Head, from uint64) bool {
	l := w.l
	ctx, cancel := context.WithTimeout(l.life.Running, ledger.StoreTimeout)
	defer cancel()
	var err error
	if from > 0 {
		err = l.cfg.Store.PutHandover(ctx, l.ID(), h, from)
	} else {
		err = l.cfg.Store.PutCosigned(ctx, l.ID(), h)
	}
	if errors.Is(err, ledger.ErrExists) || errors.Is(err, ledger.ErrStale) { // another daemon was first
		return w.followCosigned()
	}
	if err != nil {
		l.cfg.Log.Error("a cosigned checkpoint could not be stored", "size", h.Size, "error", err)
		return false
	}
	w.show(h)
	return true
}

// followCosigned shows the newest cosigned checkpoint that another daemon stored, if it is of
// this history, and reports whether it is newer than the one shown before.
func (w *Rounds) followCosigned() bool {
	l := w.l
	ctx, cancel := context.WithTimeout(l.life.Running, ledger.StoreTimeout)
	defer cancel()
	head := l.Head()
	h, err := w.CosignedAtMost(ctx, head.Size)
	if err != nil || h.Size <= w.CosignedSize() {
		return false
	}
	held, err := l.Extends(ctx, head, audit.Checkpoint{Size: h.Size, Root: h.Root})
	if err != nil || !held {
		l.cfg.Log.Error("a stored cosigned checkpoint is not of the stored entries", "size", h.Size, "error", err)
		return false
	}
	w.show(h)
	return true
}

// MaxUnheld is how many stored checkpoints that do not hold are passed over in one look-up.
const MaxUnheld = 16

// CosignedAtMost returns the newest stored checkpoint of at most size entries that the ledger's witnesses cosigned;
// ErrNotFound if there is none. A stored checkpoint counts only if the ledger's keys and the quorum of the policy of
// that size signed it. One that does not count does not hide an older one.
func (w *Rounds) CosignedAtMost(ctx context.Context, size uint64) (ledger.Head, error) {
	policies := w.policies.shown.Load()
	if !policies.Ask() {
		return ledger.Head{}, ledger.ErrNotFound
	}
	size = min(size, w.l.Head().Size) // a checkpoint above it may be under another key
	for range MaxUnheld {
		h, err := w.l.cfg.Store.CosignedAtMost(ctx, w.l.ID(), size)
		if err != nil {
			return ledger.Head{}, ledger.Unavailable(err)
		}
		if w.isCosigned(h, policies) {
			return h, nil
		}
		if h.Size == 0 || h.Size > size {
			break
		}
		size = h.Size - 1
	}
	return ledger.Head{}, ledger.ErrNotFound
}

// FirstCosigned returns the oldest stored checkpoint that covers the entry at index and that the ledger's witnesses
// cosigned; ErrNotFound if there is none. It checks stored checkpoints as CosignedAtMost does.
func (w *Rounds) FirstCosigned(ctx context.Context, index uint64) (ledger.Head, error) {
	policies := w.policies.shown.Load()
	if !policies.Ask() {
		return ledger.Head{}, ledger.ErrNotFound
	}
	looked, newest := 0, w.l.Head().Size
	for h, err := range w.l.cfg.Store.CosignedFrom(ctx, w.l.ID(), index+1) {
		if err != nil {
			return ledger.Head{}, ledger.Unavailable(err)
		}
		if looked++; h.Size > newest || looked > MaxUnheld {
			break
		}
		if w.isCosigned(h, policies) {
			return h, nil
		}
	}
	return ledger.Head{}, ledger.ErrNotFound
}

// isCosigned reports whether the ledger signed a stored head and the quorum of its policy interval cosigned it. If not,
// it logs why; except above the first policy that waits, which another daemon may have let take over.
func (w *Rounds) isCosigned(h ledger.Head, policies *trust.Policies) bool {
	policy := policies.At(h.Size)
	c, err := audit.OpenCheckpoint(h.Checkpoint, w.l.SignedBy(h.Size)...)
	if err == nil && (c.Size != h.Size || c.Root != h.Root || !policy.Asks() || !policy.Satisfied(h.Checkpoint)) {
		err = errors.New("the checkpoint is of another head, or lacks the quorum")
	}
	waiting := policies.Waiting()
	if err != nil && (len(waiting) == 0 || h.Size <= waiting[0].Index) {
		w.l.cfg.Log.Error("a stored cosigned checkpoint is not valid", "size", h.Size, "error", err)
	}
	return err == nil
}

// show makes h the newest cosigned head, if it is, and wakes those who wait for one. It runs on the goroutine of run.
func (w *Rounds) show(h ledger.Head) {
	if h.Size > w.CosignedSize() {
		w.cosigned.Store(&h)
		w.newer.Tell()
	}
	w.l.shown.Moved.Tell()
}

// Cosigned returns the newest cosigned head that this daemon holds; ok is false if there is none.
func (w *Rounds) Cosigned() (h ledger.Head, ok bool) {
	if newest := w.cosigned.Load(); newest != nil {
		return *newest, true
	}
	return ledger.Head{}, false
}

// CosignedSize is the size of the newest cosigned head, 0 if there is none.
func (w *Rounds) CosignedSize() uint64 {
	h, _ := w.Cosigned()
	return h.Size
}

// AwaitCosigned waits until a cosigned checkpoint covers the entry at index. It
// returns ErrNotWitnessed if ctx ends first.
func (w *Rounds) AwaitCosigned(ctx context.Context, index uint64) error {
	for {
		newer := w.newer.Next()
		size := w.CosignedSize()
		if size > index {
			return nil
		}
		select {
		case <-newer:
		case <-ctx.Done():
			return fmt.Errorf("%w: it is entry %d, and %d entries are cosigned", ledger.ErrNotWitnessed, index, size)
		case <-w.l.life.Done:
			return ledger.ErrClosed
		}
	}
}

// BestHead returns the head under which the entries up to index are proved: the first late checkpoint that covers them
// and has the cosignatures of all witnesses with an interval; if there is none, the first late checkpoint; if there is
// none, that of HeadFor. After the first one, it checks only checkpoints whose lines name all these witnesses, so that
// a witness that is down makes no look-up slow.
func (w *Rounds) BestHead(ctx context.Context, index uint64) (ledger.Head, error) {
	if len(w.l.cfg.Intervals) == 0 {
		return w.HeadFor(index), nil
	}
	policies := w.policies.shown.Load()
	newest, best := w.l.Head().Size, ledger.Head{}
	from, checked := index+1, 0
	for _, n := range []int{firstLateRows, lateRows} {
		rows, err := w.l.cfg.Store.LateFrom(ctx, w.l.ID(), from, n)
		if err != nil {
			return ledger.Head{}, ledger.Unavailable(fmt.Errorf("reading late checkpoints: %w", err))
		}
		for _, h := range rows {
			policy := policies.At(h.Size)
			if h.Size > newest || checked == MaxUnheld || best.Size > 0 && !w.namesAllLate(h, policy) {
				continue
			}
			if checked++; !w.isCosigned(h, policies) {
				continue
			}
			if best.Size == 0 {
				best = h
			}
			if w.hasAllLate(h, policy) {
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
	return w.HeadFor(index), nil
}

// namesAllLate reports whether hasAllLate is true if every signature line of h holds.
func (w *Rounds) namesAllLate(h ledger.Head, p *trust.Policy) bool {
	by := gateway.Signers(h.Checkpoint)
	return w.allLate(p, func(one trust.Witness) bool { return by[gateway.Signer(one.Key)] })
}

// hasAllLate reports whether every witness of the policy that has an interval cosigned h, with
// at least one of its keys.
func (w *Rounds) hasAllLate(h ledger.Head, p *trust.Policy) bool {
	all := p.Cosignatures(h.Checkpoint)
	return w.allLate(p, func(one trust.Witness) bool {
		return slices.ContainsFunc(all, func(c trust.Cosignature) bool { return c.Witness == one.Name })
	})
}

// allLate reports whether for each key name that has an interval one key cosigned.
func (w *Rounds) allLate(p *trust.Policy, cosigned func(trust.Witness) bool) bool {
	if p == nil {
		return false
	}
	return !slices.ContainsFunc(p.Witnesses, func(one trust.Witness) bool {
		by := func(other trust.Witness) bool { return other.Key.Name() == one.Key.Name() && cosigned(other) }
		return w.hasInterval(one) && !slices.ContainsFunc(p.Witnesses, by)
	})
}

// Receipt returns the receipt of an entry as text, under the checkpoint of BestHead; ErrNotFound for an index at or
// above the ledger's size. An entry that another daemon wrote is folded first.
func (w *Rounds) Receipt(ctx context.Context, index uint64) (string, error) {
	if err := w.l.ReachEntry(ctx, index); err != nil {
		return "", err
	}
	head, err := w.BestHead(ctx, index)
	if err != nil {
		return "", err
	}
	row, err := w.l.Row(ctx, index)
	if err != nil {
		return "", err
	}
	return w.l.ReceiptUnder(ctx, row, head)
}

// HeadFor returns the head under which the entries up to index are proved: the newest
// cosigned one, if it covers them, and otherwise the newest.
func (w *Rounds) HeadFor(index uint64) ledger.Head {
	if h, ok := w.Cosigned(); ok && h.Size > index {
		return h
	}
	return w.l.Head()
}

// Witnesses returns the witnesses of the policy in force and of the policies that wait, by name.
func (w *Rounds) Witnesses() []WitnessState {
	r := &w.roll
	r.mu.Lock()
	defer r.mu.Unlock()
	states, shown := make([]WitnessState, 0, len(r.contacts)), make(map[string]bool)
	for _, one := range r.contacts {
		s := WitnessState{Size: one.size, Err: one.err}
		keyed := one.witness.Name + fmt.Sprintf("+%08x", one.witness.Key.KeyHash())
		for _, s.Name = range []string{one.witness.Name, keyed, keyed + " " + one.witness.URL} {
			if !shown[s.Name] {
				break
			}
		}
		shown[s.Name] = true
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b WitnessState) int { return strings.Compare(a.Name, b.Name) })
	return states
}
