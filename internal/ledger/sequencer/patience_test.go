package sequencer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// TestPatience holds a batch at the store. Who waits behind it with patience is
// refused when that ends, and nothing of it is ever written; what is being written
// is answered with the truth however long it takes, and who has no patience waits.
func TestPatience(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		faulty := &faultyStore{Store: store}
		h := newHouse(t, faulty)
		l := h.open(h.config("mark"))
		held, release := make(chan struct{}), make(chan struct{})
		faulty.failAppend(func(real func() error) error {
			close(held)
			<-release
			return real()
		})
		type outcome struct {
			appended []ledger.Appended
			err      error
		}
		ask := func(ctx context.Context, n uint64) chan outcome {
			c := make(chan outcome, 1)
			go func() {
				a, err := on(l).Append(ctx, propose(commit("t", n)))
				c <- outcome{a, err}
			}()
			return c
		}
		// On a busy machine the patience of the first may end before its batch begins: then it asks again.
		var first chan outcome
		var soon context.Context
		var end time.Time
		for short, begun := 20*time.Millisecond, false; !begun; short *= 2 {
			end = time.Now().Add(short)
			soon = ledger.WithPatience(t.Context(), end)
			first = ask(soon, 1)
			select {
			case <-held:
				begun = true
			case got := <-first:
				if !errors.Is(got.err, ledger.ErrOverloaded) {
					t.Fatalf("in front of a batch: %v", got.err)
				}
			}
		}
		patient := ask(t.Context(), 2)
		for n := range uint64(3) {
			if got := <-ask(soon, 10+n); !errors.Is(got.err, ledger.ErrOverloaded) {
				t.Errorf("behind a batch that does not move: %v", got.err)
			}
		}
		<-time.After(time.Until(end)) // the patience of the first ends while it is written
		select {
		case got := <-first:
			t.Errorf("an answer before the outcome is known: %v", got.err)
		default:
		}
		close(release)
		if got := <-first; got.err != nil || len(got.appended) != 1 {
			t.Errorf("what was being written: %v", got.err)
		}
		if got := <-patient; got.err != nil {
			t.Errorf("without patience: %v", got.err)
		}
		commits := 0
		for _, e := range h.entries() {
			if _, ok := e.Body.(*audit.Commit); ok {
				commits++
			}
		}
		if commits != 2 {
			t.Errorf("%d commits", commits)
		}
	})
}

// TestSlowBatch: a ledger whose batch does not come back is not ready.
func TestSlowBatch(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		faulty := &faultyStore{Store: store}
		h := newHouse(t, faulty)
		l := h.open(h.config("mark"))
		release := make(chan struct{})
		faulty.failAppend(func(real func() error) error {
			<-release
			return real()
		})
		done := make(chan error, 1)
		go func() {
			_, err := on(l).Append(t.Context(), propose(commit("t", 1)))
			done <- err
		}()
		for l.Ready() == nil {
			time.Sleep(10 * time.Millisecond) // until it is noticed; no test of time
		}
		if err := l.Ready(); !errors.Is(err, ledger.ErrUnavailable) {
			t.Error(err)
		}
		close(release)
		if err := <-done; err != nil || l.Ready() != nil {
			t.Errorf("afterwards: %v, %v", err, l.Ready())
		}
	})
}
