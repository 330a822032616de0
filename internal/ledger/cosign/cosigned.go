package ledger

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// keepCosigned stores a cosigned checkpoint and then shows it. It reports whether it showed this one or a newer one.
// from is policyHistory.unseen: above 0 if the checkpoint lets a policy take over.
func (w *witnesses) keepCosigned(h Head, from uint64) bool {
	l := w.l
	ctx, cancel := context.WithTimeout(l.life.running, StoreTimeout)
	defer cancel()
	var err error
	if from > 0 {
		err = l.cfg.Store.PutHandover(ctx, l.id, h, from)
	} else {
		err = l.cfg.Store.PutCosigned(ctx, l.id, h)
	}
	if errors.Is(err, ErrExists) || errors.Is(err, ErrStale) { // another daemon was first
		return w.followCosigned()
	}
	if err != nil {
		l.cfg.Log.Error("a cosigned checkpoint could not be stored", "ledger", l.cfg.Info.Name, "size", h.Size, "error", err)
		return false
	}
	w.show(h)
	return true
}

// followCosigned shows the newest cosigned checkpoint that another daemon stored, if it is of
// this history, and reports whether it is newer than the one shown before.
func (w *witnesses) followCosigned() bool {
	l := w.l
	ctx, cancel := context.WithTimeout(l.life.running, StoreTimeout)
	defer cancel()
	head := l.Head()
	h, err := w.CosignedAtMost(ctx, head.Size)
	if err != nil || h.Size <= w.cosignedSize() {
		return false
	}
	held, err := l.extends(ctx, head, audit.Checkpoint{Size: h.Size, Root: h.Root})
	if err != nil || !held {
		l.cfg.Log.Error("a stored cosigned checkpoint is not of the stored entries", "ledger", l.cfg.Info.Name, "size",
			h.Size, "error", err)
		return false
	}
	w.show(h)
	return true
}

// maxUnheld is how many stored checkpoints that do not hold are passed over in one look-up.
const maxUnheld = 16

// CosignedAtMost returns the newest stored checkpoint of at most size entries that the ledger's witnesses cosigned;
// ErrNotFound if there is none. A stored checkpoint counts only if the ledger's keys and the quorum of the policy of
// that size signed it. One that does not count does not hide an older one.
func (w *witnesses) CosignedAtMost(ctx context.Context, size uint64) (Head, error) {
	policies := w.policies.shown.Load()
	if !policies.Ask() {
		return Head{}, ErrNotFound
	}
	size = min(size, w.l.Head().Size) // a checkpoint above it may be under another key
	for range maxUnheld {
		h, err := w.l.cfg.Store.CosignedAtMost(ctx, w.l.id, size)
		if err != nil {
			return Head{}, Unavailable(err)
		}
		if w.isCosigned(h, policies) {
			return h, nil
		}
		if h.Size == 0 || h.Size > size {
			break
		}
		size = h.Size - 1
	}
	return Head{}, ErrNotFound
}

// FirstCosigned returns the oldest stored checkpoint that covers the entry at index and that the ledger's witnesses
// cosigned; ErrNotFound if there is none. It checks stored checkpoints as CosignedAtMost does.
func (w *witnesses) FirstCosigned(ctx context.Context, index uint64) (Head, error) {
	policies := w.policies.shown.Load()
	if !policies.Ask() {
		return Head{}, ErrNotFound
	}
	looked, newest := 0, w.l.Head().Size
	for h, err := range w.l.cfg.Store.CosignedFrom(ctx, w.l.id, index+1) {
		if err != nil {
			return Head{}, Unavailable(err)
		}
		if looked++; h.Size > newest || looked > maxUnheld {
			break
		}
		if w.isCosigned(h, policies) {
			return h, nil
		}
	}
	return Head{}, ErrNotFound
}

// isCosigned reports whether the ledger signed a stored head and the quorum of its policy interval cosigned it. If not,
// it logs why; except above the first policy that waits, which another daemon may have let take over.
func (w *witnesses) isCosigned(h Head, policies *audit.Policies) bool {
	policy := policies.At(h.Size)
	c, err := audit.OpenCheckpoint(h.Checkpoint, w.l.signedBy(h.Size)...)
	if err == nil && (c.Size != h.Size || c.Root != h.Root || !policy.Asks() || !policy.Satisfied(h.Checkpoint)) {
		err = errors.New("the checkpoint is of another head, or lacks the quorum")
	}
	waiting := policies.Waiting()
	if err != nil && (len(waiting) == 0 || h.Size <= waiting[0].Index) {
		w.l.cfg.Log.Error("a stored cosigned checkpoint is not valid", "ledger", w.l.cfg.Info.Name, "size", h.Size,
			"error", err)
	}
	return err == nil
}

// show makes h the newest cosigned head, if it is, and wakes those who wait for one. It runs on the goroutine of run.
func (w *witnesses) show(h Head) {
	if h.Size > w.cosignedSize() {
		w.cosigned.Store(&h)
		w.newer.tell()
	}
	w.l.shown.moved.tell()
}

// Cosigned returns the newest cosigned head that this daemon holds; ok is false if there is none.
func (w *witnesses) Cosigned() (h Head, ok bool) {
	if newest := w.cosigned.Load(); newest != nil {
		return *newest, true
	}
	return Head{}, false
}

func (w *witnesses) cosignedSize() uint64 {
	h, _ := w.Cosigned()
	return h.Size
}

// AwaitCosigned waits until a cosigned checkpoint covers the entry at index. It
// returns ErrNotWitnessed if ctx ends first.
func (w *witnesses) AwaitCosigned(ctx context.Context, index uint64) error {
	for {
		newer := w.newer.next()
		size := w.cosignedSize()
		if size > index {
			return nil
		}
		select {
		case <-newer:
		case <-ctx.Done():
			return fmt.Errorf("%w: it is entry %d, and %d entries are cosigned", ErrNotWitnessed, index, size)
		case <-w.l.life.done:
			return ErrClosed
		}
	}
}
