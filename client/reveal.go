package client

import (
	"context"
	"slices"

	"shuffled/internal/audit"
)

// Reveal makes dealt places public: a showdown, or cards that were seen by mistake. It returns when it is proved that
// the reveal stands in the ledger, and that every card is the one committed to. The same places get the same answer
// again.
func (c *Client) Reveal(ctx context.Context, s *Committed, req RevealRequest) (*Reveal, error) {
	done, err := c.do(ctx, Step{Of: s, Request: req})
	return done.Reveal, err
}

// places are the places of a request in the form of an entry: ascending.
func places(asked []int) (all []uint16) {
	for _, p := range asked {
		all = append(all, uint16(p))
	}
	slices.Sort(all)
	return all
}

// proveReveal checks a reveal against what was asked for, its entry and the deck root.
func (c *Client) proveReveal(ctx context.Context, s *Committed, want *audit.Reveal, m *Reveal, index uint64,
	r reply) error {
	_, _, err := acted(ctx, c, s, said{m.Receipt, index, m.Time, bool(deref(m.Repeated))}, r,
		func(b *audit.Reveal) bool {
			return b.Shuffle == s.ID && b.Final == want.Final && b.Exposed == want.Exposed &&
				slices.Equal(b.Places, want.Places)
		})
	if err != nil {
		return err
	}
	ascending := slices.EqualFunc(m.Places, want.Places, func(told int, p uint16) bool { return told == int(p) })
	theirs := slices.EqualFunc(m.Cards, want.Places, func(card Card, p uint16) bool { return card.Place == int(p) })
	if !ascending || !theirs {
		return r.fault("the cards are not those of the places that were revealed", nil)
	}
	if err := c.learnNames(ctx, s); err != nil {
		return err
	}
	if err := s.openAll(m.Cards, m.Shows); err != nil {
		return r.fault("the cards", err)
	}
	return c.proveLabels(ctx, s, m.Shows, m.Labels, r)
}

// proveFinalReveal checks what a close revealed against its request. The entry of the reveal is the one before the
// close.
func (c *Client) proveFinalReveal(ctx context.Context, s *Committed, req *CloseRequest, ending *Close, closed uint64,
	r reply) error {
	switch {
	case len(req.Reveal) == 0 && ending.Reveal == nil:
		return nil
	case len(req.Reveal) == 0 || ending.Reveal == nil:
		return r.fault("one of close and reveal is missing", nil)
	}
	want := &audit.Reveal{Shuffle: s.ID, Final: true, Places: places(req.Reveal)}
	return c.proveReveal(ctx, s, want, ending.Reveal, closed-1, r)
}
