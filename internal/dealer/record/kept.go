package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
)

// Public places must have openings for as long as the ledger exists. Under disclosure to auditors
// only the sealing key opens the tape in the house, and sealing keys are replaced. So the openings
// of public places are kept in the row of the entry that discloses the tape.

// After is the record after these entries, as far as public places depend on it.
func (r *Record) After(bodies []audit.Body, kept [][]byte) *Record {
	then := *r
	then.Deals, then.Reveals = r.Deals[:len(r.Deals):len(r.Deals)], r.Reveals[:len(r.Reveals):len(r.Reveals)]
	for i, b := range bodies {
		switch b := b.(type) {
		case *audit.Deal:
			then.Deals = append(then.Deals, Dealt{Deal: b, Row: ledger.Row{Kept: kept[i]}})
		case *audit.Reveal:
			then.Reveals = append(then.Reveals, Revealed{Reveal: b})
		}
	}
	return &then
}

// Rest names what openings depend on. The ledger refuses a proposal with ErrMoved if that changed.
func (r *Record) Rest() ledger.Rest {
	return ledger.Rest{Shuffle: r.ID, Next: r.Next(), Public: len(r.Public()), Moved: ErrMoved}
}

// KeptCards returns those of the kept openings that a viewer may see.
func (r *Record) KeptCards(names []string, shown []int) (cards []openings.Card, err error) {
	wrong := func(err error) ([]openings.Card, error) {
		return nil, fmt.Errorf("%w: the stored openings of shuffle %d: %w", ledger.ErrFrozen, r.ID, err)
	}
	var kept KeptEnd
	if text := r.Rows[len(r.Rows)-1].Kept; text != nil {
		if err := json.Unmarshal(text, &kept); err != nil {
			return wrong(err)
		}
	}
	byPlace := make(map[int]openings.Card, len(kept.Cards))
	for _, card := range kept.Cards {
		byPlace[card.Place] = card
	}
	for _, place := range r.Public() {
		if _, ok := byPlace[place]; !ok {
			return wrong(fmt.Errorf("place %d is public, and its opening is missing", place))
		}
	}
	order, err := openings.NewOrder(tlog.RecordHash(r.Row.Entry), r.Commit, r.Mix)
	if err != nil {
		return nil, err
	}
	for _, at := range r.Deals {
		order.Give(at.Deal)
	}
	for _, place := range shown {
		card, ok := byPlace[place]
		if !ok {
			continue // it is not public, and its tape cannot be opened any more
		}
		o, err := card.Opening()
		if err == nil {
			err = o.Check(openings.TagOf(r.Commit), tlog.Hash(r.Commit.DeckRoot), r.Commit.Context.Recipe.Positions())
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
	return cards, nil
}

// Given is what a co-dealer gave for a deal: the receipt of its own deal, the openings of the places that are not
// aside, and what proves that its ledger only grew since the checkpoint before. It is kept with the house's deal.
type Given struct {
	Receipt string          `json:"receipt"`
	Cards   []openings.Card `json:"cards"`
	Last    audit.Last      `json:"last"`
}

// KeptEnd is what is kept with the entry that discloses a tape.
type KeptEnd struct {
	Cards    []openings.Card `json:"cards,omitempty"`    // openings of public places, if the tape is for auditors
	Unplayed *Given          `json:"unplayed,omitempty"` // that the close names
	Opened   []openings.Card `json:"opened,omitempty"`   // what its places would have shown
	Follows  string          `json:"follows,omitempty"`  // of an order: the house's receipt of the close
}

// KeptWith splits what is kept with a commit: the sealed tape, and behind it the receipt of the co-dealer's commit, ""
// without a co-dealer.
func KeptWith(c *audit.Commit, kept []byte) (tape []byte, receipt string) {
	n := seal.Overhead + c.Context.Recipe.TapeLen()
	if _, blind := c.Context.CoDealer(); !blind || len(kept) < n {
		return kept, ""
	}
	return kept[:n], string(kept[n:])
}

// Given reads what is kept with a deal of a blind shuffle.
func (r *Record) Given(at Dealt) (g Given, err error) {
	if err := json.Unmarshal(at.Row.Kept, &g); err != nil {
		return g, fmt.Errorf("%w: the stored answer of the co-dealer for place %d of shuffle %d: %w", ledger.ErrFrozen, at.Deal.First,
			r.ID, err)
	}
	return g, nil
}
