package client

import (
	"context"
	"iter"

	"shuffled/internal/audit"
)

// Shuffles finds all the shuffles that fit, by id, asking for a page at a time as
// it goes. It is List without an end; what List says of its worth holds. That they
// fit what was asked for and ascend is checked, whether one is left out is not.
func (c *Client) Shuffles(ctx context.Context, params ListShufflesParams) iter.Seq2[ShuffleSummary, error] {
	return func(yield func(ShuffleSummary, error) bool) {
		last := uint64(0)
		for {
			answer, err := c.listShuffles(ctx, params)
			list, err := decoded[ShuffleList](answer, err)
			if err == nil && list.Next != nil && params.Cursor != nil && *list.Next == *params.Cursor {
				err = &Fault{What: "the page after a page is the same page", Answer: answer}
			}
			if err != nil {
				yield(ShuffleSummary{}, err)
				return
			}
			for _, s := range list.Shuffles {
				if s.ID <= last || !params.fits(&s) {
					yield(ShuffleSummary{}, &Fault{What: "it is out of order, or was not asked for", Answer: answer})
					return
				}
				if last = s.ID; !yield(s, nil) {
					return
				}
			}
			if list.Next == nil {
				return
			}
			params.Cursor = list.Next
		}
	}
}

// fits reports whether a shuffle is one that was asked for.
func (p *ListShufflesParams) fits(s *ShuffleSummary) bool {
	closed := s.State == ShuffleSummaryStateClosed
	switch {
	case p.Table != nil && s.Table != *p.Table, p.Serial != nil && s.Serial != *p.Serial,
		p.GameRef != nil && deref(s.GameRef) != *p.GameRef,
		p.From != nil && s.CommittedAt.Before(p.From.Time), p.To != nil && !s.CommittedAt.Before(p.To.Time),
		p.State != nil && closed != (*p.State == ListShufflesParamsStateClosed),
		closed != (s.ClosedAt != nil) || closed != (s.Outcome != nil),
		(s.Reason != nil) != (deref(s.Outcome) == OutcomeVoid):
		return false
	}
	return true
}

// ProveSummary holds a found shuffle against its commit. Of its end only a
// transcript tells.
func (c *Client) ProveSummary(ctx context.Context, s ShuffleSummary) error {
	receipt, e, err := c.receipt(ctx, s.ID)
	if err != nil {
		return err
	}
	commit, ok := e.Body.(*audit.Commit)
	kind, parent := ShuffleSummaryKindCards, uint64(0)
	if ok && commit.Context.IsDraw() {
		kind = ShuffleSummaryKindDraws
	}
	if ok && commit.Context.Parent != nil {
		parent = commit.Context.Parent.ID
	}
	if !ok || s.Table != commit.Context.Table || s.Serial != commit.Serial || s.Kind != kind ||
		deref(s.Parent) != parent ||
		deref(s.GameRef) != commit.GameRef || s.CommittedAt.UnixMilli() != e.Time ||
		s.CloseBy.UnixMilli() != commit.CloseBy {
		return &Fault{What: "it is not what its commit says", Answer: []byte(receipt)}
	}
	return nil
}
