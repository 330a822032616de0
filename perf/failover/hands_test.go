package failover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/store/postgres"
)

// hand is a shuffle, a deal and a close, as one client requests them. An answer is
// nil until it was given; then it may never change.
type hand struct {
	table, key string
	shuffle    *api.Shuffle
	deal       *api.Deal
	end        *api.Close
	maybe      bool // an answer left open whether something was written
}

// next asks for what the hand lacks first and keeps the answer.
func (h *hand) next(ctx context.Context, d *dealer.Dealer) error {
	var again hand
	again.table, again.key = h.table, h.key
	if err := again.ask(ctx, d, h); err != nil {
		return err
	}
	for _, pair := range [][2]any{{h.shuffle, again.shuffle}, {h.deal, again.deal}, {h.end, again.end}} {
		if !reflect.ValueOf(pair[0]).IsNil() && !reflect.ValueOf(pair[1]).IsNil() && !same(pair[0], pair[1]) {
			return fmt.Errorf("%w of %s: %+v, before %+v", errOther, h.key, pair[1], pair[0])
		}
	}
	if again.shuffle != nil {
		h.shuffle = again.shuffle
	}
	if again.deal != nil {
		h.deal = again.deal
	}
	if again.end != nil {
		h.end = again.end
	}
	return nil
}

// same reports whether two answers are equal, except for the mark of a repeat.
func same(a, b any) bool { return reflect.DeepEqual(first(a), first(b)) }

// first is a copy of an answer without the mark of a repeat.
func first(answer any) any {
	switch a := answer.(type) {
	case *api.Shuffle:
		one := *a
		one.Repeated = false
		return one
	case *api.Deal:
		one := *a
		one.Repeated = false
		return one
	case *api.Close:
		one := *a
		one.Repeated = false
		return one
	}
	return answer
}

// repeated reports whether an answer says that it is a repeat.
func repeated(answer any) bool {
	switch a := answer.(type) {
	case *api.Shuffle:
		return a.Repeated
	case *api.Deal:
		return a.Repeated
	case *api.Close:
		return a.Repeated
	}
	return false
}

// errOther: an answer differs from the one before.
var errOther = errors.New("another answer")

// ask asks for one step: the first without an answer in done.
func (h *hand) ask(ctx context.Context, d *dealer.Dealer, done *hand) error {
	switch {
	case done.shuffle == nil:
		a, err := d.Shuffle(ctx, as("client"), h.key, api.ShuffleRequest{Table: h.table, Deck: "standard-52"})
		h.shuffle = &a
		return err
	case done.deal == nil:
		a, err := d.Deal(ctx, as("client"), done.shuffle.ID, dealRequest)
		h.deal = &a
		return err
	default:
		a, err := d.Close(ctx, as("client"), done.shuffle.ID, api.CloseRequest{Outcome: audit.OutcomeCompleted})
		h.end = &a
		return err
	}
}

var dealRequest = api.DealRequest{Runs: []audit.Run{{Count: 5, Purpose: audit.PurposeSeat, Recipient: "seat-1"}}}

// repeat asks for every answer of the hand again.
func (h *hand) repeat(ctx context.Context, d *dealer.Dealer) error {
	if h.shuffle == nil {
		return nil
	}
	for _, done := range []*hand{{}, {shuffle: h.shuffle}, {shuffle: h.shuffle, deal: h.deal}} {
		again := hand{table: h.table, key: h.key}
		if done.shuffle != nil && done.deal == nil && h.deal == nil || done.deal != nil && h.end == nil {
			return nil
		}
		if err := again.ask(ctx, d, done); err != nil {
			return fmt.Errorf("repeating %s: %w", h.key, err)
		}
		for _, pair := range [][2]any{{again.shuffle, h.shuffle}, {again.deal, h.deal}, {again.end, h.end}} {
			if reflect.ValueOf(pair[0]).IsNil() {
				continue
			}
			if !same(pair[0], pair[1]) || !repeated(pair[0]) {
				return fmt.Errorf("%w of %s: %+v, before %+v", errOther, h.key, pair[0], pair[1])
			}
		}
	}
	return nil
}

