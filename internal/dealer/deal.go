package dealer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// Deal gives out the next places and answers with their cards when the deal is durable. If the genesis asks for
// witnesses, it waits until they cosigned the commit. The same first place and runs get the same answer, as long as the
// tape can be opened. Another deal of places that were dealt is ErrRepeated.
func (d *Dealer) Deal(ctx context.Context, actor audit.Actor, id uint64, req api.DealRequest) (api.Deal, error) {
	if err := req.Validate(); err != nil {
		return api.Deal{}, err
	}
	return answer(ctx, d, id, request[api.Deal]{
		check:  mayPlay(actor),
		stands: func(r *record.Record) bool { _, ok := r.DealAt(req.First); return ok },
		repeat: func(r *record.Record) (api.Deal, error) { return d.dealAgain(ctx, actor, r, req) },
		do: func(r *record.Record) (api.Deal, error) {
			g := &dealing{actor: actor, req: req, record: r,
				body: &audit.Deal{Shuffle: r.ID, First: req.First, Runs: req.Runs, Final: req.Close != nil}}
			defer func() { g.opened.Wipe() }()
			switch {
			case r.Blind():
				return d.dealBlind(ctx, g)
			case req.Asked != nil:
				return d.dealOrder(ctx, g)
			}
			if err := d.begin(ctx, g); err != nil {
				return api.Deal{}, err
			}
			return d.enter(ctx, g)
		},
	})
}

// dealAgain answers a deal that is in the ledger.
func (d *Dealer) dealAgain(ctx context.Context, actor audit.Actor, r *record.Record, req api.DealRequest) (api.Deal,
	error) {
	at, _ := r.DealAt(req.First)
	if !blind.AskedAgain(at, req.Asked) {
		d.cfg.Log.Error("a house asks for places that were opened for another request", "shuffle", r.ID, "place", req.First,
			"identity", actor.Identity, "credential", actor.Credential)
		d.conflicts.Add(1)
	}
	if !slices.Equal(at.Deal.Runs, req.Runs) || at.Deal.Final != (req.Close != nil) ||
		!blind.AskedAgain(at, req.Asked) || req.Close != nil && !closedAs(r, req.Close) {
		return api.Deal{}, fmt.Errorf("%w: shuffle %d dealt from place %d: %s", api.ErrRepeated, r.ID, req.First, words(at))
	}
	t, err := d.shuffles.Open(ctx, r)
	if err != nil {
		return api.Deal{}, err
	}
	defer t.Wipe()
	answer, err := d.dealAnswer(ctx, r, t, at.Deal)
	if err != nil {
		return api.Deal{}, err
	}
	prove := d.cfg.Ledger.FirstReceipt
	if at.Deal.Asked != nil {
		prove = func(ctx context.Context, row ledger.Row) (receipt string, err error) {
			receipt, answer.Last, err = d.blind.ProveOrder(ctx, row, req.Asked.Since)
			return receipt, err
		}
	}
	if answer.Answered, answer.Receipt, err = again(ctx, at.Row, prove); err != nil {
		return api.Deal{}, err
	}
	if r.Blind() {
		given, err := r.Given(at)
		if err != nil {
			return api.Deal{}, err
		}
		answer.CoDealer = given.Receipt
	}
	if req.Close != nil {
		c, err := d.closeAgain(ctx, r)
		if err != nil {
			return api.Deal{}, err
		}
		answer.Close = &c
	}
	return answer, nil
}

// words lists the runs of a deal for an error.
func words(at record.Dealt) string {
	var runs []string
	for _, run := range at.Deal.Runs {
		words := fmt.Sprintf("%d %s", run.Count, run.Purpose)
		if run.Recipient != "" {
			words += " to " + run.Recipient
		}
		runs = append(runs, words)
	}
	return strings.Join(runs, ", ")
}

// dealing is a deal on its way through its stations. Its tape is wiped behind the last one.
type dealing struct {
	actor  audit.Actor
	req    api.DealRequest
	record *record.Record
	body   *audit.Deal
	opened *record.Opened
	kept   []byte     // with the deal; nil: nothing
	row    ledger.Row // that was appended
}

// begin checks a deal and opens the tape of its shuffle.
func (d *Dealer) begin(ctx context.Context, g *dealing) (err error) {
	r := g.record
	if err := d.shuffles.AwaitWitnesses(ctx, r.ID); err != nil {
		return err
	}
	if err := fits(g.body, r.Commit); err != nil {
		return err
	}
	if unordered := r.Ordered(); unordered != nil {
		if r.Closed != nil {
			return r.NotOpen()
		}
		// The ledger says which rule refuses it. If none does, it is written, and answered as a repeated one is.
		_, err := d.propose(ctx, ledger.Proposal{Actor: g.actor, Bodies: []audit.Body{g.body}})
		return cmp.Or(err, unordered)
	}
	g.opened, err = d.shuffles.Open(ctx, r)
	return err
}

