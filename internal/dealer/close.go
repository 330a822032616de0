package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
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
	t, err := d.shuffles.open(ctx, r)
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
	names, err := d.shuffles.deckNames(ctx, r.commit.Context)
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

// Close ends a shuffle and discloses its tape as the commit declared. The same request gets the
// same answer for ever; another one for a closed shuffle is ErrRepeated.
func (d *Dealer) Close(ctx context.Context, actor audit.Actor, id uint64, req CloseRequest) (Close, error) {
	if err := req.validate(""); err != nil {
		return Close{}, err
	}
	return answer(ctx, d, id, request[Close]{
		may:    mayClose(actor, req),
		stands: func(r *record) bool { return r.closed != nil },
		repeat: func(r *record) (Close, error) {
			if !closedAs(r, &req) {
				return Close{}, fmt.Errorf("%w: shuffle %d was closed as %s", ErrRepeated, r.id, r.closed.Outcome)
			}
			return d.closeAgain(ctx, r)
		},
		do: func(r *record) (Close, error) { return d.close(ctx, actor, r, ending{request: req}) },
	})
}

func (d *Dealer) close(ctx context.Context, actor audit.Actor, r *record, req ending) (Close, error) {
	if r.blind() { // only what is durable says what was not dealt
		var err error
		if r, err = d.shuffles.record(ctx, r.id); err != nil {
			return Close{}, err
		}
		if r.closed != nil {
			return Close{}, r.notOpen()
		}
	}
	if err := d.blind.follows(r, &req); err != nil {
		return Close{}, err
	}
	if err := d.blind.unplayed(ctx, r, &req); err != nil {
		return Close{}, err
	}
	appended, shown, err := d.end(ctx, actor, r, req)
	if err != nil {
		return Close{}, err
	}
	d.blind.ended(r, appended)
	return closed(appended, shown), nil
}

// end appends the close of an open shuffle, with the final reveal in front of it that the request may ask for.
func (d *Dealer) end(ctx context.Context, actor audit.Actor, r *record, req ending) (_ []ledger.Appended,
	shown *Reveal, err error) {
	t := new(opened)
	if req.request.Outcome != audit.OutcomeVoid || req.request.Reveal != nil { // a foul deck ends void only
		if t, err = d.shuffles.open(ctx, r); err == nil {
			shown, err = d.shownAtClose(ctx, r, t, &req.request, r.next())
		}
	} else {
		t.tape, err = d.shuffles.tape(ctx, r)
	}
	defer t.wipe()
	if req.request.Reason != audit.ReasonTapeLost {
		if err != nil {
			return nil, nil, err
		}
		appended, err := d.appendClose(ctx, actor, r, t.tape, req)
		return appended, shown, err
	}
	// A close without a tape is a fault in every audit. It is the only way on for a table whose
	// shuffle cannot be opened any more.
	above, lost, unread := d.ancestors(ctx, r)
	defer wipeAll(above)
	switch {
	case unread != nil:
		return nil, nil, unread
	case err == nil && lost == nil:
		return nil, nil, wrongField("reason", "must not be tape_lost: the tape of this shuffle can be opened")
	case err != nil && !errors.Is(err, ErrSealed):
		return nil, nil, err
	}
	d.cfg.Log.Error("closing a shuffle without its tape", "shuffle", r.id, "identity", actor.Identity, "credential",
		actor.Credential)
	appended, err := d.appendEnd(ctx, actor, tapeOf{record: r}, above, req)
	return appended, nil, err
}

// closedAs reports whether the shuffle was closed as the request asks for.
func closedAs(r *record, req *CloseRequest) bool {
	if r.closed == nil || r.closed.Outcome != req.Outcome || r.closed.Reason != req.Reason {
		return false
	}
	want, err := req.finalReveal("", r.id)
	return err == nil && r.sameReveal(want)
}

// closeAgain answers a close that is in the ledger.
func (d *Dealer) closeAgain(ctx context.Context, r *record) (Close, error) {
	answer := closeAnswer(r.closed)
	var err error
	row := r.rowOf(audit.TypeClose)
	if answer.Answered, answer.Receipt, err = again(ctx, row, d.cfg.Ledger.FirstReceipt); err != nil {
		return Close{}, err
	}
	if i := len(r.reveals) - 1; i >= 0 && r.reveals[i].reveal.Final {
		shown, err := d.revealAgain(ctx, r, r.reveals[i])
		if err != nil {
			return Close{}, err
		}
		answer.Reveal = &shown
	}
	return answer, nil
}

// expireEvery is the interval at which overdue shuffles are closed.
const expireEvery = 5 * time.Second

// Run closes overdue shuffles until ctx ends. While the ledger cannot be written it closes none,
// and readiness says why.
func (d *Dealer) Run(ctx context.Context) {
	for ledger.Sleep(ctx, expireEvery, nil) {
		if d.cfg.Ledger.Ready() == nil {
			d.expireNow(ctx)
		}
	}
}

func (d *Dealer) expireNow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	closed, err := d.Expire(ctx)
	if err != nil {
		d.cfg.Log.Error("overdue shuffles could not be closed", "ledger", d.cfg.Ledger.Info().Name, "error", err)
	}
	if closed > 0 {
		d.cfg.Log.Warn("closed overdue shuffles as expired", "ledger", d.cfg.Ledger.Info().Name, "shuffles", closed)
	}
}

// Expire closes every open shuffle whose close-by has passed as expired, and discloses its tape as its commit declared.
// So every tape is disclosed in the end, and a forgotten shuffle does not stop its table. Expire returns how many
// shuffles it closed, and the errors of those that it could not close. Other daemons may do the same at the same time:
// the ledger lets one of them. Expire waits once for a co-dealer that gives no answer, and then asks it nothing more.
func (d *Dealer) Expire(ctx context.Context) (closed int, err error) {
	overdue, err := d.cfg.Ledger.ClosingBy(ctx, d.cfg.Now())
	if err != nil {
		return 0, fmt.Errorf("listing overdue shuffles: %w", err)
	}
	var errs []error
	silent := make(map[string]bool)
	for _, o := range overdue {
		ended, err := d.expire(ctx, o.ID, silent)
		errs = append(errs, err)
		if ended {
			closed++
		}
	}
	return closed, errors.Join(errs...)
}

// expire reports whether this daemon closed the shuffle, and no other did. A shuffle with a foul
// deck expires too: its tape tells what is wrong with it.
func (d *Dealer) expire(ctx context.Context, id uint64, silent map[string]bool) (ended bool, err error) {
	r, err := d.shuffles.record(ctx, id)
	if err != nil || r.closed != nil {
		return false, err
	}
	tape, err := d.shuffles.tape(ctx, r)
	if err != nil {
		return false, err
	}
	defer clear(tape)
	req := ending{request: CloseRequest{Outcome: audit.OutcomeExpired}, silent: silent}
	if err := d.blind.unplayed(ctx, r, &req); err != nil {
		return false, err
	}
	appended, err := d.appendClose(ctx, audit.Daemon, r, tape, req)
	if breaks(err, audit.RuleNotOpen) {
		return false, nil
	}
	if err == nil {
		d.blind.ended(r, appended)
	}
	return err == nil, err
}
