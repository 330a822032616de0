package api

import (
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Validate refuses a deal that is wrong whatever the state of the ledger is.
func (r *DealRequest) Validate() error {
	if r.First < 0 {
		return NoValue("first", "must be given: a place, from 0")
	}
	if r.First > shuffle.MaxCards {
		return Invalid("first", fmt.Sprintf("must be a place, 0 to %d", shuffle.MaxCards))
	}
	if len(r.Runs) < 1 || len(r.Runs) > audit.MaxRuns {
		return Invalid("runs", fmt.Sprintf("must have 1 to %d runs", audit.MaxRuns))
	}
	total := 0
	for i, run := range r.Runs {
		field := func(name string) string { return fmt.Sprintf("runs[%d].%s", i, name) }
		if run.Count < 1 || run.Count > shuffle.MaxCards {
			return Invalid(field("count"), fmt.Sprintf("must be 1 to %d", shuffle.MaxCards))
		}
		if run.Purpose < audit.PurposeSeat || run.Purpose > audit.PurposeOrder {
			return NoValue(field("purpose"), "must be seat, board, burn, discard, rabbit or order")
		}
		if run.Purpose == audit.PurposeSeat && run.Recipient == "" {
			return Invalid(field("recipient"),
				"must name who gets the cards of a run with the purpose seat, such as seat-1")
		}
		if err := audit.CheckName(run.Recipient); err != nil && run.Recipient != "" {
			return Invalid(field("recipient"), err.Error())
		}
		if total += run.Count; total > shuffle.MaxCards {
			return Invalid("runs", fmt.Sprintf("must deal at most %d places", shuffle.MaxCards))
		}
	}
	switch {
	case r.Close == nil:
		return nil
	case r.Close.Reason == audit.ReasonTapeLost:
		return Invalid("close.reason", "must not be tape_lost: these cards are dealt from the tape")
	}
	return r.Close.Validate("close.")
}

// Validate refuses a close that is wrong whatever the state of the ledger is. prefix is put before
// the names of its fields.
func (r *CloseRequest) Validate(prefix string) error {
	switch r.Outcome {
	case audit.OutcomeCompleted, audit.OutcomeEndedEarly:
		if r.Reason != audit.ReasonNone {
			return Invalid(prefix+"reason", "must be given with the outcome void only")
		}
	case audit.OutcomeVoid:
		if r.Reason == audit.ReasonNone || r.Reason > audit.ReasonCoDealer {
			return Invalid(prefix+"reason", "must be a reason of the outcome void, such as misdeal, system_fault or game_cancelled")
		}
	default:
		return NoValue(prefix+"outcome", "must be completed, ended_early or void")
	}
	_, err := r.FinalReveal(prefix, 0)
	return err
}

// Body is the entry that the request asks for. field is the JSON member of its places.
func (r *RevealRequest) Body(field string, id uint64) (*audit.Reveal, error) {
	if len(r.Places) < 1 || len(r.Places) > audit.MaxReveals {
		return nil, Invalid(field, fmt.Sprintf("must name 1 to %d places that were dealt", audit.MaxReveals))
	}
	b := &audit.Reveal{Shuffle: id, Exposed: r.Exposed}
	for i, place := range r.Places {
		if place < 0 || place >= audit.MaxReveals {
			return nil, Invalid(fmt.Sprintf("%s[%d]", field, i),
				fmt.Sprintf("must be a place from 0 to %d", audit.MaxReveals-1))
		}
		b.Places = append(b.Places, uint16(place))
	}
	slices.Sort(b.Places)
	for i := range b.Places[1:] {
		if b.Places[i] == b.Places[i+1] {
			return nil, Invalid(field, fmt.Sprintf("must name each place once, and names place %d twice", b.Places[i]))
		}
	}
	return b, nil
}

// FinalReveal is the reveal that a close asks for in front of itself, nil if it asks for none.
// prefix is put before the names of the request's fields in errors.
func (c *CloseRequest) FinalReveal(prefix string, id uint64) (*audit.Reveal, error) {
	if c.Reveal == nil {
		return nil, nil
	}
	if c.Reason == audit.ReasonTapeLost {
		return nil, Invalid(prefix+"reveal", "must not be given with tape_lost: no card can be opened")
	}
	req := RevealRequest{Places: c.Reveal}
	body, err := req.Body(prefix+"reveal", id)
	if err == nil {
		body.Final = true
	}
	return body, err
}

// Answers refuses a request that leaves a source of the plan without a value, or has a value for
// which the plan has no source.
func (r *MixRequest) Answers(plan []audit.Planned) error {
	of := make(map[audit.Source]int)
	for _, p := range plan {
		of[p.Source]++
	}
	slots, cut := of[audit.SourceSlot], of[audit.SourceCut] > 0
	switch {
	case len(plan) == 0:
		return Illegal(audit.RuleMix, "the shuffle has no mix plan")
	case len(r.Slots) != slots:
		return Invalid("slots", fmt.Sprintf("must have one value for each of the %d slots of the plan", slots))
	case r.Beacon != nil && of[audit.SourceBeacon] == 0:
		return Invalid("beacon", "must be left out, because the plan has no beacon")
	case (r.Cut != nil) != cut:
		return Invalid("cut", "must be given when the plan has a cut, and only then")
	case cut && (*r.Cut < 0 || *r.Cut > 1<<16-1):
		return Invalid("cut", "must be a number of places")
	}
	return nil
}

// Values are the values in plan order.
func (r *MixRequest) Values(signature *[48]byte) (values []audit.MixValue) {
	for _, slot := range r.Slots {
		values = append(values, audit.MixValue{Source: audit.SourceSlot, Slot: slot})
	}
	if signature != nil {
		values = append(values, audit.MixValue{Source: audit.SourceBeacon, Beacon: *signature})
	}
	if r.Cut != nil {
		values = append(values, audit.MixValue{Source: audit.SourceCut, Cut: uint16(*r.Cut)})
	}
	return values
}

// SwitchRequest sets a kill switch. Which of the other members are set depends on the scope: none for the
// ledger, Table for a table, and Deck or DeckHash for a deck.
type SwitchRequest struct {
	Scope    audit.Scope `json:"scope"`
	Table    string      `json:"table,omitzero"`
	Deck     string      `json:"deck,omitzero"`      // published name
	DeckHash *[32]byte   `json:"deck_hash,omitzero"` // of any deck
	Reason   string      `json:"reason"`             // written to the ledger for ever
}

// Recorded is an entry that was written for an administrator.
type Recorded struct {
	Index   uint64 `json:"index"`
	Receipt string `json:"receipt"`
}

// Event is the entry that the request asks for.
func (r *SwitchRequest) Event() (*audit.Event, error) {
	e := &audit.Event{Kind: audit.EventKillSet, Scope: r.Scope, Reason: r.Reason}
	if r.Scope < audit.ScopeLedger || r.Scope > audit.ScopeDeck {
		return nil, NoValue("scope", "must be ledger, table or deck")
	}
	if err := CheckReason(r.Reason); err != nil {
		return nil, err
	}
	byTable, byDeck := r.Scope == audit.ScopeTable, r.Scope == audit.ScopeDeck
	switch {
	case !byTable && r.Table != "":
		return nil, Invalid("table", "must be left out, except with the scope table")
	case !byDeck && r.Deck != "":
		return nil, Invalid("deck", "must be left out, except with the scope deck")
	case !byDeck && r.DeckHash != nil:
		return nil, Invalid("deck_hash", "must be left out, except with the scope deck")
	case byTable:
		if err := audit.CheckName(r.Table); err != nil {
			return nil, Invalid("table", err.Error())
		}
		e.Name = r.Table
	case byDeck:
		return e, r.deck(e)
	}
	return e, nil
}

// deck puts the hash of the deck into e.
func (r *SwitchRequest) deck(e *audit.Event) error {
	switch {
	case (r.Deck == "") == (r.DeckHash == nil):
		return Invalid("deck", "or \"deck_hash\" must be given, and not both")
	case r.DeckHash != nil:
		e.Deck = *r.DeckHash
		return nil
	}
	deck, ok := shuffle.Named(r.Deck)
	if !ok {
		return Invalid("deck", unpublished(r.Deck))
	}
	e.Deck = deck.Hash()
	return nil
}

// CheckReason refuses a reason that is none, or that an entry may not have.
func CheckReason(reason string) error {
	if err := audit.CheckReason(reason); err != nil {
		return Invalid("reason", err.Error())
	}
	if strings.TrimSpace(reason) == "" {
		return Invalid("reason", "must say why")
	}
	return nil
}
