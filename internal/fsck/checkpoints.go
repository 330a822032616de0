package fsck

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"iter"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
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
				size, ok := s.integer(r, "size")
				if !ok {
					continue
				}
				if size == last {
					s.add(CodeRowTwice, placeOf(r, ""), "the size is in more than one row")
					continue
				}
				if !yield(r, nil) {
					return
				}
				last = size
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
	if strayBits(signed) {
		s.add(CodeSignatures, where, "a signature line is not as it was written")
	}
	return signed, head, true
}

// signatures counts the signature lines of a checkpoint.
func signatures(signed []byte) int { return bytes.Count(linesOf(signed), []byte("\n")) }

// linesOf returns the signature lines of a checkpoint.
func linesOf(signed []byte) []byte { return signed[bytes.LastIndex(signed, []byte("\n\n"))+2:] }

// strayBits reports whether the base64 of a signature has bits that nothing reads. They
// can be changed without making the signature invalid.
func strayBits(signed []byte) bool {
	for line := range bytes.Lines(linesOf(signed)) {
		digits := string(bytes.TrimSuffix(line[bytes.LastIndexByte(line, ' ')+1:], []byte("\n")))
		if _, err := base64.StdEncoding.Strict().DecodeString(digits); err != nil {
			return true
		}
	}
	return false
}
