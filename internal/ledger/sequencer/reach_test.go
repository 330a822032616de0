package sequencer_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// apart opens two daemons on the house's ledger of which the second hears of the
// first only when it is asked, and counts how often it reads the head.
func (h *house) apart(change func(*ledger.Config)) (a, b *sequencer.Ledger, s *slowHead) {
	h.t.Helper()
	c := h.config("mark")
	c.Probe = time.Hour
	a = h.open(c)
	s = &slowHead{Store: h.store, asked: make(chan struct{}, 1)}
	b = h.second(func(c *ledger.Config) {
		c.Probe, c.Store = time.Hour, s
		if change != nil {
			change(c)
		}
	})
	h.must(a, propose(commit("t", 1)))
	if err := b.Refresh(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	free := make(chan struct{})
	close(free)
	s.free.Store(&free) // counts from now on, and waits for nobody
	return a, b, s
}

// TestReadOfAnothers: what one daemon acknowledged is read from another one at once.
func TestReadOfAnothers(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		a, b, s := h.apart(nil)
		for n, read := range []func(index uint64) error{
			func(index uint64) error {
				text, err := b.Receipt(t.Context(), index)
				if err == nil {
					var r audit.Receipt
					r, err = audit.ParseReceipt(text)
					h.proved(r)
				}
				return err
			},
			func(index uint64) error {
				_, err := b.Tile(t.Context(), tlog.Tile{H: 8, L: 0, W: int(index + 1)})
				return err
			},
			func(index uint64) error {
				_, err := b.EntryBundle(t.Context(), tlog.Tile{H: 8, L: -1, W: int(index + 1)})
				return err
			},
		} {
			before := s.times.Load()
			index := h.must(a, propose(commit("t", uint64(n+2))))[0].Index
			if err := read(index); err != nil {
				t.Errorf("read %d of entry %d: %v", n, index, err)
			}
			if times := s.times.Load() - before; times != 1 {
				t.Errorf("read %d of entry %d: the head was read %d times", n, index, times)
			}
		}
	})
}

// TestAbsentAsksNobody: what no daemon has written is told by plain reads, also while the sequencer is at the store.
func TestAbsentAsksNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{}
		a, b, s := h.apart(func(c *ledger.Config) { f.Store = c.Store; c.Store = f })
		entered, release := make(chan struct{}), make(chan struct{})
		f.failAppend(func(real func() error) error {
			close(entered)
			<-release
			return real()
		})
		done := make(chan error, 1)
		go func() { _, err := on(b).Append(context.Background(), propose(commit("u", 1))); done <- err }()
		<-entered
		for _, index := range []uint64{a.Head().Size, a.Head().Size + 1, 1 << 40, math.MaxInt64, math.MaxUint64} {
			if _, err := b.Receipt(t.Context(), index); !errors.Is(err, ledger.ErrNotFound) {
				t.Errorf("receipt %d: %v", index, err)
			}
		}
		for _, tile := range []tlog.Tile{{L: 0, N: 0, W: 255}, {L: 0, N: 1, W: 1}, {L: 1, N: 0, W: 1},
			{L: 6, N: 126, W: 1}, {L: 6, N: 127, W: 1}, {L: 7, N: 0, W: 1},
			{L: 8, N: 0, W: 1}, {L: 0, N: math.MaxInt64, W: 256}, {L: 3, N: math.MaxInt64 >> 32, W: 256}} {
			tile.H = 8
			if _, err := b.Tile(t.Context(), tile); !errors.Is(err, ledger.ErrNotFound) {
				t.Errorf("tile %v: %v", tile, err)
			}
		}
		if n := s.times.Load(); n != 0 {
			t.Errorf("the head was read %d times for what is not there", n)
		}
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestReceiptsShare: a crowd that asks for what another daemon wrote costs one
// refresh; who loses patience or leaves costs the others nothing.
func TestReceiptsShare(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		b, row, s, free := h.slowSecond()
		const readers = 50
		var wg sync.WaitGroup
		var come atomic.Int64
		ctx, leave := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := b.Receipt(ctx, row.Index); !errors.Is(err, context.Canceled) {
				t.Errorf("who left: %v", err)
			}
		})
		<-s.asked // by the one who leaves
		leave()
		if _, err := b.Receipt(ledger.WithPatience(t.Context(), time.Now()), row.Index); !errors.Is(err,
			ledger.ErrOverloaded) {
			t.Errorf("without patience: %v", err)
		}
		for range readers {
			wg.Go(func() {
				come.Add(1)
				if _, err := b.Receipt(t.Context(), row.Index); err != nil {
					t.Error(err)
				}
			})
		}
		for come.Load() < readers {
			runtime.Gosched()
		}
		close(free)
		wg.Wait()
		if n := s.times.Load(); n != 1 {
			t.Errorf("%d readers of one entry: the head was read %d times", readers+1, n)
		}
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// lateHead returns the first head that is read once late is set only when it may carry on.
type lateHead struct {
	ledger.Store
	late          atomic.Bool
	plain         atomic.Int64 // plain reads
	read, carryOn chan struct{}
}

