package dealer

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Draws commits to drawn values as [Dealer.Shuffle] commits to cards.
func (d *Dealer) Draws(ctx context.Context, actor audit.Actor, key string, req DrawsRequest) (Shuffle, error) {
	c, deck, err := req.context(d.cfg.Ledger.Genesis())
	return d.serve(ctx, actor, key, &asked{
		context: c, deck: deck, made: req, closeBy: req.CloseBy, gameRef: req.GameRef,
	}, err)
}

// context validates r and returns the context of its commit. A wheel is a shuffle of cards, one for
// each unit of weight, of which one is taken: context returns its deck.
func (r *DrawsRequest) context(g *audit.Genesis) (*audit.Context, shuffle.Deck, error) {
	none := shuffle.Deck{}
	c, err := r.common().context(g)
	if err != nil {
		return nil, none, err
	}
	given := 0
	for _, there := range []bool{r.Ranges != nil, r.Numbers != nil, r.Wheel != nil} {
		if there {
			given++
		}
	}
	if given != 1 {
		return nil, none, &RequestError{"ranges", "or \"numbers\" or \"wheel\" must be given, and only one of them"}
	}
	if r.Wheel == nil {
		return c, none, r.draws(c)
	}
	names, err := r.stops()
	if err != nil {
		return nil, none, err
	}
	deck, err := shuffle.NewDeck(names)
	if err != nil {
		return nil, none, &RequestError{"wheel", "must make a deck: " + err.Error()}
	}
	c.DeckHash, c.Recipe = deck.Hash(), shuffle.Recipe{Cards: deck.Len(), Take: 1}
	return c, deck, nil
}

// draws fills in the recipe of ranges or numbers.
func (r *DrawsRequest) draws(c *audit.Context) error {
	if r.Plan != nil && r.Plan.Cut {
		return &RequestError{"mix.cut", "must be left out, because drawn values keep their places"}
	}
	if n := r.Numbers; n != nil {
		if n.Of < shuffle.MinCards || n.Of > shuffle.MaxRange {
			return &RequestError{"numbers.of", fmt.Sprintf("must be %d to %d", shuffle.MinCards, shuffle.MaxRange)}
		}
		if err := c.TakeNumbers(n.Of, n.Take); err != nil {
			return &RequestError{"numbers.take", fmt.Sprintf("must be 1 to %d, from a total of %d numbers",
				min(n.Of, shuffle.MaxNumbers), n.Of)}
		}
		return nil
	}
	if len(r.Ranges) < 1 || len(r.Ranges) > shuffle.MaxCards {
		return &RequestError{"ranges", fmt.Sprintf("must have 1 to %d ranges", shuffle.MaxCards)}
	}
	for i, k := range r.Ranges {
		if k < 1 || k > shuffle.MaxRange {
			return &RequestError{fmt.Sprintf("ranges[%d]", i), fmt.Sprintf("must be 1 to %d", shuffle.MaxRange)}
		}
	}
	c.Recipe = shuffle.Recipe{Ranges: r.Ranges}
	if err := c.Recipe.Validate(); err != nil {
		return &RequestError{"ranges", "must need no more than one draw can give, so make several draws: " + err.Error()}
	}
	return nil
}

// stops returns the cards of a wheel's deck.
func (r *DrawsRequest) stops() (names []string, err error) {
	for i, s := range r.Wheel {
		if s.Weight < 1 || s.Weight > shuffle.MaxCards-len(names) {
			return nil, &RequestError{fmt.Sprintf("wheel[%d].weight", i),
				fmt.Sprintf("must be at least 1, and the sum of all weights at most %d", shuffle.MaxCards)}
		}
		for range s.Weight {
			names = append(names, s.Label)
		}
	}
	return names, nil
}
