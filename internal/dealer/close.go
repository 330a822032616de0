package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// Reveal makes places public that were dealt, and answers with their cards when that is
// durable. The same places revealed by the same identity again get the same answer.
func (d *Dealer) Reveal(ctx context.Context, actor audit.Actor, id uint64, req api.RevealRequest) (api.Reveal, error) {
	body, err := req.Body("places", id)
	if err != nil {
		return api.Reveal{}, err
	}
	return answer(ctx, d, id, request[api.Reveal]{
		check:  mayPlay(actor),
		stands: func(r *record.Record) bool { _, ok := r.RevealOf(actor, body); return ok },
		repeat: func(r *record.Record) (api.Reveal, error) {
			at, _ := r.RevealOf(actor, body)
			return d.revealAgain(ctx, r, at)
		},
		do: func(r *record.Record) (api.Reveal, error) {
			return d.reveal(ctx, r, body, func() (api.Answered, string, error) { return d.appendOne(ctx, actor, body) })
		},
	})
}

// reveal opens the places of a reveal, has its entry written or found, and answers.
func (d *Dealer) reveal(ctx context.Context, r *record.Record, body *audit.Reveal,
	entry func() (api.Answered, string, error)) (answer api.Reveal, err error) {
	t, err := d.shuffles.Open(ctx, r)
	if err != nil {
		return api.Reveal{}, err
	}
	defer t.Wipe()
	if answer, err = d.showing(ctx, r, t, body, r.Next()); err == nil {
		answer.Answered, answer.Receipt, err = entry()
	}
	if err != nil {
		return api.Reveal{}, err
	}
	return answer, nil
}

func (d *Dealer) revealAgain(ctx context.Context, r *record.Record, at record.Revealed) (api.Reveal, error) {
	return d.reveal(ctx, r, at.Reveal, func() (api.Answered, string, error) {
		return again(ctx, at.Row, d.cfg.Ledger.FirstReceipt)
	})
}

// showing is the answer to a reveal without its time and receipt. next is the next place to deal
// when the reveal is in the ledger.
func (d *Dealer) showing(ctx context.Context, r *record.Record, t *record.Opened, body *audit.Reveal, next int) (
	a api.Reveal, err error) {
	if i := slices.IndexFunc(body.Places, func(place uint16) bool { return int(place) >= next }); i >= 0 {
		return a, api.Illegal(audit.RuleReveal,
			"place %d of shuffle %d was not dealt: the next is %d", body.Places[i], r.ID, next)
	}
	for _, place := range body.Places {
		a.Places = append(a.Places, int(place))
	}
	a.Cards, a.Shows, a.Labels, err = d.cards(ctx, r, t, a.Places)
	return a, err
}

// shownAtClose is the answer to a close's final reveal, without time and receipt; nil if the
// request has none. next is the next place to deal when the close is in the ledger.
func (d *Dealer) shownAtClose(ctx context.Context, r *record.Record, t *record.Opened, req *api.CloseRequest,
	next int) (*api.Reveal, error) {
	if req == nil {
		return nil, nil
	}
	body, err := req.FinalReveal("close.", r.ID)
	if body == nil || err != nil {
		return nil, err
	}
	shown, err := d.showing(ctx, r, t, body, next)
	return &shown, err
}

// Close ends a shuffle and discloses its tape as the commit declared. The same request gets the
// same answer for ever; another one for a closed shuffle is ErrRepeated.
func (d *Dealer) Close(ctx context.Context, actor audit.Actor, id uint64, req api.CloseRequest) (api.Close, error) {
	if err := req.Validate(""); err != nil {
		return api.Close{}, err
	}
	return answer(ctx, d, id, request[api.Close]{
		check:  mayClose(actor, req),
		stands: func(r *record.Record) bool { return r.Closed != nil },
		repeat: func(r *record.Record) (api.Close, error) {
			if !closedAs(r, &req) {
				return api.Close{}, fmt.Errorf("%w: shuffle %d was closed as %s", api.ErrRepeated, id, r.Closed.Outcome)
			}
			return d.closeAgain(ctx, r)
		},
		do: func(r *record.Record) (api.Close, error) { return d.close(ctx, actor, r, blind.Ending{Request: req}) },
	})
}

