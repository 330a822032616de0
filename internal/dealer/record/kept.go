package dealer

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
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

// Given is what a co-dealer gave for a deal: the receipt of its own deal, the openings of the places that are not
// aside, and what proves that its ledger only grew since the checkpoint before. It is kept with the house's deal.
type Given struct {
	Receipt string       `json:"receipt"`
	Cards   []audit.Card `json:"cards"`
	Last    audit.Last   `json:"last"`
}

// keptEnd is what is kept with the entry that discloses a tape.
type keptEnd struct {
	Cards    []audit.Card `json:"cards,omitempty"`    // openings of public places, if the tape is for auditors
	Unplayed *Given       `json:"unplayed,omitempty"` // that the close names
	Opened   []audit.Card `json:"opened,omitempty"`   // what its places would have shown
	Follows  string       `json:"follows,omitempty"`  // of an order: the house's receipt of the close
}

// keptWith splits what is kept with a commit: the sealed tape, and behind it the receipt of the co-dealer's commit, ""
// without a co-dealer.
func keptWith(c *audit.Commit, kept []byte) (tape []byte, receipt string) {
	n := seal.Overhead + c.Context.Recipe.TapeLen()
	if _, blind := c.Context.CoDealer(); !blind || len(kept) < n {
		return kept, ""
	}
	return kept[:n], string(kept[n:])
}

// given reads what is kept with a deal of a blind shuffle.
func (r *record) given(at dealt) (g Given, err error) {
	if err := json.Unmarshal(at.row.Kept, &g); err != nil {
		return g, fmt.Errorf("%w: the stored answer of the co-dealer for place %d of shuffle %d: %w", ledger.ErrFrozen, at.deal.First,
			r.id, err)
	}
	return g, nil
}
