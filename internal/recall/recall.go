// Package recall finds shuffles by table, serial, time, game reference, owner, deck, end and state, in pages. It
// searches the entries by the indexes of the database. Nothing is written for it after an append, and an answer has
// everything that was appended before the question. It proves nothing: receipts prove the shuffles that it finds.
//
// Serials of a table and times grow with the indexes of entries. So a binary search finds the first entry of a page, in
// as many steps as the size of the ledger has bits. From there on a page costs as much as the entries that it has and
// leaves out. There is a bound: a page that would leave out too many ends there, and says where the next one begins.
//
// Retention is how long a closed shuffle is listed after its commit, and how long the requests of
// regulators are kept. Evidence is kept for ever.
package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
)

// Ledger is what recall needs of an open ledger.
type Ledger interface {
	ID() ledger.ID
	OpenAt(ctx context.Context, size uint64) ([]rules.OpenRef, error)
	Tables(ctx context.Context, size uint64, q ledger.TableQuery) (page []rules.TableRef, next string, err error)
}

// Bounds of one statement.
const (
	biteCommits = 64   // commits that are asked for at least, because some may not fit
	biteEntries = 4096 // entries that are searched for commits, if neither table nor game is given
)

// pageCommits is about how many commits are read for a page, also if none of them fits.
// entriesPerCommit is how many searched entries count as one commit.
const (
	pageCommits      = 5000
	entriesPerCommit = 64
)

// Finder finds the shuffles of one ledger. All methods are safe for concurrent use.
type Finder struct {
	ledger Ledger
	store  ledger.Store
	keep   time.Duration
	now    func() time.Time

	commits int    // biteCommits
	entries uint64 // biteEntries
	most    int    // pageCommits
}

// New returns the finder of a ledger, which lists a closed shuffle for keep after its commit, or for ever if keep is 0.
func New(l Ledger, s ledger.Store, keep time.Duration, now func() time.Time) *Finder {
	return &Finder{ledger: l, store: s, keep: keep, now: now, commits: biteCommits, entries: biteEntries,
		most: pageCommits}
}

// Find returns the shuffles of q in order of id, at most q.Limit of them. It finds what was there when it was called,
// except closed shuffles past their retention. Its error matches ledger.ErrUnavailable if the store does not answer.
func (f *Finder) Find(ctx context.Context, q ledger.RecallQuery) (ledger.RecallPage, error) {
	limit := q.Limit
	q.Limit++ // one more shows whether there is a next page
	p, err := f.find(ctx, q)
	if err != nil {
		return ledger.RecallPage{}, fmt.Errorf("recall: %w", ledger.Unavailable(err))
	}
	if len(p.Shuffles) > limit {
		p.Shuffles = p.Shuffles[:limit]
		p.Next = p.Shuffles[limit-1].ID
	}
	if err := f.continued(ctx, p.Shuffles); err != nil {
		return ledger.RecallPage{}, fmt.Errorf("recall: %w", ledger.Unavailable(err))
	}
	return p, nil
}

// continued marks the shuffles of a page that were continued and whose tape is not disclosed.
func (f *Finder) continued(ctx context.Context, page []ledger.Recalled) error {
	var of []*ledger.Recalled
	var ids []uint64
	for i := range page {
		if page[i].Outcome == audit.OutcomeContinued {
			of, ids = append(of, &page[i]), append(ids, page[i].ID)
		}
	}
	for len(ids) > 0 {
		n := min(len(ids), f.commits)
		shuffles, err := f.store.ByShuffles(ctx, f.ledger.ID(), ledger.Visible, ids[:n]...)
		if err != nil {
			return err
		}
		discloses := func(r ledger.Row) bool { return r.Type == audit.TypeDisclosure }
		for i, rows := range shuffles {
			of[i].Continued = !slices.ContainsFunc(rows, discloses)
		}
		of, ids = of[n:], ids[n:]
	}
	return nil
}

