package inspect

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
)

// run is what all goroutines of one check share. It does not change once they
// are started, except what says so.
type run struct {
	ctx     context.Context
	src     Source
	opts    Options
	trust   audit.Trusted
	size    uint64 // of the newest checkpoint
	newest  audit.Checkpoint
	last    Checkpoint // the newest, signed
	older   *point     // of Options.Since; nil: none
	decks   *decks
	signers atomic.Pointer[signers] // written by the fold
	first   []note.Verifier         // the genesis's key, once looked; both of dispatch
	looked  bool

	tasks   chan *chunk // from dispatch to workers
	ordered chan *chunk // from dispatch to the fold
	jobs    chan *batch // from the fold to workers
	results chan *batch // from the fold to collect
	stop    chan struct{}
}

// maxGap is how many chunks in a row may be missing without a hash. A checkpoint
// can name any size; there is no use in looking for more.
const maxGap = 16

// Run checks the ledger that src holds. It returns an error, and no report, when
// it cannot run: for options that cannot be read, for a source that fails, and
// when ctx ends.
func Run(ctx context.Context, src Source, opts Options) (*Report, error) {
	trust, err := audit.ParseTrust(opts.VKey, opts.Policy)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, src: src, opts: opts, trust: trust, decks: &decks{known: make(map[[32]byte]deck)}}
	if r.opts.Workers <= 0 {
		r.opts.Workers = runtime.GOMAXPROCS(0)
	}
	var early findings
	if ok, err := r.open(&early); !ok {
		return r.refused(&early), err
	}
	f, err := r.begin()
	if err != nil {
		return nil, err
	}
	f.faults.add(early.Kept...)
	report, err := r.check(ctx, f)
	return report, errors.Join(err, f.seen.close(), f.collector.out.close())
}

