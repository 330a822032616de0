package inspect

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// feed is one kind of checkpoints, by ascending size. It belongs to the fold.
type feed struct {
	kind  Kind
	next  func() (Checkpoint, error, bool)
	stop  func() // ends next
	head  *point // read, but not yet of a chunk
	after *point // the one behind it
	last  uint64 // size of head, or of the one before
}

// feeds opens the checkpoints of all kinds. The caller stops each.
func (r *run) feeds(ctx context.Context) (all []*feed) {
	for kind := range kinds {
		next, stop := iter.Pull2(r.src.Checkpoints(ctx, kind, 1))
		all = append(all, &feed{kind: kind, next: next, stop: stop})
	}
	return all
}

// cut returns chunk n of the ledger, with the checkpoints of its sizes.
func (r *run) cut(n uint64, feeds []*feed) *chunk {
	c := &chunk{n: n, first: n * Width, width: int(min(Width, r.size-n*Width)), done: make(chan struct{})}
	end := c.first + uint64(c.width)
	if p := r.older; p != nil && p.head.Size > c.first && p.head.Size <= end {
		c.points = append(c.points, *p)
	}
	for _, f := range feeds {
		for p := f.peek(c, r.inForce()); p != nil && p.head.Size <= end; p = f.peek(c, r.inForce()) {
			c.points = append(c.points, *p)
			f.head = nil
		}
		if f.head != nil && end == r.size {
			c.beyond = append(c.beyond, *f.head)
		}
	}
	if end == r.size {
		c.points = append(c.points, point{Checkpoint: r.last, kind: kindNewest, head: r.newest})
	}
	slices.SortStableFunc(c.points, func(a, b point) int { // those of one size by kind
		return cmp.Or(cmp.Compare(a.head.Size, b.head.Size), cmp.Compare(a.kind, b.kind))
	})
	return c
}

// inForce returns the signing keys in force as far as the fold has come, at the
// beginning that of the genesis; nil for none that can be used.
func (r *run) inForce() []note.Verifier {
	if keys := r.signers.Load().keys; keys != nil {
		return keys
	}
	return r.first
}

// peek returns the next checkpoint that can be judged, nil for none. What is wrong with others is a fault of the chunk.
func (f *feed) peek(c *chunk, keys []note.Verifier) *point {
	for f.head == nil {
		p := f.read(c)
		if p == nil {
			return nil
		}
		if p.head.Size <= f.last {
			f.spoil(c, fault(CodeCheckpoint, p.Where, "size %d stands after size %d", p.head.Size, f.last))
			continue
		}
		// A size that is too large would put all others behind it: then the one that is not signed is wrong.
		f.after = f.read(c)
		if q := f.after; q != nil && q.head.Size > f.last && q.head.Size <= p.head.Size && keys != nil &&
			!signedBy(p.Signed, keys) {
			f.spoil(c, fault(CodeSignature, p.Where, "the checkpoint of size %d is not signed by the keys in force",
				p.head.Size))
			continue
		}
		f.head, f.last = p, p.head.Size
	}
	return f.head
}

// read returns the next checkpoint that can be parsed, nil for none. An error ends the checkpoints of the source.
func (f *feed) read(c *chunk) *point {
	if p := f.after; p != nil {
		f.after = nil
		return p
	}
	for {
		p, err, ok := f.next()
		if err != nil {
			c.endOfCosigned = c.endOfCosigned || f.kind == KindCosigned
			c.endOfSigned = c.endOfSigned || f.kind == KindSigned
			c.damage(err)
		}
		if !ok || err != nil {
			return nil
		}
		head, err := audit.CheckpointText(p.Signed)
		if err == nil {
			return &point{Checkpoint: p, kind: f.kind, head: head}
		}
		f.spoil(c, fault(CodeCheckpoint, p.Where, "%v", err))
	}
}

// spoil names a checkpoint that cannot be judged.
func (f *feed) spoil(c *chunk, x Fault) {
	c.faults = append(c.faults, x)
	if f.kind == KindCosigned {
		c.spoilt++
	}
}
