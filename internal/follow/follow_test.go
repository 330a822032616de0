package follow

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// book is a ledger of entries that a test counts: table events, all alike.
type book struct {
	mu      sync.Mutex
	size    uint64
	changed chan struct{}
	most    uint64 // entries of one reading, at most
	soon    []rules.OpenRef
}

func (b *book) grow(n uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size += n
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *book) Info() ledger.Info { return ledger.Info{} }
func (b *book) Live() ledger.Live { return ledger.Live{} }
func (b *book) Head() ledger.Head {
	b.mu.Lock()
	defer b.mu.Unlock()
	return ledger.Head{Size: b.size}
}
func (b *book) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
func (b *book) ClosingBy(_ context.Context, at int64) (refs []rules.OpenRef, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.soon {
		if o.CloseBy <= at {
			refs = append(refs, o)
		}
	}
	return refs, nil
}
func (b *book) Entries(_ context.Context, from, to uint64) (all []rules.Placed, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if to > b.size {
		return nil, errors.New("above the head")
	}
	b.most = max(b.most, to-from)
	for i := from; i < to; i++ {
		all = append(all, rules.Placed{Index: i, Entry: audit.Entry{Body: &audit.Event{Kind: audit.EventTableOpen,
			Name: "t"}}})
	}
	return all, nil
}

func noTurn(context.Context) (func(), error) { return func() {}, nil }

// TestFollowersReadAll: a follower that comes late, or is slow, is told of every entry once and in
// order, while the feed keeps a bounded number.
func TestFollowersReadAll(t *testing.T) {
	t.Parallel()
	b := &book{size: 3 * kept, changed: make(chan struct{})}
	f := New(Config{Ledger: b, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })

	// One from the beginning, one from the middle of what the feed will keep, one from now.
	starts := []uint64{1, 3*kept + 10, 3 * kept}
	followers := make([]*Follower, len(starts))
	for i, start := range starts {
		followers[i] = f.Follow(start, nil, noTurn)
	}
	reaches(f, b.Head().Size)
	for range 8 {
		b.grow(kept / 2)
		reaches(f, b.Head().Size) // and drops in the end what two of them want
	}
	size := b.Head().Size
	var reading sync.WaitGroup
	for i, w := range followers {
		reading.Go(func() {
			defer w.Close()
			for want := starts[i]; want < size; {
				events, err := w.Next(t.Context())
				if err != nil || len(events) > page {
					t.Errorf("%d events, %v", len(events), err)
					return
				}
				for _, e := range events {
					if *e.Index != want {
						t.Errorf("from %d on: entry %d, not %d", starts[i], *e.Index, want)
						return
					}
					want++
				}
				if i == 0 && want%1000 < page { // now and then it is slow
					time.Sleep(time.Millisecond)
				}
			}
			if w.Place() != size {
				t.Errorf("at %d of %d", w.Place(), size)
			}
		})
	}
	reading.Wait()
	f.mu.Lock()
	if len(f.newest) > kept || cap(f.newest) > 4*kept || b.most > page {
		t.Errorf("%d events are kept, with room for %d; %d entries were read at a time", len(f.newest), cap(f.newest),
			b.most)
	}
	f.mu.Unlock()

	w := f.Follow(size, []string{"other"}, noTurn)
	defer w.Close()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if events, err := w.Next(short); len(events) != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", events, err)
	}
	stop()
	running.Wait()
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	if n := f.Followers(); n != 1 {
		t.Errorf("%d follow", n)
	}
}

// reaches waits until the feed has read the first size entries.
func reaches(f *Feed, size uint64) {
	for {
		f.mu.Lock()
		changed, to := f.changed.Next(), f.to
		f.mu.Unlock()
		if to == size {
			return
		}
		<-changed
	}
}

