package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// walk yields the items of all pages of a list in order, from the page that begins at start on. parts returns the items
// of a page and where the next page begins. follows reports whether an item may come after the last one, or a zero one.
func walk[L, T any](start *string, ask func(at *string) ([]byte, error), parts func(*L) ([]T, *string),
	follows func(last, one *T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		last := new(T)
		for at := start; ; {
			answer, err := ask(at)
			list, err := decoded[L](answer, err)
			if err != nil {
				yield(*new(T), err)
				return
			}
			items, next := parts(list)
			if next != nil && at != nil && *next == *at {
				yield(*new(T), &Fault{What: "the page after a page is the same page", Answer: answer})
				return
			}
			for i := range items {
				if !follows(last, &items[i]) {
					yield(*new(T), &Fault{What: "it is out of order, or was not asked for", Answer: answer})
					return
				}
				if last = &items[i]; !yield(items[i], nil) {
					return
				}
			}
			if at = next; at == nil {
				return
			}
		}
	}
}

// Tables yields the tables that the token is for, by name, with their open shuffles. It asks for a page at a time. The
// answers are the daemon's word.
func (c *Client) Tables(ctx context.Context) iter.Seq2[TableState, error] {
	return walk(nil, func(at *string) ([]byte, error) { return c.listTables(ctx, ListTablesParams{After: at}) },
		func(l *TableList) ([]TableState, *string) { return l.Tables, l.Next },
		func(last, one *TableState) bool { return one.Table > last.Table })
}

// Decks returns the decks that may be asked for by name. Their hashes are checked.
func (c *Client) Decks(ctx context.Context) ([]PublishedDeck, error) {
	answer, err := c.listDecks(ctx)
	list, err := decoded[DeckList](answer, err)
	if err != nil {
		return nil, err
	}
	for _, d := range list.Decks {
		known, ok := shuffle.Named(d.Name) // else one of a later version
		if ok && (Hash(known.Hash()) != d.Hash || known.Len() != d.Cards) {
			return nil, &Fault{What: "the deck " + d.Name + " is another one than is published", Answer: answer}
		}
	}
	return list.Decks, nil
}

// Shuffles yields all shuffles that match params, by id, as the daemon tells them. It asks for a page at a time. It
// checks that they match params and ascend, and not whether one is left out: Load proves a commit, Transcript the rest.
func (c *Client) Shuffles(ctx context.Context, params ListShufflesParams) iter.Seq2[ShuffleSummary, error] {
	return walk(params.Cursor, func(at *string) ([]byte, error) {
		params.Cursor = at
		return c.listShuffles(ctx, params)
	}, func(l *ShuffleList) ([]ShuffleSummary, *string) { return l.Shuffles, l.Next },
		func(last, one *ShuffleSummary) bool { return one.ID > last.ID && params.fits(one) })
}

// fits reports whether a shuffle is one that was asked for, and does not contradict itself.
func (p *ListShufflesParams) fits(s *ShuffleSummary) bool {
	continued := s.State == ShuffleSummaryStateContinued
	closed := continued || s.State == ShuffleSummaryStateClosed
	switch {
	case p.Table != nil && s.Table != *p.Table, p.Serial != nil && s.Serial != *p.Serial,
		p.GameRef != nil && deref(s.GameRef) != *p.GameRef, p.Owner != nil && s.Owner != *p.Owner,
		p.Deck != nil && deref(s.Deck) != *p.Deck, p.Reason != nil && deref(s.Reason) != *p.Reason,
		p.From != nil && s.CommittedAt.Before(p.From.Truncate(time.Millisecond)), // as the query has it
		p.To != nil && !s.CommittedAt.Before(p.To.Truncate(time.Millisecond)),
		p.State != nil && closed != (*p.State == ListShufflesParamsStateClosed),
		p.Outcome != nil && deref(s.Outcome) != *p.Outcome, closed != (s.ClosedAt != nil), closed != (s.Outcome != nil),
		continued && deref(s.Outcome) != OutcomeContinued,
		(s.Reason != nil) != (deref(s.Outcome) == OutcomeVoid):
		return false
	}
	return true
}

// ProveSummary checks a found shuffle against its commit. Only a transcript proves its end.
func (c *Client) ProveSummary(ctx context.Context, s ShuffleSummary) error {
	p, _, err := c.past(ctx, s.ID, nil)
	if err != nil {
		return err
	}
	return p.Prove(s)
}

// tables remembers the newest commit of each table, for at most maxTables of them, to check that serials have no gaps
// and that each commit names the one before.
type tables struct {
	mu     sync.Mutex
	newest map[string]numbered
}

