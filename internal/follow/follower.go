package follow

import (
	"context"
	"slices"
)

// Follower is a place in the events of a ledger. It belongs to one goroutine.
type Follower struct {
	feed     *Feed
	tables   []string // that it may know of; nil: all
	next     uint64   // index of the entry that it is told next
	cosigned uint64   // that it was told
	told     uint64   // the number of the newest shuffle that it was told to close soon
}

// Follow returns a follower of what comes from the entry next on, of these tables and of
// what is of no table; nil is all. Its owner calls Close.
func (f *Feed) Follow(next uint64, tables []string) *Follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followers++; f.followers == 1 {
		close(f.came)
	}
	return &Follower{feed: f, tables: tables, next: next}
}

// Close ends it.
func (w *Follower) Close() {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	if w.feed.followers--; w.feed.followers == 0 {
		w.feed.came = make(chan struct{})
	}
}

// Followers returns how many follow.
func (f *Feed) Followers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followers
}

// Place returns the index of the entry that it is told next: all before it were told, or
// are not for it.
func (w *Follower) Place() uint64 { return w.next }

// Next returns the next events, at least one and at most some hundreds. It waits for them
// until ctx ends, and returns its error then; ErrEnded when the daemon stops.
func (w *Follower) Next(ctx context.Context) ([]Event, error) {
	for {
		f := w.feed
		f.mu.Lock()
		ended, changed, from := f.ended, f.changed, f.from
		var events []Event
		caught := false
		if !ended && w.next >= from {
			events, caught = w.take()
		}
		f.mu.Unlock()
		switch {
		case ended:
			return nil, ErrEnded
		case w.next < from && events == nil:
			upto := min(w.next+page, from)
			read, err := f.read(ctx, w.next, upto)
			if err != nil {
				return nil, err
			}
			w.next = upto
			events = w.mine(read)
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

// take returns what the feed has for it, and whether that is all. The caller holds the
// feed's lock.
func (w *Follower) take() (events []Event, caught bool) {
	f := w.feed
	at, _ := slices.BinarySearchFunc(f.newest, w.next, func(e Event, next uint64) int {
		return int(int64(*e.Index) - int64(next))
	})
	some := f.newest[at:]
	if caught = len(some) <= page; caught {
		w.next = max(w.next, f.to)
	} else {
		some = some[:page]
		w.next = *some[page-1].Index + 1
	}
	events = w.mine(some)
	if !caught {
		return events, false
	}
	now := f.cfg.Now().UnixMilli()
	var near []Event
	for _, s := range f.soon {
		if s.number > w.told && s.CloseBy > now {
			near = append(near, Event{Type: ClosingSoon, Time: Timestamp(now), Shuffle: &s.ID, Table: s.Table,
				CloseBy: Timestamp(s.CloseBy)})
		}
	}
	w.told = f.number
	events = slices.Concat(events, w.mine(near))
	if f.cosigned > w.cosigned && f.cosigned <= w.next {
		w.cosigned = f.cosigned
		events = append(events, Event{Type: Witnessed, Time: Timestamp(now), Size: f.cosigned})
	}
	return events, true
}

// mine returns those that the follower may know of.
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
