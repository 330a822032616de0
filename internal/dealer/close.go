package dealer

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

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
			if !r.closedAs(&req) {
				return Close{}, fmt.Errorf("%w: shuffle %d was closed as %s", ErrRepeated, r.id, r.closed.Outcome)
			}
			return d.closeAgain(ctx, r)
		},
		do: func(r *record) (Close, error) { return d.close(ctx, actor, r, ending{CloseRequest: req}) },
	})
}

func (d *Dealer) close(ctx context.Context, actor audit.Actor, r *record, req ending) (Close, error) {
	if r.blind() { // only what is durable says what was not dealt
		var err error
		if r, err = d.record(ctx, r.id); err != nil {
			return Close{}, err
		}
		if r.closed != nil {
			return Close{}, r.notOpen()
		}
	}
	if err := d.follows(r, &req); err != nil {
		return Close{}, err
	}
	if err := d.unplayed(ctx, r, &req); err != nil {
		return Close{}, err
	}
	appended, shown, err := d.end(ctx, actor, r, req)
	if err != nil {
		return Close{}, err
	}
	d.ended(r, appended)
	return closed(appended, shown), nil
}

// end appends the close of an open shuffle, with the final reveal in front of it that the request may ask for.
func (d *Dealer) end(ctx context.Context, actor audit.Actor, r *record, req ending) (_ []ledger.Appended,
	shown *Reveal, err error) {
	t := new(opened)
	if req.Outcome != audit.OutcomeVoid || req.Reveal != nil { // a foul deck ends void only
		if t, err = d.open(ctx, r); err == nil {
			shown, err = d.shownAtClose(ctx, r, t, &req.CloseRequest, r.next())
		}
	} else {
		var inputs []uint32
		t.tape, inputs, err = d.tape(ctx, r, maxAncestors)
		clear(inputs)
	}
	defer t.wipe()
	if req.Reason != audit.ReasonTapeLost {
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
		return nil, nil, &RequestError{"reason", "must not be tape_lost: the tape of this shuffle can be opened"}
	case err != nil && !errors.Is(err, ErrSealed):
		return nil, nil, err
	}
	d.cfg.Log.Error("closing a shuffle without its tape", "shuffle", r.id, "identity", actor.Identity, "credential",
		actor.Credential)
	appended, err := d.appendEnd(ctx, actor, tapeOf{record: r}, above, req)
	return appended, nil, err
}

// closedAs reports whether the shuffle was closed as the request asks for.
func (r *record) closedAs(req *CloseRequest) bool {
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
