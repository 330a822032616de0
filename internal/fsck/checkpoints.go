package fsck

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// page is how many checkpoints are read at a time.
const page = 512

// Checkpoints implements inspect.Source. All signed checkpoints of a store are of
// one kind; those with two signatures are among them.
func (s *source) Checkpoints(ctx context.Context, kind inspect.Kind, from uint64) iter.Seq2[inspect.Checkpoint, error] {
	table := map[inspect.Kind]*store.Table{inspect.KindHead: store.TableCheckpoints, inspect.KindCosigned: store.TableCosigned}[kind]
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
func (s *source) sizes(ctx context.Context, t *store.Table, from uint64) iter.Seq2[store.Raw, error] {
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
func (s *source) crossing(ctx context.Context, t *store.Table, r store.Raw) error {
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
		s.add(fault(CodeColumn, placeOf(r, "root"), "it is %s, and the checkpoint says %s", show(r.Value("root")), show(head.Root[:])))
	}
	if !sized {
		s.add(fault(CodeColumn, placeOf(r, "size"), "it is %s, and the checkpoint says %d", show(r.Value("size")), head.Size))
		return c, false
	}
	if f := strayBits(b, where); f != nil {
		s.add(*f)
	}
	if n := signatures(b); r.Table == store.TableCheckpoints && n != 1 {
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

// headKey is the key of the head's row.
func (s *source) headKey() string { return fmt.Sprintf("ledger=%d", int64(s.id)) }

// known reports whether b is a checkpoint of the ledger, and signed with one of
// its keys, unless none of them could be learned or doubtful ones will do.
func (s *source) known(b []byte) (audit.Checkpoint, bool) {
	head, err := audit.CheckpointText(b)
	return head, err == nil && head.Origin == s.origin && head.Size > 0 && (s.doubtful || len(s.keys) == 0 || s.signed(b))
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
	at := func(column string) string { return place(store.TableHeads, column, s.headKey()) }
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
		s.add(fault(CodeHead, at("size"), "the head has size %d, and there is a signed checkpoint of size %d", s.size, head.Size))
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
		s.add(fault(CodeColumn, at("root"), "it is %s, and the checkpoint says %s", show(r.Value("root")), show(head.Root[:])))
	}
}

// newestRow looks from the end for a checkpoint that is known and stands under its
// own size.
func (s *source) newestRow(ctx context.Context) (*inspect.Checkpoint, error) {
	for below := uint64(allSizes); ; {
		rows, err := s.rows.Newest(ctx, store.TableCheckpoints, s.id, below, 64)
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
			s.add(fault(CodeRollback, place(store.TableHeads, "size", s.headKey()), "the ledger has %d entries, and %s is a signed checkpoint of size %d: the database went back", s.size, seen.by, c.Size))
			continue
		}
		rows, err := s.rows.Range(ctx, store.TableCheckpoints, s.id, c.Size, c.Size+1)
		if err != nil {
			return err
		}
		where := place(store.TableCheckpoints, "root", fmt.Sprintf("size=%d", c.Size))
		switch {
		case len(rows) == 0:
			s.add(fault(CodeRowMissing, place(store.TableCheckpoints, "", fmt.Sprintf("size=%d", c.Size)), "%s is the checkpoint of this size, and it is not there", seen.by))
		case !slices.ContainsFunc(rows, func(r store.Raw) bool { return same(r, "root", c.Root[:]) }):
			s.add(fault(CodeFork, where, "%s has another root for this size: one of the two is a fork", seen.by))
		}
	}
	return nil
}

// holdHead compares the head with the checkpoint of its size, which are one.
func (s *source) holdHead(ctx context.Context) error {
	rows, err := s.rows.Range(ctx, store.TableCheckpoints, s.id, s.size, s.size+1)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		s.add(fault(CodeRowMissing, place(store.TableCheckpoints, "", fmt.Sprintf("size=%d", s.size)), "the head's own checkpoint is not there"))
	}
	for _, r := range rows {
		b, ok := r.Bytes("checkpoint")
		if ok && s.newest.Where == place(store.TableHeads, "checkpoint", s.headKey()) && s.signed(b) && !bytes.Equal(b, s.newest.Signed) {
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
