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

// Status returns the public state of a shuffle.
func (d *Dealer) Status(ctx context.Context, id uint64) (Status, error) {
	r, err := d.record(ctx, id)
	if err != nil {
		return Status{}, err
	}
	receipt, err := d.cfg.Ledger.FirstReceipt(ctx, r.row)
	if err != nil {
		return Status{}, err
	}
	c := r.commit
	s := Status{ID: id, Table: c.Context.Table, Serial: c.Serial, Commitment: c.Commitment, DeckRoot: c.DeckRoot,
		CloseBy: Time(c.CloseBy), Receipt: receipt, Owner: r.owner, Next: r.next(), State: StateOpen}
	if r.extent != audit.ExtentPlay {
		s.Extent = r.extent.String()
	}
	if len(c.Context.Mixed()) > 0 {
		s.Mixed = new(r.mix != nil)
	}
	if c.Context.EndAt != 0 || c.Context.Recipe.EndHi != 0 {
		last, err := d.lastHand(ctx, r)
		if err != nil {
			return Status{}, err
		}
		s.LastHand = &last
	}
	switch {
	case r.closed != nil:
		s.State, s.ClosedAt, s.Outcome, s.Reason = StateClosed, Time(r.closeAt), r.closed.Outcome.String(),
			r.closed.Reason.String()
		if r.continued() {
			s.State = StateContinued
		}
	case d.cfg.Now() >= r.closeBy:
		s.State = StateOverdue
	}
	return s, nil
}

// lastHand reports whether the cut card of a shuffle that has one came out. It does not show the place of a drawn cut
// card before that.
func (d *Dealer) lastHand(ctx context.Context, r *record) (bool, error) {
	c := r.commit.Context
	if c.EndAt != 0 {
		return r.next() >= c.EndAt, nil
	}
	if next := r.next(); next < c.Recipe.EndLo || next >= c.Recipe.EndHi {
		return next >= c.Recipe.EndHi, nil // for every drawn place
	}
	t, err := d.open(ctx, r)
	if errors.Is(err, ErrSealed) {
		return false, nil // the sealing key is gone
	}
	if err != nil {
		return false, err
	}
	defer t.wipe()
	return r.next() >= t.endAt, nil
}

// Transcript returns the best evidence of a shuffle that there is now: all its receipts under one
// checkpoint, and the openings that the viewer may see. If the tape is disclosed, it is in an entry.
func (d *Dealer) Transcript(ctx context.Context, id uint64, v View) ([]byte, error) {
	if v.Recipient != "" {
		if err := audit.CheckName(v.Recipient); err != nil {
			return nil, &RequestError{"recipient", err.Error()}
		}
	}
	r, err := d.record(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.commit.Context.ForLedger != "" { // no opening is shown before the witnesses cosigned its deal
		if err := d.AwaitWitnesses(ctx, r.rows[len(r.rows)-1].Index); err != nil {
			return nil, err
		}
	}
	t := audit.Transcript{Format: audit.TranscriptFormat, ID: id, Recipient: v.Recipient,
		Receipts: []string{}, Cards: []audit.Card{}}
	if t.Deck, err = d.deckNames(ctx, r.commit.Context); err != nil {
		return nil, err
	}
	if t.Terms, err = d.document(ctx, r.commit.Context.Terms); err != nil {
		return nil, err
	}
	// The head covers the newest entry, and so all of them.
	head, err := d.cfg.Ledger.BestHead(ctx, r.rows[len(r.rows)-1].Index)
	if err != nil {
		return nil, err
	}
	t.Checkpoint = string(head.Checkpoint)
	if t.Receipts, err = d.receipts(ctx, r, head); err != nil {
		return nil, err
	}
	if t.Keys, err = d.cfg.Ledger.Handovers(ctx, head); err != nil {
		return nil, err
	}
	if t.Witnessed, err = d.witnessed(ctx, r, head); err != nil {
		return nil, err
	}
	if t.Statements, err = d.statements(ctx, r); err != nil {
		return nil, err
	}
	if t.CoDealer, err = d.coDealerEvidence(ctx, r); err != nil {
		return nil, err
	}
	shown := r.shown(v)
	if v.Recipient != "" && !r.names(v.Recipient) {
		return nil, &RequestError{"recipient", "must be named in a deal of this shuffle"}
	}
	if len(shown) == 0 {
		return t.Marshal()
	}
	if t.Cards, err = d.shownCards(ctx, r, t.Deck, shown); err != nil {
		return nil, err
	}
	return t.Marshal()
}

// shownCards opens places. If the tape is disclosed to auditors and the sealing key is gone, it
// opens only the public ones, whose openings are kept.
func (d *Dealer) shownCards(ctx context.Context, r *record, names []string, shown []span) ([]audit.Card, error) {
	open, err := d.open(ctx, r)
	if errors.Is(err, ErrSealed) && r.ended != nil && r.ended.Form == audit.FormSealed {
		cards, err := r.keptCards(names, shown)
		return append([]audit.Card{}, cards...), err
	}
	if err != nil {
		return nil, err
	}
	defer open.wipe()
	cards := []audit.Card{}
	for _, s := range shown {
		cards = open.cards(cards, names, s)
	}
	return cards, nil
}

// witnessed returns the oldest checkpoint with the commit that the witnesses cosigned, if that came before the first
// mix or deal, and proves that the tree of head begins with its tree; otherwise nil. A later checkpoint may have been
// cosigned when the round of the plan's beacon was out (docs/SPEC.md section 8).
func (d *Dealer) witnessed(ctx context.Context, r *record, head ledger.Head) (*audit.Prefix, error) {
	early, err := d.cfg.Ledger.FirstCosigned(ctx, r.id)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && early.Size > min(r.playedAt(), head.Size) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a cosigned checkpoint: %w", err)
	}
	last, err := d.cfg.Ledger.Row(ctx, early.Size-1)
	if err != nil {
		return nil, err
	}
	receipts, err := d.cfg.Ledger.ReceiptsUnder(ctx, []ledger.Row{last}, head)
	if err != nil {
		return nil, err
	}
	return &audit.Prefix{Checkpoint: string(early.Checkpoint), Last: receipts[0].Last()}, nil
}

// receipts proves the genesis and every entry of the shuffle under head. The receipts do not have
// the checkpoint, which the transcript has once.
func (d *Dealer) receipts(ctx context.Context, r *record, head ledger.Head) ([]string, error) {
	genesis, err := d.cfg.Ledger.Row(ctx, 0)
	if err != nil {
		return nil, err
	}
	head.Checkpoint = nil
	receipts, err := d.cfg.Ledger.ReceiptsUnder(ctx, append([]ledger.Row{genesis}, r.rows...), head)
	texts := make([]string, len(receipts))
	for i, r := range receipts {
		texts[i] = r.Text()
	}
	return texts, err
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

// orderEnd reads the kept close of the co-dealer's order, which stands behind the evidence that c has.
func (r *record) orderEnd(o *order, c *audit.CoDealer, text []byte) (g Given, err error) {
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
	if !ok || end.Shuffle != o.Index || f.checkpoint.Origin != o.origin {
		return g, errors.New("it is no close of the order")
	}
	row := r.rowOf(audit.TypeClose)
	after := &audit.Foreign{Index: row.Index, Leaf: tlog.RecordHash(row.Entry)}
	return g, errors.Join(f.checkpoint.CheckPrefix(seen, g.Last), end.EndsOrder(after, asked))
}
