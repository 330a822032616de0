package inspect

import (
	"context"
	"slices"
	"sync"
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
	for range f.opts.Workers {
		w := &worker{run: f.run, hasher: newTreeHasher()}
		workers.Go(func() { w.work(working) })
	}
	err := f.all(ctx)
	cancel()
	workers.Wait()
	if err != nil {
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
func (f *fold) all(ctx context.Context) error {
	feeds := f.feeds(ctx)
	for _, one := range feeds {
		defer one.stop()
	}
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
		if gap++; !next.empty() {
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

// empty reports a chunk of which nothing is known.
func (c *chunk) empty() bool {
	return c.broken && !slices.ContainsFunc(c.entries, func(p parsed) bool { return !p.lost })
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
	return b.err
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

// raise counts n shuffles at another level.
func (c *Counts) raise(n uint64, from, to string) {
	if n == 0 {
		return
	}
	c.Levels[to] += n
	if c.Levels[from] -= n; c.Levels[from] == 0 {
		delete(c.Levels, from)
	}
}
