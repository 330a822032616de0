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
	"shuffled/internal/seal"
)

// The side of a house (docs/BLIND.md). The places of a blind shuffle go through the order of a
// co-dealer. The house asks the co-dealer before it writes a deal.

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
	Ask(ctx context.Context, n Next, runs []audit.Run, a Asking) (Given, error)
	// Asked returns the deal of an order from this place on, nil if there is none.
	Asked(ctx context.Context, n Next) (*Given, error)
	// Ended closes an order in the background, and hands over the close of the order. receipt proves the close of the
	// shuffle that the order was for; "": nothing was dealt from the order.
	Ended(n Next, receipt func(context.Context) (string, error), keep func(context.Context, Given) error)
}

// Next are the next places of an order.
type Next struct {
	Origin string // of the co-dealer's ledger
	Order  uint64
	First  int
	Since  uint64 // entries of the co-dealer's checkpoint that the shuffle has
}

// Given is what a co-dealer gave for a deal: the receipt of its own deal, the openings of the places that are not
// aside, and what proves that its ledger only grew since the checkpoint before. It is kept with the house's deal.
type Given struct {
	Receipt string       `json:"receipt"`
	Cards   []audit.Card `json:"cards"`
	Last    audit.Last   `json:"last"`
}

// order is the co-dealer's order for a blind shuffle.
type order struct {
	audit.Foreign
	origin  string // of the co-dealer's ledger
	receipt string
	commit  *audit.Commit
	head    audit.Head // of the receipt
}

// orderOf reads the receipt of an order.
func orderOf(receipt string) (*order, error) {
	f, err := parseForeign(receipt)
	if err != nil {
		return nil, err
	}
	commit, ok := f.body.(*audit.Commit)
	if !ok {
		return nil, fmt.Errorf("entry %d of the co-dealer is no commit", f.Index)
	}
	head := audit.Head{Size: f.checkpoint.Size, Root: f.checkpoint.Root}
	return &order{f.Foreign, commit.Context.Origin, receipt, commit, head}, nil
}

// blind reports whether the shuffle has a co-dealer.
func (r *record) blind() bool {
	_, ok := r.commit.Context.CoDealer()
	return ok
}

// keptWith splits what is kept with a commit: the sealed tape, and behind it the receipt of the co-dealer's commit, ""
// without a co-dealer.
func keptWith(c *audit.Commit, kept []byte) (tape []byte, receipt string) {
	n := seal.Overhead + c.Context.Recipe.TapeLen()
	if _, blind := c.Context.CoDealer(); !blind || len(kept) < n {
		return kept, ""
	}
	return kept[:n], string(kept[n:])
}

// order returns the co-dealer's order of a blind shuffle. It believes the database only if the
// order is the one that the plan names.
func (r *record) order() (*order, error) {
	_, receipt := keptWith(r.commit, r.row.Kept)
	o, err := orderOf(receipt)
	if err != nil {
		return nil, fmt.Errorf("%w: the stored order of shuffle %d: %w", ledger.ErrFrozen, r.id, err)
	}
	planned, _ := r.commit.Context.CoDealer()
	if o.Foreign != (audit.Foreign{Index: planned.Index, Leaf: planned.Leaf}) || o.origin != planned.Origin {
		return nil, fmt.Errorf("%w: the stored order of shuffle %d is not the order that its plan names", ledger.ErrFrozen, r.id)
	}
	return o, nil
}

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