// receipts are those that the client holds.
func (h *hand) receipts() (all []string) {
	if h.shuffle != nil {
		all = append(all, h.shuffle.Receipt)
	}
	if h.deal != nil {
		all = append(all, h.deal.Receipt)
	}
	if h.end != nil {
		all = append(all, h.end.Receipt)
	}
	return all
}

// excused reports whether a client may get this error while servers fail; the client
// then asks again. Any other error is a wrong answer.
func excused(err error) bool {
	for _, ok := range []error{ledger.ErrUnknownOutcome, ledger.ErrUnavailable, ledger.ErrOverloaded,
		ledger.ErrNotWitnessed,
		context.DeadlineExceeded} {
		if errors.Is(err, ok) {
			return true
		}
	}
	return false
}

// clients play hands at daemons.
type clients struct {
	t        *testing.T
	daemons  []*daemon
	patience time.Duration // of one request

	stopping atomic.Bool
	quitting atomic.Bool // and hands are not finished
	wg       sync.WaitGroup
	acked    atomic.Int64 // answers
	failed   atomic.Int64 // requests that ended in an error

	mu        sync.Mutex
	hands     []*hand // all, in no order
	abandoned []*hand // those that were given up after an error
}

// play lets n clients play until stop. Every fourth does not wait long and gives up a
// hand after an error; the others ask again, at any of the daemons, until they get an
// answer.
func (c *clients) play(name string, n int) {
	for i := range n {
		c.wg.Go(func() {
			table := 0 // another one after a hand that stays open, which would block the next
			for hands := 0; !c.stopping.Load() && !c.t.Failed(); hands++ {
				h := &hand{table: fmt.Sprintf("%s-%d-%d", name, i, table), key: fmt.Sprintf("%s-%d-%d", name, i, hands)}
				c.mu.Lock()
				c.hands = append(c.hands, h)
				c.mu.Unlock()
				if !c.finish(h, hands+i, i%4 == 3) {
					table++
					c.mu.Lock()
					c.abandoned = append(c.abandoned, h)
					c.mu.Unlock()
				}
			}
		})
	}
}

