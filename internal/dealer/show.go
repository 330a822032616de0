package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// Status returns the public state of a shuffle.
func (d *Dealer) Status(ctx context.Context, id uint64) (api.Status, error) {
	r, err := d.shuffles.Durable(ctx, id)
	if err != nil {
		return api.Status{}, err
	}
	receipt, err := d.cfg.Ledger.FirstReceipt(ctx, r.Row)
	if err != nil {
		return api.Status{}, err
	}
	c := r.Commit
	s := api.Status{ID: id, Table: c.Context.Table, Serial: c.Serial, Commitment: c.Commitment, DeckRoot: c.DeckRoot,
		CloseBy: api.Time(c.CloseBy), Receipt: receipt, Owner: r.Owner, Next: r.Next(), State: api.StateOpen}
	if r.Extent != audit.ExtentPlay {
		s.Extent = r.Extent.String()
	}
	if len(c.Context.Mixed()) > 0 {
		s.Mixed = new(r.Mix != nil)
	}
	if c.Context.EndAt != 0 || c.Context.Recipe.EndHi != 0 {
		last, err := d.lastHand(ctx, r)
		if err != nil {
			return api.Status{}, err
		}
		s.LastHand = &last
	}
	switch {
	case r.Closed != nil:
		s.State, s.ClosedAt, s.Outcome, s.Reason = api.StateClosed, api.Time(r.CloseAt), r.Closed.Outcome.String(),
			r.Closed.Reason.String()
		if r.Continued() {
			s.State = api.StateContinued
		}
	case d.cfg.Now() >= r.CloseBy:
		s.State = api.StateOverdue
	}
	return s, nil
}

// lastHand reports whether the cut card of a shuffle that has one came out. It does not show the place of a drawn cut
// card before that.
func (d *Dealer) lastHand(ctx context.Context, r *record.Record) (bool, error) {
	c := r.Commit.Context
	if c.EndAt != 0 {
		return r.Next() >= c.EndAt, nil
	}
	if next := r.Next(); next < c.Recipe.EndLo || next >= c.Recipe.EndHi {
		return next >= c.Recipe.EndHi, nil // for every drawn place
	}
	t, err := d.shuffles.Open(ctx, r)
	if errors.Is(err, api.ErrSealed) {
		return false, nil // the sealing key is gone
	}
	if err != nil {
		return false, err
	}
	defer t.Wipe()
	return r.Next() >= t.EndAt, nil
}

