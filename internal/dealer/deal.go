package dealer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Deal gives out the next places and answers with their cards when the deal is
// durable; where the genesis asks for witnesses, it waits for them. The same
// first place and runs get the same answer, as long as the tape can be opened;
// another deal of places that were dealt is ErrRepeated.
func (d *Dealer) Deal(ctx context.Context, actor audit.Actor, id uint64, req DealRequest) (Deal, error) {
	if err := req.validate(); err != nil {
		return Deal{}, err
	}
	return fresh(d, id, func() (Deal, error) { return d.deal(ctx, actor, id, req) })
}

func (d *Dealer) deal(ctx context.Context, actor audit.Actor, id uint64, req DealRequest) (Deal, error) {
	r, err := d.playedBy(ctx, actor, id)
	if err != nil {
		return Deal{}, err
	}
	if _, ok := r.dealAt(req.First); ok {
		if r, err = d.record(ctx, id); err != nil {
			return Deal{}, err
		}
		at, ok := r.dealAt(req.First)
		if !ok {
			return Deal{}, errVanished
		}
		return d.repeatDeal(ctx, actor, r, at, req)
	}
	if err := d.AwaitWitnesses(ctx, id); err != nil {
		return Deal{}, err
	}
	t, err := d.open(ctx, r)
	if err != nil {
		return Deal{}, err
	}
	defer t.wipe()
	// The cards are ready before the deal is written: a deal that stands in the
	// ledger can always be answered. Those of a plan that is not mixed yet have no
	// order: the deal is refused, unless the mix is written in that time.
	deal := &audit.Deal{Shuffle: id, First: req.First, Runs: req.Runs, Final: req.Close != nil}
	if err := fits(deal, r.commit); err != nil {
		return Deal{}, err
	}
	var given []byte
	if req.Asked != nil {
		given = []byte(cmp.Or(req.Asked.After, req.Asked.Commit))
		if deal.Asked, err = d.asks(r, deal, req.Asked); err != nil {
			return Deal{}, err
		}
	}
	wheel, err := d.wheel(ctx, r)
	if err != nil {
		return Deal{}, err
	}
	ordered := len(r.commit.Context.Mixed()) == 0 || r.mix != nil
	if r.blind() && ordered {
		if given, err = d.ask(ctx, actor, r, t, deal, req.State); err != nil {
			return d.unlessCopied(ctx, actor, id, req, err)
		}
	}
	var cards []audit.Card
	var shown *Reveal
	if ordered {
		if cards, err = d.dealtCards(ctx, r, t, deal); err != nil {
			return Deal{}, err
		}
		if shown, err = d.shownAtClose(ctx, r, t, req.Close, req.First+deal.Count()); err != nil {
			return Deal{}, err
		}
	}
	appended, err := d.appendDeal(ctx, actor, r, t, deal, given, req)
	if err != nil || !ordered {
		return d.unlessCopied(ctx, actor, id, req, err)
	}
	answer := dealAnswer(t, deal, appended[0].Entry.Time)
	answer.Labels = labels(wheel, answer.Shows)
	answer.Cards, answer.Receipt, answer.CoDealer = cards, appended[0].Receipt.Text(), receiptIn(given)
	if deal.Asked != nil {
		row := ledger.Row{Index: appended[0].Index, Entry: appended[0].Receipt.Entry}
		if answer.Receipt, err = d.orderReceipt(ctx, row); err != nil {
			return Deal{}, err
		}
	}
	if req.Close != nil {
		d.ended(r, appended)
		c := closed(appended[1:], shown)
		answer.Close = &c
	}
	return answer, nil
}

// unlessCopied returns why a deal was not written, except when a rule refused it and a copy
// of the request was first: then it answers as the copy was answered. A nil error is that of
// a deal that was written in an order which could not be read before.
func (d *Dealer) unlessCopied(ctx context.Context, actor audit.Actor, id uint64, req DealRequest, err error) (Deal,
	error) {
	var illegal *audit.Illegal
	if err != nil && !errors.As(err, &illegal) {
		return Deal{}, err
	}
	r, unread := d.record(ctx, id)
	if unread == nil {
		if at, ok := r.dealAt(req.First); ok {
			return d.repeatDeal(ctx, actor, r, at, req)
		}
	} else if err != nil {
		return Deal{}, unread
	}
	if err == nil {
		err = fmt.Errorf("reading the deal of shuffle %d back: %w", id, ledger.ErrUnknownOutcome)
	}
	return Deal{}, err
}