// ask has the co-dealer open the places of a deal, and fills in what the co-dealer gave. It
// returns what is kept with the deal.
func (d *Dealer) ask(ctx context.Context, actor audit.Actor, r *record, t *opened, deal *audit.Deal,
	state [32]byte) (kept []byte, err error) {
	if d.cfg.CoDealer == nil {
		return nil, fmt.Errorf("%w: the configuration of this daemon has no address of a co-dealer", ErrCoDealer)
	}
	o, err := r.order()
	if err != nil {
		return nil, err
	}
	if err := d.cfg.Ledger.MayAsk(ctx, actor, deal); err != nil {
		return nil, err
	}
	asked, a, err := d.asking(ctx, r, t, deal, state)
	if err != nil {
		return nil, err
	}
	given, err := d.cfg.CoDealer.Ask(ctx, r.nextOf(o), deal.Runs, a)
	if err != nil {
		return nil, err
	}
	if deal.Blind, err = r.gave(o, given, deal.First, deal.Runs, asked); err != nil {
		return nil, fmt.Errorf("%w: the co-dealer's answer for place %d of shuffle %d is not valid: %w", ErrCoDealer, deal.First,
			r.id, err)
	}
	t.give(deal, given.Cards)
	if r.commit.Context.IsDraw() {
		if t.shows, err = t.order.Shows(t.values); err != nil {
			return nil, err
		}
	}
	return json.Marshal(given)
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

// before returns the row behind which the next deal comes: the last deal, or else the mix, or else the commit.
func (r *record) before() ledger.Row {
	switch {
	case len(r.deals) > 0:
		return r.deals[len(r.deals)-1].row
	case r.mix != nil:
		return r.rowOf(audit.TypeMix)
	}
	return r.row
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

// entered checks that a co-dealer's deal is under its checkpoint, that the tree of this begins with that of the
// checkpoint that the shuffle has, and that the holder of the tape asked for the deal behind the newest entry of the
// shuffle. It returns what the house writes of the deal, without its values.
func (r *record) entered(o *order, g Given, first int) (*audit.Blind, *audit.Deal, error) {
	f, err := parseForeign(g.Receipt)
	head, seen := f.checkpoint, r.seen(o)
	if err == nil {
		err = head.CheckPrefix(audit.Checkpoint{Size: seen.Size, Root: seen.Root}, g.Last)
	}
	if err != nil {
		return nil, nil, err
	}
	d, ok := f.body.(*audit.Deal)
	if !ok || head.Origin != o.origin || d.Shuffle != o.Index || d.First != first {
		return nil, nil, errors.New("the co-dealer's entry is not the deal that was asked for")
	}
	of := audit.Foreign{Index: r.id, Leaf: tlog.RecordHash(r.row.Entry)}
	if err := audit.CheckAsked(d, r.commit, of, tlog.RecordHash(r.before().Entry)); err != nil {
		return nil, nil, err
	}
	return &audit.Blind{Deal: f.Foreign, Head: audit.Head{Size: head.Size, Root: head.Root}}, d, nil
}

// opens returns the values of a deal's places that are not aside. The openings must lead to the deck root of the order,
// and the house must be allowed to write the values: a foul deck has a deck root, too.
func (r *record) opens(o *order, d *audit.Deal, cards []audit.Card) (values []uint32, err error) {
	places := d.Opens()
	if len(places) != len(cards) {
		return nil, fmt.Errorf("%d openings for %d places", len(cards), len(places))
	}
	var given []uint32 // for the shuffle so far
	for _, at := range r.deals {
		given = append(given, at.deal.Blind.Values...)
	}
	before := len(given)
	for i, card := range cards {
		opening, err := card.Opening()
		if err != nil {
			return nil, err
		}
		if card.Place != places[i] || opening.Position != card.Place {
			return nil, fmt.Errorf("place %d was opened instead of place %d", card.Place, places[i])
		}
		err = opening.Check(o.commit.Tag(), tlog.Hash(o.commit.DeckRoot), o.commit.Context.Recipe.Positions())
		if err != nil {
			return nil, fmt.Errorf("place %d: %w", card.Place, err)
		}
		if err := audit.MayGive(r.commit.Context, card.Place, card.Value, given); err != nil {
			return nil, err
		}
		given = append(given, card.Value)
	}
	return given[before:], nil
}

// give adds what a co-dealer gave for a deal to the order, and its openings.
func (t *opened) give(deal *audit.Deal, cards []audit.Card) {
	t.order.Give(deal)
	if t.by == nil {
		t.by = make(map[int]*audit.By)
	}
	for _, c := range cards {
		t.by[c.Place] = &audit.By{Value: c.Value, Salt: c.Salt, Proof: c.Proof}
	}
}

// given reads what is kept with a deal of a blind shuffle.
func (r *record) given(at dealt) (g Given, err error) {
	if err := json.Unmarshal(at.row.Kept, &g); err != nil {
		return g, fmt.Errorf("%w: the stored answer of the co-dealer for place %d of shuffle %d: %w", ledger.ErrFrozen, at.deal.First,
			r.id, err)
	}
	return g, nil
}

// receiptIn returns the co-dealer's receipt that is kept with a deal, "" if there is none.
func receiptIn(kept []byte) string {
	var g Given
	if kept == nil || json.Unmarshal(kept, &g) != nil {
		return ""
	}
	return g.Receipt
}

// coDealerEvidence is the part of a transcript that is from the co-dealer's ledger; nil without a co-dealer. A kept
// close of the order that does not fit is logged and left out, because verifiers would refuse the file.
func (d *Dealer) coDealerEvidence(ctx context.Context, r *record) (*audit.CoDealer, error) {
	if !r.blind() {
		return nil, nil
	}
	o, err := r.order()
	if err != nil {
		return nil, err
	}
	c := &audit.CoDealer{Receipts: []string{o.receipt}}
	add := func(g Given) { c.Receipts, c.Heads = append(c.Receipts, g.Receipt), append(c.Heads, g.Last) }
	for _, at := range r.deals {
		g, err := r.given(at)
		if err != nil {
			return nil, err
		}
		add(g)
	}
	if r.closed == nil {
		return c, nil
	}
	if r.closed.Unplayed() != nil {
		var end keptEnd
		if json.Unmarshal(r.rowOf(audit.TypeClose).Kept, &end) != nil || end.Unplayed == nil {
			return nil, fmt.Errorf("%w: the openings that the close of shuffle %d names as not dealt are not stored", ledger.ErrFrozen, r.id)
		}
		add(*end.Unplayed)
		c.Unplayed = end.Opened
	}
	texts, err := d.cfg.Store.Statements(ctx, d.cfg.Ledger.ID(), r.rowOf(audit.TypeClose).Index)
	if err != nil || len(texts) == 0 {
		return c, ledger.Unavailable(err)
	}
	end, err := r.orderEnd(o, c, texts[0])
	if err != nil {
		d.cfg.Log.Error("the kept close of a co-dealer's order is not served", "shuffle", r.id, "error", err)
		return c, nil
	}
	add(end)
	return c, nil
}
