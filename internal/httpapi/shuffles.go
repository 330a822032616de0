package httpapi

import (
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// GetShuffle answers with the state of a shuffle.
func (s *Server) GetShuffle(c *call, id ID) error {
	return answers(c, stateAnswer)(c.ledger.Dealer.Status(c.r.Context(), id))
}

func stateAnswer(s dealer.Status) ShuffleState {
	a := ShuffleState{
		ID: s.ID, Table: s.Table, Serial: s.Serial,
		Commitment: encodeHash(s.Commitment), DeckRoot: encodeHash(s.DeckRoot),
		CloseBy: Timestamp(s.CloseBy), Receipt: s.Receipt,
		Owner: s.Owner, Next: s.Next, State: ShuffleStateStateOpen,
	}
	if s.Extent != audit.ExtentPlay {
		a.Extent = new(Extent(s.Extent.String()))
	}
	if s.Planned {
		a.Mixed = &s.Mixed
	}
	if s.CutCard {
		a.LastHand = &s.LastHand
	}
	switch {
	case s.Closed:
		a.State = ShuffleStateStateClosed
		a.ClosedAt, a.Outcome = new(Timestamp(s.ClosedAt)), new(Outcome(s.Outcome.String()))
		a.Reason = optional(Reason(s.Reason.String()))
		if s.Continued {
			a.State = ShuffleStateStateContinued
		}
	case s.Overdue:
		a.State = ShuffleStateStateOverdue
	}
	return a
}

// DealCards deals the next places.
func (s *Server) DealCards(c *call, id ID) error {
	req := noDeal
	if err := c.decode(&req); err != nil {
		return err
	}
	asked, err := dealRequest(&req)
	if err != nil {
		return err
	}
	if err := s.awaitWitnesses(c, id); err != nil {
		return err
	}
	return answers(c, dealAnswer)(c.ledger.Dealer.Deal(c.r.Context(), c.caller.actor, id, asked))
}

// noDeal is a request before its members are read: the place -1 tells that first is absent.
var noDeal = DealRequest{First: -1}

func dealRequest(req *DealRequest) (dealer.DealRequest, error) {
	if req.First < 0 {
		return dealer.DealRequest{}, refuseValue("first", "must be given: a place, from 0")
	}
	asked := dealer.DealRequest{First: req.First, Runs: make([]audit.Run, len(req.Runs))}
	for i, run := range req.Runs {
		asked.Runs[i] = audit.Run{Count: run.Count, Purpose: audit.ParsePurpose(string(run.Purpose)),
			Public: value(run.Public), Round: value(run.Round)}
		if asked.Runs[i].Purpose == 0 {
			return asked, refuseWord(fmt.Sprintf("runs[%d].purpose", i), string(run.Purpose), "seat", "board", "burn",
				"discard", "rabbit", "order")
		}
		if run.Recipient != nil && *run.Recipient == "" {
			return asked, refuseValue(fmt.Sprintf("runs[%d].recipient", i), "must not be empty")
		}
		asked.Runs[i].Recipient = value(run.Recipient)
	}
	var err error
	if req.State != nil {
		if asked.State, err = decodeHash("state", *req.State); err != nil {
			return asked, err
		}
	}
	if asked.Asked, err = askedRequest(req.Asked); err != nil {
		return asked, err
	}
	if req.Close != nil {
		ending, err := closeRequest(*req.Close, "close.")
		if err != nil {
			return asked, err
		}
		asked.Close = &ending
	}
	return asked, nil
}

func askedRequest(a *Asked) (*dealer.Asking, error) {
	if a == nil {
		return nil, nil
	}
	out := &dealer.Asking{Commit: a.Commit, After: value(a.After)}
	if len(a.Ask) != len(out.Ask) {
		return nil, refuseValue("asked.ask", "must be 64 bytes in padded base64")
	}
	out.Ask = [64]byte(a.Ask)
	if a.State == nil {
		return out, nil
	}
	var err error
	out.State, err = decodeHash("asked.state", *a.State)
	return out, err
}

func dealAnswer(d dealer.Deal) Deal {
	a := Deal{Time: Timestamp(d.Time), Repeated: repeated[DealRepeated](d.Answered), Cards: make([]Card, len(d.Cards)),
		Shows: d.Shows, Labels: d.Labels, Next: d.Next, Receipt: d.Receipt, CoDealer: optional(d.CoDealer)}
	if d.LastHand {
		a.LastHand = &d.LastHand
	}
	for i, card := range d.Cards {
		a.Cards[i] = cardAnswer(card)
	}
	for _, u := range d.Unopened {
		a.Unopened = append(a.Unopened, UnopenedPlace{Place: u.Place, Purpose: Purpose(u.Purpose.String()),
			Recipient: optional(u.Recipient)})
	}
	if d.Close != nil {
		a.Close = new(closeAnswer(*d.Close))
	}
	return a
}

func cardAnswer(card audit.Card) Card {
	a := Card{Place: card.Place, Position: card.Position, Value: card.Value, Card: optional(card.Card),
		Salt: card.Salt, Proof: card.Proof}
	if by := card.By; by != nil {
		a.By = &CoDealerOpening{Value: by.Value, Salt: by.Salt, Proof: by.Proof}
	}
	return a
}

// RevealCards makes dealt places public.
func (s *Server) RevealCards(c *call, id ID) error {
	return run(c, revealRequest, on(id, c.ledger.Dealer.Reveal), revealAnswer)
}

func revealRequest(req *RevealRequest) (dealer.RevealRequest, error) {
	return dealer.RevealRequest{Places: req.Places, Exposed: value(req.Exposed)}, nil
}

func revealAnswer(r dealer.Reveal) Reveal {
	a := Reveal{Time: Timestamp(r.Time), Repeated: repeated[RevealRepeated](r.Answered), Places: r.Places,
		Shows: r.Shows, Labels: r.Labels, Receipt: r.Receipt}
	for _, card := range r.Cards {
		a.Cards = append(a.Cards, cardAnswer(card))
	}
	return a
}

// CloseShuffle ends a shuffle.
func (s *Server) CloseShuffle(c *call, id ID) error {
	var req CloseRequest
	if err := c.decode(&req); err != nil {
		return err
	}
	asked, err := closeRequest(req, "")
	if err != nil {
		return err
	}
	if lost := asked.Reason == audit.ReasonTapeLost; lost != (c.caller.role == audit.RoleAdmin) {
		return &refusal{code: CodeForbidden, field: "reason",
			detail: "The reason tape_lost takes the role admin, and an admin closes for no other reason"}
	}
	return answers(c, closeAnswer)(c.ledger.Dealer.Close(c.r.Context(), c.caller.actor, id, asked))
}

func closeRequest(req CloseRequest, prefix string) (dealer.CloseRequest, error) {
	out := dealer.CloseRequest{Outcome: audit.ParseOutcome(string(req.Outcome)), Reveal: req.Reveal,
		Follows: value(req.Follows)}
	if out.Outcome == 0 {
		return out, refuseWord(prefix+"outcome", string(req.Outcome), "completed", "ended_early", "void")
	}
	if req.Reason != nil {
		if out.Reason = audit.ParseReason(string(*req.Reason)); out.Reason == audit.ReasonNone {
			return out, refuseWord(prefix+"reason", string(*req.Reason), "misdeal", "exposed_card", "foul_deck",
				"game_cancelled", "operator_error", "system_fault", "player_dispute", "mix_failed", "regulator",
				"tape_lost", "co_dealer")
		}
	}
	return out, nil
}

func closeAnswer(c dealer.Close) Close {
	a := Close{Time: Timestamp(c.Time), Repeated: repeated[CloseRepeated](c.Answered), Tape: c.Tape,
		Receipt: c.Receipt}
	if c.Reveal != nil {
		a.Reveal = new(revealAnswer(*c.Reveal))
	}
	return a
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
	transcript, err := c.ledger.Dealer.Transcript(c.r.Context(), id, dealer.View{
		Identity:  identity,
		Auditor:   c.caller.role == audit.RoleAuditor || c.caller.role == audit.RoleRegulator,
		Recipient: value(params.Recipient),
	})
	if err != nil {
		return err
	}
	return c.write("application/json", noStore, transcript)
}
