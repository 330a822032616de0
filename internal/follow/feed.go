package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
)

const (
	// kept is how many of the newest events a feed keeps for all its followers. A follower
	// that is further behind reads the entries.
	kept = 4096
	// page is how many entries are read, and events returned, at a time.
	page = 256
	// pagesKept is how many pages of older events a feed keeps for all who catch up.
	pagesKept = 64
	// pace is the least time between two reads of what is new: followers are woken at most ten times a second.
	pace = 100 * time.Millisecond
	// Soon is how long before its close-by a shuffle gets the event closing_soon, and look
	// is how often the feed asks for such shuffles.
	Soon = time.Minute
	look = 5 * time.Second
	// again is how long the feed waits if the store did not answer.
	again = time.Second
)

// ErrEnded: the daemon is stopping.
var ErrEnded = errors.New("the events end: the daemon is stopping")

// Ledger is what a feed needs of a ledger; *ledger.Ledger is one.
type Ledger interface {
	Info() ledger.Info
	Head() ledger.Head
	Live() ledger.Live
	Changed() <-chan struct{}
	Entries(ctx context.Context, from, to uint64) ([]rules.Placed, error)
	ClosingBy(ctx context.Context, at int64) ([]rules.OpenRef, error)
}

// Tables knows the table of each shuffle; *record.Reader does.
type Tables interface {
	Table(ctx context.Context, id uint64) (string, error)
	KnowTable(id uint64, table string)
}

// Config is what a feed works with. All of it is required.
type Config struct {
	Ledger Ledger
	Tables Tables
	Now    func() time.Time
	Log    *slog.Logger
}

// Feed reads the newest entries of one ledger once, for all followers. Without a follower
// it does nothing. Safe for concurrent use.
type Feed struct {
	cfg     Config
	pages   *lru.Cache[uint64, []Event] // of whole pages, by their number
	reading singleflight.Group          // of pages

	came    ledger.Moved // tells that a follower came
	changed ledger.Moved // tells that ended or a field below it has changed

	mu        sync.Mutex
	followers int
	ended     bool
	from, to  uint64  // the entries whose events are in newest
	newest    []Event // of entries, by index; at most kept
	cosigned  uint64
	soon      []soon              // shuffles whose close-by is at until or before, by number
	open      map[uint64]struct{} // those of soon that are open, by id
	until     int64               // UTC milliseconds
	number    uint64              // of the newest of soon
}

// soon is a shuffle whose close-by is near. It may have been closed since.
type soon struct {
	rules.OpenRef
	number uint64 // in the order in which the feed learned of them, from 1
}

// New returns a feed. Its owner calls Run.
func New(cfg Config) *Feed {
	pages, _ := lru.New[uint64, []Event](pagesKept) // no error: the size is positive
	return &Feed{cfg: cfg, pages: pages, open: make(map[uint64]struct{})}
}

// Run reads new entries until ctx ends. Then Next of every follower returns ErrEnded.
func (f *Feed) Run(ctx context.Context) {
	defer f.end()
	for f.awaitFollower(ctx) {
		f.skip()
		changed := f.cfg.Ledger.Changed()
		wait := look
		if err := f.update(ctx); err != nil && ctx.Err() == nil {
			f.cfg.Log.Warn("the events of a ledger could not be read", "ledger", f.cfg.Ledger.Info().Name, "error", err)
			changed, wait = nil, again
		}
		if !ledger.Sleep(ctx, pace, nil) || !ledger.Sleep(ctx, wait, changed) {
			return
		}
	}
}

func (f *Feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.changed.Tell()
}

// awaitFollower waits until there is a follower. It returns false if ctx ends first.
func (f *Feed) awaitFollower(ctx context.Context) bool {
	came := f.came.Next()
	if f.Followers() > 0 {
		return ctx.Err() == nil
	}
	select {
	case <-came:
		return true
	case <-ctx.Done():
		return false
	}
}

// skip moves the feed to the newest entry if it is too far behind, after a time without
// followers or without the store. Followers read the entries that it left out.
func (f *Feed) skip() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size := f.cfg.Ledger.Head().Size; size > f.to+kept {
		f.from, f.to, f.newest, f.soon, f.until = size, size, nil, nil, 0
		clear(f.open)
		f.changed.Tell()
	}
}

// update reads new entries, a page at a time, and wakes the followers once if there is anything to tell.
func (f *Feed) update(ctx context.Context) error {
	before := f.place()
	defer func() {
		if f.place() != before {
			f.changed.Tell()
		}
	}()
	for {
		head, known := f.cfg.Ledger.Head().Size, f.to // f.to is written by this goroutine alone
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

// place changes when there is something to tell: an entry, a cosigned head, a shuffle that closes soon.
func (f *Feed) place() [3]uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return [3]uint64{f.to, f.cosigned, f.number}
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
				f.closesSoon(rules.OpenRef{ID: *e.Shuffle, Table: e.Table, CloseBy: e.closeBy})
			}
		case Closed, Expired:
			delete(f.open, *e.Shuffle)
		}
	}
}

// closesSoon adds a shuffle to soon, if it is not there. The caller holds the lock.
func (f *Feed) closesSoon(o rules.OpenRef) {
	if _, known := f.open[o.ID]; !known {
		f.number++
		f.soon = append(f.soon, soon{o, f.number})
		f.open[o.ID] = struct{}{}
	}
}

// isOpen reports whether a shuffle of soon is open and before its close-by. The caller holds the lock.
func (f *Feed) isOpen(s soon, now int64) bool {
	_, open := f.open[s.ID]
	return open && s.CloseBy > now
}

// lookAhead notes what the witnesses have cosigned, and which shuffles close soon.
func (f *Feed) lookAhead(ctx context.Context) error {
	cosigned, now := f.cfg.Ledger.Live().Cosigned, f.cfg.Now()
	until := now.Add(Soon).UnixMilli()
	var refs []rules.OpenRef
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
	return nil
}

// read returns the events of the entries from ≤ index < to.
func (f *Feed) read(ctx context.Context, from, to uint64) (events []Event, err error) {
	ctx = ledger.AsReader(ctx)
	entries, err := f.cfg.Ledger.Entries(ctx, from, to)
	if err != nil {
		return nil, err
	}
	tables := func(id uint64) (string, error) { return f.cfg.Tables.Table(ctx, id) }
	for _, p := range entries {
		e, ok, err := of(p, tables)
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading the event of entry %d: %w", p.Index, err)
		case !ok:
			continue
		case e.Type == Committed:
			f.cfg.Tables.KnowTable(p.Index, e.Table)
		}
		e.text = e.JSON()
		events = append(events, e)
	}
	return events, nil
}

// page returns the events of a whole page of entries. Those who want it together read it once, and the first of them
// takes its turn.
func (f *Feed) page(ctx context.Context, number uint64, turn Turn) ([]Event, error) {
	if events, ok := f.pages.Get(number); ok {
		return events, nil
	}
	read, err, shared := f.reading.Do(strconv.FormatUint(number, 10), func() (any, error) {
		done, err := turn(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		events, err := f.read(ctx, number*page, (number+1)*page)
		if err == nil {
			f.pages.Add(number, events)
		}
		return events, err
	})
	switch {
	case err != nil && shared && ctx.Err() == nil && (errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)):
		return f.page(ctx, number, turn) // another follower, who read it for this one, has left
	case err != nil:
		return nil, err
	}
	return read.([]Event), nil
}
