package inspect

import (
	"context"
	"iter"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// dispatch cuts the ledger into chunks, with the checkpoints of their sizes.
func (r *run) dispatch(ctx context.Context) error {
	defer close(r.tasks)
	defer close(r.ordered)
	feeds, end := r.feeds(ctx)
	defer end()
	for n := uint64(0); n*Width < r.size; n++ {
		c := &chunk{n: n, first: n * Width, width: int(min(Width, r.size-n*Width)), done: make(chan struct{})}
		if err := r.points(ctx, c, feeds); err != nil {
			return err
		}
		for _, to := range []chan *chunk{r.ordered, r.tasks} {
			select {
			case to <- c:
			case <-r.stop:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// feed is one kind of checkpoints, by ascending size.
type feed struct {
	kind  Kind
	next  func() (Checkpoint, error, bool)
	head  *point // read, but not yet of this chunk
	after *point // the one behind it
	last  uint64 // size of head, or of the one before
	ended bool   // next has no more
	over  bool   // nor is there one that was read
}

// feeds opens the checkpoints of all kinds.
func (r *run) feeds(ctx context.Context) (all []*feed, end func()) {
	var stops []func()
	for kind := range kinds {
		next, stop := iter.Pull2(r.src.Checkpoints(ctx, kind, 1))
		stops = append(stops, stop)
		all = append(all, &feed{kind: kind, next: next})
	}
	return all, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// points puts the checkpoints of its sizes into a chunk.
func (r *run) points(ctx context.Context, c *chunk, feeds []*feed) error {
	end := c.first + uint64(c.width)
	if p := r.older; p != nil && p.head.Size > c.first && p.head.Size <= end {
		c.points = append(c.points, *p)
	}
	for _, f := range feeds {
		for !f.over {
			if f.head == nil && !f.pull(c, r.signer(ctx)) {
				break
			}
			if f.head.head.Size > end {
				break
			}
			c.points = append(c.points, *f.head)
			f.head = nil
		}
		if f.head != nil && end == r.size {
			c.beyond = append(c.beyond, *f.head)
		}
	}
	if end == r.size {
		c.points = append(c.points, point{Checkpoint: r.last, kind: kindNewest, head: r.newest})
	}
	sortPoints(c.points)
	return c.err
}

// signer returns the signing keys in force as far as the fold has come, at the
// beginning that of the genesis; nil for none that can be used. It belongs to
// dispatch.
func (r *run) signer(ctx context.Context) []note.Verifier {
	if keys := r.signers.Load().keys; keys != nil {
		return keys
	}
	if r.looked {
		return r.first
	}
	r.looked = true
	c, err := r.src.Chunk(ctx, 0, int(min(Width, r.size)))
	if err != nil || len(c.Entries) == 0 {
		return nil // named when the chunk is read
	}
	e, err := audit.ParseEntry(c.Entries[0])
	if g, ok := e.Body.(*audit.Genesis); ok && err == nil {
		if key, err := audit.Verifier(g.Origin, g.SigningKey); err == nil {
			r.first = []note.Verifier{key}
		}
	}
	return r.first
}

// pull reads the next checkpoint that can be judged. What is wrong with others is
// a fault of the chunk.
func (f *feed) pull(c *chunk, keys []note.Verifier) bool {
	for {
		p, ok := f.read(c)
		if !ok {
			f.over = true
			return false
		}
		if p.head.Size <= f.last {
			f.spoil(c, fault(CodeCheckpoint, p.Where, "size %d stands after size %d", p.head.Size, f.last))
			continue
		}
		// A size that is too large would put all others behind it: then the one
		// that is not signed is wrong.
		f.after, _ = f.read(c)
		if q := f.after; q != nil && q.head.Size > f.last && q.head.Size <= p.head.Size && keys != nil &&
			!signedBy(p.Signed, keys) {
			f.spoil(c, fault(CodeSignature, p.Where, "the checkpoint of size %d is not signed by the keys in force",
				p.head.Size))
			continue
		}
		f.head, f.last = p, p.head.Size
		return true
	}
}

// read returns the next checkpoint that can be parsed.
func (f *feed) read(c *chunk) (*point, bool) {
	if p := f.after; p != nil {
		f.after = nil
		return p, true
	}
	for !f.ended {
		p, err, ok := f.next()
		if !ok || err != nil {
			f.ended = true
			if err != nil {
				c.endOfCosigned = c.endOfCosigned || f.kind == KindCosigned
				c.endOfSigned = c.endOfSigned || f.kind == KindSigned
				c.damage(err)
			}
			break
		}
		head, err := audit.CheckpointText(p.Signed)
		if err == nil {
			return &point{Checkpoint: p, kind: f.kind, head: head}, true
		}
		f.spoil(c, fault(CodeCheckpoint, p.Where, "%v", err))
	}
	return nil, false
}

// spoil names a checkpoint that cannot be judged.
func (f *feed) spoil(c *chunk, x Fault) {
	c.faults = append(c.faults, x)
	if f.kind == KindCosigned {
		c.spoilt++
	}
}
