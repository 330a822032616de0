package blind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// Unplayed fills in what a close says of the co-dealer's order: the newest checkpoint of the co-dealer's ledger that
// the shuffle has, and a deal that the co-dealer opened and the house did not write. The house may have stopped between
// the two, or the game may have given the deal up. The close must name such a deal, because checkpoints in other
// shuffles may show it. Only a close as void or expired may leave a deal unplayed. If the co-dealer gives no answer, a
// close fails, except as expired, with a lost tape, or as void because of the co-dealer.
func (d *Sides) Unplayed(ctx context.Context, r *record.Record, req *Ending) error {
	if !r.Blind() {
		return nil
	}
	waits := req.Request.Outcome != audit.OutcomeExpired && req.Request.Reason != audit.ReasonCoDealer &&
		req.Request.Reason != audit.ReasonTapeLost
	o, err := orderOf(r)
	if err != nil && req.Request.Reason == audit.ReasonTapeLost {
		return nil // the receipt of the order is lost with the tape
	}
	if err != nil {
		return err
	}
	req.Blind = &audit.Blind{Head: seenOf(r, o)}
	if r.Next() == r.Commit.Context.Recipe.Positions() {
		return nil
	}
	asking := ctx
	if !waits {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, lastAnswer)
		defer cancel()
	}
	deal, err := d.openedLast(asking, r, o, req)
	if err == nil && deal != nil {
		if err := d.showUnplayed(ctx, r, deal, req); err != nil {
			return err
		}
	}
	if err != nil && !waits {
		d.Log.Error("a shuffle ends, and its co-dealer does not say which places it opened that were not dealt", "shuffle", r.ID,
			"co_dealer", o.Origin, "error", err)
		return nil
	}
	return err
}

// lastAnswer is how long a close that needs no answer of the co-dealer waits for one.
const lastAnswer = 5 * time.Second

// openedLast asks the co-dealer for a deal behind the last one of the shuffle. It fills the deal
// in and returns it; nil if the co-dealer has none.
func (d *Sides) openedLast(ctx context.Context, r *record.Record, o *Order, req *Ending) (*audit.Deal, error) {
	if d.CoDealer == nil || req.Silent[o.Origin] {
		return nil, api.ErrCoDealer
	}
	g, err := d.CoDealer.Asked(ctx, nextOf(r, o))
	if req.Silent != nil && errors.Is(err, context.DeadlineExceeded) {
		req.Silent[o.Origin] = true
	}
	if err != nil || g == nil {
		return nil, err
	}
	wrong := func(err error) (*audit.Deal, error) {
		return nil, fmt.Errorf("%w: the co-dealer's deal behind shuffle %d is not valid: %w", api.ErrCoDealer, r.ID, err)
	}
	blind, deal, err := entered(r, o, *g, r.Next())
	if errors.Is(err, audit.ErrNotAsked) {
		d.Log.Error("the co-dealer dealt without a request that this house signed", "shuffle", r.ID, "co_dealer", o.Origin, "error", err)
		return nil, nil
	}
	if err != nil {
		return wrong(err)
	}
	if req.Request.Outcome != audit.OutcomeVoid && req.Request.Outcome != audit.OutcomeExpired {
		return nil, api.Illegal(audit.RuleCoDealer, "the co-dealer opened %d places from place %d, "+
			"and these were not dealt: deal them with the same request, or close as void with the reason co_dealer",
			len(deal.Opens()), r.Next())
	}
	req.Blind, req.End.Unplayed = blind, g
	if blind.Values, err = opens(r, o, deal, g.Cards); err != nil {
		g.Cards = nil // the close names the deal, without its openings
		return wrong(err)
	}
	return deal, nil
}

// showUnplayed opens the places of a co-dealer's deal as if they had been dealt, and fills in what they would have
// shown. If the tape cannot be opened, the close has no values and no openings.
func (d *Sides) showUnplayed(ctx context.Context, r *record.Record, deal *audit.Deal, req *Ending) error {
	g := req.End.Unplayed
	var t *record.Opened
	names, err := d.Shuffles.DeckNames(ctx, r.Commit.Context)
	if err == nil {
		t, err = d.Shuffles.Open(ctx, r)
	}
	if err == nil {
		defer t.Wipe()
		t.Give(&audit.Deal{First: deal.First, Runs: deal.Runs, Blind: req.Blind}, g.Cards)
		for _, place := range deal.Opens() {
			req.End.Opened = append(req.End.Opened, t.Card(names, place))
		}
		return nil
	}
	if !errors.Is(err, api.ErrSealed) && req.Request.Reason != audit.ReasonTapeLost {
		return err
	}
	d.Log.Error("a shuffle ends, and the cards that were not played cannot be opened", "shuffle", r.ID, "error", err)
	req.Blind.Values, g.Cards = nil, nil
	return nil
}

