package client

import (
	"context"
	"slices"

	"shuffled/internal/audit"
)

// Reveal makes places public that were dealt, a showdown or cards that were seen by
// mistake, and returns when the reveal is proved to stand in the ledger and every card to
// be the one committed to. The same places give the same answer again.
func (c *Client) Reveal(ctx context.Context, s *Committed, req RevealRequest) (*Reveal, error) {
	done, err := c.do(ctx, Step{Of: s, Request: req})
	return done.Reveal, err
}

// places are those of a request as an entry has them.
func places(asked []int) (all []uint16) {
	for _, p := range asked {
		all = append(all, uint16(p))
	}
	slices.Sort(all)
	return all
}

// proveReveal holds a reveal against what was asked for, its entry and the deck root.
func (c *Client) proveReveal(ctx context.Context, s *Committed, want *audit.Reveal, r *Reveal, index uint64,
	when asked, answer []byte) error {
	fault := func(what string, err error) error { return &Fault{What: what, Answer: answer, Err: err} }
	_, _, err := acted(ctx, c, s, said{r.Receipt, index, r.Time, bool(deref(r.Repeated))}, when, answer,
		func(b *audit.Reveal) bool {
			return b.Shuffle == s.ID && b.Final == want.Final && b.Exposed == want.Exposed &&
				slices.Equal(b.Places, want.Places)
		})
	if err != nil {
		return err
	}
	var opened []audit.Opening
	for i, card := range r.Cards {
		if len(r.Cards) != len(want.Places) || card.Place != int(want.Places[i]) {
			return fault("the cards are not those of the places that were revealed", nil)
		}
		o := opening(card)
		if what, err := s.open(card.Place, o); what != "" {
			return fault(what, err)
		}
		opened = append(opened, o)
	}
	ascending := slices.EqualFunc(r.Places, want.Places, func(told int, p uint16) bool { return told == int(p) })
	if len(opened) != len(want.Places) || !ascending {
		return fault("the cards are not those of the places that were revealed", nil)
	}
	if shows, err := s.shows(opened); s.commit.Context.IsDraw() && (err != nil || !slices.Equal(shows, r.Shows)) ||
		!s.commit.Context.IsDraw() && r.Shows != nil {
		return fault("the values show other numbers", err)
	}
	if err := c.proveLabels(ctx, s, r.Shows, r.Labels, answer); err != nil {
		return err
	}
	return c.proveNames(ctx, s, r.Cards, answer)
}

// proveFinalReveal holds what a close revealed against its request: it is the entry in
// front of the close.
func (c *Client) proveFinalReveal(ctx context.Context, s *Committed, req *CloseRequest, ending *Close, closed uint64,
	when asked, answer []byte) error {
	switch {
	case len(req.Reveal) == 0 && ending.Reveal == nil:
		return nil
	case len(req.Reveal) == 0 || ending.Reveal == nil:
		return &Fault{What: "one of close and reveal is missing", Answer: answer}
	}
	want := &audit.Reveal{Shuffle: s.ID, Final: true, Places: places(req.Reveal)}
	return c.proveReveal(ctx, s, want, ending.Reveal, closed-1, when, answer)
}
