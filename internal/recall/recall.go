// Package recall finds shuffles: by table, serial, time, game reference and state,
// in pages. It asks the entries themselves, by the indexes that they have: nothing
// is written for it after an append, and what was appended before a question is in
// its answer. It proves nothing: what it leads to is proved by receipts.
//
// Serials of a table and times grow with the indexes of entries. So a page begins
// where a search finds its first entry, in as many steps as the size of the ledger
// has bits, and costs from there on what it holds and leaves out.
//
// Retention is how long after its close a shuffle is listed, and how long the
// requests of regulators are kept. Evidence is kept for ever.
package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// MaxPage is the largest number of shuffles that Find returns.
const MaxPage = 1000

// Ledger is what recall needs of an open ledger.
type Ledger interface {
	ID() ledger.ID
	Genesis() *audit.Genesis
	OpenAt(ctx context.Context, size uint64) ([]audit.Opened, error)
}

// Store is what recall needs of a store.
type Store interface {
	ledger.CommitFinder
	ByShuffles(ctx context.Context, id ledger.ID, s ledger.Standing, shuffles ...uint64) ([][]ledger.Row, error)
}

// Bounds of what one statement reads.
const (
	biteCommits = 64   // at least so many are asked for, since some may not fit
	biteEntries = 4096 // among which commits are looked for where neither table nor game is given
)

// Finder finds the shuffles of one ledger. All methods are safe for concurrent use.
type Finder struct {
	ledger Ledger
	store  Store
	keep   time.Duration
	now    func() time.Time

	commits int    // biteCommits
	entries uint64 // biteEntries
}

// New returns the finder of a ledger, which lists a shuffle for keep after its
// close, or for ever if keep is 0.
func New(l Ledger, s Store, keep time.Duration, now func() time.Time) *Finder {
	return &Finder{ledger: l, store: s, keep: keep, now: now, commits: biteCommits, entries: biteEntries}
}

// Find returns shuffles by id: those of q that the ledger held when Find was
// called, but for what is past its retention. At most q.Limit of them, which is 1
// to MaxPage; the next page begins after the last. Its error matches
// ledger.ErrUnavailable when the store does not answer.
func (f *Finder) Find(ctx context.Context, q ledger.RecallQuery) ([]ledger.Recalled, error) {
	switch {
	case q.Limit < 1 || q.Limit > MaxPage:
		return nil, fmt.Errorf("recall of %d shuffles: 1 to %d", q.Limit, MaxPage)
	case q.Serial != 0 && q.Table == "":
		return nil, errors.New("recall of a serial without its table")
	case q.State != "" && q.State != ledger.RecallOpen && q.State != ledger.RecallClosed:
		return nil, errors.New("recall of an unknown state")
	}
	list, err := f.find(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", ledger.Unavailable(err))
	}
	return list, nil
}

func (f *Finder) find(ctx context.Context, asked ledger.RecallQuery) (list []ledger.Recalled, err error) {
	q, err := f.question(ctx, asked)
	if err != nil || q.from >= q.to {
		return nil, err
	}
	if q.State == ledger.RecallOpen {
		return f.open(ctx, q, q.to)
	}
	if q.from < q.first {
		if q.State == "" {
			if list, err = f.open(ctx, q, min(q.first, q.to)); err != nil {
				return nil, err
			}
		}
		q.from = q.first
	}
	q.Limit -= len(list)
	rest, err := f.walk(ctx, q)
	return append(list, rest...), err
}

// question is a query whose times have become ids.
type question struct {
	ledger.RecallQuery
	size     uint64 // of the ledger
	from, to uint64 // from ≤ id < to
	first    uint64 // of the shuffles below only the open ones are listed
	since    int64  // and of all, those that were closed since then, UTC milliseconds
}

func (f *Finder) question(ctx context.Context, asked ledger.RecallQuery) (q question, err error) {
	id := f.ledger.ID()
	size, err := f.store.Size(ctx, id)
	if err != nil || asked.After >= size {
		return question{}, err
	}
	q = question{RecallQuery: asked, size: size, from: asked.After + 1, to: size}
	if q.From != 0 {
		from, err := f.store.EntryAt(ctx, id, size, q.From)
		if err != nil {
			return question{}, err
		}
		q.from = max(q.from, from)
	}
	if q.To != 0 {
		if q.to, err = f.store.EntryAt(ctx, id, size, q.To); err != nil {
			return question{}, err
		}
	}
	if since, ok := past(f.keep, f.now()); ok {
		// Who closes in time closes no later than the ledger's cap on close-by allows.
		// Without this bound, all that is past its retention would be read again and again.
		q.since = since
		q.first, err = f.store.EntryAt(ctx, id, size, since-int64(f.ledger.Genesis().MaxCloseBy)*1000)
	}
	return q, err
}

// fits reports whether a shuffle, whose id is in the range, is one that was asked
// for.
func (q *question) fits(r ledger.Recalled) bool {
	return q.has(r.Table) && (q.Serial == 0 || r.Serial == q.Serial) && (q.GameRef == "" || r.GameRef == q.GameRef) &&
		(q.State == "" || (q.State == ledger.RecallOpen) == (r.Closed == 0)) &&
		(r.Closed == 0 || r.Closed >= q.since)
}