// begin opens the files of a check.
func (r *run) begin() (*fold, error) {
	f := &fold{run: r, state: audit.NewState(), edge: new(edge), collector: newCollector(),
		play: play{live: make(map[uint64]*live), rounds: make(map[uint64]int64), checks: make(map[light]*roundCheck),
			noDeck: make(map[[32]byte]bool)},
		figures: figures{tables: make(map[string]*Counts), types: make(map[string]uint64),
			conduct: conduct{Paces: make(map[string]*pace)}},
		signing: signing{openers: make(map[uint64]*disclosure.Opener), policies: &audit.Policies{}, due: r.trust.Keys},
		lists:   newLists(r.opts.Tickets)}
	f.collector.recomputed, f.collector.orders = r.opts.Recomputed, r.opts.Orders
	f.publish()
	var err error
	if f.cosigned.everPinned, err = r.everPinned(r.ctx); err != nil {
		return nil, err
	}
	if r.opts.Shuffles != "" {
		if f.collector.out, err = openLines(r.opts.Shuffles); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// open reads what the check begins with: the newest checkpoint and the older one.
func (r *run) open(faults *findings) (ok bool, err error) {
	r.last, err = r.src.Newest(r.ctx)
	if d, ok := errors.AsType[*Damage](err); ok {
		faults.add(d.Fault)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.newest, err = audit.CheckpointText(r.last.Signed); err == nil {
		err = audit.CheckOrigin(r.newest.Origin)
	}
	if err != nil {
		faults.add(fault(CodeCheckpoint, r.last.Where, "%v", err))
		return false, nil
	}
	if r.size = r.newest.Size; r.size == 0 {
		faults.add(fault(CodeCheckpoint, r.last.Where,
			"a ledger has at least its genesis, and the checkpoint covers no entry"))
		return false, nil
	}
	if r.opts.Since == nil {
		return true, nil
	}
	const where = "the older checkpoint"
	head, err := audit.CheckpointText(r.opts.Since)
	switch {
	case err != nil:
		return false, fmt.Errorf("reading the older checkpoint: %w", err)
	case head.Size == 0:
		return false, errors.New("reading the older checkpoint: it covers no entry")
	case head.Origin != r.newest.Origin:
		faults.add(fault(CodeSince, where, "it is of %s, the ledger of %s", head.Origin, r.newest.Origin))
	case head.Size > r.size:
		faults.add(fault(CodeSince, where, "it covers %d entries, the newest only %d", head.Size, r.size))
	default:
		r.older = &point{Checkpoint: Checkpoint{r.opts.Since, where}, kind: kindSince, head: head}
	}
	return true, nil
}

// check runs the pipeline over all chunks, and reports.
func (r *run) check(ctx context.Context, f *fold) (*Report, error) {
	whole := ctx // the group's ends with the group
	group, ctx := errgroup.WithContext(ctx)
	r.ctx = ctx
	depth := 4 * r.opts.Workers
	r.tasks, r.ordered = make(chan *chunk, depth), make(chan *chunk, depth)
	r.jobs, r.results = make(chan *batch, depth), make(chan *batch, depth)
	r.stop = make(chan struct{})
	group.Go(func() error { return r.dispatch(ctx) })
	for range r.opts.Workers {
		w := &worker{run: r, hasher: newTreeHasher()}
		group.Go(func() error { return w.work(ctx) })
	}
	group.Go(func() error { return r.collect(ctx, f.collector) })
	err := f.all(ctx)
	close(r.stop)
	close(r.jobs)
	close(r.results)
	if err != nil {
		// The others end because the queues are closed; what they wait for
		// may be missing, so cancel them, too.
		group.Go(func() error { return err })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return f.finish(whole)
}

// work is the loop of a worker.
func (w *worker) work(ctx context.Context) error {
	tasks, jobs := w.tasks, w.jobs
	for tasks != nil || jobs != nil {
		select {
		case c, ok := <-tasks:
			if !ok {
				tasks = nil
				continue
			}
			w.read(ctx, c)
			close(c.done)
		case b, ok := <-jobs:
			if !ok {
				jobs = nil
				continue
			}
			w.recompute(ctx, b)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// collect takes the results in order.
func (r *run) collect(ctx context.Context, c *collector) error {
	for b := range r.results {
		select {
		case <-b.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := c.take(b); err != nil {
			return err
		}
	}
	return nil
}

// all folds all chunks, in order.
func (f *fold) all(ctx context.Context) error {
	var shown time.Time
	for gap := 0; gap < maxGap; {
		var next *chunk
		select {
		case next = <-f.ordered:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if next == nil {
			return nil
		}
		select {
		case <-next.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := f.chunk(next); err != nil {
			return err
		}
		if gap++; !next.empty() {
			gap = 0
		}
		if err := f.send(ctx, f.batch); err != nil {
			return err
		}
		if now := time.Now(); f.opts.Progress != nil && now.Sub(shown) > 200*time.Millisecond {
			shown = now
			f.opts.Progress(Progress{Entries: f.state.Size(), Of: f.size, Shuffles: f.shuffles,
				Faults: f.faults.total()})
		}
	}
	f.faults.add(fault(CodeMissing, "", "nothing is there from here on").at(f.state.Size() - maxGap*Width))
	f.broken = true
	return nil
}

// empty reports a chunk of which nothing is known.
func (c *chunk) empty() bool {
	if !c.broken {
		return false
	}
	for i := range c.entries {
		if !c.entries[i].lost {
			return false
		}
	}
	return true
}

// send hands a batch to the workers and, in order, to collect.
func (f *fold) send(ctx context.Context, b *batch) error {
	if len(b.closings)+len(b.rounds) == 0 {
		return nil
	}
	f.shuffles += uint64(len(b.closings))
	for _, to := range []chan *batch{f.jobs, f.results} {
		select {
		case to <- b:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// everPinned returns the size of the newest cosigned checkpoint with the quorum
// that the caller trusts, 0 for none. What was never dealt counts as witnessed by
// any. It looks from the end, in steps that double.
func (r *run) everPinned(ctx context.Context) (newest uint64, err error) {
	if !r.trust.Policy.Asks() {
		return 0, nil
	}
	for step := uint64(Width); newest == 0; step *= 2 {
		from := uint64(1)
		if step < r.size {
			from = r.size - step
		}
		for c, err := range r.src.Checkpoints(ctx, KindCosigned, from) {
			if err != nil {
				break // named when the fold comes there
			}
			head, err := audit.CheckpointText(c.Signed)
			if err == nil && head.Size > newest && head.Size <= r.size && r.trust.Policy.Satisfied(c.Signed) {
				newest = head.Size
			}
		}
		if from == 1 {
			break
		}
	}
	return newest, ctx.Err()
}
