package dealer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/beacon"
)

// beaconLead is how far ahead the round lies that the dealer chooses, in milliseconds: three
// rounds of quicknet. By then the commit is durable, and cosigned if there are witnesses, which
// shows that the house did not know the round when it committed.
const beaconLead = 9000

// planned is the plan as a context has it. checkRound fills in the round of a beacon, if the request names none.
func (p *MixPlan) planned() (plan []audit.Planned, err error) {
	if p == nil {
		return nil, nil
	}
	if p.CoDealer {
		plan = append(plan, audit.Planned{Source: audit.SourceCoDealer}) // takeOrder fills it in
	}
	for i, slot := range p.Slots {
		if slices.Contains(p.Slots[:i], slot) {
			return nil, &RequestError{fmt.Sprintf("mix.slots[%d]", i), "must not repeat an earlier slot hash"}
		}
		plan = append(plan, audit.Planned{Source: audit.SourceSlot, Slot: slot})
	}
	if p.Beacon != nil {
		beacon := audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet}
		if p.Beacon.Round != nil {
			if beacon.Round = *p.Beacon.Round; beacon.Round < 1 || beacon.Round > audit.MaxInteger {
				return nil, noValue("mix.beacon.round", "must be a round from 1")
			}
		}
		plan = append(plan, beacon)
	}
	if p.Cut {
		plan = append(plan, audit.Planned{Source: audit.SourceCut})
	}
	switch {
	case p.Slots != nil && len(p.Slots) == 0:
		return nil, noValue("mix.slots", "must not be empty")
	case len(plan) == 0:
		return nil, &RequestError{"mix", "must name at least one of co_dealer, slots, beacon and cut"}
	case len(plan) > audit.MaxSources:
		return nil, &RequestError{"mix", fmt.Sprintf("must have at most %d sources", audit.MaxSources)}
	}
	return plan, nil
}

// checkRound fills in the round of a beacon that the request left open, and refuses a round that comes out at close_by
// or later: it could not be revealed.
func (d *Dealer) checkRound(c *audit.Context, closeBy *Time) error {
	i := c.Find(audit.SourceBeacon)
	if i < 0 {
		return nil
	}
	p := &c.Plan[i]
	if p.Round == 0 {
		p.Round = audit.BeaconRound(d.cfg.Now() + beaconLead)
	}
	by := d.cfg.Now() + int64(d.cfg.Ledger.Genesis().DefaultCloseBy)*1000
	if closeBy != nil {
		by = int64(*closeBy)
	}
	if at, known := audit.BeaconTime(p.Chain, p.Round); known && at >= by/1000 {
		return &RequestError{"mix.beacon.round", "must come out before close_by"}
	}
	return nil
}

// Mix reveals all values of a shuffle's plan and answers when they are durable. The same values
// get the same answer for ever; other values for a mixed shuffle are ErrRepeated. Mix checks the
// signature of a beacon before it writes it: a wrong one is audit.RuleBeacon. If the request has
// none, Mix fetches the round: ErrBeaconEarly if it is not out, or no relay has it.
func (d *Dealer) Mix(ctx context.Context, actor audit.Actor, id uint64, req MixRequest) (Mix, error) {
	return answer(ctx, d, id, request[Mix]{
		may: func(r *record) error {
			if err := mayPlay(actor)(r); err != nil {
				return err
			}
			return req.answers(r.commit.Context.Mixed())
		},
		durable: true,
		stands:  func(r *record) bool { return r.mix != nil },
		repeat:  func(r *record) (Mix, error) { return d.mixAgain(ctx, r, req) },
		do:      func(r *record) (Mix, error) { return d.mix(ctx, actor, r, req) },
	})
}

