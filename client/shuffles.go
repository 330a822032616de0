package client

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"shuffled/internal/audit"
)

// Shuffles yields all shuffles that match params, by id, as the daemon tells them. It asks for a page at a time. It
// checks that they match params and ascend, and not whether one is left out: Load proves a commit, Transcript the rest.
func (c *Client) Shuffles(ctx context.Context, params ListShufflesParams) iter.Seq2[ShuffleSummary, error] {
	return walk(params.Cursor, func(at *string) ([]byte, error) {
		params.Cursor = at
		return c.listShuffles(ctx, params)
	}, func(l *ShuffleList) ([]ShuffleSummary, *string) { return l.Shuffles, l.Next },
		func(last, one *ShuffleSummary) bool {
			return one.ID > 0 && (last == nil || one.ID > last.ID) && params.fits(one)
		})
}

// fits reports whether a shuffle is one that was asked for, and does not contradict itself.
func (p *ListShufflesParams) fits(s *ShuffleSummary) bool {
	continued := s.State == ShuffleSummaryStateContinued
	closed := continued || s.State == ShuffleSummaryStateClosed
	switch {
	case p.Table != nil && s.Table != *p.Table, p.Serial != nil && s.Serial != *p.Serial,
		p.GameRef != nil && deref(s.GameRef) != *p.GameRef, p.Owner != nil && s.Owner != *p.Owner,
		p.Deck != nil && deref(s.Deck) != *p.Deck, p.Reason != nil && deref(s.Reason) != *p.Reason,
		p.From != nil && s.CommittedAt.Before(p.From.Time), p.To != nil && !s.CommittedAt.Before(p.To.Time),
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

const maxTables = 4096

// add takes in a commit, or says how it contradicts the newest commit of its table.
func (t *tables) add(id uint64, c *audit.Commit) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := c.Context.Table
	known := t.newest[table]
	switch {
	case c.Previous >= id:
		return "it names a commit before it that is none"
	case known.serial == 0 || c.Serial > known.serial+1 && id > known.id:
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
