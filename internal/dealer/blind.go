package dealer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// The side of a house (docs/BLIND.md). The places of a blind shuffle go through the order of a
// co-dealer. The house asks the co-dealer before it writes a deal.

// takeOrder asks the co-dealer in force for an order and names it in the plan of c. It returns nil
// if the plan has no co-dealer.
func (d *Dealer) takeOrder(ctx context.Context, c *audit.Context, closeBy *Time) (*order, error) {
	if _, ok := c.CoDealer(); !ok {
		return nil, nil
	}
	pin, ok := d.cfg.Ledger.CoDealer("")
	switch {
	case !ok || pin.Origin == "":
		return nil, illegal(audit.RuleCoDealer, "the ledger names no co-dealer")
	case d.cfg.CoDealer == nil:
		return nil, illegal(audit.RuleCoDealer, "the configuration of this daemon has no address of a co-dealer")
	case c.Parent != nil || !c.IsDraw() && c.Recipe.Take != c.Recipe.Cards:
		return nil, &RequestError{"mix.co_dealer", "must be left out for a child, and if not all cards are taken"}
	}
	until := d.cfg.Now() + int64(d.cfg.Ledger.Genesis().DefaultCloseBy)*1000 + orderSlack
	if closeBy != nil {
		until = int64(*closeBy)
	}
	receipt, err := d.cfg.CoDealer.Order(ctx, pin.Origin, c, until+audit.OrderMargin)
	if err != nil {
		return nil, err
	}
	o, err := orderOf(receipt)
	if err == nil {
		err = audit.CheckOrder(&audit.Commit{Context: c, CloseBy: until}, o.commit)
	}
	if err != nil || o.origin != pin.Origin {
		return nil, fmt.Errorf("%w: the co-dealer gave no order that fits: %w", ErrCoDealer, err)
	}
	c.Plan[0].Origin, c.Plan[0].Index, c.Plan[0].Leaf = o.origin, o.Index, o.Leaf
	return o, nil
}

// orderSlack is how much later than now a commit may be written, in milliseconds. A commit without
// a close-by closes a fixed time after it is written.
const orderSlack = 60_000

// dealBlind is the way of a deal that a co-dealer opens before the house writes it.
func (d *Dealer) dealBlind(ctx context.Context, g *dealing) (answer Deal, err error) {
	if err = d.begin(ctx, g); err == nil {
		_, err = d.wheel(ctx, g.record) // before the co-dealer opens anything
	}
	if err == nil {
		err = d.ask(ctx, g)
	}
	if err == nil {
		answer, err = d.enter(ctx, g)
	}
	answer.CoDealer = g.given
	return answer, err
}

// ask has the co-dealer open the places of a deal, and fills in what the co-dealer gave.
func (d *Dealer) ask(ctx context.Context, g *dealing) error {
	r, deal, t := g.record, g.body, g.opened
	if d.cfg.CoDealer == nil {
		return fmt.Errorf("%w: the configuration of this daemon has no address of a co-dealer", ErrCoDealer)
	}
	o, err := r.order()
	if err != nil {
		return err
	}
	if err := d.cfg.Ledger.MayAsk(ctx, g.actor, deal); err != nil {
		return err
	}
	asked, a, err := d.asking(ctx, r, t, deal, g.req.State)
	if err != nil {
		return err
	}
	given, err := d.cfg.CoDealer.Ask(ctx, r.nextOf(o), deal.Runs, a)
	if err != nil {
		return err
	}
	if deal.Blind, err = r.gave(o, given, deal.First, deal.Runs, asked); err != nil {
		return fmt.Errorf("%w: the co-dealer's answer for place %d of shuffle %d is not valid: %w", ErrCoDealer, deal.First,
			r.id, err)
	}
	t.give(deal, given.Cards)
	if r.commit.Context.IsDraw() {
		if t.shows, err = t.order.Shows(t.values); err != nil {
			return err
		}
	}
	g.given = given.Receipt
	g.kept, err = json.Marshal(given)
	return err
}

// asking is the request to the co-dealer for the places of a deal. It is signed under the key from the tape and has
// receipts of the commit and of the entry before. asking waits until the witnesses cosigned both.
func (d *Dealer) asking(ctx context.Context, r *record, t *opened, deal *audit.Deal, state [32]byte) (*audit.Asked,
	Asking, error) {
	rows := []ledger.Row{r.row}
	if before := r.before(); before.Index != r.row.Index {
		rows = append(rows, before)
	}
	last := rows[len(rows)-1]
	if err := d.AwaitWitnesses(ctx, last.Index); err != nil {
		return nil, Asking{}, err
	}
	receipts, err := d.cfg.Ledger.ReceiptsUnder(ctx, rows, d.cfg.Ledger.HeadFor(last.Index))
	if err != nil {
		return nil, Asking{}, err
	}
	asked := &audit.Asked{Commit: audit.Foreign{Index: r.id, Leaf: tlog.RecordHash(r.row.Entry)},
		After: tlog.RecordHash(last.Entry), State: state}
	key := audit.AskKey(r.commit.Commitment, t.tape)
	defer clear(key)
	asked.Sign(key, deal.First, deal.Runs)
	a := Asking{Commit: receipts[0].Text(), State: state, Ask: asked.Ask}
	if len(receipts) == 2 {
		a.After = receipts[1].Text()
	}
	return asked, a, nil
}

// gave checks a co-dealer's deal, and returns what the house writes of it.
func (r *record) gave(o *order, g Given, first int, runs []audit.Run, asked *audit.Asked) (*audit.Blind, error) {
	b, d, err := r.entered(o, g, first)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(d.Runs, runs) || !asked.SameRequest(d.Asked) {
		return nil, errors.New("the co-dealer's deal answers another request")
	}
	b.Values, err = r.opens(o, d, g.Cards)
	return b, err
}
