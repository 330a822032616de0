package ledger

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// keepCosigned stores a cosigned checkpoint and then shows it. It reports
// whether a checkpoint of that size or above is held. One that lets a policy take
// over names the size from which on this daemon has seen no stored checkpoint; with
// any other, from is 0.
func (l *Ledger) keepCosigned(h Head, from uint64) bool {
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	var err error
	if from > 0 {
		err = l.cfg.Store.PutHandover(ctx, l.id, h, from)
	} else {
		err = l.cfg.Store.PutCosigned(ctx, l.id, h)
	}
	if errors.Is(err, ErrExists) || errors.Is(err, ErrStale) { // another daemon was first
		return l.followCosigned()
	}
	if err != nil {
		l.cfg.Log.Error("storing a cosigned checkpoint", "ledger", l.cfg.Info.Name, "size", h.Size, "error", err)
		return false
	}
	l.showCosigned(h)
	return true
}

// followCosigned takes over what another daemon stored, if it is of this
// history, and reports whether it is newer than what this one held.
func (l *Ledger) followCosigned() bool {
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	head := l.Head()
	h, err := l.CosignedAtMost(ctx, head.Size)
	if err != nil || h.Size <= l.cosignedSize() {
		return false
	}
	held, err := l.extends(ctx, head, audit.Checkpoint{Size: h.Size, Root: h.Root})
	if err != nil || !held {
		l.cfg.Log.Error("a stored cosigned checkpoint is not of the stored entries", "ledger", l.cfg.Info.Name, "size",
			h.Size, "error", err)
		return false
	}
	l.showCosigned(h)
	return true
}

// maxUnheld is how many rows that do not hold are passed over in one look for a
// cosigned checkpoint.
const maxUnheld = 16

// CosignedAtMost returns the newest stored checkpoint of at most size entries
// that the ledger's witnesses cosigned; ErrNotFound when there is none. What the
// store holds is believed only under the ledger's key and the quorum of the policy
// of then; what is not cannot hide an older one.
func (l *Ledger) CosignedAtMost(ctx context.Context, size uint64) (Head, error) {
	policies := *l.witnessing.tenures.Load()
	if !policies.asks() {
		return Head{}, ErrNotFound
	}
	size = min(size, l.Head().Size) // what is above may be under another key
	for range maxUnheld {
		h, err := l.cfg.Store.CosignedAtMost(ctx, l.id, size)
		if err != nil {
			return Head{}, Unavailable(err)
		}
		if err = l.isCosigned(h, policies.at(h.Size)); err == nil {
			return h, nil
		}
		if h.Size <= policies.waits { // above, another daemon may have let the next policy take over
			l.cfg.Log.Error("a stored cosigned checkpoint does not hold", "ledger", l.cfg.Info.Name, "size", h.Size,
				"error", err)
		}
		if h.Size == 0 || h.Size > size {
			break
		}
		size = h.Size - 1
	}
	return Head{}, ErrNotFound
}

// FirstCosigned returns the oldest stored checkpoint that covers the entry at index
// and that the ledger's witnesses cosigned; ErrNotFound when there is none. It holds
// what it finds as CosignedAtMost does.
func (l *Ledger) FirstCosigned(ctx context.Context, index uint64) (Head, error) {
	policies := *l.witnessing.tenures.Load()
	if !policies.asks() {
		return Head{}, ErrNotFound
	}
	looked, newest := 0, l.Head().Size
	for h, err := range l.cfg.Store.CosignedFrom(ctx, l.id, index+1) {
		if err != nil {
			return Head{}, Unavailable(err)
		}
		if looked++; h.Size > newest || looked > maxUnheld {
			break
		}
		if err = l.isCosigned(h, policies.at(h.Size)); err == nil {
			return h, nil
		}
		if h.Size <= policies.waits {
			l.cfg.Log.Error("a stored cosigned checkpoint does not hold", "ledger", l.cfg.Info.Name, "size", h.Size,
				"error", err)
		}
	}
	return Head{}, ErrNotFound
}

// isCosigned reports why a stored head is not one that the ledger signed and the
// quorum cosigned.
func (l *Ledger) isCosigned(h Head, policy *audit.Policy) error {
	c, err := audit.OpenCheckpoint(h.Checkpoint, l.keys.Load().at(h.Size))
	if err != nil {
		return err
	}
	if c.Size != h.Size || c.Root != h.Root || !policy.Asks() || !policy.Satisfied(h.Checkpoint) {
		return errors.New("it is of another head, or lacks the quorum")
	}
	return nil
}

// showCosigned makes h the newest cosigned head and wakes who waits for one.
func (l *Ledger) showCosigned(h Head) {
	l.cosign.Lock()
	defer l.cosign.Unlock()
	if l.cosigned == nil || h.Size > l.cosigned.Size {
		l.cosigned = &h
		close(l.cosignedMore)
		l.cosignedMore = make(chan struct{})
	}
}

// Cosigned returns the newest cosigned head that this daemon holds; ok is false
// when there is none.
func (l *Ledger) Cosigned() (h Head, ok bool) {
	l.cosign.Lock()
	defer l.cosign.Unlock()
	if l.cosigned == nil {
		return Head{}, false
	}
	return *l.cosigned, true
}

func (l *Ledger) cosignedSize() uint64 {
	h, _ := l.Cosigned()
	return h.Size
}

// AwaitCosigned waits until a cosigned checkpoint covers the entry at index. It
// returns ErrNotWitnessed when ctx ends first.
func (l *Ledger) AwaitCosigned(ctx context.Context, index uint64) error {
	for {
		l.cosign.Lock()
		more, size := l.cosignedMore, uint64(0)
		if l.cosigned != nil {
			size = l.cosigned.Size
		}
		l.cosign.Unlock()
		if size > index {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%w: entry %d, and %d entries are cosigned", ErrNotWitnessed, index, size)
		case <-l.done:
			return ErrClosed
		}
	}
}
