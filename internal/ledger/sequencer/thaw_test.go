package sequencer_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
)

// TestConfirmedLater: a daemon that finds no witness at its start asks them until
// they confirm the head, also when the newest head was cosigned before.
func TestConfirmedLater(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	l := w.open(w.config("mark"))
	w.everyWitness(l)
	w.awaitCosigned(l, l.Head().Size-1)
	l.Close()

	w.down(true, 0, 1, 2)
	l = w.open(w.config("mark"))
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) ||
		!strings.Contains(err.Error(), "confirm the stored head") {
		t.Fatalf("without witnesses: %v", err)
	}
	w.down(false, 0, 1, 2)
	waitReady(t, l)
	w.must(l, propose(commit("t", 1)))
}

// overtaken is a witness that another daemon is always with just before us.
type overtaken struct {
	ledger.Witness
	first func(context.Context)
}

func (o overtaken) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte,
	error) {
	o.first(ctx)
	return o.Witness.AddCheckpoint(ctx, old, proof, checkpoint)
}

// TestConfirmedByOthers: a daemon that starts alongside a busy one never gets a quorum for a head of its own. What the
// other stored, and the witnesses say they are at, confirms the ledger as well.
func TestConfirmedByOthers(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	busy := w.open(w.config("mark"))
	c := w.config("second")
	honest := c.Witness
	var turn sync.Mutex
	n := uint64(0)
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		asked, err := honest(lines)
		return overtaken{asked, func(ctx context.Context) {
			turn.Lock()
			defer turn.Unlock()
			n++
			on(busy).Append(ctx, propose(commit("t", n)))
			busy.AwaitCosigned(ctx, busy.Head().Size-1)
		}}, err
	}
	w.copyMark("mark", "second")
	l := w.open(c)
	waitReady(t, l)
}

// gated is a witness that answers only after other things happened.
type gated struct {
	ledger.Witness
	open <-chan struct{}
}

func (g gated) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte, error) {
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	return g.Witness.AddCheckpoint(ctx, old, proof, checkpoint)
}

// probedStore closes probed when the head was read some times after a quorum
// was stored: time enough for a daemon that does not wait.
type probedStore struct {
	ledger.Store
	probed chan struct{}

	mu    sync.Mutex
	since int // Heads since the quorum; 0 before it
}

func (s *probedStore) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	s.mu.Lock()
	s.since = max(s.since, 1)
	s.mu.Unlock()
	return s.Store.PutCosigned(ctx, id, h)
}

func (s *probedStore) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	s.mu.Lock()
	if s.since > 0 {
		if s.since++; s.since == 20 {
			close(s.probed)
		}
	}
	s.mu.Unlock()
	return s.Store.Head(ctx, id)
}

// TestEveryWitnessIsHeard: one witness alone has seen the end that a restored backup lacks. The start hears it too,
// though the quorum of the others is faster.
func TestEveryWitnessIsHeard(t *testing.T) {
	t.Parallel()
	db := newSQLite(t)
	w := newWitnessed(t, db.open(), audit.DealsSigned)
	l := w.open(w.config("mark"))
	w.everyWitness(l)
	l.Close()
	w.copyMark("mark", "old")
	backup := db.backup()
	w.store = db.open()
	w.down(true, 1, 2)
	l = w.open(w.config("mark"))
	w.must(l, propose(commit("t", 1)))
	waitFor(t, func() bool { return l.Witnesses()[0].Size == l.Head().Size })
	l.Close()

	f := &probedStore{Store: backup.open(), probed: make(chan struct{})}
	w.store = f
	before := w.size()
	w.down(false, 1, 2)
	c := w.config("old")
	honest := c.Witness
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		one := lines[0]
		asked, err := honest(lines)
		if one.Name == w.witnesses[0].Name {
			return gated{asked, f.probed}, err
		}
		return asked, err
	}
	l = w.open(c)
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) || !strings.Contains(err.Error(), "another history") {
		t.Errorf("started while one witness knows better: %v", err)
	}
	if n := w.size(); n != before {
		t.Errorf("%d entries after the restore, %d before", n, before)
	}
}

// TestDoubtEndsByItself: what a witness showed is in the stored ledger again.
// Signing resumes though the witness is gone.
func TestDoubtEndsByItself(t *testing.T) {
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
	f.failHead(func(ledger.Head, error) (ledger.Head, error) { return old, nil })
	l = w.open(w.config("old"))
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) || !strings.Contains(err.Error(), "another history") {
		t.Fatalf("started on a restored backup: %v", err)
	}
	w.down(true, 0, 1, 2)
	f.failHead(nil)
	waitReady(t, l)
	w.must(l, propose(commit("t", 3)))
}

// TestForeignRowsHideNothing: rows in the table of cosigned checkpoints that do
// not hold do not hide the one below them that does.
func TestForeignRowsHideNothing(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	l := w.open(w.config("mark"))
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
	good, _ := l.Cosigned()
	w.down(true, 0, 1, 2)
	for n := range uint64(3) {
		junk := ledger.Head{Size: good.Size + 1 + n, Checkpoint: []byte("junk")}
		must(t, w.store.PutCosigned(t.Context(), l.ID(), junk))
	}
	if h, err := l.CosignedAtMost(t.Context(), audit.MaxInteger); err != nil || h.Size != good.Size {
		t.Errorf("size %d, %v", h.Size, err)
	}
}

// askedStore counts how often the newest cosigned checkpoint is looked for.
type askedStore struct {
	ledger.Store
	asked atomic.Int64
}

func (s *askedStore) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	h, err := s.Store.CosignedAtMost(ctx, id, size)
	s.asked.Add(1)
	return h, err
}

// TestCosignedOfAnotherHistory: a checkpoint of another history under the same
// key, cosigned by the quorum, is put into the table. It is no reason to deal.
func TestCosignedOfAnotherHistory(t *testing.T) {
	t.Parallel()
	db := newSQLite(t)
	w := newWitnessed(t, db.open(), audit.DealsSigned)
	l := w.open(w.config("mark"))
	l.Close()
	w.copyMark("mark", "second")
	second := db.backup()
	w.store = db.open()
	l = w.open(w.config("mark"))
	w.awaitCosigned(l, w.must(l, propose(commits("t", 1, 3)...))[2].Index)
	foreign, _ := l.Cosigned()
	l.Close()

	w.down(true, 0, 1, 2)
	f := &askedStore{Store: second.open()}
	w.store = f
	rival := w.open(w.config("second"))
	w.must(rival, propose(commits("u", 1, 9)...))
	must(t, f.PutCosigned(t.Context(), rival.ID(), foreign))
	seen := f.asked.Load()
	waitFor(t, func() bool { return f.asked.Load() > seen+2 })
	if h, ok := rival.Cosigned(); ok && h.Size >= foreign.Size {
		t.Errorf("the daemon took over a cosigned checkpoint of size %d of another history", h.Size)
	}
}
