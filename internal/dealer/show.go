package dealer

import (
	"context"
	"errors"
	"fmt"

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
	c := r.commit.Context
	s := Status{
		Shuffle: shuffleAnswer(id, r.commit, r.at, receipt), Owner: r.owner, Extent: r.extent,
		Planned: len(c.Mixed()) > 0, Mixed: r.mix != nil, CutCard: c.EndAt != 0 || c.Recipe.EndHi != 0, Next: r.next(),
	}
	if s.LastHand, err = d.lastHand(ctx, r); err != nil {
		return Status{}, err
	}
	if r.closed == nil {
		s.Overdue = d.cfg.Now() >= r.closeBy
	} else {
		s.Closed, s.ClosedAt, s.Outcome, s.Reason = true, r.closeAt, r.closed.Outcome, r.closed.Reason
		s.Continued = r.continued()
	}
	return s, nil
}

// lastHand reports whether the cut card has come out. Where a drawn one lies is
// not told before.
func (d *Dealer) lastHand(ctx context.Context, r *record) (bool, error) {
	c := r.commit.Context
	if c.EndAt != 0 || c.Recipe.EndHi == 0 {
		return c.EndAt != 0 && r.next() >= c.EndAt, nil
	}
	if next := r.next(); next < c.Recipe.EndLo || next >= c.Recipe.EndHi {
		return next >= c.Recipe.EndHi, nil // whatever was drawn
	}
	t, err := d.open(ctx, r)
	if errors.Is(err, ErrSealed) {
		return false, nil // disclosed to auditors, and the sealing key is gone
	}
	if err != nil {
		return false, err
	}
	defer t.wipe()
	return r.next() >= t.endAt, nil
}

// View says who asks for a transcript.
type View struct {
	// of a dealer: sees every dealt card of its own shuffles, and of closed ones as far as they
	// are disclosed; "" for others
	Identity  string
	Auditor   bool   // holds an auditor's token: sees what is disclosed to auditors
	Recipient string // only this recipient's cards and those that are public; the owner only
}

// Transcript returns the best evidence of a shuffle that there is now, as far as
// it is disclosed to the viewer: all its receipts under one checkpoint, the
// openings, and with a public close the tape.
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
	if r.commit.Context.ForLedger != "" { // nobody sees an opening before the witnesses saw its deal
		if err := d.AwaitWitnesses(ctx, r.rows[len(r.rows)-1].Index); err != nil {
			return nil, err
		}
	}
	t := audit.Transcript{Format: audit.TranscriptFormat, ID: id, Recipient: v.Recipient,
		Receipts: []string{}, Cards: []audit.Card{}}
	if t.Deck, err = d.deckNames(ctx, r.commit.Context); err != nil {
		return nil, err
	}
	if t.Terms, err = d.termsText(ctx, r.commit.Context.Terms); err != nil {
		return nil, err
	}
	// One head covers them all: record made sure that the newest does.
	head, err := d.cfg.Ledger.BestHead(ctx, r.rows[len(r.rows)-1].Index)
	if err != nil {
		return nil, err
	}
	t.Checkpoint = string(head.Checkpoint)
	if t.Receipts, err = d.receipts(ctx, r, head); err != nil {
		return nil, err
	}
	if t.Keys, err = d.cfg.Ledger.Handovers(ctx, head.Size); err != nil {
		return nil, err
	}
	if t.Witnessed, err = d.witnessed(ctx, r); err != nil {
		return nil, err
	}
	if t.Statements, err = d.statements(ctx, r); err != nil {
		return nil, err
	}
	if t.CoDealer, err = d.coDealerEvidence(r); err != nil {
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

// shownCards opens places. Of what is disclosed to auditors, and whose sealing key is gone,
// it opens those that everybody may see.
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
		cards = append(cards, open.cards(names, s.first, s.count)...)
	}
	return cards, nil
}

// witnessed proves the commit under a checkpoint that the witnesses cosigned
// before the first mix or deal, if there is one: the oldest, for a later one may
// have been cosigned when the round of the plan's beacon was out (docs/SPEC.md
// section 8).
func (d *Dealer) witnessed(ctx context.Context, r *record) (string, error) {
	head, err := d.cfg.Ledger.FirstCosigned(ctx, r.id)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && head.Size > r.playedAt() {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading a cosigned checkpoint: %w", err)
	}
	return d.cfg.Ledger.ReceiptUnder(ctx, r.row, head)
}

// receipts proves the genesis and every entry of the shuffle under head, whose checkpoint
// is not in them.
func (d *Dealer) receipts(ctx context.Context, r *record, head ledger.Head) ([]string, error) {
	genesis, err := d.entryAt(ctx, 0)
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

// span is a stretch of dealt places.
type span struct{ first, count int }

// shown returns the dealt places that the viewer may see, in order: public runs and what
// was revealed for everybody, those that are not aside for the owner, and all of them for
// those to whom the close disclosed the tape; with a recipient only what is public, and the
// recipient's.
func (r *record) shown(v View) (spans []span) {
	disclosed := r.ended != nil && (r.ended.Form == audit.FormTape || r.ended.Form == audit.FormSealed && v.Auditor)
	owner := v.Identity != "" && v.Identity == r.owner && r.extent == audit.ExtentPlay
	for _, dl := range r.deals {
		place := dl.deal.First
		for _, run := range dl.deal.Runs {
			all := disclosed || owner && !run.Aside()
			if run.Aside() && r.blind() {
				all = false // the co-dealer opened nothing of it
			}
			if v.Recipient != "" {
				all = all && run.Recipient == v.Recipient
			}
			end := place + run.Count
			if run.Public || all {
				spans = append(spans, span{place, run.Count})
				place = end
			}
			for ; place < end; place++ {
				if r.isRevealed(place) {
					spans = append(spans, span{place, 1})
				}
			}
		}
	}
	return spans
}

// public returns the dealt places that everybody may see while the tape is not disclosed
// to everybody.
func (r *record) public() []span { return r.shown(View{}) }

// names reports whether any run is for the recipient.
func (r *record) names(recipient string) bool {
	for _, dl := range r.deals {
		for _, run := range dl.deal.Runs {
			if run.Recipient == recipient {
				return true
			}
		}
	}
	return false
}
