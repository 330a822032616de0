package httpapi

import (
	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// SetSwitch sets a kill switch.
func (s *Server) SetSwitch(c *call) error {
	return run(c, switchRequest, c.ledger.Dealer.SetSwitch, appendedAnswer)
}

// switchRequest turns req into a request of the dealer, for which "" is an absent member. So
// a member that is there and empty is refused here.
func switchRequest(req *SwitchRequest) (dealer.SwitchRequest, error) {
	out := dealer.SwitchRequest{Scope: audit.ParseScope(string(req.Scope)), Reason: req.Reason}
	switch {
	case out.Scope == 0:
		return out, refuseWord("scope", string(req.Scope), "ledger", "table", "deck")
	case req.Table != nil && *req.Table == "":
		return out, refuseValue("table", "must not be empty")
	case req.Deck != nil && *req.Deck == "":
		return out, refuseValue("deck", "must not be empty")
	}
	out.Table, out.Deck = value(req.Table), value(req.Deck)
	if req.DeckHash != nil {
		hash, err := decodeHash("deck_hash", *req.DeckHash)
		if err != nil {
			return out, err
		}
		out.DeckHash = &hash
	}
	return out, nil
}

// ListSwitches answers with the kill switches that are set.
func (s *Server) ListSwitches(c *call) error {
	set, err := c.ledger.Log.Switches(c.r.Context())
	if err != nil {
		return err
	}
	answer := SwitchList{Switches: make([]Switch, len(set))}
	for i, one := range set {
		answer.Switches[i] = Switch{Scope: SwitchScope(one.Scope.String()), Table: optional(one.Table)}
		if one.Scope == audit.ScopeDeck {
			answer.Switches[i].DeckHash = optional(encodeHash(one.Deck))
		}
	}
	return c.json(answer)
}

// SetTable opens or closes a table.
func (s *Server) SetTable(c *call) error {
	asked, err := reads(c, func(req *TableRequest) (*TableRequest, error) {
		if req.Action != TableRequestActionOpen && req.Action != TableRequestActionClose {
			return nil, refuseWord("action", string(req.Action), "open", "close")
		}
		return req, nil
	})
	if err != nil {
		return err
	}
	return answers(c, appendedAnswer)(c.ledger.Dealer.SetTable(c.r.Context(), c.caller.actor, asked.Table,
		asked.Action == TableRequestActionOpen))
}

func appendedAnswer(r dealer.Recorded) Appended { return Appended{Index: r.Index, Receipt: r.Receipt} }