// Tables returns tables in order of name with their open shuffles, as of the ledger when it was
// called. next is the name after which the next page begins, "" if there is none.
func (f *Finder) Tables(ctx context.Context, q ledger.TableQuery) (page []rules.TableRef, next string, err error) {
	size, err := f.store.Size(ctx, f.ledger.ID())
	if err == nil {
		page, next, err = f.ledger.Tables(ctx, size, q)
	}
	if err != nil {
		return nil, "", fmt.Errorf("recall of tables: %w", ledger.Unavailable(err))
	}
	return page, next, nil
}

func (f *Finder) find(ctx context.Context, asked ledger.RecallQuery) (p ledger.RecallPage, err error) {
	q, err := f.question(ctx, asked)
	if err != nil || q.from >= q.to {
		return p, err
	}
	few := q.Serial != 0 || q.GameRef != "" // few shuffles fit, open or closed
	if q.State == ledger.RecallOpen && !few {
		p.Shuffles, err = f.open(ctx, q, q.to)
		return p, err
	}
	if q.from < q.first && !few {
		if q.State != ledger.RecallClosed {
			if p.Shuffles, err = f.open(ctx, q, min(q.first, q.to)); err != nil {
				return ledger.RecallPage{}, err
			}
		}
		q.from = q.first
	}
	if q.Limit -= len(p.Shuffles); q.Limit == 0 || q.from >= q.to {
		return p, nil
	}
	rest, until, err := f.walk(ctx, q)
	if until < q.to {
		p.Next = until - 1
	}
	p.Shuffles = append(p.Shuffles, rest...)
	return p, err
}

// question is a query whose times have become ids.
type question struct {
	ledger.RecallQuery
	size     uint64 // of the ledger
	from, to uint64 // from ≤ id < to
	first    uint64 // closed shuffles below this id are past their retention
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
		q.first, err = f.store.EntryAt(ctx, id, size, since)
	}
	return q, err
}

// fits reports whether a shuffle with an id in the range fits the question.
func (q *question) fits(r ledger.Recalled) bool {
	return q.has(r.Table) && is(q.Serial, r.Serial) && is(q.GameRef, r.GameRef) && is(q.Owner, r.Owner) &&
		is(q.Deck, r.Deck) && is(q.Outcome, r.Outcome) && is(q.Reason, r.Reason) &&
		(q.State == "" || (q.State == ledger.RecallOpen) == (r.Closed == 0)) &&
		(r.Closed == 0 || r.ID >= q.first)
}

// is reports whether a shuffle has what a query asks for. A zero asks nothing.
func is[T comparable](asked, has T) bool { return cmp.Or(asked, has) == has }

func (q *question) has(table string) bool {
	return (q.Table == "" || table == q.Table) && (q.Tables == nil || slices.Contains(q.Tables, table))
}

