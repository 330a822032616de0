package dealer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/beacon"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
)

// beaconLead is how far ahead the round lies that the dealer chooses, in milliseconds: three
// rounds of quicknet. By then the commit is durable, and cosigned if there are witnesses, which
// shows that the house did not know the round when it committed.
const beaconLead = 9000

// checkRound fills in the round of a beacon that the request left open, and refuses a round that comes out at close_by
// or later: it could not be revealed.
func (d *Dealer) checkRound(c *audit.Context, closeBy *api.Time) error {
	i := slices.IndexFunc(c.Plan, func(p audit.Planned) bool { return p.Source == audit.SourceBeacon })
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
		return api.Invalid("mix.beacon.round", "must come out before close_by")
	}
	return nil
}

// Mix reveals all values of a shuffle's plan and answers when they are durable. The same values
// get the same answer for ever; other values for a mixed shuffle are ErrRepeated. Mix checks the
// signature of a beacon before it writes it: a wrong one is audit.RuleBeacon. If the request has
// none, Mix fetches the round: ErrBeaconEarly if it is not out, or no relay has it.
func (d *Dealer) Mix(ctx context.Context, actor audit.Actor, id uint64, req api.MixRequest) (api.Mix, error) {
	return answer(ctx, d, id, request[api.Mix]{
		check: func(r *record.Record) error {
			if err := mayPlay(actor)(r); err != nil {
				return err
			}
			return req.Answers(r.Commit.Context.Mixed())
		},
		durable: true,
		stands:  func(r *record.Record) bool { return r.Mix != nil },
		repeat: func(r *record.Record) (api.Mix, error) {
			if !slices.Equal(req.Values(cmp.Or(req.Beacon, r.Mix.Beacon())), r.Mix.Values) {
				return api.Mix{}, fmt.Errorf("%w: shuffle %d is already mixed with other values", api.ErrRepeated, id)
			}
			answered, receipt, err := again(ctx, r.RowOf(audit.TypeMix), d.cfg.Ledger.FirstReceipt)
			return api.Mix{Answered: answered, Receipt: receipt}, err
		},
		do: func(r *record.Record) (api.Mix, error) { return d.mix(ctx, actor, r, req) },
	})
}

func (d *Dealer) mix(ctx context.Context, actor audit.Actor, r *record.Record, req api.MixRequest) (api.Mix, error) {
	if r.Closed != nil {
		return api.Mix{}, r.NotOpen()
	}
	if err := d.shuffles.AwaitWitnesses(ctx, r.ID); err != nil {
		return api.Mix{}, err
	}
	signature, err := d.round(ctx, r.Commit.Context, req.Beacon)
	if err != nil {
		return api.Mix{}, err
	}
	answered, receipt, err := d.appendOne(ctx, actor, &audit.Mix{Shuffle: r.ID, Values: req.Values(signature)})
	return api.Mix{Answered: answered, Receipt: receipt}, err
}

// round returns the signature of the plan's beacon, given or fetched, and checked under the key
// of the chain; nil if the plan has no beacon.
func (d *Dealer) round(ctx context.Context, c *audit.Context, given *[48]byte) (_ *[48]byte, err error) {
	p, ok := c.Beacon()
	if !ok {
		return nil, nil
	}
	if p.Chain != audit.Quicknet {
		return nil, api.Illegal(audit.RuleBeacon, "the chain of the plan is not known to this version")
	}
	if given == nil {
		if given, err = d.fetch(ctx, p.Round); err != nil {
			return nil, err
		}
	}
	if err := beacon.Verify(p.Round, *given); err != nil {
		return nil, api.Illegal(audit.RuleBeacon, "round %d: %s", p.Round, err)
	}
	return given, nil
}

func (d *Dealer) fetch(ctx context.Context, round uint64) (*[48]byte, error) {
	if d.cfg.Round == nil {
		return nil, api.Invalid("beacon", "must be given: this daemon fetches no rounds")
	}
	if out := beacon.TimeOf(round) * 1000; d.cfg.Now() < out {
		return nil, fmt.Errorf("%w: round %d comes out in %d ms", api.ErrBeaconEarly, round, out-d.cfg.Now())
	}
	signature, err := d.cfg.Round(ctx, round)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: round %d", api.ErrBeaconEarly, round), err)
	}
	return &signature, nil
}