func (s *lateHead) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	defer s.plain.Add(1)
	return s.Store.CheckpointAfter(ctx, id, index)
}

func (s *lateHead) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	h, err := s.Store.Head(ctx, id)
	if s.late.CompareAndSwap(true, false) {
		close(s.read)
		<-s.carryOn
	}
	return h, err
}

// TestRefreshTooEarly: an entry that was written while a refresh was under way is found by the next one.
func TestRefreshTooEarly(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		s := &lateHead{read: make(chan struct{}), carryOn: make(chan struct{})}
		a, b, _ := h.apart(func(c *ledger.Config) { s.Store = c.Store; c.Store = s })
		first := h.must(a, propose(commit("t", 2)))[0].Index
		s.late.Store(true)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := b.Receipt(t.Context(), first); err != nil {
				t.Error(err)
			}
		})
		<-s.read // the head, which is the second's no more
		second := h.must(a, propose(commit("t", 3)))[0].Index
		wg.Go(func() {
			if _, err := b.Receipt(t.Context(), second); err != nil {
				t.Errorf("written during a refresh: %v", err)
			}
		})
		for s.plain.Load() < 2 { // and then it joins
			runtime.Gosched()
		}
		for range 100 {
			runtime.Gosched()
		}
		close(s.carryOn)
		wg.Wait()
	})
}

// TestReadOfAnothersFrozen: a daemon that may not follow does not say that an entry is not there.
func TestReadOfAnothersFrozen(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		a, b, _ := h.apart(nil)
		b.BreakMark()
		index := h.must(a, propose(commit("t", 2)))[0].Index
		b.Refresh(t.Context()) // folds, and stops for lack of a mark
		later := h.must(a, propose(commit("t", 3)))[0].Index
		if _, err := b.Receipt(t.Context(), index); err != nil {
			t.Errorf("what it has: %v", err)
		}
		if _, err := b.Receipt(t.Context(), later); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("what it may not fold: %v", err)
		}
		if _, err := b.Receipt(t.Context(), later+1); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("what nobody has: %v", err)
		}
		// Nor does one that is closed.
		if err := b.Close(); err != nil {
			t.Log(err)
		}
		if _, err := b.Receipt(t.Context(), later); err == nil || strings.Contains(err.Error(), "not found") {
			t.Errorf("closed: %v", err)
		}
	})
}

// slowHead is a store whose head is read only once free is closed, or its reader has left.
type slowHead struct {
	ledger.Store
	free  atomic.Pointer[chan struct{}]
	asked chan struct{} // capacity 1
	times atomic.Int64
}

func (s *slowHead) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	if free := s.free.Load(); free != nil {
		s.times.Add(1)
		select {
		case s.asked <- struct{}{}:
		default:
		}
		select {
		case <-*free:
		case <-ctx.Done():
			return ledger.Head{}, ctx.Err()
		}
	}
	return s.Store.Head(ctx, id)
}