// TestManyCloseSoon: a crowd of shuffles that close at one time is told in pieces, each of them
// once and only while it is open, also to one who comes later, and for some tables.
func TestManyCloseSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &book{size: 1, changed: make(chan struct{})}
		const n = 10 * page
		for id := range uint64(n) {
			b.soon = append(b.soon, rules.OpenRef{ID: id, Table: []string{"a", "b"}[id%2],
				CloseBy: time.Now().Add(2 * Soon).UnixMilli()})
		}
		f := New(Config{Ledger: b, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { f.Run(ctx) })
		told := func(from int, step uint64, tables ...string) {
			t.Helper()
			w := f.Follow(1, tables, noTurn)
			defer w.Close()
			for want := uint64(from); want < n; {
				events, err := w.Next(ctx)
				if err != nil || len(events) > page {
					t.Fatalf("%d events, %v", len(events), err)
				}
				for _, e := range events {
					if e.Type != ClosingSoon || *e.Shuffle != want {
						t.Fatalf("%s %d, want %d", e.Type, *e.Shuffle, want)
					}
					want += step
				}
			}
			waiting, leave := context.WithTimeout(ctx, 3*look)
			defer leave()
			if events, err := w.Next(waiting); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d more, %v", len(events), err)
			}
		}
		told(0, 1)
		told(1, 2, "b")
		f.mu.Lock()
		for id := range uint64(100) {
			delete(f.open, id) // as a close does
		}
		f.mu.Unlock()
		told(100, 1)
		time.Sleep(2 * Soon)
		w := f.Follow(1, nil, noTurn)
		time.Sleep(2 * look)
		f.mu.Lock()
		if len(f.soon) > 0 || len(f.open) > 0 {
			t.Errorf("%d of %d are kept behind their close-by", len(f.soon), len(f.open))
		}
		f.mu.Unlock()
		w.Close()
		stop()
		running.Wait()
	})
}

// TestPagesAreShared: a crowd that catches up reads each page of old entries once, and takes a turn for each reading.
// A follower that leaves while it reads for others does not end them.
func TestPagesAreShared(t *testing.T) {
	t.Parallel()
	const pages = 20
	b := &book{size: pages*page + kept, changed: make(chan struct{})}
	f := New(Config{Ledger: b, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(t.Context())
	var running, reading sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	turns := make(chan struct{}, 10*pages)
	gone, leave := context.WithCancel(ctx)
	first := f.Follow(0, nil, func(context.Context) (func(), error) { leave(); return nil, gone.Err() })
	if _, err := first.Next(gone); !errors.Is(err, context.Canceled) || first.Place() != 0 {
		t.Errorf("one that left: %v, at %d", err, first.Place())
	}
	reaches(f, b.size)
	for range 50 {
		reading.Go(func() {
			w := f.Follow(0, nil, func(context.Context) (func(), error) { turns <- struct{}{}; return func() {}, nil })
			defer w.Close()
			for want := uint64(0); want < pages*page; {
				events, err := w.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range events {
					if *e.Index != want {
						t.Errorf("entry %d, not %d", *e.Index, want)
						return
					}
					want++
				}
			}
		})
	}
	reading.Wait()
	if n := len(turns); n < pages || n > 2*pages {
		t.Errorf("%d turns for %d pages", n, pages)
	}
	first.Close()
	stop()
	running.Wait()
}

// TestWokenTenTimes: whatever the ledger does, followers are woken at most ten times a second.
func TestWokenTenTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &book{size: 1, changed: make(chan struct{})}
		f := New(Config{Ledger: b, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { f.Run(ctx) })
		w := f.Follow(1, nil, noTurn)
		running.Go(func() {
			for ctx.Err() == nil {
				b.grow(1)
				time.Sleep(time.Millisecond)
			}
		})
		woken, until := 0, time.Now().Add(5*time.Second)
		for time.Now().Before(until) {
			if _, err := w.Next(ctx); err != nil {
				t.Fatal(err)
			}
			woken++
		}
		if woken > 51 || w.Place() < 4000 {
			t.Errorf("woken %d times in five seconds, at entry %d", woken, w.Place())
		}
		w.Close()
		stop()
		running.Wait()
	})
}
