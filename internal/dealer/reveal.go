package dealer

import (
	"context"
	"slices"

	"shuffled/internal/audit"
)

// Reveal makes places public that were dealt, and answers with their cards when that is
// durable. The same places revealed by the same identity again get the same answer.
func (d *Dealer) Reveal(ctx context.Context, actor audit.Actor, id uint64, req RevealRequest) (Reveal, error) {
	body, err := req.body("places", id)
	if err != nil {
		return Reveal{}, err
	}
	return answer(ctx, d, id, request[Reveal]{
		may:    mayPlay(actor),
		stands: func(r *record) bool { _, ok := r.revealOf(actor, body); return ok },
		repeat: func(r *record) (Reveal, error) {
			at, _ := r.revealOf(actor, body)
			return d.revealAgain(ctx, r, at)
		},
		do: func(r *record) (Reveal, error) {
			return d.reveal(ctx, r, body, func() (Answered, string, error) { return d.appendOne(ctx, actor, body) })
		},
	})
}

// reveal opens the places of a reveal, has its entry written or found, and answers.
func (d *Dealer) reveal(ctx context.Context, r *record, body *audit.Reveal,
	entry func() (Answered, string, error)) (answer Reveal, err error) {
	t, err := d.open(ctx, r)
	if err != nil {
		return Reveal{}, err
	}
	defer t.wipe()
	if answer, err = d.showing(ctx, r, t, body, r.next()); err == nil {
		answer.Answered, answer.Receipt, err = entry()
	}
	if err != nil {
		return Reveal{}, err
	}
	return answer, nil
}

func (d *Dealer) revealAgain(ctx context.Context, r *record, at revealed) (Reveal, error) {
	return d.reveal(ctx, r, at.reveal, func() (Answered, string, error) {
		return again(ctx, at.row, d.cfg.Ledger.FirstReceipt)
	})
}

// showing is the answer to a reveal without its time and receipt. next is the next place to deal
// when the reveal is in the ledger.
func (d *Dealer) showing(ctx context.Context, r *record, t *opened, body *audit.Reveal, next int) (a Reveal,
	err error) {
	if i := slices.IndexFunc(body.Places, func(place uint16) bool { return int(place) >= next }); i >= 0 {
		return a, illegal(audit.RuleReveal,
			"place %d of shuffle %d was not dealt: the next is %d", body.Places[i], r.id, next)
	}
	names, err := d.deckNames(ctx, r.commit.Context)
	if err != nil {
		return a, err
	}
	for _, place := range body.Places {
		a.Places, a.Cards = append(a.Places, int(place)), append(a.Cards, t.card(names, int(place)))
		if t.shows != nil {
			a.Shows = append(a.Shows, t.shows[place])
		}
	}
	wheel, err := d.wheel(ctx, r)
	a.Labels = labels(wheel, a.Shows)
	return a, err
}

// shownAtClose is the answer to a close's final reveal, without time and receipt; nil if the
// request has none. next is the next place to deal when the close is in the ledger.
func (d *Dealer) shownAtClose(ctx context.Context, r *record, t *opened, req *CloseRequest, next int) (*Reveal,
	error) {
	if req == nil {
		return nil, nil
	}
	body, err := req.finalReveal("close.", r.id)
	if body == nil || err != nil {
		return nil, err
	}
	shown, err := d.showing(ctx, r, t, body, next)
	return &shown, err
}