// slowSecond opens a second daemon whose heads are slow from now on until free is
// closed, alongside one that has written an entry which it does not know.
func (h *house) slowSecond() (b *sequencer.Ledger, row ledger.Row, s *slowHead, free chan struct{}) {
	h.t.Helper()
	idle := func(c *ledger.Config) { c.Probe = time.Hour }
	c := h.config("mark")
	idle(&c)
	a := h.open(c)
	s, free = &slowHead{Store: h.store, asked: make(chan struct{}, 1)}, make(chan struct{})
	b = h.second(func(c *ledger.Config) { idle(c); c.Store = s })
	at := h.must(a, propose(commit("t", 1)))[0].Index
	rows, err := h.store.ByShuffles(h.t.Context(), ledger.IDOf(origin), ledger.Durable, at)
	if err != nil || len(rows[0]) != 1 {
		h.t.Fatal(rows, err)
	}
	s.free.Store(&free)
	return b, rows[0][0], s, free
}

// TestReaderLeaves: that somebody who reads another daemon's entry leaves says
// nothing of the store: the ledger stays ready.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	b, row, s, free := h.slowSecond()
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Authentic(ctx, []ledger.Row{row}) }()
	<-s.asked
	leave()
	close(free)
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := b.Ready(); err != nil {
		t.Errorf("a reader left: %v", err)
	}
	// Nor does somebody who has left before.
	if err := b.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := b.Ready(); err != nil {
		t.Errorf("a reader had left: %v", err)
	}
}

// countingStore counts the cosigned checkpoints that are read.
type countingStore struct {
	ledger.Store
	rows *atomic.Int64
}

func (c countingStore) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	return func(yield func(ledger.Head, error) bool) {
		for h, err := range c.Store.CosignedFrom(ctx, id, size) {
			c.rows.Add(1)
			if !yield(h, err) {
				return
			}
		}
	}
}

// TestFollowSkips: at a start, the rows between two policies are not read: none of them can let the second take over.
func TestFollowSkips(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsSigned)
		l := w.open(w.config("mark"))
		q1 := newQuorum(t, w.vkey)
		w.addPolicy(l, q1)
		w.asked(l, q1)
		for i := range 60 {
			a := w.must(l, propose(commit("t", uint64(i+1))))[0].Index
			w.awaitCosigned(l, a)
		}
		q2 := newQuorum(t, w.vkey)
		w.addPolicy(l, q2)
		w.asked(l, q2)
		l.Close()
		var rows atomic.Int64
		c := w.config("mark")
		c.Store = countingStore{store, &rows}
		w.open(c)
		t.Logf("rows read at start: %d", rows.Load())
		if rows.Load() > 8 {
			t.Errorf("every cosigned row between two policies is read and held: %d", rows.Load())
		}
	})
}

// TestOneWitnessTwice: while a policy waits, one witness cosigns at two addresses. It is one witness: no quorum of two,
// and one line of the checkpoint that the others cosign with it.
func TestOneWitnessTwice(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	l := w.open(w.addresses(newNobody(), new(atomic.Int64)))
	w.everyWitness(l)
	w.awaitCosigned(l, l.Head().Size-1)
	w.down(true, 1, 2)
	w.must(l, propose(&audit.Key{Subject: audit.SubjectPolicy, Policy: w.all("/moved")}))
	c := w.must(l, propose(commit("t", 1)))[0]
	waitFor(t, func() bool {
		cosigned := 0
		for _, s := range l.Witnesses() {
			if s.Err == nil && s.Size > c.Index {
				cosigned++
			}
		}
		return cosigned == 2 // by the first, at each of its addresses
	})
	if h, _ := l.Cosigned(); h.Size > c.Index {
		t.Errorf("one witness of three cosigned size %d, and that is taken for a quorum", h.Size)
	}
	w.down(false, 1, 2)
	w.awaitCosigned(l, c.Index)
	h, _ := l.Cosigned()
	_, signatures, _ := strings.Cut(string(h.Checkpoint), "\n\n")
	by := make(map[string]int)
	for line := range strings.Lines(signatures) {
		by[strings.Fields(line)[1]]++
	}
	for name, n := range by {
		if n != 1 || len(by) != 4 {
			t.Errorf("%d lines of %s, and %d signers:\n%s", n, name, len(by), h.Checkpoint)
		}
	}
}
