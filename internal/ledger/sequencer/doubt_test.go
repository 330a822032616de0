package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
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
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
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
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
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

// TestOneWitnessConfirmsNothing: where deals wait for witnesses, a daemon that starts signs only when a quorum has
// cosigned the stored head. One witness that does is none, however often it is asked.
func TestOneWitnessConfirmsNothing(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	l := w.open(w.config("mark"))
	w.everyWitness(l)
	w.awaitCosigned(l, l.Head().Size-1)
	l.Close()

	w.down(true, 1, 2)
	s := &headCount{Store: w.store}
	c := w.config("mark")
	c.Store = s
	l = w.open(c)
	waitFor(t, func() bool { return l.Witnesses()[0].Err == nil && l.Witnesses()[0].Size == l.Head().Size })
	seen := s.heads() // each look of a frozen ledger reads it
	waitFor(t, func() bool { return s.heads() > seen+5 })
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) ||
		!strings.Contains(err.Error(), "confirm the stored head") {
		t.Errorf("one witness of three cosigned the stored head: %v", err)
	}
	w.down(false, 1)
	waitReady(t, l)
	w.must(l, propose(commit("t", 1)))
}

// TestBeginsOnce: a probe that comes between the check of the stored head and the
// daemon's first entry writes no second instance_start.
func TestBeginsOnce(t *testing.T) {
	h := newHouse(t, openSQLite(t))
	const daemons = 30
	for range daemons {
		c := h.config("mark")
		c.Probe = time.Microsecond
		l := h.open(c)
		must(t, l.Close())
	}
	starts := 0
	for _, e := range h.entries() {
		if ev, ok := e.Body.(*audit.Event); ok && ev.Kind == audit.EventInstanceStart {
			starts++
		}
	}
	if starts != daemons {
		t.Errorf("%d instance_starts of %d daemons", starts, daemons)
	}
}

// TestFirstCosigned: the oldest cosigned checkpoint over an entry is found, behind a row that does not hold, too.
func TestFirstCosigned(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsSigned)
		l := w.open(w.config("mark"))
		first := w.must(l, propose(commit("t", 1)))[0].Index
		w.awaitCosigned(l, first)
		oldest, _ := l.Cosigned()
		second := w.must(l, propose(commit("t", 2)))[0].Index
		w.awaitCosigned(l, second)
		for _, index := range []uint64{first, oldest.Size - 1} {
			if h, err := l.FirstCosigned(t.Context(), index); err != nil || h.Size != oldest.Size {
				t.Errorf("over entry %d: size %d, %v, want %d", index, h.Size, err, oldest.Size)
			}
		}
		if h, err := l.FirstCosigned(t.Context(), second); err != nil || h.Size <= second {
			t.Errorf("over entry %d: size %d, %v", second, h.Size, err)
		}

		w.down(true, 0, 1, 2)
		third := w.must(l, propose(commit("t", 3)))[0].Index
		if h, err := l.FirstCosigned(t.Context(), third); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("over an entry that nobody cosigned: size %d, %v", h.Size, err)
		}
		if err := store.PutCosigned(t.Context(), l.ID(),
			ledger.Head{Size: third + 1, Checkpoint: []byte("junk")}); err != nil {
			t.Fatal(err)
		}
		w.down(false, 0, 1, 2)
		fourth := w.must(l, propose(commit("t", 4)))[0].Index
		w.awaitCosigned(l, fourth)
		if h, err := l.FirstCosigned(t.Context(), third); err != nil || h.Size <= fourth {
			t.Errorf("behind a row that does not hold: size %d, %v", h.Size, err)
		}
	})
}
