package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/witness/witnesstest"
)

// signs reports whether the ledger was signed onto again after it could not be.
func (h *house) signs() bool {
	return slices.ContainsFunc(h.entries(), func(e audit.Entry) bool {
		ev, ok := e.Body.(*audit.Event)
		return ok && ev.Alarm == audit.AlarmSigningResumed
	})
}

// TestDoubtsOfOthers: one witness has seen another history, and the two others cosign
// on, which is a quorum. Then a second one has, and the first cosigns again. Each
// doubt is its witness's to end: until both are content, nothing is signed.
func TestDoubtsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	c := w.config("mark")
	l := w.open(c)
	w.everyWitness(l)
	l.Close()
	honest := c.Witness
	asked, lies := make(map[string]*atomic.Int64), make(map[string]*atomic.Bool)
	for _, one := range w.witnesses {
		asked[one.Name], lies[one.Name] = new(atomic.Int64), new(atomic.Bool)
	}
	c.Witness = func(lines []audit.Witness) (ledger.Witness, error) {
		one := lines[0]
		client, err := honest(lines)
		client = sometimes{client, silent{liar{client, 1 << 40}}, lies[one.Name]}
		return counting{client, asked[one.Name]}, err
	}
	first, second := w.witnesses[0].Name, w.witnesses[1].Name
	lies[first].Store(true)
	l = w.open(c)
	waitFor(t, func() bool { return errors.Is(l.Ready(), ledger.ErrFrozen) })
	size := w.size()
	frozen := func(when, by string) {
		t.Helper()
		// Rounds go on while somebody doubts, and those who do not cosign in each.
		for _, one := range w.witnesses {
			seen := asked[one.Name].Load()
			waitFor(t, func() bool { return asked[one.Name].Load() >= seen+2 })
		}
		if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) || !strings.Contains(err.Error(), by) {
			t.Errorf("%s: %v", when, err)
		}
		if _, err := on(l).Append(t.Context(), propose(commit("t", 1))); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("%s, appending: %v", when, err)
		}
		if n := w.size(); n != size || w.signs() {
			t.Errorf("%s: %d entries were written", when, n-size)
		}
	}
	frozen("while the others cosign", first)
	lies[second].Store(true)
	waitFor(t, func() bool { return strings.Contains(fmt.Sprint(l.Witnesses()[1].Err), "another history") })
	lies[first].Store(false)
	waitFor(t, func() bool { return l.Witnesses()[0].Err == nil })
	frozen("while the second doubts", second)
	lies[second].Store(false)
	waitReady(t, l)
	w.must(l, propose(commit("t", 1)))
}

// sometimes is one of two witnesses.
type sometimes struct {
	ledger.Witness
	other ledger.Witness
	now   *atomic.Bool // it is the other
}

func (s sometimes) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash,
	checkpoint []byte) ([]byte, error) {
	if s.now.Load() {
		return s.other.AddCheckpoint(ctx, old, proof, checkpoint)
	}
	return s.Witness.AddCheckpoint(ctx, old, proof, checkpoint)
}

func (s sometimes) Latest(ctx context.Context, origin string) ([]byte, error) {
	if s.now.Load() {
		return s.other.Latest(ctx, origin)
	}
	return s.Witness.Latest(ctx, origin)
}

// headCount counts how often the head is read.
type headCount struct {
	ledger.Store
	mu    sync.Mutex
	count int
}

func (s *headCount) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	s.mu.Lock()
	s.count++
	s.mu.Unlock()
	return s.Store.Head(ctx, id)
}

func (s *headCount) heads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// TestDoubtsEndOneByOne: the stored ledger holds again what one witness showed. A
// second one, which shows nothing, has not said that it is content.
func TestDoubtsEndOneByOne(t *testing.T) {
	t.Parallel()
	f := &faultyStore{Store: openSQLite(t)}
	w := newWitnessed(t, f, audit.DealsSigned)
	l := w.open(w.config("mark"))
	w.must(l, propose(commit("t", 1)))
	old := l.Head()
	w.copyMark("mark", "old")
	w.must(l, propose(commit("t", 2)))
	w.everyWitness(l)
	l.Close()

	// Doubts are weighed in the order of keys: the one that ends comes first.
	inOrder := slices.Clone(w.witnesses)
	slices.SortFunc(inOrder, func(a, b *witnesstest.Witness) int { return strings.Compare(a.VKey, b.VKey) })
	stays := inOrder[2].Name
	s := &headCount{Store: f}
	c := w.config("old")
	c.Store = s
	honest := c.Witness
	var lies atomic.Bool
	lies.Store(true)
	c.Witness = func(lines []audit.Witness) (ledger.Witness, error) {
		one := lines[0]
		client, err := honest(lines)
		if one.Name == stays {
			return sometimes{client, silent{liar{client, 1 << 40}}, &lies}, err
		}
		return client, err
	}
	f.failHead(func(ledger.Head, error) (ledger.Head, error) { return old, nil })
	l = w.open(c)
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) {
		t.Fatalf("started on a restored backup: %v", err)
	}
	f.failHead(nil)
	seen := s.heads()
	waitFor(t, func() bool { return s.heads() > seen+20 })
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) || !strings.Contains(err.Error(), stays) {
		t.Errorf("while %s doubts: %v", stays, err)
	}
	if w.signs() {
		t.Error("signing was resumed")
	}
	lies.Store(false)
	waitReady(t, l)
	w.must(l, propose(commit("t", 3)))
}
