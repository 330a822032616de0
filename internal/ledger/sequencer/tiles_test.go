package sequencer_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// observedStore counts what is asked of a real store.
type observedStore struct {
	ledger.Store

	mu      sync.Mutex
	rows    int // that were read
	tiles   int // that were asked for
	dealers int // questions that were not a reader's
	spoil   func(tile []byte)
	swap    bool          // every entry is another one of the same length
	hold    chan struct{} // not nil: who asks for rows waits for it
	held    chan struct{} // told of each who does
}

func (c *observedStore) count(ctx context.Context, n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
	if !ledger.IsReader(ctx) {
		c.dealers++
	}
}

func (c *observedStore) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		c.mu.Lock()
		hold, held := c.hold, c.held
		c.mu.Unlock()
		if hold != nil {
			held <- struct{}{}
			<-hold
		}
		for row, err := range c.Store.Rows(ctx, id, from, to) {
			c.count(ctx, &c.rows)
			if c.swap {
				row.Entry = slices.Clone(row.Entry)
				row.Entry[len(row.Entry)-1] ^= 1
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func (c *observedStore) Tile(ctx context.Context, id ledger.ID, level int, index uint64) ([]byte, error) {
	c.count(ctx, &c.tiles)
	data, err := c.Store.Tile(ctx, id, level, index)
	if c.spoil != nil && err == nil {
		c.spoil(data)
	}
	return data, err
}

// since returns what was asked since it was called last.
func (c *observedStore) since() (rows, tiles, dealers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows, tiles, dealers = c.rows, c.tiles, c.dealers
	c.rows, c.tiles, c.dealers = 0, 0, 0
	return rows, tiles, dealers
}

// grown returns a ledger of so many entries on a store that counts.
func grown(t *testing.T, store ledger.Store, size uint64, cache *ledger.TileCache) (*house, *observedStore,
	*sequencer.Ledger) {
	t.Helper()
	counting := &observedStore{Store: store}
	h := newHouse(t, counting)
	c := h.config("mark")
	c.Tiles = cache
	l := h.open(c)
	for n := l.Head().Size; n < size; n++ {
		h.must(l, propose(commit("t", n)))
	}
	return h, counting, l
}

// bundleOf is the bundle that the store's entries make.
func bundleOf(t *testing.T, store ledger.Store, from, to uint64) (bundle []byte) {
	t.Helper()
	for row, err := range store.Rows(t.Context(), ledger.IDOf(origin), from, to) {
		if err == nil {
			bundle, err = torchwood.AppendTileEntry(bundle, row.Entry)
		}
		must(t, err)
	}
	return bundle
}

// TestTilesAreReadOnce: a crowd of readers costs the store one reading of each entry
// and tile, whatever parts of them they ask for, and no question of a dealer's.
func TestTilesAreReadOnce(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		h, counting, l := grown(t, store, 270, ledger.NewTileCache(1<<20))
		ctx := ledger.AsReader(t.Context())
		read := func(tile tlog.Tile) []byte {
			t.Helper()
			get := l.Tile
			if tile.L == -1 {
				get = l.EntryBundle
			}
			data, err := get(ctx, tile)
			if err != nil {
				t.Fatalf("%+v: %v", tile, err)
			}
			return data
		}
		full, entries := tlog.Tile{H: 8, L: 0, W: 256}, tlog.Tile{H: 8, L: -1, W: 256}
		counting.since()
		var crowd sync.WaitGroup
		for range 16 {
			crowd.Go(func() {
				if !bytes.Equal(read(entries), bundleOf(t, store, 0, 256)) {
					t.Error("another bundle than the store's entries")
				}
			})
		}
		crowd.Wait()
		if rows, tiles, dealers := counting.since(); rows != 256 || tiles != 1 || dealers != 0 {
			t.Errorf("a crowd at one bundle reads %d rows and %d tiles, %d of them for dealers", rows, tiles, dealers)
		}
		hashes, err := store.Tile(t.Context(), ledger.IDOf(origin), 0, 0)
		if err != nil || !bytes.Equal(read(full), hashes) {
			t.Errorf("another tile than the store's: %v", err)
		}
		for _, w := range []int{1, 100, 255} {
			part, some := full, entries
			part.W, some.W = w, w
			if !bytes.Equal(read(part), hashes[:32*w]) || !bytes.Equal(read(some), bundleOf(t, store, 0, uint64(w))) {
				t.Errorf("a part of %d of what is full", w)
			}
		}
		if rows, tiles, _ := counting.since(); rows+tiles != 0 {
			t.Errorf("what is in memory: %d rows and %d tiles are read", rows, tiles)
		}
		// At the right edge only what is new is read.
		edge := tlog.Tile{H: 8, L: -1, N: 1, W: 10}
		if !bytes.Equal(read(edge), bundleOf(t, store, 256, 266)) {
			t.Error("a part of the newest bundle")
		}
		if rows, tiles, _ := counting.since(); rows != 14 || tiles != 0 {
			t.Errorf("the newest 14 entries: %d rows and %d tiles are read", rows, tiles)
		}
		for n := range uint64(3) {
			h.must(l, propose(commit("t", 1000+n)))
		}
		counting.since()
		edge.W = 17
		if !bytes.Equal(read(edge), bundleOf(t, store, 256, 273)) {
			t.Error("the newest bundle, grown")
		}
		if rows, tiles, dealers := counting.since(); rows != 3 || tiles != 0 || dealers != 0 {
			t.Errorf("3 more entries: %d rows and %d tiles are read, %d for dealers", rows, tiles, dealers)
		}
	})
}

