package fsck

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/store"
)

// stated is what the statements of one shuffle have shown so far.
type stated struct {
	shuffle uint64
	next    int64 // n of the next row
	by      map[audit.Signer]bool
}

// statements compares the auditors' statements with the entries that they are about. It does not check whether a
// signature is an auditor's: the house accepts any (docs/SPEC.md section 8.1).
func (s *source) statements(ctx context.Context) error {
	now := stated{shuffle: 1}
	for {
		rows, err := s.rows.Statements(ctx, s.id, now.shuffle, s.size, statementPage)
		if err != nil {
			return err
		}
		last := now.shuffle
		for _, r := range rows {
			if n, ok := r.Int("shuffle"); ok {
				last = uint64(n)
			}
		}
		if len(rows) < statementPage || last == now.shuffle { // the last shuffle is whole, or has too many rows
			last++
		}
		for _, r := range rows {
			if n, ok := r.Int("shuffle"); ok && uint64(n) < last {
				if err := s.row(ctx, r, &now); err != nil {
					return err
				}
			}
		}
		if len(rows) < statementPage {
			return nil
		}
		now = stated{shuffle: last}
	}
}

// statementPage is how many rows are read at once.
const statementPage = 256

// row compares a statement with those about its shuffle before it. If its number is out of range, odd names it.
func (s *source) row(ctx context.Context, r store.Raw, now *stated) error {
	shuffle, _ := r.Int("shuffle")
	n, ok := r.Int("n")
	if !ok || n < 0 || n >= audit.MaxStatements {
		return nil
	}
	s.counts.Statements++
	if uint64(shuffle) != now.shuffle || now.by == nil {
		*now = stated{uint64(shuffle), 0, make(map[audit.Signer]bool)}
	}
	if n < now.next {
		s.add(CodeRowTwice, placeOf(r, ""), "the statement is in more than one row")
	}
	for ; now.next < n; now.next++ {
		s.add(CodeRowMissing, place(store.StatementRows, "", fmt.Sprintf("shuffle=%d,n=%d", shuffle, now.next)),
			"a later statement about the shuffle is stored, and this statement is missing")
	}
	now.next = n + 1
	return s.statement(ctx, r, now)
}

// statement compares one with the commit of its shuffle and the entry that discloses the tape.
func (s *source) statement(ctx context.Context, r store.Raw, now *stated) error {
	b, ok := r.Bytes("note")
	if !ok {
		s.add(CodeColumn, placeOf(r, "note"), "it is %s, not bytes", kind(r.Value("note")))
		return nil
	}
	found, err := audit.ParseStatement(b)
	if errors.Is(err, audit.ErrUnknown) {
		s.said = append(s.said, fmt.Sprintf("a statement about shuffle %d is of a later version", now.shuffle))
		return nil
	}
	if err != nil {
		s.add(CodeColumn, placeOf(r, "note"), "%s", audit.Printable(err.Error()))
		return nil
	}
	for _, by := range found.By {
		if now.by[by] {
			s.add(CodeColumn, placeOf(r, "note"), "%s signed another statement about the shuffle", audit.Printable(by.Name))
		}
		now.by[by] = true
	}
	commit, err := s.rows.Range(ctx, store.EntryRows, s.id, now.shuffle, now.shuffle+1)
	if err != nil {
		return err
	}
	ends, err := s.rows.Ends(ctx, s.id, now.shuffle)
	if err != nil {
		return err
	}
	switch {
	case found.Origin != s.origin:
		s.add(CodeColumn, placeOf(r, "note"), "it is about the ledger %s", found.Origin)
	case found.ID != now.shuffle:
		s.add(CodeColumn, placeOf(r, "shuffle"), "it is %d, and the statement is about shuffle %d", now.shuffle, found.ID)
	case !leads(commit, found.Commit):
		s.add(CodeColumn, placeOf(r, "note"), "it names another commit than that of the shuffle")
	case !leads(ends[max(0, len(ends)-1):], found.Disclosed): // that of a continued shuffle is not its close
		s.add(CodeColumn, placeOf(r, "note"), "it names another entry than the entry that discloses the tape")
	}
	return nil
}

// leads reports whether an entry in the rows has the leaf hash.
func leads(rows []store.Raw, want tlog.Hash) bool {
	for _, r := range rows {
		if b, ok := r.Bytes("entry"); ok && tlog.RecordHash(b) == want {
			return true
		}
	}
	return false
}