func (q *question) has(table string) bool {
	return (q.Table == "" || table == q.Table) && (q.Tables == nil || slices.Contains(q.Tables, table))
}

// open returns the open shuffles below an id that fit. The ledger knows them.
func (f *Finder) open(ctx context.Context, q question, to uint64) (list []ledger.Recalled, err error) {
	all, err := f.ledger.OpenAt(ctx, q.size)
	if err != nil {
		return nil, err
	}
	var ids []uint64
	for _, o := range all {
		if o.ID >= q.from && o.ID < to && q.has(o.Table) {
			ids = append(ids, o.ID)
		}
	}
	q.State = ledger.RecallOpen // not those that were closed just now
	for len(ids) > 0 && len(list) < q.Limit {
		n := min(len(ids), max(q.Limit-len(list), f.commits))
		shuffles, err := f.store.ByShuffles(ctx, f.ledger.ID(), ledger.Visible, ids[:n]...)
		if err != nil {
			return nil, err
		}
		for i, rows := range shuffles {
			if len(rows) == 0 {
				return nil, fmt.Errorf("shuffle %d is open, and has no commit in the store", ids[i])
			}
			e := ledger.CommitEntry{Index: ids[i], Commit: rows[0].Entry}
			if last := rows[len(rows)-1]; last.Type == audit.TypeClose {
				e.Close = last.Entry
			}
			r, err := read(e)
			if err != nil {
				return nil, err
			}
			if q.fits(r) {
				list = append(list, r)
			}
		}
		ids = ids[n:]
	}
	return list[:min(len(list), q.Limit)], nil
}

// walk returns the shuffles that fit, by the index that has the least to leave out.
func (f *Finder) walk(ctx context.Context, q question) (list []ledger.Recalled, err error) {
	by := ledger.CommitQuery{Table: q.Table, Serial: q.Serial}
	switch {
	case q.Limit == 0 || q.Tables != nil && len(q.Tables) == 0:
		return nil, nil
	case q.Serial == 0 && q.GameRef != "":
		return f.along(ctx, q, ledger.CommitQuery{GameRef: q.GameRef})
	case q.Table != "" || q.Tables == nil:
		return f.along(ctx, q, by)
	}
	for _, by.Table = range slices.Compact(slices.Sorted(slices.Values(q.Tables))) {
		if by.Table == "" {
			continue // of no shuffle
		}
		part, err := f.along(ctx, q, by)
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
		slices.SortFunc(list, func(a, b ledger.Recalled) int { return cmp.Compare(a.ID, b.ID) })
		if len(list) >= q.Limit {
			list = list[:q.Limit]
			q.to = list[q.Limit-1].ID // what follows is not on the page
		}
	}
	return list, nil
}

// along reads commits by one index until the page is full, a bite at a time.
func (f *Finder) along(ctx context.Context, q question, by ledger.CommitQuery) (list []ledger.Recalled, err error) {
	serial := uint64(0) // of the commit before
	for by.From = q.from; by.From < q.to && len(list) < q.Limit; {
		by.To, by.Limit = q.to, max(q.Limit-len(list), f.commits)
		if by.Table == "" && by.GameRef == "" {
			by.To = min(q.to, by.From+f.entries)
		}
		found, err := f.store.Commits(ctx, f.ledger.ID(), by)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			r, err := read(e)
			if err != nil {
				return nil, err
			}
			if by.Table != "" && serial != 0 && r.Serial != serial+1 {
				return nil, fmt.Errorf("serial %d of table %s stands where serial %d should", r.Serial, r.Table, serial+1)
			}
			serial = r.Serial
			if q.fits(r) {
				list = append(list, r)
			}
		}
		if by.From = by.To; len(found) == by.Limit {
			by.From = found[len(found)-1].Index + 1
		}
	}
	return list[:min(len(list), q.Limit)], nil
}

// read parses a commit and its close.
func read(c ledger.CommitEntry) (r ledger.Recalled, err error) {
	e, err := audit.ParseEntry(c.Commit)
	if err != nil {
		return r, fmt.Errorf("entry %d: %w", c.Index, err)
	}
	commit, ok := e.Body.(*audit.Commit)
	if !ok {
		return r, fmt.Errorf("entry %d is no commit", c.Index)
	}
	r = ledger.Recalled{
		ID: c.Index, Table: commit.Context.Table, Serial: commit.Serial, Committed: e.Time, CloseBy: commit.CloseBy,
		GameRef: commit.GameRef, Draw: commit.Context.IsDraw(),
	}
	if commit.Context.Parent != nil {
		r.Parent = commit.Context.Parent.ID
	}
	if c.Close == nil {
		return r, nil
	}
	if e, err = audit.ParseEntry(c.Close); err != nil {
		return r, fmt.Errorf("the close of shuffle %d: %w", c.Index, err)
	}
	end, ok := e.Body.(*audit.Close)
	if !ok || end.Shuffle != c.Index {
		return r, fmt.Errorf("the close of shuffle %d is not its close", c.Index)
	}
	r.Closed, r.Outcome, r.Reason = e.Time, end.Outcome, end.Reason
	return r, nil
}