func (d *Dealer) mix(ctx context.Context, actor audit.Actor, r *record, req MixRequest) (Mix, error) {
	if r.closed != nil {
		return Mix{}, r.notOpen()
	}
	if err := d.AwaitWitnesses(ctx, r.id); err != nil {
		return Mix{}, err
	}
	signature, err := d.round(ctx, r.commit.Context, req.Beacon)
	if err != nil {
		return Mix{}, err
	}
	answered, receipt, err := d.appendOne(ctx, actor, &audit.Mix{Shuffle: r.id, Values: req.values(signature)})
	return Mix{answered, receipt}, err
}

func (d *Dealer) mixAgain(ctx context.Context, r *record, req MixRequest) (Mix, error) {
	if !slices.Equal(req.values(cmp.Or(req.Beacon, signatureIn(r.mix))), r.mix.Values) {
		return Mix{}, fmt.Errorf("%w: shuffle %d is already mixed with other values", ErrRepeated, r.id)
	}
	answered, receipt, err := again(ctx, r.rowOf(audit.TypeMix), d.cfg.Ledger.FirstReceipt)
	return Mix{answered, receipt}, err
}

// answers refuses a request that leaves a source of the plan without a value, or has a value for
// which the plan has no source.
func (r *MixRequest) answers(plan []audit.Planned) error {
	of := make(map[audit.Source]int)
	for _, p := range plan {
		of[p.Source]++
	}
	slots, cut := of[audit.SourceSlot], of[audit.SourceCut] > 0
	switch {
	case len(plan) == 0:
		return illegal(audit.RuleMix, "the shuffle has no mix plan")
	case len(r.Slots) != slots:
		return &RequestError{"slots", fmt.Sprintf("must have one value for each of the %d slots of the plan", slots)}
	case r.Beacon != nil && of[audit.SourceBeacon] == 0:
		return &RequestError{"beacon", "must be left out, because the plan has no beacon"}
	case (r.Cut != nil) != cut:
		return &RequestError{"cut", "must be given when the plan has a cut, and only then"}
	case cut && (*r.Cut < 0 || *r.Cut > 1<<16-1):
		return &RequestError{"cut", "must be a number of places"}
	}
	return nil
}

// values are the values in plan order.
func (r *MixRequest) values(signature *[48]byte) (values []audit.MixValue) {
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

// round returns the signature of the plan's beacon, given or fetched, and checked under the key
// of the chain; nil if the plan has no beacon.
func (d *Dealer) round(ctx context.Context, c *audit.Context, given *[48]byte) (*[48]byte, error) {
	p, ok := c.Beacon()
	if !ok {
		return nil, nil
	}
	if p.Chain != audit.Quicknet {
		return nil, illegal(audit.RuleBeacon, "the chain of the plan is not known to this version")
	}
	if given == nil {
		fetched, err := d.fetch(ctx, p.Round)
		if err != nil {
			return nil, err
		}
		given = &fetched
	}
	if err := beacon.Verify(p.Round, *given); err != nil {
		return nil, illegal(audit.RuleBeacon, "round %d: %s", p.Round, err)
	}
	return given, nil
}

func (d *Dealer) fetch(ctx context.Context, round uint64) (signature [48]byte, err error) {
	if d.cfg.Round == nil {
		return signature, &RequestError{"beacon", "must be given: this daemon fetches no rounds"}
	}
	if out := beacon.TimeOf(round) * 1000; d.cfg.Now() < out {
		return signature, fmt.Errorf("%w: round %d comes out in %d ms", ErrBeaconEarly, round, out-d.cfg.Now())
	}
	if signature, err = d.cfg.Round(ctx, round); err != nil {
		return signature, errors.Join(fmt.Errorf("%w: round %d", ErrBeaconEarly, round), err)
	}
	return signature, nil
}

// signatureIn returns the beacon's signature among the values of a mix, nil without one.
func signatureIn(m *audit.Mix) *[48]byte {
	for i := range m.Values {
		if m.Values[i].Source == audit.SourceBeacon {
			return &m.Values[i].Beacon
		}
	}
	return nil
}
