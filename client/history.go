package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"shuffled/internal/shuffle"
)

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
	receipt, e, commit, err := c.commitAt(ctx, id)
	if refused, is := errors.AsType[*Error](err); is && refused.Code == CodeNotFound && after != nil {
		return p, 0, &Fault{What: fmt.Sprintf("the daemon has no entry %d, which entry %d names as the commit before it",
			id, after.ID), Answer: []byte(after.Receipt)}
	}
	if err != nil {
		return p, 0, err
	}
	p = Past{ID: id, Serial: commit.Serial, Table: commit.Context.Table, CommittedAt: time.UnixMilli(e.Time).UTC(),
		CloseBy: time.UnixMilli(commit.CloseBy).UTC(), GameRef: commit.GameRef, Draw: commit.Context.IsDraw(),
		Owner: e.Actor.Identity, DeckHash: commit.Context.DeckHash, Parent: deref(commit.Context.Parent).ID,
		Receipt: receipt}
	what := c.tables.add(id, commit)
	if after != nil && (p.Table != after.Table || p.Serial != after.Serial-1 || p.ID >= after.ID ||
		p.CommittedAt.After(after.CommittedAt)) {
		what = fmt.Sprintf("entry %d is not the commit before serial %d of table %s", id, after.Serial, after.Table)
	}
	if what != "" {
		return Past{}, 0, &Fault{What: what, Answer: []byte(receipt)}
	}
	return p, commit.Previous, nil
}
