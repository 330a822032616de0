// Package blind is blind dealing (docs/BLIND.md): what a house asks of its co-dealer, what a co-dealer asks of a house,
// and what each checks of the other's ledger. It appends nothing. A deal of a plain shuffle does not come here.
package blind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// Sides are both sides of blind dealing, for one ledger: that of a house, and that of a co-dealer.
type Sides struct {
	Ledger   *sequencer.Ledger
	Store    ledger.Store
	Log      *slog.Logger
	Now      func() int64
	Shuffles *record.Reader
	CoDealer CoDealer         // nil: none
	Houses   map[string]House // by origin: the ledgers that this one deals orders for
}

// CoDealer reaches the co-dealers of a ledger, each named by the origin of its own ledger. It
// returns only what is proved to be in that ledger, under a checkpoint that a quorum of the pinned
// policy cosigned and that extends what was seen of that ledger before.
type CoDealer interface {
	// Order returns the receipt of an order that no commit names yet. It is of all positions of
	// like, or of its ranges, and open until closeBy at least, in UTC milliseconds.
	Order(ctx context.Context, origin string, like *audit.Context, closeBy int64) (receipt string, err error)
	// Unused takes back an order that no commit names.
	Unused(origin string, receipt string)
	// Ask has the co-dealer deal the next places of an order. The same request gets the same answer.
	Ask(ctx context.Context, n Next, runs []audit.Run, a api.Asking) (record.Given, error)
	// Asked returns the deal of an order from this place on, nil if there is none.
	Asked(ctx context.Context, n Next) (*record.Given, error)
	// Ended closes an order in the background, and hands over the close of the order. receipt proves the close of the
	// shuffle that the order was for.
	Ended(n Next, receipt func(context.Context) (string, error), keep func(context.Context, record.Given) error)
}

// House is a ledger that this one deals orders for: its signing keys, and the policy under which its checkpoints count.
type House struct {
	Keys   []note.Verifier
	Policy *trust.Policy
}

// The side of a house (docs/BLIND.md). The places of a blind shuffle go through the order of a
// co-dealer. The house asks the co-dealer before it writes a deal.

// TakeOrder asks the co-dealer in force for an order and names it in the plan of c. It returns nil
// if the plan has no co-dealer.
func (d *Sides) TakeOrder(ctx context.Context, c *audit.Context, closeBy *api.Time) (*Order, error) {
	if _, ok := c.CoDealer(); !ok {
		return nil, nil
	}
	pin, ok := d.Ledger.CoDealer("")
	switch {
	case !ok || pin.Origin == "":
		return nil, api.Illegal(audit.RuleCoDealer, "the ledger names no co-dealer")
	case d.CoDealer == nil:
		return nil, api.Illegal(audit.RuleCoDealer, "the configuration of this daemon has no address of a co-dealer")
	case c.Parent != nil || !c.IsDraw() && c.Recipe.Take != c.Recipe.Cards:
		return nil, api.Invalid("mix.co_dealer", "must be left out for a child, and if not all cards are taken")
	}
	until := d.Now() + int64(d.Ledger.Genesis().DefaultCloseBy)*1000 + orderSlack
	if closeBy != nil {
		until = int64(*closeBy)
	}
	receipt, err := d.CoDealer.Order(ctx, pin.Origin, c, until+audit.OrderMargin)
	if err != nil {
		return nil, err
	}
	o, err := parseOrder(receipt)
	if err == nil {
		err = audit.CheckOrder(&audit.Commit{Context: c, CloseBy: until}, o.commit)
	}
	if err != nil || o.Origin != pin.Origin {
		return nil, fmt.Errorf("%w: the co-dealer gave no order that fits: %w", api.ErrCoDealer, err)
	}
	c.Plan[0].Origin, c.Plan[0].Index, c.Plan[0].Leaf = o.Origin, o.Index, o.Leaf
	return o, nil
}

// orderSlack is how much later than now a commit may be written, in milliseconds. A commit without
// a close-by closes a fixed time after it is written.
const orderSlack = 60_000

// Ask has the co-dealer open the places of a deal, fills in what the co-dealer gave, and returns what is kept of it.
func (d *Sides) Ask(ctx context.Context, actor audit.Actor, r *record.Record, t *record.Opened, deal *audit.Deal,
	state [32]byte) (given record.Given, kept []byte, err error) {
	if d.CoDealer == nil {
		return given, nil, fmt.Errorf("%w: the configuration of this daemon has no address of a co-dealer", api.ErrCoDealer)
	}
	o, err := orderOf(r)
	if err == nil {
		err = d.Ledger.MayAsk(ctx, actor, deal)
	}
	if err != nil {
		return given, nil, err
	}
	asked, a, err := d.asking(ctx, r, t, deal, state)
	if err == nil {
		given, err = d.CoDealer.Ask(ctx, nextOf(r, o), deal.Runs, a)
	}
	if err != nil {
		return given, nil, err
	}
	if deal.Blind, err = gave(r, o, given, deal.First, deal.Runs, asked); err != nil {
		return given, nil, fmt.Errorf("%w: the co-dealer's answer for place %d of shuffle %d is not valid: %w", api.ErrCoDealer,
			deal.First, r.ID, err)
	}
	t.Give(deal, given.Cards)
	if r.Commit.Context.IsDraw() {
		if t.Shows, err = t.Order.Shows(t.Values); err != nil {
			return given, nil, err
		}
	}
	kept, err = json.Marshal(given)
	return given, kept, err
}

// asking is the request to the co-dealer for the places of a deal. It is signed under the key from the tape and has
// receipts of the commit and of the entry before. asking waits until the witnesses cosigned both.
func (d *Sides) asking(ctx context.Context, r *record.Record, t *record.Opened, deal *audit.Deal, state [32]byte) (
	*audit.Asked, api.Asking, error) {
	rows := []ledger.Row{r.Row}
	if before := r.Before(); before.Index != r.Row.Index {
		rows = append(rows, before)
	}
	last := rows[len(rows)-1]
	if err := d.Shuffles.AwaitWitnesses(ctx, last.Index); err != nil {
		return nil, api.Asking{}, err
	}
	receipts, err := d.Ledger.ReceiptsUnder(ctx, rows, d.Ledger.HeadFor(last.Index))
	if err != nil {
		return nil, api.Asking{}, err
	}
	asked := &audit.Asked{Commit: audit.Foreign{Index: r.ID, Leaf: tlog.RecordHash(r.Row.Entry)},
		After: tlog.RecordHash(last.Entry), State: state}
	key := audit.AskKey(r.Commit.Commitment, t.Tape)
	defer clear(key)
	asked.Sign(key, deal.First, deal.Runs)
	a := api.Asking{Commit: receipts[0].Text(), State: state, Ask: asked.Ask}
	if len(receipts) == 2 {
		a.After = receipts[1].Text()
	}
	return asked, a, nil
}

// gave checks a co-dealer's deal, and returns what the house writes of it.
func gave(r *record.Record, o *Order, g record.Given, first int, runs []audit.Run, asked *audit.Asked) (*audit.Blind,
	error) {
	b, d, err := entered(r, o, g, first)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(d.Runs, runs) || !asked.SameRequest(d.Asked) {
		return nil, errors.New("the co-dealer's deal answers another request")
	}
	b.Values, err = opens(r, o, d, g.Cards)
	return b, err
}
