package dealer

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// request is a request about one shuffle: for a mix, deal, reveal, close or takeover. It appends
// its entry, or is answered from the entry of an equal request before it. It needs no idempotency
// key: the shuffle, with the places, values or outcome, says which entry it asks for.
type request[A any] struct {
	check   permission                      // that the caller may ask
	durable bool                            // do takes a durable record
	stands  func(*record.Record) bool       // the entry, or another one in its place, is in the record
	repeat  func(*record.Record) (A, error) // answers from the entry in a durable record
	do      func(*record.Record) (A, error) // appends the entry and answers
}

// answer answers a request about shuffle id. The same request gets the same answer for ever.
//
// If a rule refuses the entry, a copy of the request may have been first, and answer looks for it. If the dealer itself
// refused the request, because of what it remembers of the shuffle, it forgets that and tries once more; so it does if
// the shuffle has more entries by now.
func answer[A any](ctx context.Context, d *Dealer, id uint64, q request[A]) (none A, _ error) {
	r, err := d.permitted(ctx, id, q.durable, q.check)
	if err != nil {
		return none, err
	}
	for {
		refused, before := errVanished, len(r.Rows)
		if !q.stands(r) {
			a, err := q.do(r)
			if err == nil {
				return a, nil
			}
			if !unwritten(err) {
				return none, err // and no card of a deal that may not be durable
			}
			refused = err
		}
		if r, err = d.shuffles.Durable(ctx, id); err != nil {
			return none, err
		}
		stands := q.stands(r)
		_, judged := errors.AsType[*ledger.BodyError](refused) // by the ledger, and not by the dealer before it
		if !stands && (q.durable || refused == errVanished || judged ||
			!d.shuffles.Recent.Forget(id) && len(r.Rows) <= before) {
			return none, refused
		}
		if err := q.check(r); err != nil { // the owner may be another one now
			return none, err
		}
		if stands {
			return q.repeat(r)
		}
	}
}

// errVanished: an entry was visible that was not durable. It is gone after a failover.
var errVanished = fmt.Errorf("%w: the database lost an entry that it had shown", ledger.ErrUnavailable)

// again answers from an entry that is in the ledger: it returns its time and its receipt.
func again(ctx context.Context, row ledger.Row, prove func(context.Context, ledger.Row) (string, error)) (
	a api.Answered, receipt string, err error) {
	e, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return a, "", fmt.Errorf("reading entry %d: %w", row.Index, err)
	}
	receipt, err = prove(ctx, row)
	return api.Answered{Time: api.Time(e.Time), Repeated: true}, receipt, err
}

// The dealer checks the owner of a shuffle before it opens the tape. The rule owner of the ledger
// (docs/SPEC.md section 9) does not see a repeated request, because that appends nothing.

// permission returns why the caller may not make a request about a shuffle, nil if the caller may.
type permission func(*record.Record) error

// permitted is Remembered of a shuffle about which the caller may make a request, and Durable if that is asked for. A
// refusal comes from what is durable, because a takeover may be lost in a failover.
func (d *Dealer) permitted(ctx context.Context, id uint64, durable bool, check permission) (*record.Record, error) {
	if !durable {
		if r, err := d.shuffles.Remembered(ctx, id); err != nil || check(r) == nil {
			return r, err
		}
	}
	r, err := d.shuffles.Durable(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, check(r)
}

// mayPlay checks that the actor's identity may mix, deal, reveal and continue the shuffle.
func mayPlay(actor audit.Actor) permission {
	return func(r *record.Record) error {
		if err := ownedBy(r, actor); err != nil {
			return err
		}
		if r.Extent != audit.ExtentPlay {
			return api.Illegal(audit.RuleOwner,
				"the identity %s took shuffle %d over to close it, and for nothing else", r.Owner, r.ID)
		}
		return nil
	}
}

// mayClose checks that the actor's identity may close the shuffle as the request says. If the tape
// is lost, an administrator closes the shuffle, who owns none.
func mayClose(actor audit.Actor, req api.CloseRequest) permission {
	return func(r *record.Record) error {
		if req.Reason == audit.ReasonTapeLost {
			return nil
		}
		return ownedBy(r, actor)
	}
}

func ownedBy(r *record.Record, actor audit.Actor) error {
	if r.Owner != actor.Identity {
		return api.Illegal(audit.RuleOwner,
			"shuffle %d belongs to %s, and the request comes from %s: %s can take the shuffle over", r.ID, r.Owner,
			actor.Identity, actor.Identity)
	}
	return nil
}

// Takeover makes the actor's identity the owner of an open shuffle of another identity, to close it, by an entry in the
// ledger (docs/SPEC.md section 5.9). If the identity took the shuffle over before, to close it, and owns it still, the
// answer is that takeover. A takeover to play is an act (SubmitAct).
func (d *Dealer) Takeover(ctx context.Context, actor audit.Actor, id uint64, req api.TakeoverRequest) (api.Takeover,
	error) {
	if err := api.CheckReason(req.Reason); err != nil {
		return api.Takeover{}, err
	}
	return answer(ctx, d, id, request[api.Takeover]{
		durable: true,
		check:   func(*record.Record) error { return nil },
		stands:  func(r *record.Record) bool { _, _, ok := takenBy(r, actor); return ok },
		repeat: func(r *record.Record) (api.Takeover, error) {
			row, from, _ := takenBy(r, actor)
			answered, receipt, err := again(ctx, row, d.cfg.Ledger.FirstReceipt)
			return api.Takeover{Answered: answered, From: from, Receipt: receipt}, err
		},
		do: func(r *record.Record) (api.Takeover, error) {
			if r.Closed != nil {
				return api.Takeover{}, r.NotOpen()
			}
			body := &audit.Takeover{Shuffle: r.ID, Extent: audit.ExtentClose, Reason: req.Reason}
			answered, receipt, err := d.appendOne(ctx, actor, body)
			if err != nil {
				return api.Takeover{}, err
			}
			d.cfg.Log.Warn("a shuffle was taken over", "shuffle", r.ID, "from", r.Owner, "by", actor.Identity)
			return api.Takeover{Answered: answered, From: r.Owner, Receipt: receipt}, nil
		},
	})
}

// takenBy returns the takeover by which the actor's identity owns the shuffle to close it, and the owner before. ok is
// false if there is none.
func takenBy(r *record.Record, actor audit.Actor) (row ledger.Row, from string, ok bool) {
	if len(r.Taken) == 0 {
		return row, "", false
	}
	last := r.Taken[len(r.Taken)-1]
	return last.Row, last.From, r.Owner == actor.Identity && r.Extent == audit.ExtentClose
}