// Transcript returns the best evidence of a shuffle that there is now: all its receipts under one
// checkpoint, and the openings that the viewer may see. If the tape is disclosed, it is in an entry.
func (d *Dealer) Transcript(ctx context.Context, id uint64, v api.View) ([]byte, error) {
	if v.Recipient != "" {
		if err := audit.CheckName(v.Recipient); err != nil {
			return nil, api.Invalid("recipient", err.Error())
		}
	}
	r, err := d.shuffles.Durable(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.Commit.Context.ForLedger != "" { // no opening is shown before the witnesses cosigned its deal
		if err := d.shuffles.AwaitWitnesses(ctx, r.Rows[len(r.Rows)-1].Index); err != nil {
			return nil, err
		}
	}
	t := openings.Transcript{Format: openings.TranscriptFormat, ID: id, Recipient: v.Recipient,
		Receipts: []string{}, Cards: []openings.Card{}}
	if t.Deck, err = d.shuffles.DeckNames(ctx, r.Commit.Context); err != nil {
		return nil, err
	}
	if t.Terms, err = d.document(ctx, r.Commit.Context.Terms); err != nil {
		return nil, err
	}
	// The head covers the newest entry, and so all of them.
	head, err := d.cfg.Ledger.BestHead(ctx, r.Rows[len(r.Rows)-1].Index)
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
	if t.CoDealer, err = d.blind.Evidence(ctx, r); err != nil {
		return nil, err
	}
	shown := r.Shown(v)
	if v.Recipient != "" && !r.Names(v.Recipient) {
		return nil, api.Invalid("recipient", "must be named in a deal of this shuffle")
	}
	cards, err := d.shownCards(ctx, r, t.Deck, shown)
	if err != nil {
		return nil, err
	}
	t.Cards = append(t.Cards, cards...)
	return t.Marshal()
}

// shownCards opens places. If the tape is disclosed to auditors and the sealing key is gone, it
// opens only the public ones, whose openings are kept.
func (d *Dealer) shownCards(ctx context.Context, r *record.Record, names []string,
	shown []int) (cards []openings.Card, err error) {
	if len(shown) == 0 {
		return nil, nil
	}
	open, err := d.shuffles.Open(ctx, r)
	if errors.Is(err, api.ErrSealed) && r.Ended != nil && r.Ended.Form == audit.FormSealed {
		return r.KeptCards(names, shown)
	}
	if err != nil {
		return nil, err
	}
	defer open.Wipe()
	for _, place := range shown {
		cards = append(cards, open.Card(names, place))
	}
	return cards, nil
}

// witnessed returns the oldest checkpoint with the commit that the witnesses cosigned, if that came before the first
// mix or deal, and proves that the tree of head begins with its tree; otherwise nil. A later checkpoint may have been
// cosigned when the round of the plan's beacon was out (docs/SPEC.md section 8).
func (d *Dealer) witnessed(ctx context.Context, r *record.Record, head ledger.Head) (*openings.Prefix, error) {
	early, err := d.cfg.Ledger.FirstCosigned(ctx, r.ID)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && early.Size > min(r.PlayedAt(), head.Size) {
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
	return &openings.Prefix{Checkpoint: string(early.Checkpoint), Last: receipts[0].Last()}, nil
}

// receipts proves the genesis and every entry of the shuffle under head. The receipts do not have
// the checkpoint, which the transcript has once.
func (d *Dealer) receipts(ctx context.Context, r *record.Record, head ledger.Head) ([]string, error) {
	genesis, err := d.cfg.Ledger.Row(ctx, 0)
	if err != nil {
		return nil, err
	}
	head.Checkpoint = nil
	receipts, err := d.cfg.Ledger.ReceiptsUnder(ctx, append([]ledger.Row{genesis}, r.Rows...), head)
	texts := make([]string, len(receipts))
	for i, r := range receipts {
		texts[i] = r.Text()
	}
	return texts, err
}

// ErrStatement: a shuffle cannot take a statement now.
var ErrStatement = errors.New("the statement")

// AddStatement keeps a statement that an auditor signed about a shuffle (docs/SPEC.md section 8.1).
// The transcripts of the shuffle have it from then on. AddStatement returns how many statements the
// shuffle has then. If it has this statement already, it is kept once. The house does not know the
// signing keys of auditors and checks no signature: verifiers do.
func (d *Dealer) AddStatement(ctx context.Context, id uint64, text string) (n int, err error) {
	s, err := openings.ParseStatement([]byte(text))
	if err != nil {
		return 0, api.Invalid("statement", fmt.Sprintf("must be a signed statement as shuffled audit attest writes it: %s", err))
	}
	r, err := d.shuffles.Durable(ctx, id)
	if err != nil {
		return 0, err
	}
	want, ok := statementOf(r)
	if !ok {
		return 0, fmt.Errorf("%w: the shuffle discloses no tape: it is open or was continued, or its tape was lost",
			ErrStatement)
	}
	if s.Statement != want {
		return 0, api.Invalid("statement", fmt.Sprintf(
			"must be about shuffle %d of %s, with the leaf hashes of its commit and of the entry that discloses its tape",
			id, want.Origin))
	}
	store, lid := d.cfg.Store, d.cfg.Ledger.ID()
	for range openings.MaxStatements + 1 { // another daemon may take the next place
		all, err := store.Statements(ctx, lid, id)
		if err != nil {
			return 0, ledger.Unavailable(err)
		}
		if i := slices.IndexFunc(all, func(b []byte) bool { return string(b) == text }); i >= 0 {
			return len(all), nil
		}
		if err := admits(s, all); err != nil {
			return 0, err
		}
		err = store.PutStatement(ctx, lid, id, len(all), []byte(text))
		if err == nil {
			return len(all) + 1, nil
		}
		if !errors.Is(err, ledger.ErrExists) {
			return 0, ledger.Unavailable(err)
		}
	}
	return 0, fmt.Errorf("%w: the database does not show statements that it has stored", ledger.ErrUnavailable)
}

// admits refuses a statement if there are as many as a shuffle may have, or one of the same key.
func admits(s openings.SignedStatement, all [][]byte) error {
	if len(all) >= openings.MaxStatements {
		return fmt.Errorf("%w: the shuffle already has %d statements, and may have no more", ErrStatement, len(all))
	}
	for _, b := range all {
		held, err := openings.ParseStatement(b)
		if err != nil {
			continue // AddStatement did not write it, and it is not served
		}
		for _, by := range s.By {
			if slices.Contains(held.By, by) {
				return fmt.Errorf("%w: the key %s+%08x has already signed a statement about this shuffle", ErrStatement, by.Name,
					by.ID)
			}
		}
	}
	return nil
}

// statementOf returns the text of a statement about the shuffle. ok is false if its tape is not disclosed.
func statementOf(r *record.Record) (s openings.Statement, ok bool) {
	if r.Ended == nil || r.Ended.Form == audit.FormNone {
		return s, false
	}
	return openings.Statement{Origin: r.Commit.Context.Origin, ID: r.ID, Commit: tlog.RecordHash(r.Row.Entry),
		Disclosed: tlog.RecordHash(r.Rows[len(r.Rows)-1].Entry)}, true
}

// statements returns the statements for a transcript. A row that AddStatement would not have
// written is logged and left out, because verifiers would refuse the file.
func (d *Dealer) statements(ctx context.Context, r *record.Record) (texts []string, err error) {
	want, ok := statementOf(r)
	if !ok {
		return nil, nil
	}
	all, err := d.cfg.Store.Statements(ctx, d.cfg.Ledger.ID(), r.ID)
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	var served [][]byte
	for i, b := range all {
		s, err := openings.ParseStatement(b)
		if err != nil || s.Statement != want || admits(s, served) != nil {
			d.cfg.Log.Error("a stored statement is not about its shuffle, and is not served", "shuffle", r.ID, "n", i)
			continue
		}
		served, texts = append(served, b), append(texts, string(b))
	}
	return texts, nil
}
