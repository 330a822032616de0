package fsck

import (
	"bytes"
	"context"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// headKey is the key of the head's row.
func (s *source) headKey() string { return "ledger=" + show(int64(s.id)) }

// candidate is a checkpoint of the ledger that may be the newest.
type candidate struct {
	inspect.Checkpoint
	size  uint64
	known bool // signed with a key of the ledger, unless none of them could be learned
}

// less reports whether d rather than c is the newest. A checkpoint that is signed goes before
// one that is not, which inspect names as a fault.
func (c candidate) less(d candidate) bool {
	return !c.known && d.known || c.known == d.known && c.size < d.size
}

func (s *source) candidate(signed []byte, head audit.Checkpoint, where string) candidate {
	return candidate{inspect.Checkpoint{Signed: signed, Where: where}, head.Size, len(s.keys) == 0 || s.signed(signed)}
}

// readHead decides which checkpoint is the newest. The ledger is judged up to it. It is that
// of the head, unless that is damaged or older than a stored checkpoint.
func (s *source) readHead(ctx context.Context) error {
	below, err := s.newestRow(ctx)
	if err != nil {
		return err
	}
	heads, err := s.rows.Heads(ctx, s.id)
	if err != nil {
		return err
	}
	at := func(column string) string { return place(store.HeadRows, column, s.headKey()) }
	if len(heads) == 0 {
		s.add(CodeRowMissing, at(""), "the ledger has no head")
	} else if len(heads) > 1 {
		s.add(CodeRowTwice, at(""), "the ledger has %d heads", len(heads))
	}
	var newest candidate
	for _, r := range heads {
		signed, head, ok := s.checkpoint(r)
		if !ok {
			continue
		}
		c := s.candidate(signed, head, at("checkpoint"))
		if !c.known {
			s.add(inspect.CodeCheckpoint, c.Where, "the checkpoint is not signed with a key of this ledger")
		}
		if newest.less(c) {
			newest = c
		}
	}
	if newest.less(below) {
		if newest.Signed != nil && newest.known == below.known {
			s.add(CodeHead, at("size"), "the head has size %d, and there is a signed checkpoint of size %d",
				newest.size, below.size)
		}
		newest = below
	}
	s.newest, s.size = newest.Checkpoint, newest.size
	return nil
}

// newestRow searches from the end for a signed checkpoint whose row has its size. If none
// is signed it returns the largest.
func (s *source) newestRow(ctx context.Context) (newest candidate, err error) {
	for below := uint64(allSizes); ; {
		rows, err := s.rows.Newest(ctx, store.CheckpointRows, s.id, below, 64)
		if err != nil || len(rows) == 0 {
			return newest, err
		}
		for _, r := range rows {
			b, _ := r.Bytes("checkpoint")
			head, err := audit.CheckpointText(b)
			if err != nil || head.Origin != s.origin || !same(r, "size", int64(head.Size)) {
				continue
			}
			if c := s.candidate(b, head, placeOf(r, "checkpoint")); newest.less(c) {
				newest = c
			}
			if newest.known {
				return newest, nil
			}
		}
		n, ok := rows[len(rows)-1].Int("size")
		if !ok || n <= 0 || uint64(n) >= below {
			return newest, nil
		}
		below = uint64(n)
	}
}

// compareSeen compares the ledger with checkpoints that are kept elsewhere. Every head that
// was published is a stored checkpoint.
func (s *source) compareSeen(ctx context.Context) error {
	for _, c := range s.seen {
		if c.Size > s.size {
			s.add(CodeRollback, place(store.HeadRows, "size", s.headKey()),
				"the ledger has %d entries, and %s shows a signed checkpoint of size %d: the database went back", s.size,
				c.by, c.Size)
			continue
		}
		rows, err := s.rows.Range(ctx, store.CheckpointRows, s.id, c.Size, c.Size+1)
		if err != nil {
			return err
		}
		switch {
		case len(rows) == 0:
			s.add(CodeRowMissing, place(store.CheckpointRows, "", sizeKey(c.Size)),
				"%s shows the checkpoint of this size, and the row is missing", c.by)
		case !slices.ContainsFunc(rows, func(r store.Raw) bool { return same(r, "root", c.Root[:]) }):
			s.add(CodeFork, place(store.CheckpointRows, "root", sizeKey(c.Size)),
				"%s shows another root for this size: one of the two checkpoints is a fork", c.by)
		}
	}
	return nil
}

// compareHead compares the head with the checkpoint of its size: they are the same bytes.
func (s *source) compareHead(ctx context.Context) error {
	rows, err := s.rows.Range(ctx, store.CheckpointRows, s.id, s.size, s.size+1)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		s.add(CodeRowMissing, place(store.CheckpointRows, "", sizeKey(s.size)), "the head's own checkpoint is missing")
	}
	for _, r := range rows {
		b, ok := r.Bytes("checkpoint")
		if ok && s.newest.Where == place(store.HeadRows, "checkpoint", s.headKey()) && s.signed(b) &&
			!bytes.Equal(b, s.newest.Signed) {
			s.add(CodeHead, s.newest.Where, "it is not the newest checkpoint, byte for byte")
		}
	}
	return nil
}

// later returns the size of the ledger as it is now.
func (s *source) later(ctx context.Context) (uint64, error) {
	heads, err := s.rows.Heads(ctx, s.id)
	size := s.size
	for _, r := range heads {
		b, _ := r.Bytes("checkpoint")
		head, err := audit.CheckpointText(b)
		if err == nil && head.Origin == s.origin && s.candidate(b, head, "").known {
			size = max(size, head.Size)
		}
	}
	return size, err
}
