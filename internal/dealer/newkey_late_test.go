package dealer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
)

// held holds an append back until it is let go, and shows what others send.
type held struct {
	ledger.Store
	hold    chan struct{} // nil: nothing is held
	entered chan struct{}
	written chan error
	sent    func(ledger.Batch)
}

func (h *held) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if h.sent != nil {
		h.sent(b)
	}
	if h.hold == nil {
		return h.Store.Append(ctx, id, old, b)
	}
	hold := h.hold
	h.hold = nil
	close(h.entered)
	<-hold
	err := h.Store.Append(ctx, id, old, b)
	h.written <- err
	return err
}

// TestNewKeyLeaves: who leaves while the commit is being written is told that its outcome is not known.
func TestNewKeyLeaves(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	tb.pass(time.Minute)
	h := &held{Store: tb.cfg.Store, hold: make(chan struct{}), entered: make(chan struct{}),
		written: make(chan error, 1)}
	ctx, leave := context.WithCancel(t.Context())
	req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
	tb.commit("first", req) // from here on it is alone
	tb.Ledger().Close()
	hold := h.hold
	h.hold = nil
	tb.serve(h, tb.open.Mark)
	h.hold = hold
	told := make(chan error, 1)
	go func() {
		_, err := tb.Shuffle(ctx, as("tester"), keyAt(tb.now(), 1), req)
		told <- err
	}()
	<-h.entered
	leave()
	err := <-told
	close(hold)
	if w := <-h.written; w != nil {
		t.Fatal(w)
	}
	if !errors.Is(err, ledger.ErrUnknownOutcome) || errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("a written commit is told as %v", err)
	}
}

// TestLyingKeyLatched: a refusal that is no rule of the ledger's is not told in the
// place of an answer that stands there, either.
func TestLyingKeyLatched(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
	key := keyAt(tb.now().Add(time.Hour), 1)
	first := tb.commit(key, req)
	tb.restart()
	tb.pass(time.Hour)
	tb.cfg.Entropy.Trip(entropy.ReasonFoulDeck)
	if diff := cmp.Diff(first, tb.commit(key, req), sameAnswer); diff != "" {
		t.Error(diff)
	}
	if _, err := tb.Shuffle(t.Context(), as("tester"), keyAt(tb.now(), 2), req); !errors.Is(err, dealer.ErrEntropy) {
		t.Errorf("a new key: %v", err)
	}
}

// TestTakenSlotOfAChild: a child with a slot that stands in another commit is refused
// before its parent's tape goes to the store.
func TestTakenSlotOfAChild(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		_, hashes := slots("taken", 1)
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
		parent := tb.commit("parent", req)
		req.Plan = &dealer.MixPlan{Slots: hashes}
		tb.commit("slot", req)
		tb.Ledger().Close()
		tb.serve(&held{Store: tb.cfg.Store, sent: func(b ledger.Batch) {
			for _, r := range b.Rows {
				if r.Type == audit.TypeClose {
					t.Error("the tape of an open shuffle was sent")
				}
			}
		}}, tb.open.Mark)
		_, err := tb.Shuffle(t.Context(), as("tester"), "child",
			dealer.ShuffleRequest{Table: "t", Parent: &dealer.Parent{ID: parent.ID}, Plan: req.Plan})
		var illegal *audit.Illegal
		if !errors.As(err, &illegal) || illegal.Code != audit.RuleSlot {
			t.Errorf("a slot that is taken: %v", err)
		}
	})
}

// TestLyingKeyOfAChild: a child's key is always looked up, for its parent's tape goes to the store with it.
func TestLyingKeyOfAChild(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
	lying := keyAt(tb.now().Add(time.Hour), 1)
	used := tb.commit(lying, req)
	if _, err := tb.Close(t.Context(), as("tester"), used.ID,
		dealer.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err != nil {
		t.Fatal(err)
	}
	by := dealer.Time(tb.now().Add(7000 * time.Second).UnixMilli())
	req.CloseBy = &by
	parent := tb.commit("parent", req)
	tb.Ledger().Close()
	tb.serve(&held{Store: tb.cfg.Store, sent: func(b ledger.Batch) {
		for _, r := range b.Rows {
			if r.Type == audit.TypeClose && r.Shuffle == parent.ID {
				t.Error("the tape of an open shuffle was sent")
			}
		}
	}}, tb.open.Mark)
	tb.pass(time.Hour)
	_, err := tb.Shuffle(t.Context(), as("tester"), lying,
		dealer.ShuffleRequest{Table: "t", Parent: &dealer.Parent{ID: parent.ID}})
	if !errors.Is(err, dealer.ErrKeyReused) {
		t.Errorf("another request under the key: %v", err)
	}
}