// open returns the open shuffles below an id that fit. It has them from the state of the ledger.
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
	q.State = ledger.RecallOpen // one that was closed since does not fit
	for len(ids) > 0 && len(list) < q.Limit {
		n := min(len(ids), f.commits) // all entries of each are in memory at once
		shuffles, err := f.store.ByShuffles(ctx, f.ledger.ID(), ledger.Visible, ids[:n]...)
		if err != nil {
			return nil, err
		}
		for i, rows := range shuffles {
			if len(rows) == 0 {
				return nil, fmt.Errorf("shuffle %d is open, and has no commit in the store", ids[i])
			}
			e := ledger.CommitEntry{Index: ids[i], Commit: rows[0].Entry}
			for _, row := range rows {
				if row.Type == audit.TypeClose { // reveals and a disclosure may follow, if it was continued
					e.Close = row.Entry
				}
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

// walk returns the shuffles that fit, and the id up to which it searched. It uses the index with
// the fewest entries to leave out.
func (f *Finder) walk(ctx context.Context, q question) (list []ledger.Recalled, until uint64, err error) {
	by := ledger.CommitQuery{Table: q.Table, Serial: q.Serial}
	switch {
	case q.Serial == 0 && q.GameRef != "":
		return f.along(ctx, q, ledger.CommitQuery{GameRef: q.GameRef}, f.most)
	case q.Table != "" || q.Tables == nil:
		return f.along(ctx, q, by, f.most)
	}
	tables := slices.Compact(slices.Sorted(slices.Values(q.Tables)))
	for _, by.Table = range tables {
		if by.Table == "" {
			continue // of no shuffle
		}
		part, until, err := f.along(ctx, q, by, f.most/len(tables))
		if err != nil {
			return nil, 0, err
		}
		list = append(list, part...)
		slices.SortFunc(list, func(a, b ledger.Recalled) int { return cmp.Compare(a.ID, b.ID) })
		if q.to = until; len(list) >= q.Limit {
			list = list[:q.Limit]
			q.to = min(q.to, list[q.Limit-1].ID+1) // later ones are not on the page
		}
	}
	list = slices.DeleteFunc(list, func(r ledger.Recalled) bool { return r.ID >= q.to })
	return list, q.to, nil
}

// along reads commits by one index, one statement after another, until the page is full or more than most commits were
// read. It reads at least once. It returns the shuffles that fit, and the id up to which it searched.
func (f *Finder) along(ctx context.Context, q question, by ledger.CommitQuery, most int) (list []ledger.Recalled,
	until uint64, err error) {
	serial := uint64(0) // of the commit before
	for by.From = q.from; by.From < q.to && len(list) < q.Limit; {
		by.To, by.Limit = q.to, max(q.Limit-len(list), f.commits)
		if by.Table == "" && by.GameRef == "" {
			by.To = min(q.to, by.From+f.entries)
			most -= int(by.To-by.From) / entriesPerCommit
		}
		found, err := f.store.Commits(ctx, f.ledger.ID(), by)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range found {
			r, err := read(e)
			if err != nil {
				return nil, 0, err
			}
			if by.Table != "" && serial != 0 && r.Serial != serial+1 {
				return nil, 0, fmt.Errorf("serial %d of table %s comes instead of serial %d", r.Serial, r.Table,
					serial+1)
			}
			serial = r.Serial
			if q.fits(r) {
				list = append(list, r)
			}
		}
		if by.From = by.To; len(found) == by.Limit {
			by.From = found[len(found)-1].Index + 1
		}
		if most -= len(found); most < 0 {
			break
		}
	}
	if len(list) >= q.Limit {
		return list[:q.Limit], list[q.Limit-1].ID + 1, nil
	}
	return list, by.From, nil
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
		GameRef: commit.GameRef, Owner: e.Actor.Identity, Deck: commit.Context.DeckHash, Draw: commit.Context.IsDraw(),
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

// Overdue counts the requests of regulators and administrators that Drop would remove from a ledger.
// keep is how long they are kept; 0: for ever.
func Overdue(ctx context.Context, s ledger.Store, id ledger.ID, keep time.Duration, now time.Time) (n int, err error) {
	if before, ok := past(keep, now); ok {
		if n, err = s.CountAccess(ctx, id, before); err != nil {
			return 0, fmt.Errorf("counting the requests of regulators and administrators: %w", err)
		}
	}
	return n, nil
}

// dropAtOnce is how many requests are removed in one transaction at most.
const dropAtOnce = 5000

// Drop removes the requests of regulators and administrators that are older than keep from a ledger,
// in small transactions; none if keep is 0. It returns how many it removed, also with an error.
func Drop(ctx context.Context, s ledger.Store, id ledger.ID, keep time.Duration, now time.Time) (all int, err error) {
	before, ok := past(keep, now)
	for ok {
		n, err := s.DropAccess(ctx, id, before, dropAtOnce)
		all += n
		if err != nil {
			return all, fmt.Errorf("dropping the requests of regulators and administrators: %w", err)
		}
		ok = n > 0
	}
	return all, nil
}

// past returns the time in UTC milliseconds before which nothing is kept. ok is false if everything is kept.
func past(keep time.Duration, now time.Time) (before int64, ok bool) {
	before = now.Add(-keep).UnixMilli()
	return before, keep > 0 && before > 0
}
