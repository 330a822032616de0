package client

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/beacon"
	"shuffled/internal/verify"
)

// Mix reveals the values of the plan. It returns when it is proved that the mix stands in the ledger with these values,
// and that the beacon's signature is that of the round. From then on the client knows which position each place shows.
func (c *Client) Mix(ctx context.Context, s *Committed, req MixRequest) (*Mix, error) {
	done, err := c.do(ctx, Step{Of: s, Request: req})
	return done.Mix, err
}

// proveMix checks a mix against its request, the plan and its entry, which it returns.
func (c *Client) proveMix(ctx context.Context, s *Committed, req *MixRequest, m *Mix, r reply) (proved, error) {
	e, mix, err := acted(ctx, c, s, said{m.Receipt, anyIndex, m.Time, bool(deref(m.Repeated))}, r,
		func(b *audit.Mix) bool { return b.Shuffle == s.ID })
	if err != nil {
		return e, err
	}
	signature := req.Beacon
	if b := mix.Beacon(); signature == nil && b != nil {
		signature = b[:] // the daemon fetched it
	}
	// That the values of slots have the hashes of the plan is for players to check: they are those of the request.
	planned := slices.EqualFunc(mix.Values, s.commit.Context.Mixed(),
		func(v audit.MixValue, p audit.Planned) bool { return v.Source == p.Source })
	if !planned || !slices.Equal(mixValues(req, signature), mix.Values) {
		return e, r.fault("the mix in the ledger has other values", nil)
	}
	if p, ok := s.commit.Context.Beacon(); ok {
		if err := beacon.Verify(p.Round, [48]byte(signature)); err != nil {
			return e, r.fault("the beacon", err)
		}
	}
	if err := s.mixed(mix); err != nil {
		return e, r.fault("the mix", err)
	}
	return e, nil
}

// mixValues are the values of a request, in plan order.
func mixValues(req *MixRequest, signature []byte) (values []audit.MixValue) {
	for _, slot := range req.Slots {
		values = append(values, audit.MixValue{Source: audit.SourceSlot, Slot: slot})
	}
	if len(signature) == beacon.Size {
		values = append(values, audit.MixValue{Source: audit.SourceBeacon, Beacon: [48]byte(signature)})
	}
	if req.Cut != nil {
		values = append(values, audit.MixValue{Source: audit.SourceCut, Cut: narrow(*req.Cut)})
	}
	return values
}

// Deal deals the next places. It returns their cards when it is proved that the deal stands in the ledger, and that
// every card is the one committed to, at the place that the mix moved it to, and was not dealt before.
func (c *Client) Deal(ctx context.Context, s *Committed, req DealRequest) (*Deal, error) {
	done, err := c.do(ctx, Step{Of: s, Request: req})
	return done.Deal, err
}

// proveDeal checks a deal against its request, its entry, which it returns, and the deck root.
func (c *Client) proveDeal(ctx context.Context, s *Committed, req *DealRequest, d *Deal, r reply) (proved, error) {
	var e proved
	fault := func(format string, args ...any) (proved, error) { return e, r.fault(fmt.Sprintf(format, args...), nil) }
	e, deal, err := acted(ctx, c, s, said{d.Receipt, anyIndex, d.Time, bool(deref(d.Repeated))}, r,
		func(b *audit.Deal) bool {
			return b.Shuffle == s.ID && b.First == req.First && b.Final == (req.Close != nil) &&
				slices.Equal(b.Runs, runs(req))
		})
	if err != nil {
		return e, err
	}
	if given, err := audit.ParseReceipt(deref(d.CoDealer)); d.CoDealer != nil && (err != nil || deal.Blind == nil ||
		given.Index != deal.Blind.Deal.Index || tlog.RecordHash(given.Entry) != deal.Blind.Deal.Leaf) {
		return fault("the receipt of the co-dealer's deal is of another entry")
	}
	next := req.First + deal.Count()
	s.with(func(p *play) { p.bound.Order.Give(deal) })
	places, aside := placesOf(deal)
	if len(d.Cards) != len(places) || d.Next != next {
		return fault("%d cards up to place %d were opened for %d from %d", len(d.Cards), d.Next, len(places), req.First)
	}
	if !slices.EqualFunc(d.Unopened, aside, func(a, b UnopenedPlace) bool {
		return a.Place == b.Place && a.Purpose == b.Purpose && deref(a.Recipient) == deref(b.Recipient)
	}) {
		return fault("the places that open nothing are not the burns and discards of the deal")
	}
	for i, card := range d.Cards {
		if card.Place != places[i].Place {
			return fault("place %d stands where %d should", card.Place, places[i].Place)
		}
		places[i].Position, places[i].Value, places[i].Name = card.Position, card.Value, deref(card.Card)
	}
	if err := s.openAll(d.Cards, d.Shows); err != nil {
		return e, r.fault("the cards", err)
	}
	told := false
	if s.with(func(p *play) { told = p.cut(d.Next, deref(d.LastHand)) }); !told {
		return fault("the cut card has not come out, or has and was not told")
	}
	if err := c.proveLabels(ctx, s, d.Shows, d.Labels, r); err != nil {
		return e, err
	}
	s.keep(places, d.Shows, next)
	if (req.Close == nil) != (d.Close == nil) {
		return fault("one of deal and close is missing")
	} else if d.Close == nil {
		return e, nil
	}
	last := e.index + 1
	if len(req.Close.Reveal) > 0 {
		last++ // behind the final reveal
	}
	return e, c.proveClose(ctx, s, req.Close, d.Close, last, r)
}

