package dealer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// unplayed fills in what a close says of the co-dealer's order: the newest checkpoint of the co-dealer's ledger that
// the shuffle has, and a deal that the co-dealer opened and the house did not write. The house may have stopped between
// the two, or the game may have given the deal up. The close must name such a deal, because checkpoints in other
// shuffles may show it. Only a close as void or expired may leave a deal unplayed. If the co-dealer gives no answer, a
// close fails, except as expired, with a lost tape, or as void because of the co-dealer.
func (d *Dealer) unplayed(ctx context.Context, r *record, req *ending) error {
	if !r.blind() {
		return nil
	}
	waits := req.Outcome != audit.OutcomeExpired && req.Reason != audit.ReasonCoDealer &&
		req.Reason != audit.ReasonTapeLost
	o, err := r.order()
	if err != nil && req.Reason == audit.ReasonTapeLost {
		return nil // the receipt of the order is lost with the tape
	}
	if err != nil {
		return err
	}
	req.blind = &audit.Blind{Head: r.seen(o)}
	if r.next() == r.commit.Context.Recipe.Positions() {
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
		d.cfg.Log.Error("a shuffle ends, and its co-dealer does not say which places it opened that were not dealt", "shuffle", r.id,
			"co_dealer", o.origin, "error", err)
		return nil
	}
	return err
}

// lastAnswer is how long a close that needs no answer of the co-dealer waits for one.
const lastAnswer = 5 * time.Second

// openedLast asks the co-dealer for a deal behind the last one of the shuffle. It fills the deal
// in and returns it; nil if the co-dealer has none.
func (d *Dealer) openedLast(ctx context.Context, r *record, o *order, req *ending) (*audit.Deal, error) {
	if d.cfg.CoDealer == nil || req.silent[o.origin] {
		return nil, ErrCoDealer
	}
	g, err := d.cfg.CoDealer.Asked(ctx, r.nextOf(o))
	if req.silent != nil && errors.Is(err, context.DeadlineExceeded) {
		req.silent[o.origin] = true
	}
	if err != nil || g == nil {
		return nil, err
	}
	wrong := func(err error) (*audit.Deal, error) {
		return nil, fmt.Errorf("%w: the co-dealer's deal behind shuffle %d is not valid: %w", ErrCoDealer, r.id, err)
	}
	blind, deal, err := r.entered(o, *g, r.next())
	if errors.Is(err, audit.ErrNotAsked) {
		d.cfg.Log.Error("the co-dealer dealt without a request that this house signed", "shuffle", r.id, "co_dealer", o.origin, "error", err)
		return nil, nil
	}
	if err != nil {
		return wrong(err)
	}
	if req.Outcome != audit.OutcomeVoid && req.Outcome != audit.OutcomeExpired {
		return nil, illegal(audit.RuleCoDealer, "the co-dealer opened %d places from place %d, "+
			"and these were not dealt: deal them with the same request, or close as void with the reason co_dealer",
			len(deal.Opens()), r.next())
	}
	req.blind, req.end.Unplayed = blind, g
	if blind.Values, err = r.opens(o, deal, g.Cards); err != nil {
		g.Cards = nil // the close names the deal, without its openings
		return wrong(err)
	}
	return deal, nil
}

// wouldShow opens the places of a co-dealer's deal as if they had been dealt.
func (d *Dealer) wouldShow(ctx context.Context, r *record, of *audit.Deal, b *audit.Blind,
	by []audit.Card) (cards []audit.Card, err error) {
	names, err := d.deckNames(ctx, r.commit.Context)
	if err != nil {
		return nil, err
	}
	t, err := d.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer t.wipe()
	t.give(&audit.Deal{First: of.First, Runs: of.Runs, Blind: b}, by)
	for _, place := range of.Opens() {
		cards = append(cards, t.card(names, place))
	}
	return cards, nil
}

// showUnplayed fills in what the places that were not played would have shown. If the tape cannot
// be opened, the close has no values and no openings.
func (d *Dealer) showUnplayed(ctx context.Context, r *record, deal *audit.Deal, req *ending) (err error) {
	g := req.end.Unplayed
	req.end.Opened, err = d.wouldShow(ctx, r, deal, req.blind, g.Cards)
	if err == nil || !errors.Is(err, ErrSealed) && req.Reason != audit.ReasonTapeLost {
		return err
	}
	d.cfg.Log.Error("a shuffle ends, and the cards that were not played cannot be opened", "shuffle", r.id, "error", err)
	req.blind.Values, g.Cards = nil, nil
	return nil
}

// unplayedBehind is unplayed once more, for a shuffle that was dealt from since. If the batch has a
// deal before the close, it does nothing: the co-dealer was asked for nothing behind that deal.
func (d *Dealer) unplayedBehind(ctx context.Context, r *record, req *ending, before []audit.Body) error {
	if slices.ContainsFunc(before, func(b audit.Body) bool { return b.Type() == audit.TypeDeal }) {
		return nil
	}
	req.blind, req.end = nil, keptEnd{Follows: req.end.Follows}
	return d.unplayed(ctx, r, req)
}

// ended has the co-dealer close the order of a shuffle, after the shuffle's own close, and keeps the receipt of that
// close. It stands where the statements about a shuffle do, under the index of the shuffle's close: no shuffle has it.
func (d *Dealer) ended(r *record, appended []ledger.Appended) {
	if !r.blind() || d.cfg.CoDealer == nil {
		return
	}
	o, err := r.order()
	if err != nil {
		return // a request that reads the shuffle gets the error
	}
	at := slices.IndexFunc(appended, func(a ledger.Appended) bool { return a.Entry.Body.Type() == audit.TypeClose })
	row := ledger.Row{Index: appended[at].Index, Entry: appended[at].Receipt.Entry}
	n := r.nextOf(o)
	if b := appended[at].Entry.Body.(*audit.Close).Blind; b != nil { // otherwise its tape is lost
		n.Since = b.Head.Size
	}
	keep := func(ctx context.Context, g Given) error {
		text, err := json.Marshal(g)
		if err == nil {
			err = d.cfg.Store.PutStatement(ctx, d.cfg.Ledger.ID(), row.Index, 0, text)
		}
		return err
	}
	d.cfg.CoDealer.Ended(n, func(ctx context.Context) (string, error) {
		if n.Since == o.head.Size { // the co-dealer was asked for nothing
			return "", nil
		}
		if err := d.AwaitWitnesses(ctx, row.Index); err != nil {
			return "", err
		}
		return d.cfg.Ledger.ReceiptUnder(ctx, row, d.cfg.Ledger.HeadFor(row.Index))
	}, keep)
}
