package ledger_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/witness"
)

// gatedWitness is the way to a witness that can be held up, and cut.
type gatedWitness struct {
	ledger.Witness
	gates *gates
	name  string
}

// gates are those of one daemon, by the name of the witness.
type gates struct {
	mu   sync.Mutex
	shut map[string]chan struct{}
	cut  map[string]bool
}

func (g gatedWitness) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte,
	error) {
	g.gates.mu.Lock()
	shut, cut := g.gates.shut[g.name], g.gates.cut[g.name]
	g.gates.mu.Unlock()
	if cut {
		return nil, errors.New("cut")
	}
	if shut != nil {
		<-shut
	}
	return g.Witness.AddCheckpoint(context.WithoutCancel(ctx), old, proof, checkpoint)
}

// behind puts the daemon's witnesses behind gates.
func behind(c *ledger.Config) *gates {
	g := &gates{shut: make(map[string]chan struct{}), cut: make(map[string]bool)}
	c.Witness = func(lines []audit.Witness) (ledger.Witness, error) {
		one := lines[0]
		return gatedWitness{&witness.Client{URL: one.URL, Keys: []note.Verifier{one.Key}}, g, one.Name}, nil
	}
	return g
}

func (g *gates) setCut(names ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		g.cut[name] = true
	}
}

// setShut holds up the witnesses until what it returns is called.
func (g *gates) setShut(names ...string) (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until := make(chan struct{})
	for _, name := range names {
		g.shut[name] = until
	}
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, name := range names {
			delete(g.shut, name)
		}
		close(until)
	})
}

// cosignedBy waits until the witnesses cosigned a head of the daemon of that size.
func (w *witnessed) cosignedBy(l *ledger.Ledger, size uint64, names ...string) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		n := 0
		for _, s := range l.Witnesses() {
			if slices.Contains(names, s.Name) && s.Size == size {
				n++
			}
		}
		return n == len(names)
	})
}

// TestRoundBelowHandover: a daemon asks for a head while another lets the waiting policy take over at a larger one.
// What the new quorum alone cosigned of the smaller head is not cosigned: the old policy governs it.
func TestRoundBelowHandover(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	old := (&quorum{witnesses: w.witnesses}).write(t)
	next := newQuorum(t, w.vkey)
	names := []string{next.witnesses[0].Name, next.witnesses[1].Name, next.witnesses[2].Name}
	ca := w.config("mark")
	cut := behind(&ca)
	a := w.open(ca)
	w.awaitCosigned(a, w.must(a, propose(commit("t", 1)))[0].Index)
	cut.setCut(append(names, old.names()...)...) // the new policy is not handed on to by this daemon yet
	w.copyMark("mark", "second")
	cb := w.config("second")
	held := behind(&cb)
	b := w.open(cb)
	w.everyone(b, old)
	openOld, openLast := held.setShut(old.names()...), held.setShut(names[2])
	defer openOld()
	defer openLast()
	index := w.must(b, propose(next.entry()))[0].Index
	size := index + 1
	w.cosignedBy(b, size, names[:2]...) // and the others are held up

	above := w.must(a, propose(commit("t", 2)))[0].Index
	cut.mu.Lock()
	cut.cut = map[string]bool{names[2]: true}
	cut.mu.Unlock()
	w.awaitCosigned(a, above)
	w.asked(a, next)
	if err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.asked(b, next)
	openLast()
	w.cosignedBy(b, size, names[2])
	for h, err := range w.store.CosignedFrom(t.Context(), a.ID(), size) {
		if err != nil {
			t.Fatal(err)
		}
		if h.Size == size {
			t.Error("what the new quorum alone cosigned below the checkpoint that hands on was stored")
		}
	}
	openOld()
	w.awaitCosigned(b, w.must(b, propose(commit("t", 3)))[0].Index)
	w.judged()
}

// blindStore does not show the cosigned checkpoints while it is blind.
type blindStore struct {
	ledger.Store
	blind atomic.Bool
	tried chan uint64 // sizes that were put while it was blind
}

func (s *blindStore) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	if s.blind.Load() {
		return func(yield func(ledger.Head, error) bool) { yield(ledger.Head{}, errors.New("blind")) }
	}
	return s.Store.CosignedFrom(ctx, id, size)
}

func (s *blindStore) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	defer s.note(h)
	return s.Store.PutCosigned(ctx, id, h)
}

func (s *blindStore) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	defer s.note(h)
	return s.Store.PutHandover(ctx, id, h, from)
}

func (s *blindStore) note(h ledger.Head) {
	if s.blind.Load() {
		select {
		case s.tried <- h.Size:
		default:
		}
	}
}

// TestTwoPoliciesWait: of two policies the first takes over on one daemon; the other daemon, which has not seen it,
// stores no checkpoint of the policy before and the second alone.
func TestTwoPoliciesWait(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsSigned)
		old := (&quorum{witnesses: w.witnesses}).write(t)
		first, second := newQuorum(t, w.vkey), newQuorum(t, w.vkey)
		ca := w.config("mark")
		cut := behind(&ca)
		a := w.open(ca)
		w.awaitCosigned(a, w.must(a, propose(commit("t", 1)))[0].Index)
		w.copyMark("mark", "second")
		cb := w.config("second")
		seen := &blindStore{Store: store, tried: make(chan uint64, 1)}
		cb.Store = seen
		b := w.open(cb)
		w.everyone(b, old)
		seen.blind.Store(true)
		w.awaitCosigned(a, w.addPolicy(a, first))
		w.asked(a, first)
		cut.setCut(second.names()...) // it hands on to no other
		index := w.must(a, propose(second.entry()))[0].Index
		if err := b.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.asked(b, old, first, second)
		for size := uint64(0); size <= index; {
			size = <-seen.tried
		}
		if h, ok := b.Cosigned(); ok && h.Size > index {
			t.Errorf("the checkpoint of size %d counts, which the policy in force did not cosign", h.Size)
		}
		seen.blind.Store(false)
		w.awaitCosigned(b, w.must(b, propose(commit("t", 2)))[0].Index)
		w.asked(b, second)
		w.asked(a, second)
		w.judged()
	})
}

// TestRoundAcrossHandover: of two policies that wait the first takes over, on another
// daemon, while a round for the second is under way. That round has the policy before and
// the second behind it, and the first governs: nothing of it is stored.
func TestRoundAcrossHandover(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	old := (&quorum{witnesses: w.witnesses}).write(t)
	first, second := newQuorum(t, w.vkey), newQuorum(t, w.vkey)
	ca := w.config("mark")
	cut := behind(&ca)
	a := w.open(ca)
	w.awaitCosigned(a, w.must(a, propose(commit("t", 1)))[0].Index)
	w.copyMark("mark", "second")
	cb := w.config("second")
	held := behind(&cb)
	seen := &blindStore{Store: w.store, tried: make(chan uint64, 1)}
	cb.Store = seen
	b := w.open(cb)
	w.everyone(b, old)
	seen.blind.Store(true)
	w.awaitCosigned(a, w.addPolicy(a, first))
	w.asked(a, first)
	cut.setCut(second.names()...) // it hands on to no other
	open := held.setShut(second.names()...)
	defer open()
	size := w.must(a, propose(second.entry()))[0].Index + 1
	if err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.cosignedBy(b, size, old.names()...)
	seen.blind.Store(false)
	w.asked(b, first, second)
	open()
	w.awaitCosigned(b, size-1)
	w.judged()
}
