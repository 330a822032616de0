package ledger_test

import (
	"context"
	"errors"
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
)

// apart opens two daemons on the house's ledger of which the second hears of the
// first only when it is asked, and counts how often it reads the head.
func (h *house) apart(change func(*ledger.Config)) (a, b *ledger.Ledger, s *slowHead) {
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
