package dealer

import (
	"cmp"
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// dealing is a deal on its way through its stations. Its tape is wiped behind the last one.
type dealing struct {
	actor  audit.Actor
	req    DealRequest
	record *record
	body   *audit.Deal
	opened *opened
	kept   []byte     // with the deal; nil: nothing
	given  string     // by the co-dealer: the receipt of its deal; "": there is none
	row    ledger.Row // that was appended
}

// begin checks a deal and opens the tape of its shuffle.
func (d *Dealer) begin(ctx context.Context, g *dealing) (err error) {
	r := g.record
	if err := d.AwaitWitnesses(ctx, r.id); err != nil {
		return err
	}
	if err := fits(g.body, r.commit); err != nil {
		return err
	}
	if unordered := r.ordered(); unordered != nil {
		if r.closed != nil {
			return r.notOpen()
		}
		// The ledger says which rule refuses it. If none does, it is written, and answered as a repeated one is.
		_, err := d.propose(ctx, ledger.Proposal{Actor: g.actor, Bodies: []audit.Body{g.body}})
		return cmp.Or(err, unordered)
	}
	g.opened, err = d.open(ctx, r)
	return err
}

// enter appends a deal and answers it. The cards are ready before the deal is written, so that a deal in the ledger can
// always be answered.
func (d *Dealer) enter(ctx context.Context, g *dealing) (Deal, error) {
	answer, err := d.dealAnswer(ctx, g.record, g.opened, g.body)
	if err != nil {
		return Deal{}, err
	}
	shown, err := d.shownAtClose(ctx, g.record, g.opened, g.req.Close, answer.Next)
	if err != nil {
		return Deal{}, err
	}
	appended, err := d.appendDeal(ctx, g)
	if err != nil {
		return Deal{}, err
	}
	g.row = ledger.Row{Index: appended[0].Index, Entry: appended[0].Receipt.Entry}
	answer.Time, answer.Receipt = Time(appended[0].Entry.Time), appended[0].Receipt.Text()
	if g.req.Close != nil {
		d.ended(g.record, appended)
		c := closed(appended[1:], shown)
		answer.Close = &c
	}
	return answer, nil
}

func (d *Dealer) appendDeal(ctx context.Context, g *dealing) ([]ledger.Appended, error) {
	if g.req.Close != nil {
		close := ending{CloseRequest: *g.req.Close, given: g.kept}
		return d.appendClose(ctx, g.actor, g.record, g.opened.tape, close, g.body)
	}
	return d.propose(ctx, ledger.Proposal{Actor: g.actor, Bodies: []audit.Body{g.body}, Kept: [][]byte{g.kept}})
}

// dealAnswer is the answer to a deal without its receipts. Runs that are aside have no cards: the
// dealer does not see them either, and cannot pass them on.
func (d *Dealer) dealAnswer(ctx context.Context, r *record, t *opened, deal *audit.Deal) (a Deal, err error) {
	names, err := d.deckNames(ctx, r.commit.Context)
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
			a.Unopened = append(a.Unopened, Unopened{place, run.Purpose.String(), run.Recipient})
			continue
		}
		a.Cards = append(a.Cards, t.card(names, place))
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
