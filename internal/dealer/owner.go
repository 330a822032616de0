package dealer

import (
	"context"

	"shuffled/internal/audit"
)

// The dealer checks the owner of a shuffle before it opens the tape. The rule owner of the ledger
// (docs/SPEC.md section 9) does not see a repeated request, because that appends nothing.

// may returns why the caller may not make a request about a shuffle, nil if the caller may.
type may func(*record) error

// owned is glance of a shuffle about which the caller may make a request. A refusal comes from what
// is durable, because a takeover may be lost in a failover.
func (d *Dealer) owned(ctx context.Context, id uint64, may may) (*record, error) {
	r, err := d.glance(ctx, id)
	if err != nil || may(r) == nil {
		return r, err
	}
	return d.durablyOwned(ctx, id, may)
}

// durablyOwned is record of a shuffle about which the caller may make a request.
func (d *Dealer) durablyOwned(ctx context.Context, id uint64, may may) (*record, error) {
	r, err := d.record(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, may(r)
}

// mayPlay checks that the actor's identity may mix, deal, reveal and continue the shuffle.
func mayPlay(actor audit.Actor) may {
	return func(r *record) error {
		if err := r.ownedBy(actor); err != nil {
			return err
		}
		if r.extent != audit.ExtentPlay {
			return illegal(audit.RuleOwner,
				"the identity %s took shuffle %d over to close it, and for nothing else", r.owner, r.id)
		}
		return nil
	}
}

// mayClose checks that the actor's identity may close the shuffle as the request says. If the tape
// is lost, an administrator closes the shuffle, who owns none.
func mayClose(actor audit.Actor, req CloseRequest) may {
	return func(r *record) error {
		if req.Reason == audit.ReasonTapeLost {
			return nil
		}
		return r.ownedBy(actor)
	}
}

func (r *record) ownedBy(actor audit.Actor) error {
	if r.owner != actor.Identity {
		return illegal(audit.RuleOwner,
			"shuffle %d belongs to %s, and the request comes from %s: %s can take the shuffle over", r.id, r.owner,
			actor.Identity, actor.Identity)
	}
	return nil
}
