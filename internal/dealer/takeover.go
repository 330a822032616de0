package dealer

import (
	"context"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Takeover makes the actor's identity the owner of an open shuffle of another identity, to close it, by an entry in the
// ledger (docs/SPEC.md section 5.9). If the identity took the shuffle over before, to close it, and owns it still, the
// answer is that takeover. A takeover to play is an act (SubmitAct).
func (d *Dealer) Takeover(ctx context.Context, actor audit.Actor, id uint64, req TakeoverRequest) (Takeover, error) {
	if err := checkReason(req.Reason); err != nil {
		return Takeover{}, err
	}
	return answer(ctx, d, id, request[Takeover]{
		durable: true,
		may:     func(*record) error { return nil },
		stands:  func(r *record) bool { _, _, ok := r.takenBy(actor); return ok },
		repeat: func(r *record) (Takeover, error) {
			row, from, _ := r.takenBy(actor)
			answered, receipt, err := again(ctx, row, d.cfg.Ledger.FirstReceipt)
			return Takeover{Answered: answered, From: from, Receipt: receipt}, err
		},
		do: func(r *record) (Takeover, error) { return d.takeover(ctx, actor, r, req) },
	})
}

func (d *Dealer) takeover(ctx context.Context, actor audit.Actor, r *record, req TakeoverRequest) (Takeover, error) {
	if r.closed != nil {
		return Takeover{}, r.notOpen()
	}
	body := &audit.Takeover{Shuffle: r.id, Extent: audit.ExtentClose, Reason: req.Reason}
	appended, err := d.propose(ctx, ledger.Proposal{Actor: actor, Bodies: []audit.Body{body}})
	if err != nil {
		return Takeover{}, err
	}
	last := appended[len(appended)-1]
	d.cfg.Log.Warn("a shuffle was taken over", "shuffle", r.id, "from", r.owner, "by", actor.Identity)
	return Takeover{Answered: Answered{Time: Time(last.Entry.Time)}, From: r.owner, Receipt: last.Receipt.Text()}, nil
}

// takenBy returns the takeover by which the actor's identity owns the shuffle to close it, and the owner before. ok is
// false if there is none.
func (r *record) takenBy(actor audit.Actor) (row ledger.Row, from string, ok bool) {
	if len(r.taken) == 0 {
		return row, "", false
	}
	last := r.taken[len(r.taken)-1]
	return last.row, last.from, r.owner == actor.Identity && r.extent == audit.ExtentClose
}