// playedBy is glance of a shuffle that the actor may play.
func (d *Dealer) playedBy(ctx context.Context, actor audit.Actor, id uint64) (*record, error) {
	return d.owned(ctx, id, func(r *record) error { return r.plays(actor) })
}

func (d *Dealer) appendDeal(ctx context.Context, actor audit.Actor, r *record, t *opened, deal *audit.Deal,
	given []byte, req DealRequest) ([]ledger.Appended, error) {
	if req.Close != nil {
		ending := *req.Close
		ending.given = given
		return d.appendClose(ctx, actor, r, t.tape, ending, deal)
	}
	p := ledger.Proposal{Actor: actor, Bodies: []audit.Body{deal}}
	if given != nil {
		p.Kept = [][]byte{given}
	}
	return d.propose(ctx, p)
}

// dealAnswer is what a deal's answer has alongside its cards and receipts.
func dealAnswer(t *opened, deal *audit.Deal, at int64) Deal {
	next := deal.First + deal.Count()
	a := Deal{Answered: Answered{Time: at}, Next: next, LastHand: t.endAt > 0 && next >= t.endAt}
	for place, run := range deal.Places() {
		switch {
		case run.Aside():
			a.Unopened = append(a.Unopened, Unopened{place, run.Purpose, run.Recipient})
		case t.shows != nil:
			a.Shows = append(a.Shows, t.shows[place])
		}
	}
	return a
}

// fits is the rule of places, checked before anything is computed from them.
func fits(deal *audit.Deal, c *audit.Commit) error {
	for i, run := range deal.Runs {
		if c.Context.IsNumbers() && !run.Public {
			return &RequestError{fmt.Sprintf("runs[%d].public", i), "must be true, because numbers are dealt for everybody to see"}
		}
	}
	if m := c.Context.Recipe.Positions(); deal.First+deal.Count() > m {
		return &audit.Illegal{Code: audit.RulePlaces,
			Detail: fmt.Sprintf("%d places are left, not %d", max(0, m-deal.First), deal.Count())}
	}
	return nil
}

// words are the runs of a deal.
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

// errVanished: what could be seen was not durable, and is gone after a failover.
var errVanished = fmt.Errorf("%w: the database lost what it showed", ledger.ErrUnavailable)

