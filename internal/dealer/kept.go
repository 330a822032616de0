package dealer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Public places must have openings for as long as the ledger exists. Under disclosure to auditors
// only the sealing key opens the tape in the house, and sealing keys are replaced. So the openings
// of public places are kept in the row of the entry that discloses the tape.

// after is the record after these entries, as far as public places depend on it.
func (r *record) after(bodies []audit.Body, kept [][]byte) *record {
	then := *r
	then.deals, then.reveals = r.deals[:len(r.deals):len(r.deals)], r.reveals[:len(r.reveals):len(r.reveals)]
	for i, b := range bodies {
		switch b := b.(type) {
		case *audit.Deal:
			then.deals = append(then.deals, dealt{deal: b, row: ledger.Row{Kept: kept[i]}})
		case *audit.Reveal:
			then.reveals = append(then.reveals, revealed{reveal: b})
		}
	}
	return &then
}

// openings returns the openings that are kept of a shuffle that ends after these entries: of its public places.
func (d *Dealer) openings(ctx context.Context, r *record, before []audit.Body, with [][]byte) (cards []audit.Card,
	err error) {
	r = r.after(before, with)
	public := r.public()
	if len(public) == 0 {
		return nil, nil
	}
	t, err := d.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer t.wipe()
	for _, s := range public {
		cards = t.cards(cards, nil, s)
	}
	return cards, nil
}

// rest names what openings depend on. The ledger refuses a proposal with errMoved if that changed.
func (r *record) rest() ledger.Rest {
	rest := ledger.Rest{Shuffle: r.id, Next: r.next(), Moved: errMoved}
	for _, s := range r.public() {
		rest.Public += s.count
	}
	return rest
}

// keptCards returns those of the kept openings that a viewer may see.
func (r *record) keptCards(names []string, shown []span) (cards []audit.Card, err error) {
	wrong := func(err error) ([]audit.Card, error) {
		return nil, fmt.Errorf("%w: the stored openings of shuffle %d: %w", ledger.ErrFrozen, r.id, err)
	}
	var kept keptEnd
	if text := r.rows[len(r.rows)-1].Kept; text != nil {
		if err := json.Unmarshal(text, &kept); err != nil {
			return wrong(err)
		}
	}
	byPlace := make(map[int]audit.Card, len(kept.Cards))
	for _, card := range kept.Cards {
		byPlace[card.Place] = card
	}
	for _, s := range r.public() {
		for place := s.first; place < s.first+s.count; place++ {
			if _, ok := byPlace[place]; !ok {
				return wrong(fmt.Errorf("place %d is public, and its opening is missing", place))
			}
		}
	}
	order, err := audit.NewOrder(tlog.RecordHash(r.row.Entry), r.commit, r.mix)
	if err != nil {
		return nil, err
	}
	for _, at := range r.deals {
		order.Give(at.deal)
	}
	for _, s := range shown {
		for place := s.first; place < s.first+s.count; place++ {
			card, ok := byPlace[place]
			if !ok {
				continue // it is not public, and its tape cannot be opened any more
			}
			o, err := card.Opening()
			if err == nil {
				err = o.Check(r.commit.Tag(), tlog.Hash(r.commit.DeckRoot), r.commit.Context.Recipe.Positions())
			}
			if err == nil && (o.Position != order.Position(place) || names != nil && int(o.Value) >= len(names)) {
				err = errors.New("another card")
			}
			if err != nil {
				return wrong(fmt.Errorf("place %d: %w", place, err))
			}
			if names != nil {
				card.Card = names[o.Value]
			}
			cards = append(cards, card)
		}
	}
	return cards, nil
}

// ending is a close on its way to the ledger.
type ending struct {
	CloseRequest
	follows *audit.Follows  // of Follows, checked
	blind   *audit.Blind    // what the house knows of the co-dealer's order; nil: nothing
	end     keptEnd         // what is kept with the close
	given   []byte          // what is kept with a deal in the same batch
	silent  map[string]bool // origins of co-dealers that just gave no answer, and are not asked; nil: ask all
}
