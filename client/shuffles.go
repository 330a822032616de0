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
	return walk(params.Cursor, func(at *string) ([]byte, error) {
		params.Cursor = at
		return c.listShuffles(ctx, params)
	}, func(l *ShuffleList) ([]ShuffleSummary, *string) { return l.Shuffles, l.Next },
		func(last, one *ShuffleSummary) bool {
			return one.ID > 0 && (last == nil || one.ID > last.ID) && params.fits(one)
		})
}

// fits reports whether a shuffle is one that was asked for.
func (p *ListShufflesParams) fits(s *ShuffleSummary) bool {
	continued := s.State == ShuffleSummaryStateContinued
	closed := continued || s.State == ShuffleSummaryStateClosed
	switch {
	case p.Table != nil && s.Table != *p.Table, p.Serial != nil && s.Serial != *p.Serial,
		p.GameRef != nil && deref(s.GameRef) != *p.GameRef,
		p.From != nil && s.CommittedAt.Before(p.From.Time), p.To != nil && !s.CommittedAt.Before(p.To.Time),
		p.State != nil && closed != (*p.State == ListShufflesParamsStateClosed),
		closed != (s.ClosedAt != nil) || closed != (s.Outcome != nil),
		continued && deref(s.Outcome) != OutcomeContinued,
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
