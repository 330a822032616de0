package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
)

// Recalled is a shuffle as recall lists it: what its commit and close say. Package recall makes it from the entries.
type Recalled struct {
	ID        uint64 // index of its commit
	Table     string
	Serial    uint64
	Committed int64 // time of the commit, UTC milliseconds
	CloseBy   int64 // UTC milliseconds
	GameRef   string
	Owner     string        // the identity that committed it
	Deck      [32]byte      // hash of the deck, zero for draws; of a child that of its root ancestor
	Draw      bool          // a draw list, not cards
	Parent    uint64        // id of the shuffle that it continues, 0 for none
	Closed    int64         // time of the close, UTC milliseconds; 0 while it is open
	Outcome   audit.Outcome // 0 while it is open
	Reason    audit.Reason  // of a void one
	Continued bool          // closed as continued, and its tape is not disclosed yet
}

// The states for which recall can be asked.
const (
	RecallOpen   = "open"
	RecallClosed = "closed"
)

// RecallQuery asks for shuffles. Zero members ask nothing; all others must hold.
type RecallQuery struct {
	Table    string
	Tables   []string // one of these; nil for any, empty for none
	From, To int64    // UTC milliseconds: from ≤ time of the commit < to
	Serial   uint64   // of Table, which must be given with it
	GameRef  string
	Owner    string
	Deck     [32]byte // hash
	Outcome  audit.Outcome
	Reason   audit.Reason
	State    string // RecallOpen or RecallClosed
	After    uint64 // ids above this one
	Limit    int    // how many at most, at least 1
}

// RecallPage is a part of the answer, by id. A page without shuffles need not be the last.
type RecallPage struct {
	Shuffles []Recalled
	Next     uint64 // the next page is after this id; 0 on the last
}

// CommitQuery asks for commits by their index. At most one of Table and GameRef is given.
type CommitQuery struct {
	Table    string // of this table
	Serial   uint64 // with this serial, of Table
	GameRef  string // with this game reference
	From, To uint64 // from ≤ index < to
	Limit    int    // how many at most, at least 1
}

// CommitEntry is a commit and its close, as the entries that they are.
type CommitEntry struct {
	Index  uint64
	Commit []byte
	Close  []byte // nil while there is none
}

// CommitFinder answers what recall asks of the entries, without the barrier of Head. The cost
// of an answer grows as the logarithm of the ledger's size.
type CommitFinder interface {
	// Size returns how many entries can be read; 0 for an unknown ledger.
	Size(ctx context.Context, id ID) (uint64, error)
	// EntryAt returns the index of the first entry below size that is of this time, in UTC
	// milliseconds, or later; size if there is none.
	EntryAt(ctx context.Context, id ID, size uint64, time int64) (uint64, error)
	// Commits returns commits by index. If it returns fewer than q.Limit, there are no more. The
	// cost of a query without table and game reference grows with its range of indexes.
	Commits(ctx context.Context, id ID, q CommitQuery) ([]CommitEntry, error)
}

// Between two lists of open shuffles comes a time of at least openEvery, and of at least
// openShare times as long as a list took: the sequencer stands still while one is made.
const (
	openEvery = 100 * time.Millisecond
	openShare = 20
)

// OpenAt returns the open shuffles, by id, as of the first size entries of the store or of more. Entries that another
// daemon wrote are folded first. Callers share the list and do not change it.
func (l *Core) OpenAt(ctx context.Context, size uint64) ([]audit.OpenRef, error) {
	if err := l.reachSize(ctx, size); err != nil {
		return nil, err
	}
	o := &l.open
	if err := o.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer o.turn.Release(1)
	if o.size >= size {
		return o.list, nil
	}
	if !Sleep(ctx, time.Until(o.next), nil) {
		return nil, ctx.Err()
	}
	var fresh openList
	var took time.Duration
	err := l.ask(ctx, func() {
		_, begin := l.cfg.Clock()
		fresh.size, fresh.list = l.memory.head.Size, l.memory.state.OpenRefs()
		_, end := l.cfg.Clock()
		took = end - begin
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(fresh.list, func(a, b audit.OpenRef) int { return cmp.Compare(a.ID, b.ID) })
	o.size, o.list, o.next = fresh.size, fresh.list, time.Now().Add(max(openEvery, openShare*took))
	return o.list, nil
}

// reachSize has memory cover the first size entries, which the store has shown.
func (l *Core) reachSize(ctx context.Context, size uint64) error {
	if size == 0 {
		return nil
	}
	err := l.reachEntry(ctx, size-1)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: the database no longer shows entry %d", ErrUnavailable, size-1)
	}
	return err
}

// TableQuery asks for tables by name.
type TableQuery struct {
	Only  []string // these; nil for all
	After string   // names above this one
	Limit int      // how many at most, at least 1
	Open  int      // how many open shuffles of each at most
}

// Tables returns tables by name, as of the first size entries of the store or of more, and the name after which the
// next page begins, "" if there is none. Entries that another daemon wrote are folded first.
func (l *Core) Tables(ctx context.Context, size uint64, q TableQuery) (page []audit.TableRef, next string,
	err error) {
	if err := l.reachSize(ctx, size); err != nil {
		return nil, "", err
	}
	names := slices.Compact(slices.Sorted(slices.Values(q.Only)))
	if q.Only == nil {
		if names, err = l.allTables(ctx); err != nil {
			return nil, "", err
		}
	}
	from, found := slices.BinarySearch(names, q.After)
	if found {
		from++
	}
	names = names[from:]
	if len(names) > q.Limit {
		names = names[:q.Limit]
		next = names[q.Limit-1]
	}
	err = l.ask(ctx, func() {
		for _, name := range names {
			if ref, ok := l.memory.state.AtTable(name, q.Open); ok {
				page = append(page, ref)
			}
		}
	})
	return page, next, err
}

// allTables returns the names of all tables, sorted.
func (l *Core) allTables(ctx context.Context) ([]string, error) {
	t := &l.tables
	if err := t.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer t.turn.Release(1)
	var fresh []string
	err := l.ask(ctx, func() {
		if l.memory.state.TableCount() != len(t.names) {
			fresh = l.memory.state.Tables()
		}
	})
	if err != nil {
		return nil, err
	}
	if fresh != nil {
		slices.Sort(fresh)
		t.names = fresh
	}
	return t.names, nil
}