// UnplayedBehind is Unplayed once more, for a shuffle that was dealt from since. If the batch has a
// deal before the close, it does nothing: the co-dealer was asked for nothing behind that deal.
func (d *Sides) UnplayedBehind(ctx context.Context, r *record.Record, req *Ending, before []audit.Body) error {
	if slices.ContainsFunc(before, func(b audit.Body) bool { return b.Type() == audit.TypeDeal }) {
		return nil
	}
	req.Blind, req.End = nil, record.KeptEnd{Follows: req.End.Follows}
	return d.Unplayed(ctx, r, req)
}

// Ended has the co-dealer close the order of a shuffle, after the shuffle's own close, and keeps the receipt of that
// close. It stands where the statements about a shuffle do, under the index of the shuffle's close: no shuffle has it.
func (d *Sides) Ended(r *record.Record, appended []ledger.Appended) {
	if !r.Blind() || d.CoDealer == nil {
		return
	}
	o, err := orderOf(r)
	if err != nil {
		return // a request that reads the shuffle gets the error
	}
	at := slices.IndexFunc(appended, func(a ledger.Appended) bool { return a.Entry.Body.Type() == audit.TypeClose })
	row := ledger.Row{Index: appended[at].Index, Entry: appended[at].Receipt.Entry}
	n := nextOf(r, o)
	if b := appended[at].Entry.Body.(*audit.Close).Blind; b != nil { // otherwise its tape is lost
		n.Since = b.Head.Size
	}
	keep := func(ctx context.Context, g record.Given) error {
		text, err := json.Marshal(g)
		if err == nil {
			err = d.Store.PutStatement(ctx, d.Ledger.ID(), row.Index, 0, text)
		}
		return err
	}
	d.CoDealer.Ended(n, func(ctx context.Context) (string, error) {
		if err := d.Shuffles.AwaitWitnesses(ctx, row.Index); err != nil {
			return "", err
		}
		return d.Ledger.ReceiptUnder(ctx, row, d.Ledger.HeadFor(row.Index))
	}, keep)
}

// Ending is a close on its way to the ledger.
type Ending struct {
	Request api.CloseRequest
	Follows *audit.Follows  // of Request.Follows, checked
	Blind   *audit.Blind    // what the house knows of the co-dealer's order; nil: nothing
	End     record.KeptEnd  // what is kept with the close
	Given   []byte          // what is kept with a deal in the same batch
	Silent  map[string]bool // origins of co-dealers that just gave no answer, and are not asked; nil: ask all
}

// Evidence is the part of a transcript that is from the co-dealer's ledger; nil without a co-dealer. A kept
// close of the order that does not fit is logged and left out, because verifiers would refuse the file.
func (d *Sides) Evidence(ctx context.Context, r *record.Record) (*openings.CoDealer, error) {
	if !r.Blind() {
		return nil, nil
	}
	o, err := orderOf(r)
	if err != nil {
		return nil, err
	}
	c := &openings.CoDealer{Receipts: []string{o.Receipt}}
	add := func(g record.Given) { c.Receipts, c.Heads = append(c.Receipts, g.Receipt), append(c.Heads, g.Last) }
	for _, at := range r.Deals {
		g, err := r.Given(at)
		if err != nil {
			return nil, err
		}
		add(g)
	}
	if r.Closed == nil {
		return c, nil
	}
	if r.Closed.Unplayed() != nil {
		var end record.KeptEnd
		if json.Unmarshal(r.RowOf(audit.TypeClose).Kept, &end) != nil || end.Unplayed == nil {
			return nil, fmt.Errorf("%w: the openings that the close of shuffle %d names as not dealt are not stored", ledger.ErrFrozen, r.ID)
		}
		add(*end.Unplayed)
		c.Unplayed = end.Opened
	}
	texts, err := d.Store.Statements(ctx, d.Ledger.ID(), r.RowOf(audit.TypeClose).Index)
	if err != nil || len(texts) == 0 {
		return c, ledger.Unavailable(err)
	}
	end, err := orderEnd(r, o, c, texts[0])
	if err != nil {
		d.Log.Error("the kept close of a co-dealer's order is not served", "shuffle", r.ID, "error", err)
		return c, nil
	}
	add(end)
	return c, nil
}

// orderEnd reads the kept close of the co-dealer's order, which stands behind the evidence that c has.
func orderEnd(r *record.Record, o *Order, c *openings.CoDealer, text []byte) (g record.Given, err error) {
	if err := json.Unmarshal(text, &g); err != nil {
		return g, err
	}
	var f foreign
	var seen audit.Checkpoint
	asked := 0
	for _, receipt := range append(slices.Clip(c.Receipts), g.Receipt) {
		seen = f.checkpoint
		if f, err = parseForeign(receipt); err != nil {
			return g, err
		}
		if deal, ok := f.body.(*audit.Deal); ok {
			asked += deal.Count()
		}
	}
	end, ok := f.body.(*audit.Close)
	if !ok || end.Shuffle != o.Index || f.checkpoint.Origin != o.Origin {
		return g, errors.New("it is no close of the order")
	}
	row := r.RowOf(audit.TypeClose)
	after := &audit.Foreign{Index: row.Index, Leaf: tlog.RecordHash(row.Entry)}
	return g, errors.Join(f.checkpoint.CheckPrefix(seen, g.Last), end.EndsOrder(after, asked))
}
