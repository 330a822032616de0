package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// StatementError is why a shuffle cannot take a statement now.
type StatementError struct{ Rule string }

func (e *StatementError) Error() string { return "the statement: " + e.Rule }

// AddStatement keeps a statement that an auditor signed about a shuffle (docs/SPEC.md section 8.1).
// The transcripts of the shuffle have it from then on. AddStatement returns how many statements the
// shuffle has then. If it has this statement already, it is kept once. The house does not know the
// signing keys of auditors and checks no signature: verifiers do.
func (d *Dealer) AddStatement(ctx context.Context, id uint64, text string) (n int, err error) {
	s, err := audit.ParseStatement([]byte(text))
	if err != nil {
		return 0, &RequestError{"statement", fmt.Sprintf("must be a signed statement as shuffled audit attest writes it: %s", err)}
	}
	r, err := d.record(ctx, id)
	if err != nil {
		return 0, err
	}
	want, ok := r.statement()
	if !ok {
		return 0, &StatementError{"the shuffle discloses no tape: it is open or was continued, or its tape was lost"}
	}
	if s.Statement != want {
		return 0, &RequestError{"statement", fmt.Sprintf(
			"must be about shuffle %d of %s, with the leaf hashes of its commit and of the entry that discloses its tape",
			id, want.Origin)}
	}
	store, lid := d.cfg.Store, d.cfg.Ledger.ID()
	for range audit.MaxStatements + 1 { // another daemon may take the next place
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
func admits(s audit.SignedStatement, all [][]byte) error {
	if len(all) >= audit.MaxStatements {
		return &StatementError{fmt.Sprintf("the shuffle already has %d statements, and may have no more", len(all))}
	}
	for _, b := range all {
		held, err := audit.ParseStatement(b)
		if err != nil {
			continue // AddStatement did not write it, and it is not served
		}
		for _, by := range s.By {
			if slices.Contains(held.By, by) {
				return &StatementError{fmt.Sprintf("the key %s+%08x has already signed a statement about this shuffle", by.Name, by.ID)}
			}
		}
	}
	return nil
}

// statement returns the text of a statement about the shuffle. ok is false if its tape is not disclosed.
func (r *record) statement() (s audit.Statement, ok bool) {
	if r.ended == nil || r.ended.Form == audit.FormNone {
		return s, false
	}
	return audit.Statement{Origin: r.commit.Context.Origin, ID: r.id, Commit: tlog.RecordHash(r.row.Entry),
		Disclosed: tlog.RecordHash(r.rows[len(r.rows)-1].Entry)}, true
}

// statements returns the statements for a transcript. A row that AddStatement would not have
// written is logged and left out, because verifiers would refuse the file.
func (d *Dealer) statements(ctx context.Context, r *record) (texts []string, err error) {
	want, ok := r.statement()
	if !ok {
		return nil, nil
	}
	all, err := d.cfg.Store.Statements(ctx, d.cfg.Ledger.ID(), r.id)
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	var served [][]byte
	for i, b := range all {
		s, err := audit.ParseStatement(b)
		if err != nil || s.Statement != want || admits(s, served) != nil {
			d.cfg.Log.Error("a stored statement is not about its shuffle, and is not served", "shuffle", r.id, "n", i)
			continue
		}
		served, texts = append(served, b), append(texts, string(b))
	}
	return texts, nil
}
