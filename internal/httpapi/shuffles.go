package httpapi

import (
	"context"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
)

// GetShuffle answers with the state of a shuffle.
func (s *Server) GetShuffle(c *call, id ID) error {
	return c.answer(c.ledger.Dealer.Status(c.r.Context(), id))
}

// DealCards deals the next places.
func (s *Server) DealCards(c *call, id ID) error {
	return do(c, noDeal, behind(s, c, id, c.ledger.Dealer.Deal))
}

// noDeal is a request before its members are read: the place -1 tells that first is absent.
var noDeal = api.DealRequest{First: -1}

// behind is on for a request that waits for the witnesses of the commit.
func behind[D, V any](s *Server, c *call, id ID, do dealing[ID, D, V]) action[D, V] {
	return func(_ context.Context, actor audit.Actor, asked D) (v V, err error) {
		if err := s.awaitWitnesses(c, id); err != nil {
			return v, err
		}
		return do(c.r.Context(), actor, id, asked)
	}
}

// RevealCards makes dealt places public.
func (s *Server) RevealCards(c *call, id ID) error {
	return do(c, api.RevealRequest{}, on(id, c.ledger.Dealer.Reveal))
}

// CloseShuffle ends a shuffle.
func (s *Server) CloseShuffle(c *call, id ID) error {
	ends := on(id, c.ledger.Dealer.Close)
	return do(c, CloseRequest{}, func(ctx context.Context, by audit.Actor, asked CloseRequest) (v api.Close,
		err error) {
		if lost := asked.Reason == audit.ReasonTapeLost; lost != (c.caller.role == audit.RoleAdmin) {
			return v, &refusal{code: CodeForbidden, field: "reason",
				detail: "The reason tape_lost takes the role admin, and an admin closes for no other reason"}
		}
		return ends(ctx, by, asked)
	})
}

// AddStatement keeps what an auditor signed about a shuffle.
func (s *Server) AddStatement(c *call, id ID) error {
	var req StatementRequest
	if err := c.decode(&req); err != nil {
		return err
	}
	n, err := c.ledger.Dealer.AddStatement(c.r.Context(), id, req.Statement)
	if err != nil {
		return err
	}
	return c.json(StatementTaken{Statements: n})
}

// GetTranscript answers with the evidence that the caller may see.
func (s *Server) GetTranscript(c *call, id ID, params GetTranscriptParams) error {
	if params.Recipient != nil {
		// The dealer hands out the cards of a recipient.
		if err := c.may(audit.RoleDealer.String()); err != nil {
			return err
		}
	}
	identity := ""
	if c.caller.role == audit.RoleDealer || c.caller.role == audit.RoleBlind {
		identity = c.caller.actor.Identity
	}
	transcript, err := c.ledger.Dealer.Transcript(c.r.Context(), id, api.View{
		Identity:  identity,
		Auditor:   c.caller.role == audit.RoleAuditor || c.caller.role == audit.RoleRegulator,
		Recipient: value(params.Recipient),
	})
	if err != nil {
		return err
	}
	if !c.caller.known() && c.takesGzip() { // for a house near by it would cost more than a hand
		transcript = pack("", transcript).packed
	}
	return c.write("application/json", noStore, transcript)
}

// CreateShuffle commits to a new shuffle.
func (s *Server) CreateShuffle(c *call, params CreateShuffleParams) error {
	return do(c, api.ShuffleRequest{}, on(params.IdempotencyKey, c.ledger.Dealer.Shuffle))
}

// CreateDraws commits to drawn values.
func (s *Server) CreateDraws(c *call, params CreateDrawsParams) error {
	return do(c, api.DrawsRequest{}, on(params.IdempotencyKey, c.ledger.Dealer.Draws))
}

// MixShuffle reveals the values of a plan.
func (s *Server) MixShuffle(c *call, id ID) error {
	return do(c, api.MixRequest{}, behind(s, c, id, c.ledger.Dealer.Mix))
}
