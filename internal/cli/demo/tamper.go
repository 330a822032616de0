package demo

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

func (d *demo) cheat(ctx context.Context) error {
	d.act("7. Cheat: every forgery is caught")
	honest := d.files[transcriptFile]
	forged, was, is, err := alterCard(honest)
	if err != nil {
		return err
	}
	if err := d.catch("One card: seat-1 held "+was+", and the file now says "+is+".", "forged-card.json", forged,
		"openings"); err != nil {
		return err
	}
	if forged, err = alterTape(honest); err != nil {
		return err
	}
	if err := d.catch("One bit of the tape, in the file.", "forged-tape.json", forged, "inclusion"); err != nil {
		return err
	}
	if forged, err = d.house.rewriteTape(ctx, honest); err != nil {
		return err
	}
	if err := d.catch("The same bit, by the house itself: it builds its whole ledger anew over another tape and signs it with the true key.", "forged-house.json", forged, "tape"); err != nil {
		return err
	}
	return d.catchRow(ctx)
}

// catch shows a forgery, and the step that must find it.
func (d *demo) catch(what, name string, forged []byte, step string) error {
	v, err := d.expect(name, forged, step)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(v.Steps, func(s verify.Step) bool { return s.Name == step })
	d.forgery(what, step, v.Steps[i].Cause, v.Steps[i].Detail)
	return nil
}

// forgery shows a forgery that was caught.
func (d *demo) forgery(what, step, why, detail string) {
	d.caught = append(d.caught, caughtForgery{Altered: what, Step: step, Detail: detail})
	d.say("%s", what)
	caught := term.Hanging("    ", "CAUGHT at "+step+": "+why, d.W)
	fmt.Fprint(d.out, strings.Replace(caught, "CAUGHT", d.P.Good("CAUGHT"), 1))
	fmt.Fprintln(d.out, d.P.Dim(strings.TrimSuffix(term.Hanging("    ", term.Visible(detail), d.W), "\n")))
}

// catchRow alters a row in the database file, and opens the ledger again.
func (d *demo) catchRow(ctx context.Context) error {
	if err := d.house.close(); err != nil {
		return err
	}
	if err := d.house.alterRow(ctx, "seat-2", "seat-9"); err != nil {
		return err
	}
	if err := d.house.openStore(ctx); err != nil {
		return err
	}
	err := d.house.openLedger(ctx)
	if wrong := refusedStart(err); wrong != nil {
		return wrong
	}
	d.forgery("One row of the database: its administrator drops the triggers and gives the cards of seat-2 to seat-9.",
		"start", "the daemon refuses to serve such a ledger", err.Error())
	return nil
}

// refusedStart returns an error unless the start was refused because of what the database has.
func refusedStart(err error) error {
	if !errors.Is(err, ledger.ErrFrozen) {
		return fmt.Errorf("a ledger over an altered row was opened, or refused for another reason: %v", err)
	}
	return nil
}

// alterCard exchanges the first card of the transcript for another one.
func alterCard(transcript []byte) (altered []byte, was, is string, err error) {
	t, err := openings.ParseTranscript(transcript)
	if err != nil {
		return nil, "", "", err
	}
	c := &t.Cards[0]
	was = c.Card
	c.Value = (c.Value + 1) % uint32(len(t.Deck))
	c.Card = t.Deck[c.Value]
	altered, err = t.Marshal()
	return altered, was, c.Card, err
}

// alterTape flips one bit of the disclosed tape.
func alterTape(transcript []byte) ([]byte, error) {
	return alterReceipts(transcript, "", func(r *audit.Receipt, of audit.Type) (err error) {
		if of == audit.TypeClose {
			r.Entry, err = flipTape(r.Entry)
		}
		return err
	})
}

// flipTape returns the close entry with one bit of its tape flipped.
func flipTape(entry []byte) ([]byte, error) {
	e, err := audit.ParseEntry(entry)
	if err != nil {
		return nil, err
	}
	e.Body.(*audit.Close).Tape[0] ^= 1
	return e.Encode()
}

// alterReceipts calls change with each receipt and the type of its entry. If checkpoint is not "", it replaces
// the one of the transcript.
func alterReceipts(transcript []byte, checkpoint string,
	change func(*audit.Receipt, audit.Type) error) ([]byte, error) {
	t, err := openings.ParseTranscript(transcript)
	if err != nil {
		return nil, err
	}
	t.Checkpoint = cmp.Or(checkpoint, t.Checkpoint)
	for i, text := range t.Receipts {
		r, e, err := audit.ReceiptEntry(text)
		if err != nil {
			return nil, err
		}
		if err := change(&r, e.Body.Type()); err != nil {
			return nil, err
		}
		t.Receipts[i] = r.Text()
	}
	return t.Marshal()
}

// rewriteTape is a forgery by the house. It flips one bit of the disclosed tape, builds the whole ledger anew with the
// altered entry, signs it with the true key, and gives every entry of the transcript a proof under the new root.
func (h *demoHouse) rewriteTape(ctx context.Context, transcript []byte) ([]byte, error) {
	var entries [][]byte
	var leaves []tlog.Hash
	for row, err := range h.store.Rows(ctx, h.ledger.ID(), 0, h.ledger.Head().Size) {
		if err != nil {
			return nil, err
		}
		if row.Type == audit.TypeClose {
			if row.Entry, err = flipTape(row.Entry); err != nil {
				return nil, err
			}
		}
		entries, leaves = append(entries, row.Entry), append(leaves, tlog.RecordHash(row.Entry))
	}
	none, err := ledger.EdgeAt(tlog.HashReaderFunc(func([]int64) ([]tlog.Hash, error) { return nil, nil }), 0)
	if err != nil {
		return nil, err
	}
	tree, err := none.Extend(leaves)
	if err != nil {
		return nil, err
	}
	root, err := tree.Root()
	if err != nil {
		return nil, err
	}
	head, err := ledger.SignHead(uint64(tree.Size), root, h.key.Signer())
	if err != nil {
		return nil, err
	}
	return alterReceipts(transcript, string(head.Checkpoint), func(r *audit.Receipt, _ audit.Type) (err error) {
		r.Entry = entries[r.Index]
		r.Proof, err = tlog.ProveRecord(tree.Size, int64(r.Index), tree)
		return err
	})
}

// alterRow changes the recipient of dealt cards in the database file. It first drops the trigger that forbids
// this, as the owner of the database can. The house must be closed.
func (h *demoHouse) alterRow(ctx context.Context, from, to string) (err error) {
	db, err := sql.Open("sqlite", filepath.Join(h.cfg.Data, "shuffled.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "DROP TRIGGER entries_no_update"); err != nil {
		return err
	}
	altered, err := db.ExecContext(ctx, `UPDATE entries SET entry = unhex(replace(hex(entry), hex($1), hex($2)))
WHERE type = $3 AND instr(entry, CAST($1 AS blob)) > 0`, from, to, audit.TypeDeal)
	if err != nil {
		return err
	}
	n, err := altered.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("%d deals name %s, and exactly one must", n, from)
	}
	return err
}
