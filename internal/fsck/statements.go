package fsck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/store"
)

// statements compares the auditors' statements about shuffles of the chunk, by shuffle and number, with the entries
// that they are about. It does not check whether a signature is an auditor's: the house accepts any (docs/SPEC.md
// section 8.1). If a number is out of range, odd names the row.
func (c *chunk) statements(ctx context.Context, rows []store.Raw, entries [][]byte) error {
	var about uint64 // the shuffle of the row before
	var next int64   // number of the next row about it
	var by map[audit.Signer]bool
	for _, r := range rows {
		shuffle, _ := r.Int("shuffle")
		n, ok := r.Int("n")
		if !ok || n < 0 || n >= audit.MaxStatements || shuffle <= 0 {
			continue
		}
		if uint64(shuffle) != about {
			about, next, by = uint64(shuffle), 0, make(map[audit.Signer]bool)
		}
		if n < next {
			c.add(CodeRowTwice, placeOf(r, ""), "the statement is in more than one row")
		}
		for ; next < n; next++ {
			c.add(CodeRowMissing, place(store.StatementRows, "", fmt.Sprintf("shuffle=%d,n=%d", shuffle, next)),
				"a later statement about the shuffle is stored, and this statement is missing")
		}
		next = n + 1
		if err := c.statement(ctx, r, about, by, entries[about-c.first]); err != nil {
			return err
		}
	}
	return nil
}

// statement compares one with the commit of its shuffle and the entry that discloses the tape. by are who signed those
// about the shuffle before it.
func (c *chunk) statement(ctx context.Context, r store.Raw, about uint64, by map[audit.Signer]bool,
	commit []byte) error {
	b, ok := r.Bytes("note")
	if !ok {
		c.add(CodeColumn, placeOf(r, "note"), "it is %s, not bytes", kind(r.Value("note")))
		return nil
	}
	if e, err := audit.ParseEntry(commit); err == nil && e.Body.Type() == audit.TypeClose {
		return c.orderEnd(r, b, about)
	}
	found, err := audit.ParseStatement(b)
	if errors.Is(err, audit.ErrUnknown) {
		c.say("a statement about shuffle %d is of a later version", about)
		return nil
	}
	if err != nil {
		c.add(CodeColumn, placeOf(r, "note"), "%s", audit.Printable(err.Error()))
		return nil
	}
	for _, signer := range found.By {
		if by[signer] {
			c.add(CodeColumn, placeOf(r, "note"), "%s signed another statement about the shuffle",
				audit.Printable(signer.Name))
		}
		by[signer] = true
	}
	ends, err := c.source.rows.Ends(ctx, c.id, about)
	if err != nil {
		return err
	}
	var end []byte // that of a continued shuffle is not its close
	if len(ends) > 0 {
		end, _ = ends[len(ends)-1].Bytes("entry")
	}
	switch {
	case found.Origin != c.origin:
		c.add(CodeColumn, placeOf(r, "note"), "it is about the ledger %s", found.Origin)
	case found.ID != about:
		c.add(CodeColumn, placeOf(r, "shuffle"), "it is %d, and the statement is about shuffle %d", about, found.ID)
	case tlog.RecordHash(commit) != found.Commit:
		c.add(CodeColumn, placeOf(r, "note"), "it names another commit than that of the shuffle")
	case tlog.RecordHash(end) != found.Disclosed:
		c.add(CodeColumn, placeOf(r, "note"), "it names another entry than the entry that discloses the tape")
	}
	return nil
}

// orderEnd checks that the close of a co-dealer's order is kept under that of the shuffle. It is compared with the
// shuffle when it is read.
func (c *chunk) orderEnd(r store.Raw, text []byte, about uint64) error {
	var kept struct{ Receipt string }
	err := json.Unmarshal(text, &kept)
	if err == nil {
		_, e, _ := audit.ReceiptEntry(kept.Receipt)
		if _, ok := e.Body.(*audit.Close); !ok {
			err = errors.New("it has no receipt of one")
		}
	}
	if err != nil {
		c.add(CodeColumn, placeOf(r, "note"), "it holds no close of the order behind entry %d: %v", about, err)
	}
	return nil
}
