package httpapi

import (
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// CreateShuffle commits to a new shuffle.
func (s *Server) CreateShuffle(c *call, params CreateShuffleParams) error {
	return run(c, shuffleRequest, on(params.IdempotencyKey, c.ledger.Dealer.Shuffle), shuffleAnswer)
}

// CreateDraws commits to drawn values.
func (s *Server) CreateDraws(c *call, params CreateDrawsParams) error {
	return run(c, drawsRequest, on(params.IdempotencyKey, c.ledger.Dealer.Draws), shuffleAnswer)
}

// shuffleRequest turns req into a request of the dealer, for which zero is an absent member.
// So a member that is there and empty is refused here.
func shuffleRequest(req *ShuffleRequest) (dealer.ShuffleRequest, error) {
	out := dealer.ShuffleRequest{Table: req.Table, Cards: req.Cards, Take: req.Take, ForLedger: value(req.ForLedger)}
	if req.Deck != nil && *req.Deck == "" {
		return out, refuseValue("deck", "must not be empty")
	}
	out.Deck = value(req.Deck)
	if req.EndAt != nil {
		out.EndAt = &dealer.EndAt{Lo: req.EndAt.Lo, Hi: req.EndAt.Hi}
	}
	if p := req.Parent; p != nil {
		out.Parent = &dealer.Parent{ID: p.ID}
		if p.Positions != nil {
			out.Parent.Positions = make([]uint16, len(p.Positions))
		}
		for i, at := range p.Positions {
			if at < 0 || at > 1<<16-1 {
				return out, refuseValue(fmt.Sprintf("parent.positions[%d]", i), "must be a position")
			}
			out.Parent.Positions[i] = uint16(at)
		}
	}
	var err error
	if out.Terms, err = boundTerms(req.Terms); err != nil {
		return out, err
	}
	out.Plan, out.Disclosure, out.CloseBy, out.GameRef, err = commonTerms(req.Table, req.Mix, req.Disclosure,
		req.CloseBy, req.GameRef)
	return out, err
}

func drawsRequest(req *DrawsRequest) (dealer.DrawsRequest, error) {
	out := dealer.DrawsRequest{Table: req.Table, Ranges: req.Ranges, ForLedger: value(req.ForLedger)}
	if n := req.Numbers; n != nil {
		out.Numbers = &dealer.Numbers{Of: n.Of, Take: n.Take}
	}
	if req.Wheel != nil {
		out.Wheel = make([]dealer.Stop, len(req.Wheel))
	}
	for i, stop := range req.Wheel {
		out.Wheel[i] = dealer.Stop{Label: stop.Label, Weight: stop.Weight}
	}
	var err error
	if out.Terms, err = boundTerms(req.Terms); err != nil {
		return out, err
	}
	out.Plan, out.Disclosure, out.CloseBy, out.GameRef, err = commonTerms(req.Table, req.Mix, req.Disclosure,
		req.CloseBy, req.GameRef)
	return out, err
}

// commonTerms reads the members that both kinds of request have alongside their cards or values.
func commonTerms(table string, mix *MixPlan, disclosure *Disclosure, closeBy *Timestamp, gameRef *string) (
	plan *dealer.MixPlan, disclose audit.Disclosure, by *int64, ref string, err error) {
	switch {
	case table == "":
		err = refuseValue("table", "must be given")
	case gameRef != nil && *gameRef == "":
		err = refuseValue("game_ref", "must not be empty")
	case mix != nil:
		plan, err = mixPlan(mix)
	}
	if err != nil {
		return nil, 0, nil, "", err
	}
	if disclosure != nil {
		if disclose = audit.ParseDisclosure(string(*disclosure)); disclose == 0 {
			return nil, 0, nil, "", refuseWord("disclosure", string(*disclosure), "public", "auditor")
		}
	}
	if closeBy != nil {
		by = new(int64(*closeBy))
	}
	return plan, disclose, by, value(gameRef), nil
}

func mixPlan(p *MixPlan) (*dealer.MixPlan, error) {
	if p.Cut != nil && !*p.Cut {
		return nil, refuseValue("mix.cut", "must be true or absent")
	}
	if p.CoDealer != nil && !*p.CoDealer {
		return nil, refuseValue("mix.co_dealer", "must be true or absent")
	}
	out := &dealer.MixPlan{CoDealer: p.CoDealer != nil, Beacon: p.Beacon != nil, Cut: p.Cut != nil}
	if p.Slots != nil && len(p.Slots) == 0 {
		return nil, refuseValue("mix.slots", "must not be empty")
	}
	var err error
	if out.Slots, err = decodeHashes("mix.slots", p.Slots); err != nil {
		return nil, err
	}
	if p.Beacon != nil && p.Beacon.Round != nil {
		if out.Round = *p.Beacon.Round; out.Round == 0 {
			return nil, refuseValue("mix.beacon.round", "must be a round from 1")
		}
	}
	return out, nil
}

// MixShuffle reveals the values of a plan.
func (s *Server) MixShuffle(c *call, id ID) error {
	asked, err := reads(c, mixRequest)
	if err != nil {
		return err
	}
	if err := s.awaitWitnesses(c, id); err != nil {
		return err
	}
	return answers(c, mixAnswer)(c.ledger.Dealer.Mix(c.r.Context(), c.caller.actor, id, asked))
}

func mixRequest(req *MixRequest) (asked dealer.MixRequest, err error) {
	asked.Cut = req.Cut
	if asked.Slots, err = decodeHashes("slots", req.Slots); err != nil {
		return asked, err
	}
	if req.Beacon != nil {
		if len(req.Beacon) != 48 {
			return asked, refuseValue("beacon", "must be 48 bytes in padded base64")
		}
		asked.Beacon = (*[48]byte)(req.Beacon)
	}
	return asked, nil
}

func mixAnswer(m dealer.Mix) Mix {
	return Mix{Time: Timestamp(m.Time), Repeated: repeated[MixRepeated](m.Answered), Receipt: m.Receipt}
}

// repeated is the member of that name: true, or absent.
func repeated[T ~bool](a dealer.Answered) *T { return optional(T(a.Repeated)) }

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func shuffleAnswer(s dealer.Shuffle) Shuffle {
	return Shuffle{
		Time: Timestamp(s.Time), Repeated: repeated[ShuffleRepeated](s.Answered),
		ID: s.ID, Table: s.Table, Serial: s.Serial,
		Commitment: encodeHash(s.Commitment), DeckRoot: encodeHash(s.DeckRoot),
		CloseBy: Timestamp(s.CloseBy), Receipt: s.Receipt, CoDealer: optional(s.CoDealer),
	}
}
