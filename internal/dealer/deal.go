package dealer

import (
	"cmp"
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
		repeat: func(r *record) (Deal, error) { return d.repeatDeal(ctx, actor, r, req) },
		do:     func(r *record) (Deal, error) { return d.deal(ctx, actor, r, req) },
	})
}

func (d *Dealer) deal(ctx context.Context, actor audit.Actor, r *record, req DealRequest) (Deal, error) {
	if err := d.AwaitWitnesses(ctx, r.id); err != nil {
		return Deal{}, err
	}
	t, err := d.open(ctx, r)
	if err != nil {
		return Deal{}, err
	}
	defer t.wipe()
	deal := &audit.Deal{Shuffle: r.id, First: req.First, Runs: req.Runs, Final: req.Close != nil}
	if err := fits(deal, r.commit); err != nil {
		return Deal{}, err
	}
	var given []byte
	if req.Asked != nil {
		given = []byte(cmp.Or(req.Asked.After, req.Asked.Commit))
		if err := d.asks(r, deal, req.Asked); err != nil {
			return Deal{}, err
		}
	}
	if _, err := d.wheel(ctx, r); err != nil { // before a co-dealer opens anything
		return Deal{}, err
	}
	if unordered := r.ordered(); unordered != nil {
		if r.closed != nil {
			return Deal{}, r.notOpen()
		}
		// The ledger says which rule refuses the deal. If it has the mix by now, the deal is written, and answered as
		// a repeated one is.
		_, err := d.appendDeal(ctx, actor, r, t, deal, given, req)
		return Deal{}, cmp.Or(err, unordered)
	}
	if r.blind() {
		if given, err = d.ask(ctx, actor, r, t, deal, req.State); err != nil {
			return Deal{}, err
		}
	}
	// The cards are ready before the deal is written, so that a deal in the ledger can always be answered.
	answer, err := d.dealAnswer(ctx, r, t, deal)
	if err != nil {
		return Deal{}, err
	}
	shown, err := d.shownAtClose(ctx, r, t, req.Close, req.First+deal.Count())
	if err != nil {
		return Deal{}, err
	}
	appended, err := d.appendDeal(ctx, actor, r, t, deal, given, req)
	if err != nil {
		return Deal{}, err
	}
	answer.Time, answer.Receipt = Time(appended[0].Entry.Time), appended[0].Receipt.Text()
	answer.CoDealer = receiptIn(given)
	if deal.Asked != nil {
		row := ledger.Row{Index: appended[0].Index, Entry: appended[0].Receipt.Entry}
		if answer.Receipt, answer.Last, err = d.proveOrder(ctx, row, req.Asked.Since); err != nil {
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

// dealAnswer is the answer to a deal without its receipts. Runs that are aside have no cards: the
// dealer does not see them either, and cannot pass them on.
func (d *Dealer) dealAnswer(ctx context.Context, r *record, t *opened, deal *audit.Deal) (a Deal, err error) {
	names, err := d.names(ctx, r)
	if err != nil {
		return a, err
	}
	wheel, err := d.wheel(ctx, r)
	if err != nil {
		return a, err
	}
	a.Next = deal.First + deal.Count()
	a.LastHand = t.endAt > 0 && a.Next >= t.endAt
	for place, run := range deal.Places() {
		if run.Aside() {
			a.Unopened = append(a.Unopened, Unopened{place, run.Purpose, run.Recipient})
			continue
		}
		a.Cards = append(a.Cards, t.cards(names, place, 1)...)
		if t.shows != nil {
			a.Shows = append(a.Shows, t.shows[place])
		}
	}
	a.Labels = labels(wheel, a.Shows)
	return a, nil
}

// fits checks the places of a deal before anything is computed from them.
func fits(deal *audit.Deal, c *audit.Commit) error {
	for i, run := range deal.Runs {
		if c.Context.IsNumbers() && !run.Public {
			return &RequestError{fmt.Sprintf("runs[%d].public", i), "must be true, because numbers are dealt for everybody to see"}
		}
	}
	if m := c.Context.Recipe.Positions(); deal.First+deal.Count() > m {
		return illegal(audit.RulePlaces, "%d places are left, not %d", max(0, m-deal.First), deal.Count())
	}
	return nil
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

// repeatDeal answers a deal that is in the ledger.
func (d *Dealer) repeatDeal(ctx context.Context, actor audit.Actor, r *record, req DealRequest) (Deal, error) {
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
	answer.CoDealer = receiptIn(at.row.Kept)
	if req.Close != nil {
		c, err := d.closeAgain(ctx, r)
		if err != nil {
			return Deal{}, err
		}
		answer.Close = &c
	}
	return answer, nil
}
