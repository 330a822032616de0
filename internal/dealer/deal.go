package dealer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Deal gives out the next places and answers with their cards when the deal is durable. If the genesis asks for
// witnesses, it waits until they cosigned the commit. The same first place and runs get the same answer, as long as the
// tape can be opened. Another deal of places that were dealt is ErrRepeated.
func (d *Dealer) Deal(ctx context.Context, actor audit.Actor, id uint64, req DealRequest) (Deal, error) {
	if err := req.validate(); err != nil {
		return Deal{}, err
	}
	return answer(ctx, d, id, request[Deal]{
		may:    mayPlay(actor),
		stands: func(r *record) bool { _, ok := r.dealAt(req.First); return ok },
		repeat: func(r *record) (Deal, error) { return d.dealAgain(ctx, actor, r, req) },
		do: func(r *record) (Deal, error) {
			g := &dealing{actor: actor, req: req, record: r,
				body: &audit.Deal{Shuffle: r.id, First: req.First, Runs: req.Runs, Final: req.Close != nil}}
			defer func() { g.opened.wipe() }()
			switch {
			case r.blind():
				return d.dealBlind(ctx, g)
			case req.Asked != nil:
				return d.dealOrder(ctx, g)
			}
			if err := d.begin(ctx, g); err != nil {
				return Deal{}, err
			}
			return d.enter(ctx, g)
		},
	})
}

// dealAgain answers a deal that is in the ledger.
func (d *Dealer) dealAgain(ctx context.Context, actor audit.Actor, r *record, req DealRequest) (Deal, error) {
	at, _ := r.dealAt(req.First)
	if !at.askedAgain(req.Asked) {
		d.cfg.Log.Error("a house asks for places that were opened for another request", "shuffle", r.id, "place", req.First,
			"identity", actor.Identity, "credential", actor.Credential)
		d.conflicts.Add(1)
	}
	if !slices.Equal(at.deal.Runs, req.Runs) || at.deal.Final != (req.Close != nil) || !at.askedAgain(req.Asked) ||
		req.Close != nil && !r.closedAs(req.Close) {
		return Deal{}, fmt.Errorf("%w: shuffle %d dealt from place %d: %s", ErrRepeated, r.id, req.First, at.words())
	}
	t, err := d.open(ctx, r)
	if err != nil {
		return Deal{}, err
	}
	defer t.wipe()
	answer, err := d.dealAnswer(ctx, r, t, at.deal)
	if err != nil {
		return Deal{}, err
	}
	prove := d.cfg.Ledger.FirstReceipt
	if at.deal.Asked != nil {
		prove = func(ctx context.Context, row ledger.Row) (receipt string, err error) {
			receipt, answer.Last, err = d.proveOrder(ctx, row, req.Asked.Since)
			return receipt, err
		}
	}
	if answer.Answered, answer.Receipt, err = again(ctx, at.row, prove); err != nil {
		return Deal{}, err
	}
	if r.blind() {
		given, err := r.given(at)
		if err != nil {
			return Deal{}, err
		}
		answer.CoDealer = given.Receipt
	}
	if req.Close != nil {
		c, err := d.closeAgain(ctx, r)
		if err != nil {
			return Deal{}, err
		}
		answer.Close = &c
	}
	return answer, nil
}

// words lists the runs of a deal for an error.
func (at dealt) words() string {
	var runs []string
	for _, run := range at.deal.Runs {
		words := fmt.Sprintf("%d %s", run.Count, run.Purpose)
		if run.Recipient != "" {
			words += " to " + run.Recipient
		}
		runs = append(runs, words)
	}
	return strings.Join(runs, ", ")
}
