package httpapi

import (
	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// SetSwitch sets a kill switch.
func (s *Server) SetSwitch(c *call) error {
	return do(c, dealer.SwitchRequest{}, c.ledger.Dealer.SetSwitch)
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
	return c.answer(c.ledger.Dealer.SetTable(c.r.Context(), c.caller.actor, asked.Table,
		asked.Action == TableRequestActionOpen))
}
