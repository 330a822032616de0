package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

const (
	// kept is how many of the newest events a feed keeps for all its followers. One that
	// is further behind reads the entries.
	kept = 4096
	// page is how many entries are read, and events returned, at a time.
	page = 256
	// pace is the least time between two reads of what is new.
	pace = 20 * time.Millisecond
	// Soon is how long before its close-by a shuffle is told to close soon, and look how
	// often the feed looks for them.
	Soon = time.Minute
	look = 5 * time.Second
	// again is how soon the feed tries again when the store did not answer.
	again = time.Second
	// tablesKnown is of how many shuffles the table is remembered.
	tablesKnown = 20_000
)

// ErrEnded: the daemon is stopping.
var ErrEnded = errors.New("the events end: the daemon is stopping")

// Ledger is what a feed needs of a ledger; *ledger.Ledger is one.
type Ledger interface {
	Info() ledger.Info
	Head() ledger.Head
	Live() ledger.Live
	Changed() <-chan struct{}
	Entries(ctx context.Context, from, to uint64) ([]audit.Placed, error)
	ClosingBy(ctx context.Context, at int64) ([]audit.OpenRef, error)
}

// Dealer tells the table of a shuffle; *dealer.Dealer does.
type Dealer interface {
	Table(ctx context.Context, id uint64) (string, error)
}

// Config is what a feed works with. All of it is required.
type Config struct {
	Ledger Ledger
	Dealer Dealer
	Now    func() time.Time
	Log    *slog.Logger
}

// Feed reads the newest entries of one ledger once, for all who follow it. It does
// nothing while nobody does. Safe for concurrent use.
type Feed struct {
	cfg    Config
	tables *lru.Cache[uint64, string] // of shuffles

	mu        sync.Mutex
	followers int
	came      chan struct{} // closed when a follower comes to an idle feed
	changed   chan struct{} // closed when what is below has changed
	ended     bool
	from, to  uint64  // the entries whose events are in newest
	newest    []Event // of entries, by index; at most kept
	cosigned  uint64
	soon      []soon              // shuffles that close at until or before, by number
	open      map[uint64]struct{} // those of soon that are open, by id
	until     int64               // UTC milliseconds
	number    uint64              // of the newest of soon
}

// soon is a shuffle that closes soon, if it was not closed since.
type soon struct {
	audit.OpenRef
	number uint64 // in the order in which the feed learnt of them, from 1
}

// New returns a feed. Its owner calls Run.
func New(cfg Config) *Feed {
	tables, err := lru.New[uint64, string](tablesKnown)
	if err != nil {
		panic(err) // not reached: the size is above 0
	}
	return &Feed{cfg: cfg, tables: tables, came: make(chan struct{}), changed: make(chan struct{}),
		open: make(map[uint64]struct{})}
}

// Run reads what is new until ctx is over; then Next of every follower returns ErrEnded.
func (f *Feed) Run(ctx context.Context) {
	defer f.end()
	for f.awaitFollower(ctx) {
		f.skip()
		changed := f.cfg.Ledger.Changed()
		wait := look
		if err := f.update(ctx); err != nil && ctx.Err() == nil {
			f.cfg.Log.Warn("reading the events of a ledger", "ledger", f.cfg.Ledger.Info().Name, "error", err)
			changed, wait = nil, again
		}
		if !sleep(ctx, pace, nil) || !sleep(ctx, wait, changed) {
			return
		}
	}
}

// sleep waits, at most until the channel is closed, and reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-until:
	case <-ctx.Done():
		return false
	}
	return true
}

func (f *Feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.tell()
}

// tell wakes the followers. The caller holds the lock.
func (f *Feed) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// awaitFollower waits until somebody follows, and reports whether ctx goes on.
func (f *Feed) awaitFollower(ctx context.Context) bool {
	f.mu.Lock()
	n, came := f.followers, f.came
	f.mu.Unlock()
	if n > 0 {
		return ctx.Err() == nil
	}
	select {
	case <-came:
		return true
	case <-ctx.Done():
		return false
	}
}