// repeatDeal answers a deal that is in the ledger.
func (d *Dealer) repeatDeal(ctx context.Context, actor audit.Actor, r *record, at dealt, req DealRequest) (Deal,
	error) {
	if err := r.plays(actor); err != nil {
		return Deal{}, err
	}
	if !at.askedAgain(req.Asked) {
		d.cfg.Log.Error("a house asks for places that it was given, by another request", "shuffle", r.id, "place", req.First,
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
	answer := dealAnswer(t, at.deal, at.at)
	answer.Repeated, answer.CoDealer = true, receiptIn(at.row.Kept)
	wheel, err := d.wheel(ctx, r)
	if err != nil {
		return Deal{}, err
	}
	answer.Labels = labels(wheel, answer.Shows)
	prove := d.cfg.Ledger.FirstReceipt
	if at.deal.Asked != nil {
		prove = d.orderReceipt
	}
	if answer.Receipt, err = prove(ctx, at.row); err != nil {
		return Deal{}, err
	}
	if req.Close != nil {
		c, err := d.closeAgain(ctx, r)
		if err != nil {
			return Deal{}, err
		}
		answer.Close = &c
	}
	answer.Cards, err = d.dealtCards(ctx, r, t, at.deal)
	return answer, err
}

// Close ends a shuffle and discloses its tape as the commit declared. The same
// request gets the same answer for ever; another one for a closed shuffle is
// ErrRepeated.
func (d *Dealer) Close(ctx context.Context, actor audit.Actor, id uint64, req CloseRequest) (Close, error) {
	if err := req.validate(""); err != nil {
		return Close{}, err
	}
	return fresh(d, id, func() (Close, error) { return d.close(ctx, actor, id, req) })
}

func (d *Dealer) close(ctx context.Context, actor audit.Actor, id uint64, req CloseRequest) (Close, error) {
	r, err := d.owned(ctx, id, func(r *record) error { return mayClose(r, actor, req) })
	if err != nil {
		return Close{}, err
	}
	was := r.closed != nil
	if was || r.blind() { // what was not dealt, only what is durable says
		if r, err = d.record(ctx, id); err != nil {
			return Close{}, err
		}
	}
	switch {
	case r.closed != nil:
		return d.repeatClose(ctx, actor, r, req)
	case was:
		return Close{}, errVanished
	}
	if err := d.follows(r, &req); err != nil {
		return Close{}, err
	}
	if err := d.unplayed(ctx, r, &req); err != nil {
		return Close{}, err
	}
	appended, shown, err := d.end(ctx, actor, r, req)
	if _, ok := errors.AsType[*audit.Illegal](err); ok {
		// A copy of this request may have been first.
		r, unread := d.record(ctx, id)
		if unread != nil {
			return Close{}, unread
		}
		if r.closed != nil {
			return d.repeatClose(ctx, actor, r, req)
		}
	}
	if err != nil {
		return Close{}, err
	}
	d.ended(r, appended)
	return closed(appended, shown), nil
}

// closed answers a close that was appended, with what was revealed in front of it, if
// anything was.
func closed(appended []ledger.Appended, shown *Reveal) Close {
	at := slices.IndexFunc(appended, func(a ledger.Appended) bool { return a.Entry.Body.Type() == audit.TypeClose })
	answer := closeAnswer(appended[at].Entry.Body.(*audit.Close), appended[at].Entry.Time, appended[at].Receipt.Text())
	if shown != nil {
		before := appended[at-1]
		shown.Time, shown.Receipt = before.Entry.Time, before.Receipt.Text()
		answer.Reveal = shown
	}
	return answer
}

// end appends the close of an open shuffle, with a reveal in front of it if that is asked for.
func (d *Dealer) end(ctx context.Context, actor audit.Actor, r *record, req CloseRequest) (_ []ledger.Appended,
	shown *Reveal, err error) {
	tape, inputs, err := d.tape(ctx, r, maxAncestors)
	defer clear(tape)
	defer clear(inputs)
	if err == nil && (req.Outcome != audit.OutcomeVoid || req.Reveal != nil) {
		var t *opened
		if t, err = d.open(ctx, r); err == nil { // a foul deck ends void only
			shown, err = d.shownAtClose(ctx, r, t, &req, r.next())
			t.wipe()
		}
	}
	if req.Reason != audit.ReasonTapeLost {
		if err != nil {
			return nil, nil, err
		}
		appended, err := d.appendClose(ctx, actor, r, tape, req)
		return appended, shown, err
	}
	// A close without a tape is a fault in every audit, and the only way on for a
	// table whose shuffle nobody can open any more.
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

// mayClose: what lost its tape is closed by an administrator, who owns no shuffle.
func mayClose(r *record, actor audit.Actor, req CloseRequest) error {
	if req.Reason == audit.ReasonTapeLost {
		return nil
	}
	return r.closes(actor)
}

func (d *Dealer) repeatClose(ctx context.Context, actor audit.Actor, r *record, req CloseRequest) (Close, error) {
	if err := mayClose(r, actor, req); err != nil {
		return Close{}, err
	}
	if !r.closedAs(&req) {
		return Close{}, fmt.Errorf("%w: shuffle %d was closed as %s", ErrRepeated, r.id, r.closed.Outcome)
	}
	return d.closeAgain(ctx, r)
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
	receipt, err := d.cfg.Ledger.FirstReceipt(ctx, r.closeRow())
	if err != nil {
		return Close{}, err
	}
	answer := closeAnswer(r.closed, r.closeAt, receipt)
	answer.Repeated = true
	if i := len(r.reveals) - 1; i >= 0 && r.reveals[i].reveal.Final {
		shown, err := d.revealAgain(ctx, r, r.reveals[i])
		if err != nil {
			return Close{}, err
		}
		answer.Reveal = &shown
	}
	return answer, nil
}

// closeAnswer holds the tape only where the close tells it to everybody.
func closeAnswer(c *audit.Close, at int64, receipt string) Close {
	a := Close{Answered: Answered{Time: at}, Receipt: receipt}
	if c.Form == audit.FormTape {
		a.Tape = c.Tape
	}
	return a
}
