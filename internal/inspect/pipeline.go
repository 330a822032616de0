package inspect

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"

	"shuffled/internal/audit"
)

// depthPerWorker is how many chunks for each worker are read ahead of the fold, and how
// many batches are recomputed behind it.
const depthPerWorker = 4

// maxGap is how many chunks in a row may be missing without a hash. A checkpoint
// can name any size: behind such a gap the check looks for nothing more.
const maxGap = 16

// pipeline runs the workers, folds all chunks, and reports.
func (f *fold) pipeline(ctx context.Context) (*Report, error) {
	working, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		w := &worker{run: f.run, hasher: newTreeHasher()}
		workers.Go(func() { w.work(working) })
	}
	var feeds []*feed
	for kind := range kinds {
		next, stop := iter.Pull2(f.src.Checkpoints(ctx, kind, 1))
		defer stop()
		feeds = append(feeds, &feed{kind: kind, next: next})
	}
	err := f.all(ctx, feeds)
	cancel()
	workers.Wait()
	if err = cmp.Or(err, ctx.Err()); err != nil { // a worker ends early without one
		return nil, err
	}
	return f.finish(ctx)
}

// work is the loop of a worker. It ends with ctx.
func (w *worker) work(ctx context.Context) {
	for {
		select {
		case c := <-w.tasks:
			w.read(ctx, c)
			close(c.done)
		case b := <-w.jobs:
			w.recompute(ctx, b)
			close(b.done)
		case <-ctx.Done():
			return
		}
	}
}

// all cuts the ledger into chunks, folds them in order, and collects what they closed in order. No more is on its way
// to or from the workers than the two queues hold, so that a send does not wait.
func (f *fold) all(ctx context.Context, feeds []*feed) error {
	var ahead []*chunk
	gap := 0
	for n := uint64(0); gap < maxGap; {
		for ; n*Width < f.size && len(ahead) < cap(f.tasks); n++ {
			c := f.cut(n, feeds)
			f.tasks <- c
			ahead = append(ahead, c)
		}
		if len(ahead) == 0 {
			break
		}
		next := ahead[0]
		ahead = ahead[1:]
		if err := await(ctx, next.done); err != nil {
			return err
		}
		if err := f.chunk(next); err != nil {
			return err
		}
		if err := f.send(ctx, f.batch); err != nil {
			return err
		}
		known := func(p parsed) bool { return !p.lost }
		if gap++; !next.broken || slices.ContainsFunc(next.entries, known) {
			gap = 0
		}
		if f.opts.Progress != nil {
			f.opts.Progress(f.state.Size(), f.size)
		}
	}
	if gap == maxGap {
		f.faults.add(fault(CodeMissing, "", "nothing is there from here on").at(f.state.Size() - maxGap*Width))
		f.broken = true
	}
	for _, b := range f.behind {
		if err := f.collect(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// send sends a batch to the workers, if there is anything in it. If their queue is full,
// it collects the oldest batch before.
func (f *fold) send(ctx context.Context, b *batch) error {
	if len(b.closings)+len(b.rounds) == 0 {
		return nil
	}
	if len(f.behind) == cap(f.jobs) {
		if err := f.collect(ctx, f.behind[0]); err != nil {
			return err
		}
		f.behind = f.behind[1:]
	}
	f.jobs <- b
	f.behind = append(f.behind, b)
	return nil
}

// await waits until a worker is done.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// collect takes what recomputing a batch came to.
func (f *fold) collect(ctx context.Context, b *batch) error {
	if err := await(ctx, b.done); err != nil {
		return err
	}
	for _, r := range b.rounds {
		if !r.holds() {
			f.judged.add(fault(CodeBeacon, "", "the mix of shuffle %d has another value than the beacon's signature of round %d",
				r.id, r.round).at(r.index).of(r.id))
		}
	}
	for i := range b.closings {
		if err := f.settle(&b.closings[i]); err != nil {
			return err
		}
	}
	return nil
}

// settle counts and hands on what recomputing a shuffle came to.
func (f *fold) settle(x *closing) error {
	mixed := x.mixed && x.Beacon() // the mix came before the close, and so did its check
	if x.tape == TapeRecomputed && x.told != nil {
		f.opts.Recomputed(*x.told)
	}
	if x.fault != nil {
		f.judged.add(*x.fault)
	}
	if f.counts(x.live) {
		t := f.table(x.Table)
		t.Tapes[x.tape]++
		if mixed {
			t.raise(1, LevelWitnessed, LevelMixed)
			if x.Tickets {
				f.report.Tickets.Mixed++
			}
		}
	}
	if x.line == nil {
		return nil
	}
	if x.line.Tape = x.tape; mixed {
		x.line.Level = LevelMixed
	}
	return f.out.write(x.line)
}

// feed is one kind of checkpoints, by ascending size. It belongs to the fold.
type feed struct {
	kind  Kind
	next  func() (Checkpoint, error, bool)
	head  *point   // read, but not yet of a chunk
	ahead []*point // those behind it, at most three
	last  uint64   // size of head, or of the one before
}

// cut returns chunk n of the ledger, with the checkpoints of its sizes.
func (r *run) cut(n uint64, feeds []*feed) *chunk {
	c := &chunk{n: n, first: n * Width, width: int(min(Width, r.size-n*Width)), done: make(chan struct{})}
	end := c.first + uint64(c.width)
	if p := r.older; p != nil && p.head.Size > c.first && p.head.Size <= end {
		c.points = append(c.points, *p)
	}
	for _, f := range feeds {
		for p := f.peek(c); p != nil && p.head.Size <= end; p = f.peek(c) {
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

// peek returns the next checkpoint that can be judged, nil for none. What is wrong with others is a fault of the chunk.
func (f *feed) peek(c *chunk) *point {
	for f.head == nil {
		for p := f.read(c); p != nil; p = f.read(c) {
			if f.ahead = append(f.ahead, p); len(f.ahead) == 3 {
				break
			}
		}
		if len(f.ahead) == 0 {
			return nil
		}
		p, behind := f.ahead[0], f.ahead[1:]
		f.ahead = behind
		if p.head.Size <= f.last {
			f.spoil(c, fault(CodeCheckpoint, p.Where, "size %d stands after size %d", p.head.Size, f.last))
			continue
		}
		// A size that is too large would put all others behind it.
		if len(behind) == 2 && behind[0].head.Size > f.last &&
			max(behind[0].head.Size, behind[1].head.Size) <= p.head.Size {
			f.spoil(c, fault(CodeCheckpoint, p.Where, "size %d stands before size %d", p.head.Size,
				behind[0].head.Size))
			continue
		}
		f.head, f.last = p, p.head.Size
	}
	return f.head
}

// read returns the next checkpoint that can be parsed, nil for none. An error ends the checkpoints of the source.
func (f *feed) read(c *chunk) *point {
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
