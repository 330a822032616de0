package dealer

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
)

// The dealer asks who the owner of a shuffle is before it opens the tape: a repeated request
// never comes to the rule owner of the ledger (docs/SPEC.md section 9).

// may returns why a caller may not ask something of a shuffle, nil if the caller may.
type may func(*record) error

// owned is glance of a shuffle of which the caller may ask what may checks. That the caller may
// not is told only from what is durable: a takeover may be lost in a failover.
func (d *Dealer) owned(ctx context.Context, id uint64, may may) (*record, error) {
	r, err := d.glance(ctx, id)
	if err != nil || may(r) == nil {
		return r, err
	}
	return d.durablyOwned(ctx, id, may)
}

// durablyOwned is owned of what is durable.
func (d *Dealer) durablyOwned(ctx context.Context, id uint64, may may) (*record, error) {
	r, err := d.record(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, may(r)
}

// mayPlay: the actor's identity may mix, deal, reveal and continue the shuffle, and read what is
// not public of it while it is open.
func mayPlay(actor audit.Actor) may {
	return func(r *record) error {
		if err := r.ownedBy(actor); err != nil {
			return err
		}
		if r.extent != audit.ExtentPlay {
			return notYours("the identity %s took shuffle %d over to close it, and for nothing else", r.owner, r.id)
		}
		return nil
	}
}

// mayClose: the actor's identity may close the shuffle as the request says. A shuffle whose tape
// is lost is closed by an administrator, who owns no shuffle.
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
		return notYours("shuffle %d is of %s, and the request of %s: %s can take it over", r.id, r.owner,
			actor.Identity, actor.Identity)
	}
	return nil
}

func notYours(format string, args ...any) error {
	return &audit.Illegal{Code: audit.RuleOwner, Detail: fmt.Sprintf(format, args...)}
}
