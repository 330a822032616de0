package dealer_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
)

// TestLatchOfAnother: what one daemon clears opens the ledger, and not another daemon's own doubt.
func TestLatchOfAnother(t *testing.T) {
	t.Parallel()
	first := newTable(t, nil)
	second := first.rival(first.cfg.Store)
	source, err := entropy.New(entropy.Config{})
	must(t, err)
	second.cfg.Entropy = source
	second.Dealer = dealer.New(second.cfg)
	commits := func(tb *table, key string, want error) {
		t.Helper()
		_, err := tb.Shuffle(t.Context(), as("tester"), key, api.ShuffleRequest{Table: "t", Deck: "standard-52"})
		if want == nil && err != nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
	}
	clear := func(tb *table) error {
		t.Helper()
		_, err := tb.ClearLatch(t.Context(), as("admin"), "looked at", nil)
		return err
	}
	latched := func(err error) bool {
		var illegal *audit.Illegal
		return errors.As(err, &illegal) && illegal.Code == audit.RuleLatch
	}

	// The second latches, and writes it, as its owner does.
	source.Trip(entropy.ReasonSlow)
	_, err = second.Ledger().Append(t.Context(), ledger.Proposal{Actor: as("daemon"), Bodies: []audit.Body{
		&audit.Event{Kind: audit.EventLatchSet, Latch: audit.LatchSlow}}})
	must(t, err)
	_, err = first.Shuffle(t.Context(), as("tester"), "k1", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	if !latched(err) {
		t.Errorf("a commit elsewhere while the ledger is latched: %v", err)
	}
	commits(second, "k2", api.ErrEntropy)

	must(t, clear(first))
	commits(first, "k3", nil)
	commits(second, "k4", api.ErrEntropy)
	if err := clear(first); !latched(err) {
		t.Errorf("cleared twice: %v", err)
	}
	size := first.Ledger().Live().Size
	must(t, clear(second))
	if got := second.Ledger().Live().Size; got != size+2 {
		t.Errorf("%d entries, not set and cleared", got-size)
	}
	commits(second, "k5", nil)
	commits(first, "k6", nil)

	// A clear with an act that is refused has said that the latch was set: a new act can be signed then.
	source.Trip(entropy.ReasonSlow)
	act := audit.ActEntry{Act: audit.ActLatchClear, Expires: 1, Signatures: make([]audit.ActSignature, 1)}
	act.Signatures[0].Administrator = "nobody"
	if _, err := second.ClearLatch(t.Context(), as("admin"), "r", &act); err == nil || !second.Ledger().Live().Latched {
		t.Errorf("a refused clear: %v, latched %t", err, second.Ledger().Live().Latched)
	}
}

// fullStore appends nothing once it is full.
type fullStore struct {
	ledger.Store
	full atomic.Bool
}

func (s *fullStore) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if s.full.Load() {
		return errors.New("no space left on device")
	}
	return s.Store.Append(ctx, id, old, b)
}

// TestClearLatchNotKept: a latch that only this daemon knows of is set again when
// the ledger cannot be told that it was cleared.
func TestClearLatchNotKept(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	store := &fullStore{Store: tb.cfg.Store}
	second := tb.rival(store)
	second.cfg.Entropy.Trip(entropy.ReasonSlow)
	store.full.Store(true)
	if _, err := second.ClearLatch(t.Context(), as("admin"), "r", nil); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	if _, latched := second.cfg.Entropy.Latched(); !latched {
		t.Error("the latch is open, and nothing says that it was set")
	}
	store.full.Store(false)
	must(t, second.Ledger().Refresh(t.Context()))
	if _, err := second.ClearLatch(t.Context(), as("admin"), "r", nil); err != nil {
		t.Error(err)
	}
}

// TestClearLatchUnwritten: where the event cannot be written the ledger stays latched, whatever the generator says.
func TestClearLatchUnwritten(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	_, err := tb.Ledger().Append(t.Context(), ledger.Proposal{Actor: as("daemon"), Bodies: []audit.Body{
		&audit.Event{Kind: audit.EventLatchSet, Latch: audit.LatchOperator}}})
	must(t, err)
	tb.cfg.Entropy.Trip(entropy.ReasonOperator)
	must(t, tb.Ledger().Close())
	if _, err := tb.ClearLatch(t.Context(), as("admin"), "r", nil); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("error %v", err)
	}
	if _, latched := tb.cfg.Entropy.Latched(); !latched {
		t.Error("the daemon's own latch is open although nothing was written")
	}
}