// placesOf returns the places of a deal that its answer opens, and those that it does not: what is dealt aside.
func placesOf(deal *audit.Deal) (opened []CardShown, aside []UnopenedPlace) {
	for place, r := range deal.Places() {
		if r.Aside() {
			aside = append(aside, UnopenedPlace{Place: place, Purpose: Purpose(r.Purpose.String()),
				Recipient: &r.Recipient})
		} else {
			opened = append(opened, CardShown{Place: place, Purpose: r.Purpose.String(), Recipient: r.Recipient,
				Public: r.Public, Round: r.Round})
		}
	}
	return opened, aside
}

func runs(req *DealRequest) []audit.Run {
	out := make([]audit.Run, len(req.Runs))
	for i, r := range req.Runs {
		out[i] = audit.Run{Count: r.Count, Purpose: audit.ParsePurpose(string(r.Purpose)),
			Recipient: deref(r.Recipient), Public: deref(r.Public), Round: deref(r.Round)}
	}
	return out
}

// opened is a card of an answer as the verifier takes it.
func opened(card Card) verify.Opened {
	o := verify.Opened{Place: card.Place, Name: deref(card.Card),
		Opening: opening(card.Position, card.Value, card.Salt, card.Proof)}
	if by := card.By; by != nil {
		o.By = new(opening(card.Place, by.Value, by.Salt, by.Proof))
	}
	return o
}

func opening(position int, value uint32, salt Hash, proof []Hash) openings.Opening {
	o := openings.Opening{Position: position, Value: value, Salt: salt}
	for _, h := range proof {
		o.Proof = append(o.Proof, tlog.Hash(h))
	}
	return o
}

// Close ends a shuffle. It returns when it is proved that the close stands in the ledger. If the tape is disclosed to
// everybody, the answer has it, and it is proved to be the one committed to and to give every card that was dealt.
func (c *Client) Close(ctx context.Context, s *Committed, req CloseRequest) (*Close, error) {
	done, err := c.do(ctx, Step{Of: s, Request: req})
	return done.Close, err
}

// proveClose checks a close against its request, its entry and the commitment.
func (c *Client) proveClose(ctx context.Context, s *Committed, req *CloseRequest, ending *Close, index uint64,
	r reply) error {
	e, body, err := acted(ctx, c, s, said{ending.Receipt, index, ending.Time, bool(deref(ending.Repeated))}, r,
		func(b *audit.Close) bool {
			return b.Shuffle == s.ID && b.Outcome.String() == string(req.Outcome) &&
				b.Reason.String() == string(deref(req.Reason))
		})
	if err != nil {
		return err
	}
	if body.Form == audit.FormTape != (ending.Tape != nil) || ending.Tape != nil &&
		!bytes.Equal(body.Tape, ending.Tape) {
		return r.fault("the tape is not the one in the ledger", nil)
	}
	if (len(req.Reveal) > 0) != (ending.Reveal != nil) {
		return r.fault("one of close and reveal is missing", nil)
	}
	if ending.Reveal != nil { // its entry is the one before the close
		want := &audit.Reveal{Shuffle: s.ID, Final: true, Places: places(req.Reveal)}
		if err := c.proveReveal(ctx, s, want, ending.Reveal, e.index-1, r); err != nil {
			return err
		}
	}
	if body.Reason == audit.ReasonTapeLost { // which was asked for; such a close discloses nothing (docs/SPEC.md 5.6)
		return nil
	}
	told, _ := audit.DisclosedBy(body)
	return s.proveTape(told, r)
}

// proveTape checks what a close or disclosure discloses against the commitment.
func (s *Committed) proveTape(body audit.DisclosureEntry, r reply) error {
	public := s.commit.Context.Disclosure == audit.DisclosurePublic
	switch {
	case public && body.Form == audit.FormTape:
		return s.finish(body.Tape, r)
	case public || body.Form != audit.FormSealed:
		return r.fault("the tape is not disclosed as the commit declared", nil)
	}
	return nil
}

// Reveal makes dealt places public: a showdown, or cards that were seen by mistake. It returns when it is proved that
// the reveal stands in the ledger, and that every card is the one committed to. The same places get the same answer
// again.
func (c *Client) Reveal(ctx context.Context, s *Committed, req RevealRequest) (*Reveal, error) {
	done, err := c.do(ctx, Step{Of: s, Request: req})
	return done.Reveal, err
}

// narrow is a place or position of a request in the form of an entry. No shuffle has as many as what does not fit.
func narrow(n int) uint16 { return uint16(min(uint(n), 1<<16-1)) }

// places are the places of a request in the form of an entry: ascending.
func places(asked []int) (all []uint16) {
	for _, p := range asked {
		all = append(all, narrow(p))
	}
	slices.Sort(all)
	return all
}

// proveReveal checks a reveal against what was asked for, its entry and the deck root.
func (c *Client) proveReveal(ctx context.Context, s *Committed, want *audit.Reveal, m *Reveal, index uint64,
	r reply) error {
	_, _, err := acted(ctx, c, s, said{m.Receipt, index, m.Time, bool(deref(m.Repeated))}, r,
		func(b *audit.Reveal) bool {
			return b.Shuffle == s.ID && b.Final == want.Final && b.Exposed == want.Exposed &&
				slices.Equal(b.Places, want.Places)
		})
	if err != nil {
		return err
	}
	ascending := slices.EqualFunc(m.Places, want.Places, func(told int, p uint16) bool { return told == int(p) })
	theirs := slices.EqualFunc(m.Cards, want.Places, func(card Card, p uint16) bool { return card.Place == int(p) })
	if !ascending || !theirs {
		return r.fault("the cards are not those of the places that were revealed", nil)
	}
	if err := c.learnNames(ctx, s); err != nil {
		return err
	}
	if err := s.openAll(m.Cards, m.Shows); err != nil {
		return r.fault("the cards", err)
	}
	return c.proveLabels(ctx, s, m.Shows, m.Labels, r)
}