// finish plays one hand to its end, and reports false when it gave it up.
func (c *clients) finish(h *hand, turn int, hasty bool) bool {
	for tries := 0; h.end == nil; tries++ {
		d := c.daemons[(turn+tries)%len(c.daemons)]
		patience := c.patience
		if hasty {
			patience = min(patience, 50*time.Millisecond)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := h.next(ctx, d.Dealer)
		cancel()
		switch {
		case err == nil:
			c.acked.Add(1)
		case c.quitting.Load():
			return false
		case !excused(err):
			c.t.Errorf("%s: an untrue answer to %s: %v", d.name, h.key, err)
			return false
		default:
			c.failed.Add(1)
			h.maybe = h.maybe || !errors.Is(err, ledger.ErrUnavailable) && !errors.Is(err, ledger.ErrOverloaded) ||
				errors.Is(err, ledger.ErrUnknownOutcome)
			if hasty {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}
	return true
}

// quit ends the clients during their hands.
func (c *clients) quit() {
	c.quitting.Store(true)
	c.stop()
}

// stop lets the clients finish their hands.
func (c *clients) stop() {
	c.stopping.Store(true)
	c.wg.Wait()
}

// history is what a database holds of the ledger, proved.
type history struct {
	rows  []ledger.Row
	keys  map[[32]byte]int // commits under a key tag
	roots []tlog.Hash      // by size
}

// read reads and checks the ledger in the database at dsn: every entry is legal,
// indexes have no gap, no key stands twice, and the head is signed.
func (h *house) read(dsn string) *history {
	h.t.Helper()
	store := h.store(dsn, postgres.Options{})
	defer store.Close()
	ctx := context.Background()
	id := ledger.IDOf(h.origin)
	head, err := store.Head(ctx, id)
	must(h.t, err)
	got := &history{keys: make(map[[32]byte]int), roots: make([]tlog.Hash, 1)}
	state := rules.NewState()
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, err error) {
		for _, i := range indexes {
			list = append(list, hashes[i])
		}
		return list, nil
	})
	for row, err := range store.Rows(ctx, id, 0, head.Size) {
		must(h.t, err)
		n := int64(len(got.rows))
		if row.Index != uint64(n) {
			h.t.Fatalf("entry %d follows %d", row.Index, n-1)
		}
		e, err := audit.ParseEntry(row.Entry)
		must(h.t, err)
		if err := state.Apply(e); err != nil {
			h.t.Fatalf("entry %d: %v", n, err)
		}
		state.Commit()
		if _, ok := e.Body.(*audit.Commit); ok {
			if got.keys[row.KeyTag]++; got.keys[row.KeyTag] > 1 {
				h.t.Errorf("entry %d has the key of another one", n)
			}
		}
		more, err := tlog.StoredHashes(n, row.Entry, reader)
		must(h.t, err)
		hashes = append(hashes, more...)
		root, err := tlog.TreeHash(n+1, reader)
		must(h.t, err)
		got.rows, got.roots = append(got.rows, row), append(got.roots, root)
	}
	c, err := audit.OpenCheckpoint(head.Checkpoint, h.key)
	must(h.t, err)
	if c.Size != uint64(len(got.rows)) || c.Root != got.roots[c.Size] || head.Root != c.Root {
		h.t.Fatalf("the head of size %d does not cover the %d entries", c.Size, len(got.rows))
	}
	return got
}

// lost returns how many receipts of the hands the history contradicts or lacks.
func (h *house) lost(got *history, hands []*hand) (lost int) {
	h.t.Helper()
	for _, hand := range hands {
		for _, text := range hand.receipts() {
			r, c := h.proved(text)
			if c.Size >= uint64(len(got.roots)) || got.roots[c.Size] != c.Root ||
				string(got.rows[r.Index].Entry) != string(r.Entry) {
				lost++
			}
		}
	}
	return lost
}

// proved is a receipt that verifies, and its checkpoint.
func (h *house) proved(text string) (audit.Receipt, audit.Checkpoint) {
	h.t.Helper()
	r, err := audit.ParseReceipt(text)
	must(h.t, err)
	c, err := audit.OpenCheckpoint(r.Checkpoint, h.key)
	must(h.t, err)
	must(h.t, r.CheckInclusion(c))
	return r, c
}

// settled checks the hands against the database: every answer is true, and every
// daemon repeats it; a request that was given up has one entry or none, which does
// not change while others go on.
func (h *house) settled(c *clients, dsn string) {
	h.t.Helper()
	got := h.read(dsn)
	if n := h.lost(got, c.hands); n > 0 {
		h.t.Fatalf("%d receipts are not of the ledger", n)
	}
	given := func(in *history) map[string]bool {
		there := make(map[string]bool)
		for _, hand := range c.abandoned {
			there[hand.key] = in.keys[audit.KeyTag(origin, as("client").Identity, hand.table, hand.key)] == 1
		}
		return there
	}
	for _, hand := range c.abandoned {
		if there := got.keys[audit.KeyTag(origin, as("client").Identity, hand.table, hand.key)]; !hand.maybe &&
			hand.shuffle == nil && there > 0 {
			h.t.Errorf("%s was written, and its client told that nothing was", hand.key)
		}
	}
	for _, hand := range c.hands {
		for _, d := range c.daemons {
			var err error
			until(h.t, "an answer", func() bool { // a daemon may find only now that a connection leads to a dead server
				err = hand.repeat(h.t.Context(), d.Dealer)
				return !errors.Is(err, ledger.ErrUnavailable)
			})
			if err != nil {
				h.t.Fatalf("%s: %v", d.name, err)
			}
		}
	}
	more := &clients{t: h.t, daemons: c.daemons, patience: 20 * time.Second}
	for i := range 20 {
		more.finish(&hand{table: "after", key: fmt.Sprintf("after-%d", i)}, i, false)
	}
	if !maps.Equal(given(got), given(h.read(dsn))) {
		h.t.Error("a request that nobody repeated was written later")
	}
	// No daemon holds a transaction open.
	until(h.t, "no idle transaction and no lock", func() bool {
		return ask[int](h.t, dsn, `SELECT count(*) FROM pg_stat_activity a WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND (xact_start IS NOT NULL OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype <> 'virtualxid'))`) == 0
	})
}
