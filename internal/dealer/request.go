package dealer

import (
	"crypto/sha256"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// requestLabel starts the hash of a request (docs/SPEC.md section 5.3).
const requestLabel = "shuffled/v1/request\x00"

// hash names the request as it was parsed: absent members are marked absent and
// defaults are not filled in, so that the same request gives the same hash
// though a ledger's defaults change.
func (r *ShuffleRequest) hash() [32]byte {
	b := cryptobyte.NewBuilder([]byte(requestLabel))
	str := func(s string) {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(s)) })
	}
	optional := func(present bool, v uint64) {
		if !present {
			b.AddUint8(0)
			return
		}
		b.AddUint8(1)
		b.AddUint64(v)
	}
	str("shuffle")
	str(r.Table)
	str(r.Deck)
	b.AddUint16(uint16(len(r.Cards)))
	for _, c := range r.Cards {
		str(c)
	}
	optional(r.Take != nil, deref(r.Take))
	optional(r.EndAt != nil, 0)
	if r.EndAt != nil {
		b.AddUint64(uint64(r.EndAt.Lo))
		b.AddUint64(uint64(r.EndAt.Hi))
	}
	b.AddUint8(uint8(r.Disclosure))
	optional(r.CloseBy != nil, deref(r.CloseBy))
	str(r.GameRef)
	return sha256.Sum256(b.BytesOrPanic())
}

func deref[T int | int64](p *T) uint64 {
	if p == nil {
		return 0
	}
	return uint64(*p)
}

// context validates r and returns what a commitment to it covers, and the deck.
func (r *ShuffleRequest) context(g *audit.Genesis) (*audit.Context, shuffle.Deck, error) {
	none := shuffle.Deck{}
	if r.Mix || r.Parent {
		return nil, none, fmt.Errorf("%w: mix plans and parents", ErrNotAvailable)
	}
	if err := audit.CheckName(r.Table); err != nil {
		return nil, none, &RequestError{"table", err.Error()}
	}
	deck, err := r.deck()
	if err != nil {
		return nil, none, err
	}
	c := &audit.Context{
		Origin:     g.Origin,
		Production: g.Production,
		Table:      r.Table,
		DeckHash:   deck.Hash(),
		Recipe:     shuffle.Recipe{Cards: deck.Len(), Take: deck.Len()},
		Disclosure: r.Disclosure,
	}
	if c.Disclosure == 0 {
		c.Disclosure = g.Disclosure
	}
	if r.Take != nil {
		if c.Recipe.Take = *r.Take; *r.Take < 1 || *r.Take > deck.Len() {
			return nil, none, &RequestError{"take", fmt.Sprintf("is 1 to the %d cards of the deck", deck.Len())}
		}
	}
	if err := r.endAt(c); err != nil {
		return nil, none, err
	}
	if r.GameRef != "" {
		if err := audit.CheckName(r.GameRef); err != nil {
			return nil, none, &RequestError{"game_ref", err.Error()}
		}
	}
	if r.CloseBy != nil && (*r.CloseBy < 1 || *r.CloseBy > audit.MaxInteger) {
		return nil, none, &RequestError{"close_by", "is a time after the request"}
	}
	return c, deck, nil
}

func (r *ShuffleRequest) deck() (shuffle.Deck, error) {
	switch {
	case (r.Deck == "") == (r.Cards == nil):
		return shuffle.Deck{}, &RequestError{"deck", "or cards is given, and not both"}
	case r.Cards != nil:
		d, err := shuffle.NewDeck(r.Cards)
		if err != nil {
			return d, &RequestError{"cards", "breaks a rule: " + err.Error()}
		}
		return d, nil
	}
	d, ok := shuffle.Named(r.Deck)
	if !ok {
		return d, &RequestError{"deck", "is one of the published names, such as standard-52 or shoe-8"}
	}
	return d, nil
}

func (r *ShuffleRequest) endAt(c *audit.Context) error {
	if r.EndAt == nil {
		return nil
	}
	lo, hi := r.EndAt.Lo, r.EndAt.Hi
	if lo < 1 || hi < lo || hi > c.Recipe.Take {
		return &RequestError{"end_at", fmt.Sprintf("is a place from 1 to the %d cards taken, or lo < hi of these", c.Recipe.Take)}
	}
	if lo == hi {
		c.EndAt = lo
	} else {
		c.Recipe.EndLo, c.Recipe.EndHi = lo, hi
	}
	return nil
}

// validate reports the first rule that the deal breaks by itself.
func (r *DealRequest) validate() error {
	if r.First < 0 || r.First > shuffle.MaxCards {
		return &RequestError{"first", fmt.Sprintf("is a place, 0 to %d", shuffle.MaxCards)}
	}
	if len(r.Runs) < 1 || len(r.Runs) > audit.MaxRuns {
		return &RequestError{"runs", fmt.Sprintf("has 1 to %d runs", audit.MaxRuns)}
	}
	total := 0
	for i, run := range r.Runs {
		field := func(name string) string { return fmt.Sprintf("runs[%d].%s", i, name) }
		if run.Count < 1 || run.Count > shuffle.MaxCards {
			return &RequestError{field("count"), fmt.Sprintf("is 1 to %d", shuffle.MaxCards)}
		}
		if run.Purpose < audit.PurposeSeat || run.Purpose > audit.PurposeRabbit {
			return &RequestError{field("purpose"), "is seat, board, burn, discard or rabbit"}
		}
		if run.Recipient != "" {
			if err := audit.CheckName(run.Recipient); err != nil {
				return &RequestError{field("recipient"), err.Error()}
			}
		}
		if total += run.Count; total > shuffle.MaxCards {
			return &RequestError{"runs", fmt.Sprintf("deal at most %d places", shuffle.MaxCards)}
		}
	}
	if r.Close != nil {
		return r.Close.validate("close.")
	}
	return nil
}

// validate reports the first rule that the close breaks by itself; prefix goes
// before the names of its fields.
func (r *CloseRequest) validate(prefix string) error {
	switch r.Outcome {
	case audit.OutcomeCompleted, audit.OutcomeEndedEarly:
		if r.Reason != audit.ReasonNone {
			return &RequestError{prefix + "reason", "is given with the outcome void only"}
		}
	case audit.OutcomeVoid:
		if r.Reason == audit.ReasonNone || r.Reason >= audit.ReasonTapeLost {
			return &RequestError{prefix + "reason", "is one of the published reasons for the outcome void"}
		}
	default:
		return &RequestError{prefix + "outcome", "is completed, ended_early or void"}
	}
	return nil
}