// TestTilesWithoutRoom: a cache in which nothing has room changes no answer.
func TestTilesWithoutRoom(t *testing.T) {
	t.Parallel()
	store := openSQLite(t)
	_, counting, l := grown(t, store, 260, ledger.NewTileCache(1))
	for range 2 {
		counting.since()
		got, err := l.EntryBundle(t.Context(), tlog.Tile{H: 8, L: -1, W: 256})
		if err != nil || !bytes.Equal(got, bundleOf(t, store, 0, 256)) {
			t.Errorf("the bundle: %v", err)
		}
		if rows, _, _ := counting.since(); rows != 256 {
			t.Errorf("%d rows are read", rows)
		}
	}
}

// TestOnlyTheLedgersTilesAreKept: a tile or row that is not the ledger's is neither
// answered nor kept: with the right one back, the answer is right.
func TestOnlyTheLedgersTilesAreKept(t *testing.T) {
	t.Parallel()
	store := openSQLite(t)
	_, counting, l := grown(t, store, 260, ledger.NewTileCache(1<<20))
	counting.spoil = func(tile []byte) { tile[5*32] ^= 1 }
	for _, tile := range []tlog.Tile{{H: 8, L: 0, W: 256}, {H: 8, L: 0, W: 9}} {
		if _, err := l.Tile(t.Context(), tile); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("a tile that was altered: %v", err)
		}
	}
	if _, err := l.EntryBundle(t.Context(), tlog.Tile{H: 8, L: -1, W: 256}); !errors.Is(err, ledger.ErrFrozen) {
		t.Errorf("a bundle under a tile that was altered: %v", err)
	}
	if _, err := l.Receipt(t.Context(), 3); err == nil {
		t.Error("a receipt under a tile that was altered")
	}
	counting.spoil, counting.swap = nil, true
	for _, tile := range []tlog.Tile{{H: 8, L: -1, W: 256}, {H: 8, L: -1, N: 1, W: 2}} {
		if _, err := l.EntryBundle(t.Context(), tile); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("a bundle of entries that were altered: %v", err)
		}
	}
	counting.swap = false
	if _, err := l.EntryBundle(t.Context(), tlog.Tile{H: 8, L: -1, W: 256}); err != nil {
		t.Errorf("with the right tile back: %v", err)
	}
}

// TestFirstReaderLeaves: the first of those who wait for a bundle leaves, and the
// others have it; a dealer does not wait for what readers are waiting for.
func TestFirstReaderLeaves(t *testing.T) {
	t.Parallel()
	_, counting, l := grown(t, openSQLite(t), 260, ledger.NewTileCache(1<<20))
	bundle := tlog.Tile{H: 8, L: -1, W: 256}
	counting.mu.Lock()
	counting.hold, counting.held = make(chan struct{}), make(chan struct{}, 8)
	release := counting.hold
	counting.mu.Unlock()
	first, leave := context.WithCancel(ledger.AsReader(t.Context()))
	gone, came := make(chan error), make(chan error)
	go func() { _, err := l.EntryBundle(first, bundle); gone <- err }()
	<-counting.held
	go func() { _, err := l.EntryBundle(ledger.AsReader(t.Context()), bundle); came <- err }()
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	counting.mu.Lock()
	counting.hold = nil
	counting.mu.Unlock()
	if _, err := l.EntryBundle(t.Context(), bundle); err != nil { // of a dealer
		t.Error(err)
	}
	close(release)
	if err := <-came; err != nil {
		t.Errorf("who stayed: %v", err)
	}
}

// TestManyProofs: receipts of many entries, made together, are those that each has
// alone, and take a tile from the store once.
func TestManyProofs(t *testing.T) {
	t.Parallel()
	h, counting, l := grown(t, openSQLite(t), 1100, ledger.NewTileCache(1<<20))
	var rows []ledger.Row
	for row, err := range h.store.Rows(t.Context(), l.ID(), 0, 1100) {
		must(t, err)
		rows = append(rows, row)
	}
	counting.since()
	head := l.Head()
	all, err := l.ReceiptsUnder(t.Context(), rows, head)
	if err != nil || len(all) != len(rows) {
		t.Fatalf("%d receipts: %v", len(all), err)
	}
	if _, tiles, _ := counting.since(); tiles != 4 {
		t.Errorf("%d tiles are read, of 4 that are full", tiles)
	}
	for _, n := range []int{0, 1, 127, 128, 255, 256, 1023, 1024, 1099} {
		one, err := l.ReceiptsUnder(t.Context(), rows[n:n+1], head)
		if err != nil || one[0].Text() != all[n].Text() {
			t.Errorf("the receipt of entry %d: %v", n, err)
		}
	}
}

// TestFirstPatience: of work that needs many turns only the wait for the first one has an end.
func TestFirstPatience(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(-time.Second)
	over := func(ctx context.Context) bool {
		waiting, cancel := ledger.Patience(ctx)
		defer cancel()
		from := make(chan int, 1)
		if waiting.Err() == nil {
			from <- 1
		}
		_, err := ledger.Await(ctx, from, "a turn")
		if over := errors.Is(err, ledger.ErrOverloaded); over != (waiting.Err() != nil) {
			t.Errorf("Await: %v, Patience: %v", err, waiting.Err())
		}
		return waiting.Err() != nil
	}
	first, always := ledger.WithFirstPatience(t.Context(), soon), ledger.WithPatience(t.Context(), soon)
	if !over(first) || !over(always) || over(t.Context()) {
		t.Error("the first wait")
	}
	for _, ctx := range []context.Context{first, always, t.Context()} {
		ledger.Began(ctx)
	}
	if over(first) || !over(always) || over(t.Context()) {
		t.Error("the second wait")
	}
}