func (d *Dealer) close(ctx context.Context, actor audit.Actor, r *record.Record, req blind.Ending) (api.Close, error) {
	if r.Blind() || req.Request.Follows != "" { // only what is durable says what was dealt
		var err error
		if r, err = d.shuffles.Durable(ctx, r.ID); err != nil {
			return api.Close{}, err
		}
		if r.Closed != nil {
			return api.Close{}, r.NotOpen()
		}
	}
	if err := d.blind.CheckFollows(r, &req); err != nil {
		return api.Close{}, err
	}
	if err := d.blind.Unplayed(ctx, r, &req); err != nil {
		return api.Close{}, err
	}
	appended, shown, err := d.end(ctx, actor, r, req)
	if err != nil {
		return api.Close{}, err
	}
	d.blind.Ended(r, appended)
	return closed(appended, shown), nil
}

// end appends the close of an open shuffle, with the final reveal in front of it that the request may ask for.
func (d *Dealer) end(ctx context.Context, actor audit.Actor, r *record.Record, req blind.Ending) (_ []ledger.Appended,
	shown *api.Reveal, err error) {
	t := new(record.Opened)
	if req.Request.Outcome != audit.OutcomeVoid || req.Request.Reveal != nil { // a foul deck ends void only
		if t, err = d.shuffles.Open(ctx, r); err == nil {
			shown, err = d.shownAtClose(ctx, r, t, &req.Request, r.Next())
		}
	} else {
		t.Tape, err = d.shuffles.TapeOf(ctx, r)
	}
	defer t.Wipe()
	if req.Request.Reason != audit.ReasonTapeLost {
		if err != nil {
			return nil, nil, err
		}
		appended, err := d.appendClose(ctx, actor, r, t.Tape, req)
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
		return nil, nil, api.Invalid("reason", "must not be tape_lost: the tape of this shuffle can be opened")
	case err != nil && !errors.Is(err, api.ErrSealed):
		return nil, nil, err
	}
	d.cfg.Log.Error("closing a shuffle without its tape", "shuffle", r.ID, "identity", actor.Identity, "credential",
		actor.Credential)
	appended, err := d.appendEnd(ctx, actor, tapeOf{record: r}, above, req)
	return appended, nil, err
}

// closedAs reports whether the shuffle was closed as the request asks for.
func closedAs(r *record.Record, req *api.CloseRequest) bool {
	if r.Closed == nil || r.Closed.Outcome != req.Outcome || r.Closed.Reason != req.Reason {
		return false
	}
	want, err := req.FinalReveal("", r.ID)
	return err == nil && r.SameReveal(want)
}

// closeAgain answers a close that is in the ledger.
func (d *Dealer) closeAgain(ctx context.Context, r *record.Record) (api.Close, error) {
	answer := closeAnswer(r.Closed)
	var err error
	row := r.RowOf(audit.TypeClose)
	if answer.Answered, answer.Receipt, err = again(ctx, row, d.cfg.Ledger.FirstReceipt); err != nil {
		return api.Close{}, err
	}
	if i := len(r.Reveals) - 1; i >= 0 && r.Reveals[i].Reveal.Final {
		shown, err := d.revealAgain(ctx, r, r.Reveals[i])
		if err != nil {
			return api.Close{}, err
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
		if d.cfg.Ledger.Ready() != nil {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, time.Minute)
		closed, err := d.Expire(bounded)
		cancel()
		if err != nil {
			d.cfg.Log.Error("overdue shuffles could not be closed", "ledger", d.cfg.Ledger.Info().Name, "error", err)
		}
		if closed > 0 {
			d.cfg.Log.Warn("closed overdue shuffles as expired", "ledger", d.cfg.Ledger.Info().Name, "shuffles", closed)
		}
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
	r, err := d.shuffles.Durable(ctx, id)
	if err != nil || r.Closed != nil {
		return false, err
	}
	tape, err := d.shuffles.TapeOf(ctx, r)
	if err != nil {
		return false, err
	}
	defer clear(tape)
	req := blind.Ending{Request: api.CloseRequest{Outcome: audit.OutcomeExpired}, Silent: silent}
	if err := d.blind.Unplayed(ctx, r, &req); err != nil {
		return false, err
	}
	appended, err := d.appendClose(ctx, audit.Daemon, r, tape, req)
	if breaks(err, audit.RuleNotOpen) {
		return false, nil
	}
	if err == nil {
		d.blind.Ended(r, appended)
	}
	return err == nil, err
}
