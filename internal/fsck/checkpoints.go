package fsck

import (
	"bytes"
	"context"
	"encoding/base64"
	"iter"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// page is how many checkpoints are read at a time.
const page = 512

// Checkpoints implements inspect.Source. All signed checkpoints of a store are of
// one kind; those with two signatures are among them.
func (s *source) Checkpoints(ctx context.Context, kind inspect.Kind, from uint64) iter.Seq2[inspect.Checkpoint, error] {
	table := map[inspect.Kind]*store.Relation{inspect.KindHead: store.CheckpointRows,
		inspect.KindCosigned: store.CosignedRows}[kind]
	return func(yield func(inspect.Checkpoint, error) bool) {
		if table == nil {
			return
		}
		for r, err := range s.sizes(ctx, table, from) {
			if err != nil {
				yield(inspect.Checkpoint{}, err)
				return
			}
			c, ok := s.checkpoint(r)
			if !ok {
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// sizes yields the rows of a table of checkpoints by size, one for each, up to
// the size of the head. The others of a size are faults.
func (s *source) sizes(ctx context.Context, t *store.Relation, from uint64) iter.Seq2[store.Raw, error] {
	return func(yield func(store.Raw, error) bool) {
		var last int64 // 0: none yet
		for from <= s.size {
			rows, err := s.rows.First(ctx, t, s.id, from, s.size+1, page)
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
					s.add(fault(CodeRowTwice, placeOf(r, ""), "the size stands in more than one row"))
					continue
				}
				if !yield(r, nil) {
					return
				}
				last = size
			}
			if len(rows) < page {
				return
			}
			from = max(uint64(last), from) + 1
			if err := s.crossing(ctx, t, rows[page-1]); err != nil {
				yield(store.Raw{}, err)
				return
			}
		}
	}
}

// crossing looks for a size that goes on behind the end of a page.
func (s *source) crossing(ctx context.Context, t *store.Relation, r store.Raw) error {
	size, ok := r.Int("size")
	if !ok {
		return nil
	}
	rows, err := s.rows.First(ctx, t, s.id, uint64(size), uint64(size)+1, 2)
	if len(rows) > 1 {
		s.add(fault(CodeRowTwice, placeOf(r, ""), "the size stands in more than one row"))
	}
	return err
}

// checkpoint holds the columns of a row against the checkpoint in it. ok is
// false for one that inspect can do nothing with.
func (s *source) checkpoint(r store.Raw) (c inspect.Checkpoint, ok bool) {
	where := placeOf(r, "checkpoint")
	b, isBytes := r.Bytes("checkpoint")
	if !isBytes {
		s.add(fault(CodeColumn, where, "it is %s, not bytes", kind(r.Value("checkpoint"))))
		return c, false
	}
	head, err := audit.CheckpointText(b)
	if err != nil {
		s.add(fault(inspect.CodeCheckpoint, where, "%v", err))
		return c, false
	}
	if head.Origin != s.origin {
		s.add(fault(inspect.CodeCheckpoint, where, "the checkpoint is of another ledger"))
		return c, false
	}
	sized, rooted := same(r, "size", int64(head.Size)), same(r, "root", head.Root[:])
	if !sized && !rooted {
		s.add(fault(CodeColumn, where, "it is a checkpoint of size %d and another root", head.Size))
		return c, false
	}
	if !rooted {
		s.add(fault(CodeColumn, placeOf(r, "root"), "it is %s, and the checkpoint says %s", show(r.Value("root")),
			show(head.Root[:])))
	}
	if !sized {
		s.add(fault(CodeColumn, placeOf(r, "size"), "it is %s, and the checkpoint says %d", show(r.Value("size")),
			head.Size))
		return c, false
	}
	if f := strayBits(b, where); f != nil {
		s.add(*f)
	}
	if n := signatures(b); r.Relation == store.CheckpointRows && n != 1 {
		s.mu.Lock()
		s.lines[head.Size] = n
		s.mu.Unlock()
	}
	return inspect.Checkpoint{Signed: b, Where: where}, true
}

// signatures counts the signature lines of a checkpoint.
func signatures(signed []byte) int {
	return bytes.Count(signed[bytes.LastIndex(signed, []byte("\n\n"))+2:], []byte("\n"))
}

// strayBits names a signature whose base64 has bits that nothing reads, and that
// could be changed without a signature failing.
func strayBits(signed []byte, where string) *inspect.Fault {
	for line := range strings.Lines(string(signed[bytes.LastIndex(signed, []byte("\n\n"))+2:])) {
		line = strings.TrimSuffix(line, "\n")
		if _, err := base64.StdEncoding.Strict().DecodeString(line[strings.LastIndexByte(line, ' ')+1:]); err != nil {
			f := fault(CodeSignatures, where, "a signature line is not as it was written")
			return &f
		}
	}
	return nil
}