// enter appends a deal and answers it. The cards are ready before the deal is written, so that a deal in the ledger can
// always be answered.
func (d *Dealer) enter(ctx context.Context, g *dealing) (api.Deal, error) {
	answer, err := d.dealAnswer(ctx, g.record, g.opened, g.body)
	if err != nil {
		return api.Deal{}, err
	}
	shown, err := d.shownAtClose(ctx, g.record, g.opened, g.req.Close, answer.Next)
	if err != nil {
		return api.Deal{}, err
	}
	appended, err := d.appendDeal(ctx, g)
	if err != nil {
		return api.Deal{}, err
	}
	g.row = ledger.Row{Index: appended[0].Index, Entry: appended[0].Receipt.Entry}
	answer.Time, answer.Receipt = api.Time(appended[0].Entry.Time), appended[0].Receipt.Text()
	if g.req.Close != nil {
		d.blind.Ended(g.record, appended)
		c := closed(appended[1:], shown)
		answer.Close = &c
	}
	return answer, nil
}

func (d *Dealer) appendDeal(ctx context.Context, g *dealing) ([]ledger.Appended, error) {
	if g.req.Close != nil {
		close := blind.Ending{Request: *g.req.Close, Given: g.kept}
		return d.appendClose(ctx, g.actor, g.record, g.opened.Tape, close, g.body)
	}
	return d.propose(ctx, ledger.Proposal{Actor: g.actor, Bodies: []audit.Body{g.body}, Kept: [][]byte{g.kept}})
}

// dealAnswer is the answer to a deal without its receipts. Runs that are aside have no cards: the
// dealer does not see them either, and cannot pass them on.
func (d *Dealer) dealAnswer(ctx context.Context, r *record.Record, t *record.Opened, deal *audit.Deal) (a api.Deal,
	err error) {
	if a.Cards, a.Shows, a.Labels, err = d.cards(ctx, r, t, deal.Opens()); err != nil {
		return a, err
	}
	a.Next = deal.First + deal.Count()
	a.LastHand = t.EndAt > 0 && a.Next >= t.EndAt
	for place, run := range deal.Places() {
		if run.Aside() {
			a.Unopened = append(a.Unopened, api.Unopened{Place: place, Purpose: run.Purpose.String(),
				Recipient: run.Recipient})
		}
	}
	return a, nil
}

// fits checks the places of a deal before anything is computed from them.
func fits(deal *audit.Deal, c *audit.Commit) error {
	for i, run := range deal.Runs {
		if c.Context.IsNumbers() && !run.Public {
			return api.Invalid(fmt.Sprintf("runs[%d].public", i), "must be true, because numbers are dealt for everybody to see")
		}
	}
	if m := c.Context.Recipe.Positions(); deal.First+deal.Count() > m {
		return api.Illegal(audit.RulePlaces, "%d places are left, not %d", max(0, m-deal.First), deal.Count())
	}
	return nil
}

// dealBlind is the way of a deal that a co-dealer opens before the house writes it.
func (d *Dealer) dealBlind(ctx context.Context, g *dealing) (answer api.Deal, err error) {
	var given record.Given
	if err = d.begin(ctx, g); err == nil {
		_, err = d.wheel(ctx, g.record.ID, g.record.Commit.Context.Terms) // before the co-dealer opens anything
	}
	if err == nil {
		given, g.kept, err = d.blind.Ask(ctx, g.actor, g.record, g.opened, g.body, g.req.State)
	}
	if err == nil {
		answer, err = d.enter(ctx, g)
	}
	answer.CoDealer = given.Receipt
	return answer, err
}

// dealOrder is the way of a deal of an order: it is checked against the house's ledger, and proved to the house.
func (d *Dealer) dealOrder(ctx context.Context, g *dealing) (answer api.Deal, err error) {
	g.kept = []byte(cmp.Or(g.req.Asked.After, g.req.Asked.Commit))
	if err = d.begin(ctx, g); err == nil {
		err = d.blind.CheckAsking(g.record, g.body, g.req.Asked)
	}
	if err == nil {
		answer, err = d.enter(ctx, g)
	}
	if err == nil {
		answer.Receipt, answer.Last, err = d.blind.ProveOrder(ctx, g.row, g.req.Asked.Since)
	}
	return answer, err
}
