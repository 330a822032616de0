package follow

import (
	"cmp"
	"context"
	"slices"
)

// Follower is a place in the events of a ledger. It belongs to one goroutine.
type Follower struct {
	feed     *Feed
	turn     Turn
	tables   []string // whose events it is told; nil: of all
	cosigned uint64   // size of the last event witnessed
	told     uint64   // number of the last shuffle that was looked at for closing_soon
	next     uint64   // index of the next entry
}

// A Turn is what a follower waits for before it reads old entries from the store, as other readers do. It returns a
// function that ends the turn, or the error of ctx.
type Turn func(ctx context.Context) (done func(), err error)

// Follow returns a follower that begins with the entry at index next. It is told the events
// of these tables, nil for all tables, and the events of no table. Its owner calls Close.
func (f *Feed) Follow(next uint64, tables []string, turn Turn) *Follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers++
	f.came.Tell()
	return &Follower{feed: f, tables: tables, next: next, turn: turn}
}

// Close ends the follower.
func (w *Follower) Close() {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	w.feed.followers--
}

// Followers returns the number of followers.
func (f *Feed) Followers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followers
}

// Unread returns how many entries the feed has not read yet; 0 without followers.
func (f *Feed) Unread() uint64 {
	f.mu.Lock()
	followers, to := f.followers, f.to
	f.mu.Unlock()
	if followers == 0 {
		return 0
	}
	size := f.cfg.Ledger.Head().Size
	return size - min(to, size)
}

// Place returns the index of the next entry. The events of all entries before it were
// returned, or are not for this follower.
func (w *Follower) Place() uint64 { return w.next }

// Next returns the next events, at least one and at most some hundreds. It waits for them.
// It returns the error of ctx when ctx ends, and ErrEnded when the daemon stops.
func (w *Follower) Next(ctx context.Context) ([]Event, error) {
	for {
		f := w.feed
		f.mu.Lock()
		ended, changed, from := f.ended, f.changed.Next(), f.from
		next := w.next
		var events []Event
		caught := false
		if !ended && next >= from {
			events, caught = w.take()
		}
		f.mu.Unlock()
		switch {
		case ended:
			return nil, ErrEnded
		case next < from:
			if events, err := w.older(ctx, from); err != nil || len(events) > 0 {
				return events, err
			}
		}
		if len(events) > 0 {
			return events, nil
		}
		if !caught {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// older returns the next events of entries that the feed no longer keeps, which end below from.
func (w *Follower) older(ctx context.Context, from uint64) (events []Event, err error) {
	f, number, next := w.feed, w.next/page, w.next
	if upto := (number + 1) * page; upto <= from {
		events, err = f.page(ctx, number, w.turn)
		w.next = upto
	} else {
		var done func()
		if done, err = w.turn(ctx); err == nil {
			defer done()
			events, err = f.read(ctx, next, from)
		}
		w.next = from
	}
	if err != nil {
		w.next = next
		return nil, err
	}
	at, _ := slices.BinarySearchFunc(events, next, func(e Event, next uint64) int {
		return cmp.Compare(*e.Index, next)
	})
	return w.mine(events[at:]), nil
}

// take returns the next events that the feed keeps, and whether these are all. The caller holds the feed's lock.
func (w *Follower) take() (events []Event, caught bool) {
	f, next := w.feed, w.next
	at, _ := slices.BinarySearchFunc(f.newest, next, func(e Event, next uint64) int {
		return cmp.Compare(*e.Index, next)
	})
	some := f.newest[at:]
	if caught = len(some) <= page; caught {
		next = max(next, f.to)
	} else {
		some = some[:page]
		next = *some[page-1].Index + 1
	}
	w.next = next
	events = w.mine(some)
	if !caught {
		return events, false
	}
	now := f.cfg.Now().UnixMilli()
	near, caught := w.closing(now)
	events = slices.Concat(events, near)
	if f.cosigned > w.cosigned && f.cosigned <= next {
		w.cosigned = f.cosigned
		events = append(events, Event{Type: Witnessed, Time: Timestamp(now), Size: f.cosigned})
	}
	return events, caught
}

// closing returns the next events closing_soon, of at most page shuffles, and whether these
// are all. The caller holds the feed's lock.
func (w *Follower) closing(now int64) (events []Event, all bool) {
	f := w.feed
	at, _ := slices.BinarySearchFunc(f.soon, w.told+1, func(s soon, number uint64) int {
		return cmp.Compare(s.number, number)
	})
	for i, s := range f.soon[at:] {
		if i == page {
			return w.mine(events), false
		}
		w.told = s.number
		if f.isOpen(s, now) {
			events = append(events, Event{Type: ClosingSoon, Time: Timestamp(now), Shuffle: &s.ID, Table: s.Table,
				CloseBy: Timestamp(s.CloseBy)})
		}
	}
	return w.mine(events), true
}

// mine returns the events that are for the follower.
func (w *Follower) mine(events []Event) []Event {
	if w.tables == nil {
		return events
	}
	var some []Event
	for _, e := range events {
		if e.Table == "" || slices.Contains(w.tables, e.Table) {
			some = append(some, e)
		}
	}
	return some
}
