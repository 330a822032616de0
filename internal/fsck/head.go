package fsck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// headKey is the key of the head's row.
func (s *source) headKey() string { return fmt.Sprintf("ledger=%d", int64(s.id)) }

// known reports whether b is a checkpoint of the ledger, and signed with one of
// its keys, unless none of them could be learned or doubtful ones will do.
func (s *source) known(b []byte) (audit.Checkpoint, bool) {
	head, err := audit.CheckpointText(b)
	return head, err == nil && head.Origin == s.origin && head.Size > 0 &&
		(s.doubtful || len(s.keys) == 0 || s.signed(b))
}

// readHead decides which checkpoint is the newest, and so up to where the ledger
// is judged: the head's, unless that is damaged or older than a checkpoint.
func (s *source) readHead(ctx context.Context) error {
	err := s.chooseHead(ctx)
	if err == nil && s.newest.Signed == nil {
		s.doubtful = true // inspect names its signature
		err = s.chooseHead(ctx)
		s.doubtful = false
	}
	return err
}

func (s *source) chooseHead(ctx context.Context) error {
	below, err := s.newestRow(ctx)
	if err != nil {
		return err
	}
	heads, err := s.rows.Heads(ctx, s.id)
	if err != nil {
		return err
	}
	at := func(column string) string { return place(store.HeadRows, column, s.headKey()) }
	switch len(heads) {
	case 0:
		s.add(fault(CodeRowMissing, at(""), "the ledger has no head"))
	case 1:
	default:
		s.add(fault(CodeRowTwice, at(""), "the ledger has %d heads", len(heads)))
	}
	for _, r := range heads {
		if c, head, ok := s.judgeHead(r, at); ok && head.Size >= s.size {
			s.newest, s.head, s.size = inspect.Checkpoint{Signed: c, Where: at("checkpoint")}, head, head.Size
		}
	}
	if below == nil {
		return nil
	}
	head, _ := audit.CheckpointText(below.Signed)
	if s.newest.Signed != nil && s.size >= head.Size {
		return nil
	}
	if s.newest.Signed != nil {
		s.add(fault(CodeHead, at("size"), "the head has size %d, and there is a signed checkpoint of size %d", s.size,
			head.Size))
	}
	s.newest, s.head, s.size = *below, head, head.Size
	return nil
}

// judgeHead holds the columns of a head against its checkpoint. ok: it is signed
// with a key of the ledger.
func (s *source) judgeHead(r store.Raw, at func(string) string) (signed []byte, head audit.Checkpoint, ok bool) {
	b, isBytes := r.Bytes("checkpoint")
	if !isBytes {
		s.add(fault(CodeColumn, at("checkpoint"), "it is %s, not bytes", kind(r.Value("checkpoint"))))
		s.headColumns(r, at, nil)
		return nil, head, false
	}
	head, err := audit.CheckpointText(b)
	if err == nil && head.Origin != s.origin {
		err = errors.New("the checkpoint is of another ledger")
	}
	if err == nil && len(s.keys) > 0 && !s.signed(b) {
		err = errors.New("the checkpoint is not signed with a key of this ledger")
	}
	if _, known := s.known(b); err != nil && !known {
		s.add(fault(inspect.CodeCheckpoint, at("checkpoint"), "%v", err))
		s.headColumns(r, at, nil)
		return nil, head, false
	}
	if f := strayBits(b, at("checkpoint")); f != nil {
		s.add(*f)
	}
	s.headColumns(r, at, &head)
	return b, head, true
}

