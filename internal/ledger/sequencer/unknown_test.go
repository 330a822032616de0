package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// TestAnotherBatch: the outcome of a batch is unknown, and another daemon has written one of the same size in its
// place. Size and index tell nothing: the batch is not there, and is written behind the other one, also when the store
// cannot be asked at first.
func TestAnotherBatch(t *testing.T) {
	lost := fmt.Errorf("the connection broke: %w", ledger.ErrUnknownOutcome)
	for name, away := range map[string]int{"the store answers": 0, "the store does not answer at first": 3} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, h *house) {
				f := &faultyStore{Store: h.store}
				other := h.open(h.config("mark"))
				l := h.second(func(c *ledger.Config) { c.Store = f })
				h.must(l, propose(commit("t", 1)))
				f.failAppend(func(func() error) error {
					h.must(other, propose(commit("u", 1)))
					left := away
					f.failHead(func(head ledger.Head, err error) (ledger.Head, error) {
						if left--; left >= 0 {
							return ledger.Head{}, errors.New("connection refused")
						}
						return head, err
					})
					return lost
				})
				a := h.must(l, propose(commit("t", 2)))[0]
				c, ok := h.entries()[a.Index].Body.(*audit.Commit)
				if !ok || c.KeyTag != commit("t", 2).KeyTag {
					t.Fatalf("entry %d was acknowledged, and another one stands there", a.Index)
				}
				h.must(l, propose(oneCard(a.Index-2))) // of the first
				if n := len(h.entries()); n != 8 {
					t.Errorf("%d entries, want 8", n)
				}
			})
		})
	}
}

// TestOwnBatchIsThere: the outcome of a batch is unknown, and at the second attempt the store has its keys, because the
// first one wrote them. That is no duplicate.
func TestOwnBatchIsThere(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{Store: h.store}
		h.store = f
		l := h.open(h.config("mark"))
		f.failAppend(func(real func() error) error {
			f.failAppend(func(func() error) error {
				return &ledger.DuplicateError{Tags: [][32]byte{commit("t", 1).KeyTag}}
			})
			return errors.Join(real(), ledger.ErrUnknownOutcome)
		})
		h.proved(h.must(l, propose(commit("t", 1)))[0].Receipt)
	})
}

// TestNobodyKnows: a caller who leaves while the batch is being written, and one whose daemon stops before it learns
// the outcome, are told that it is unknown, and not that nothing was written, whether it was or not.
func TestNobodyKnows(t *testing.T) {
	for name, written := range map[string]bool{"written": true, "not written": false} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, h *house) {
				f := &faultyStore{Store: h.store}
				h.store = f
				l := h.open(h.config("mark"))
				entered, hold := make(chan struct{}), make(chan struct{})
				lose := func(real func() error) error {
					var err error
					if written {
						err = real()
					}
					close(entered)
					<-hold
					return errors.Join(err, ledger.ErrUnknownOutcome)
				}
				told := make(chan error, 1)
				ctx, leave := context.WithCancel(t.Context())
				f.failAppend(lose)
				go func() { _, err := on(l).Append(ctx, propose(commit("t", 1))); told <- err }()
				<-entered
				leave()
				unknown := func(who string) {
					t.Helper()
					err := <-told
					if !errors.Is(err, ledger.ErrUnknownOutcome) || errors.Is(err, ledger.ErrUnavailable) ||
						errors.Is(err, ledger.ErrClosed) {
						t.Errorf("%s: %v", who, err)
					}
				}
				unknown("a caller who left")
				close(hold)
				h.must(l, propose(commit("t", 2))) // when the first is resolved
				size := h.size()

				entered, hold = make(chan struct{}), make(chan struct{})
				f.failAppend(lose)
				go func() { _, err := on(l).Append(context.Background(), propose(commit("t", 3))); told <- err }()
				<-entered
				f.failHead(func(ledger.Head, error) (ledger.Head, error) {
					return ledger.Head{}, errors.New("connection refused")
				})
				f.failAppend(func(func() error) error { return ledger.ErrStale })
				closed := make(chan error, 1)
				go func() { closed <- l.Close() }()
				close(hold)
				unknown("a daemon that stops")
				if err := <-closed; err != nil {
					t.Error(err)
				}
				f.failHead(nil)
				f.failAppend(nil)
				want := size
				if written {
					want++
				}
				if n := h.size(); n != want {
					t.Errorf("%d entries, want %d", n, want)
				}
				h.must(h.open(h.config("mark")), propose(commit("t", 4)))
			})
		})
	}
}

// TestOtherHeadOfTheSize: a head of the size that a daemon knows is not the head
// that it knows. Signing stops, whichever part of it is another.
func TestOtherHeadOfTheSize(t *testing.T) {
	for name, change := range map[string]func(h *house, head ledger.Head) ledger.Head{
		"signed, with another root": func(h *house, head ledger.Head) ledger.Head {
			other, err := ledger.SignHead(head.Size, tlog.Hash{1}, h.signer)
			if err != nil {
				h.t.Error(err)
			}
			return other
		},
		"another root": func(_ *house, head ledger.Head) ledger.Head { head.Root[0] ^= 1; return head },
		"another checkpoint": func(h *house, head ledger.Head) ledger.Head {
			other, err := ledger.SignHead(head.Size, tlog.Hash{1}, h.signer)
			if err != nil {
				h.t.Error(err)
			}
			head.Checkpoint = other.Checkpoint
			return head
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, h *house) {
				f := &faultyStore{Store: h.store}
				h.store = f
				l := h.open(h.config("mark"))
				h.must(l, propose(commit("t", 1)))
				size := l.Head().Size
				f.failHead(func(head ledger.Head, err error) (ledger.Head, error) { return change(h, head), err })
				if err := l.Refresh(t.Context()); !errors.Is(err, ledger.ErrFrozen) ||
					!errors.Is(l.Ready(), ledger.ErrFrozen) {
					t.Errorf("a refresh: %v; ready: %v", err, l.Ready())
				}
				if _, err := on(l).Append(t.Context(), propose(commit("t", 2))); !errors.Is(err, ledger.ErrFrozen) {
					t.Errorf("an append: %v", err)
				}
				if head, err := f.Store.Head(t.Context(), l.ID()); err != nil || head.Size != size {
					t.Errorf("%d entries are written, %v; want %d", head.Size, err, size)
				}
				f.failHead(nil)
				waitReady(t, l)
				h.must(l, propose(commit("t", 2)))
			})
		})
	}
}