// skip has the feed begin at the newest entry if it is far behind: nobody followed.
func (f *Feed) skip() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size := f.cfg.Ledger.Head().Size; size > f.to+kept {
		f.from, f.to, f.newest, f.soon, f.until = size, size, nil, nil, 0
		clear(f.open)
		f.tell()
	}
}

// update reads what is new, a page at a time.
func (f *Feed) update(ctx context.Context) error {
	for {
		head, known := f.cfg.Ledger.Head().Size, f.to // which only this goroutine writes
		if known >= head {
			break
		}
		upto := min(known+page, head)
		events, err := f.read(ctx, known, upto)
		if err != nil {
			return err
		}
		f.add(events, upto)
	}
	return f.lookAhead(ctx)
}

func (f *Feed) add(events []Event, upto uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = upto
	f.newest = append(f.newest, events...)
	if over := len(f.newest) - kept; over > 0 {
		f.newest = slices.Clone(f.newest[over:])
		f.from = *f.newest[0].Index
	}
	for _, e := range events {
		switch e.Type {
		case Committed:
			if e.closeBy <= f.until {
				f.closesSoon(audit.OpenRef{ID: *e.Shuffle, Table: e.Table, CloseBy: e.closeBy})
			}
		case Closed, Expired:
			delete(f.open, *e.Shuffle)
		}
	}
	f.tell()
}

// closesSoon takes up a shuffle, if it is not known yet. The caller holds the lock.
func (f *Feed) closesSoon(o audit.OpenRef) {
	if _, known := f.open[o.ID]; !known {
		f.number++
		f.soon = append(f.soon, soon{o, f.number})
		f.open[o.ID] = struct{}{}
	}
}

// isOpen reports whether one of soon is open, before its close-by. The caller holds the lock.
func (f *Feed) isOpen(s soon, now int64) bool {
	_, open := f.open[s.ID]
	return open && s.CloseBy > now
}

// lookAhead learns what the witnesses have cosigned, and which shuffles close soon.
func (f *Feed) lookAhead(ctx context.Context) error {
	cosigned, now := f.cfg.Ledger.Live().Cosigned, f.cfg.Now()
	until := now.Add(Soon).UnixMilli()
	var refs []audit.OpenRef
	due := until-f.until >= look.Milliseconds()
	if due {
		var err error
		if refs, err = f.cfg.Ledger.ClosingBy(ctx, until); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if due {
		f.soon = slices.DeleteFunc(f.soon, func(s soon) bool {
			if f.isOpen(s, now.UnixMilli()) {
				return false
			}
			delete(f.open, s.ID)
			return true
		})
		for _, o := range refs {
			if o.CloseBy > max(f.until, now.UnixMilli()) {
				f.closesSoon(o)
			}
		}
		f.until = until
	}
	f.cosigned = max(f.cosigned, cosigned)
	f.tell()
	return nil
}

// read returns the events of the entries from ≤ index < to.
func (f *Feed) read(ctx context.Context, from, to uint64) (events []Event, err error) {
	ctx = ledger.AsReader(ctx)
	entries, err := f.cfg.Ledger.Entries(ctx, from, to)
	if err != nil {
		return nil, err
	}
	tables := func(id uint64) (string, error) {
		if name, ok := f.tables.Get(id); ok {
			return name, nil
		}
		name, err := f.cfg.Dealer.Table(ctx, id)
		if err == nil {
			f.tables.Add(id, name)
		}
		return name, err
	}
	for _, p := range entries {
		e, ok, err := of(p, tables)
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading the event of entry %d: %w", p.Index, err)
		case !ok:
			continue
		case e.Type == Committed:
			f.tables.Add(p.Index, e.Table)
		}
		events = append(events, e)
	}
	return events, nil
}