type numbered struct{ serial, id uint64 }

// add takes in a commit, or says how it contradicts the newest commit of its table.
func (t *tables) add(id uint64, c *audit.Commit) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := c.Context.Table
	known := t.newest[table]
	switch {
	case c.Previous >= id:
		return "it names a commit before it that is none"
	case known.serial == 0 || c.Serial > known.serial+1 && c.Previous > known.id:
	case c.Serial == known.serial && id == known.id, c.Serial < known.serial && id < known.id:
		return ""
	case c.Serial == known.serial+1 && c.Previous == known.id:
	default:
		return fmt.Sprintf("it is serial %d after entry %d, and serial %d of the table is entry %d", c.Serial,
			c.Previous, known.serial, known.id)
	}
	if t.newest == nil || len(t.newest) >= maxTables {
		t.newest = make(map[string]numbered)
	}
	t.newest[table] = numbered{c.Serial, id}
	return ""
}

// Past is a proved commit that History found.
type Past struct {
	ID, Serial           uint64
	Table, Owner         string // the owner is the identity that committed
	CommittedAt, CloseBy time.Time
	GameRef              string
	DeckHash             [32]byte // zero for draws
	Draw                 bool     // of ranges, not of cards
	Parent               uint64   // 0 for none
	Receipt              string
}

// History walks a table back from a shuffle to its first one. Each commit names the one before, and each is proved by
// its own receipt, so that none can be left out. It ends after serial 1, or with an error.
func (c *Client) History(ctx context.Context, id uint64) iter.Seq2[Past, error] {
	return func(yield func(Past, error) bool) {
		var after *Past
		for {
			p, previous, err := c.past(ctx, id, after)
			if !yield(p, err) || err != nil || p.Serial == 1 {
				return
			}
			id, after = previous, &p
		}
	}
}

// Prove checks a found shuffle against its commit. Only a transcript proves its end.
func (p *Past) Prove(s ShuffleSummary) error {
	kinds := map[bool]ShuffleSummaryKind{false: ShuffleSummaryKindCards, true: ShuffleSummaryKindDraws}
	deck, named := shuffle.Named(deref(s.Deck)) // of two names for one deck, either
	_, published := shuffle.Published(p.DeckHash)
	if s.ID != p.ID || s.Table != p.Table || s.Serial != p.Serial || s.Kind != kinds[p.Draw] || s.Owner != p.Owner ||
		named != published || named && deck.Hash() != p.DeckHash || deref(s.Parent) != p.Parent ||
		deref(s.GameRef) != p.GameRef || !s.CommittedAt.Equal(p.CommittedAt) || !s.CloseBy.Equal(p.CloseBy) {
		return &Fault{What: fmt.Sprintf("the list says of shuffle %d what its commit does not say", s.ID),
			Answer: []byte(p.Receipt)}
	}
	return nil
}

// past proves the commit at id, which the commit after names. after is nil for the first.
func (c *Client) past(ctx context.Context, id uint64, after *Past) (p Past, previous uint64, err error) {
	e, err := c.receipt(ctx, id)
	if refused, is := errors.AsType[*Error](err); is && refused.Code == CodeNotFound && after != nil {
		return p, 0, &Fault{What: fmt.Sprintf("the daemon has no entry %d, which entry %d names as the commit before it",
			id, after.ID), Answer: []byte(after.Receipt)}
	}
	if err != nil {
		return p, 0, err
	}
	commit, ok := e.Body.(*audit.Commit)
	if !ok {
		return p, 0, &Fault{What: fmt.Sprintf("entry %d is no commit", id), Answer: []byte(e.receipt)}
	}
	p = Past{ID: id, Serial: commit.Serial, Table: commit.Context.Table, CommittedAt: time.UnixMilli(e.Time).UTC(),
		CloseBy: time.UnixMilli(commit.CloseBy).UTC(), GameRef: commit.GameRef, Draw: commit.Context.IsDraw(),
		Owner: e.Actor.Identity, DeckHash: commit.Context.DeckHash, Parent: deref(commit.Context.Parent).ID,
		Receipt: e.receipt}
	what := c.tables.add(id, commit)
	if after != nil && (p.Table != after.Table || p.Serial != after.Serial-1 || p.ID >= after.ID ||
		p.CommittedAt.After(after.CommittedAt)) {
		what = fmt.Sprintf("entry %d is not the commit before serial %d of table %s", id, after.Serial, after.Table)
	}
	if what != "" {
		return Past{}, 0, &Fault{What: what, Answer: []byte(e.receipt)}
	}
	return p, commit.Previous, nil
}
