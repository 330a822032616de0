package fsck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// page is how many sizes one statement asks for.
const page = 4096

// Checkpoints implements inspect.Source. All signed checkpoints of a store are of one
// kind, also those at a rotation of the signing key.
func (s *source) Checkpoints(ctx context.Context, kind inspect.Kind, from uint64) iter.Seq2[inspect.Checkpoint, error] {
	relation := map[inspect.Kind]*store.Relation{inspect.KindHead: store.CheckpointRows,
		inspect.KindCosigned: store.CosignedRows}[kind]
	return func(yield func(inspect.Checkpoint, error) bool) {
		if relation == nil {
			return
		}
		for r, err := range s.sizes(ctx, relation, from) {
			if err != nil {
				yield(inspect.Checkpoint{}, err)
				return
			}
			signed, head, ok := s.checkpoint(r)
			if !ok || !same(r, "size", int64(head.Size)) {
				continue
			}
			if n := signatures(signed); kind == inspect.KindHead && s.lines != nil && n > lines(&s.history, head.Size) {
				s.mu.Lock()
				s.lines[head.Size] = n
				s.mu.Unlock()
			}
			if !yield(inspect.Checkpoint{Signed: signed, Where: placeOf(r, "checkpoint")}, nil) {
				return
			}
		}
	}
}

// sizes yields the rows of a relation of checkpoints by size, up to the size of the head.
// It yields one row of each size, and names others as faults.
func (s *source) sizes(ctx context.Context, t *store.Relation, from uint64) iter.Seq2[store.Raw, error] {
	return func(yield func(store.Raw, error) bool) {
		var last int64 // 0: none yet
		for ; from <= s.size; from += page {
			rows, err := s.rows.Range(ctx, t, s.id, from, min(from+page, s.size+1))
			if err != nil {
				yield(store.Raw{}, err)
				return
			}
			for _, r := range rows {
				switch size, ok := s.integer(r, "size"); {
				case !ok:
				case size == last:
					s.add(CodeRowTwice, placeOf(r, ""), "the size is in more than one row")
				case !yield(r, nil):
					return
				default:
					last = size
				}
			}
		}
	}
}

// checkpoint reads the checkpoint in a row of heads, checkpoints, cosigned or late, and
// compares the other columns with it. ok is false if it is not a checkpoint of this ledger.
func (s *source) checkpoint(r store.Raw) (signed []byte, head audit.Checkpoint, ok bool) {
	where := placeOf(r, "checkpoint")
	signed, isBytes := r.Bytes("checkpoint")
	head, err := audit.CheckpointText(signed)
	if err == nil && head.Origin != s.origin {
		err = errors.New("the checkpoint is of another ledger")
	}
	if err != nil {
		if isBytes {
			s.add(inspect.CodeCheckpoint, where, "%v", err)
		} else {
			s.add(CodeColumn, where, "it is %s, not bytes", kind(r.Value("checkpoint")))
		}
		if n, ok := r.Int("size"); !ok || n <= 0 {
			s.add(CodeColumn, placeOf(r, "size"), "it is %s", show(r.Value("size")))
		}
		if b, ok := r.Bytes("root"); !ok || len(b) != tlog.HashSize {
			s.add(CodeColumn, placeOf(r, "root"), "it is %s", show(r.Value("root")))
		}
		return nil, head, false
	}
	wrong := compare(r, "checkpoint", cell{"size", int64(head.Size)}, cell{"root", head.Root[:]})
	if len(wrong) == 2 && r.Relation != store.HeadRows { // both differ: it is one fault, of the checkpoint
		s.add(CodeColumn, where, "it is a checkpoint of size %d and another root", head.Size)
	} else {
		s.keep(wrong...)
	}
	return signed, head, true
}

// signatures counts the signature lines of a checkpoint.
func signatures(signed []byte) int {
	return bytes.Count(signed[bytes.LastIndex(signed, []byte("\n\n")):], []byte("\n")) - 2
}

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
		if !ok || n < 0 || n >= openings.MaxStatements || shuffle <= 0 {
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
		c.orderEnd(r, b, about)
		return nil
	}
	found, err := openings.ParseStatement(b)
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
func (c *chunk) orderEnd(r store.Raw, text []byte, about uint64) {
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
}