// headColumns holds size and root of a head against its checkpoint, or, where
// that is not known, looks at their types.
func (s *source) headColumns(r store.Raw, at func(string) string, head *audit.Checkpoint) {
	if head == nil {
		if n, ok := r.Int("size"); !ok || n <= 0 {
			s.add(fault(CodeColumn, at("size"), "it is %s", show(r.Value("size"))))
		}
		if b, ok := r.Bytes("root"); !ok || len(b) != tlog.HashSize {
			s.add(fault(CodeColumn, at("root"), "it is %s", show(r.Value("root"))))
		}
		return
	}
	if !same(r, "size", int64(head.Size)) {
		s.add(fault(CodeColumn, at("size"), "it is %s, and the checkpoint says %d", show(r.Value("size")), head.Size))
	}
	if !same(r, "root", head.Root[:]) {
		s.add(fault(CodeColumn, at("root"), "it is %s, and the checkpoint says %s", show(r.Value("root")),
			show(head.Root[:])))
	}
}

// newestRow looks from the end for a checkpoint that is known and stands under its
// own size.
func (s *source) newestRow(ctx context.Context) (*inspect.Checkpoint, error) {
	for below := uint64(allSizes); ; {
		rows, err := s.rows.Newest(ctx, store.CheckpointRows, s.id, below, 64)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		for _, r := range rows {
			b, _ := r.Bytes("checkpoint")
			if head, ok := s.known(b); ok && same(r, "size", int64(head.Size)) {
				return &inspect.Checkpoint{Signed: b, Where: placeOf(r, "checkpoint")}, nil
			}
		}
		n, ok := rows[len(rows)-1].Int("size")
		if !ok || n <= 0 || uint64(n) >= below {
			return nil, nil
		}
		below = uint64(n)
	}
}

// holdSeen holds the ledger against checkpoints that were kept elsewhere. Every
// head that left the house is a checkpoint here.
func (s *source) holdSeen(ctx context.Context) error {
	for _, seen := range s.seen {
		c := seen
		if c.Size > s.size {
			s.add(fault(CodeRollback, place(store.HeadRows, "size", s.headKey()),
				"the ledger has %d entries, and %s is a signed checkpoint of size %d: the database went back", s.size,
				seen.by, c.Size))
			continue
		}
		rows, err := s.rows.Range(ctx, store.CheckpointRows, s.id, c.Size, c.Size+1)
		if err != nil {
			return err
		}
		where := place(store.CheckpointRows, "root", fmt.Sprintf("size=%d", c.Size))
		switch {
		case len(rows) == 0:
			s.add(fault(CodeRowMissing, place(store.CheckpointRows, "", fmt.Sprintf("size=%d", c.Size)),
				"%s is the checkpoint of this size, and it is not there", seen.by))
		case !slices.ContainsFunc(rows, func(r store.Raw) bool { return same(r, "root", c.Root[:]) }):
			s.add(fault(CodeFork, where, "%s has another root for this size: one of the two is a fork", seen.by))
		}
	}
	return nil
}

// holdHead compares the head with the checkpoint of its size, which are one.
func (s *source) holdHead(ctx context.Context) error {
	rows, err := s.rows.Range(ctx, store.CheckpointRows, s.id, s.size, s.size+1)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		s.add(fault(CodeRowMissing, place(store.CheckpointRows, "", fmt.Sprintf("size=%d", s.size)),
			"the head's own checkpoint is not there"))
	}
	for _, r := range rows {
		b, ok := r.Bytes("checkpoint")
		if ok && s.newest.Where == place(store.HeadRows, "checkpoint", s.headKey()) && s.signed(b) &&
			!bytes.Equal(b, s.newest.Signed) {
			s.add(fault(CodeHead, s.newest.Where, "it is not the newest checkpoint, byte for byte"))
		}
	}
	return nil
}

// later returns the size of the ledger as it is now.
func (s *source) later(ctx context.Context) (uint64, error) {
	heads, err := s.rows.Heads(ctx, s.id)
	if err != nil {
		return 0, err
	}
	size := s.size
	for _, r := range heads {
		b, _ := r.Bytes("checkpoint")
		if head, ok := s.known(b); ok && head.Size > size {
			size = head.Size
		}
	}
	return size, nil
}
