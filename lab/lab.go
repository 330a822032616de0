// Package lab makes outcomes to be measured, with the function that the dealer uses: raw output of the
// generator, shuffled decks and draws, on all processors, in an order that does not depend on their speed.
package lab

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
	"shuffled/internal/shuffle"
)

// A Maker makes outcomes one after the other. One goroutine uses it.
type Maker interface {
	// Next returns the values of the next outcome: card indexes from 0, or drawn values from 1. They are
	// valid until the next call.
	Next() ([]uint32, error)
}

// NewMaker returns a Maker of the outcomes of a valid recipe, each from its own tape, with outcome.Make.
// Makers on several goroutines may share a source.
func NewMaker(src *entropy.Source, r shuffle.Recipe) Maker { return &maker{src, r} }

type maker struct {
	src    *entropy.Source
	recipe shuffle.Recipe
}

func (m *maker) Next() ([]uint32, error) {
	_, out, err := outcome.Make(m.src, m.recipe)
	return out.Values, err
}

// Block is the number of consecutive outcomes of one worker: worker ⌊i/Block⌋ mod workers makes outcome i.
const Block = 1024

// Run makes count outcomes on 1 or more workers in parallel and hands each over. Each worker has its own maker, and its
// outcomes follow each other without a gap; each is called by the worker's goroutine, in order. Workers take blocks of
// Block outcomes in turn, so a worker makes Share outcomes at any speed. progress, which may be nil, is called from
// time to time by one goroutine at a time with the number of outcomes made by all. Run returns when all workers have
// ended, with the first error of any, or with ctx's.
func Run(ctx context.Context, workers int, count uint64, maker func(worker int) (Maker, error),
	each func(worker int, values []uint32) error, progress func(done uint64)) error {
	if workers < 1 {
		return fmt.Errorf("a run must have at least one worker, not %d", workers)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &run{each: each, progress: progress}
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			if err := r.work(ctx, w, Share(count, workers, w), maker); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// Share returns how many of count outcomes one of the workers makes.
func Share(count uint64, workers, worker int) uint64 {
	round := Block * uint64(workers)
	rest, before := count%round, Block*uint64(worker)
	return count/round*Block + min(rest-min(rest, before), Block)
}

// run is what the workers share.
type run struct {
	each     func(worker int, values []uint32) error
	progress func(done uint64)
	done     atomic.Uint64
	showing  sync.Mutex // held while progress is called; a worker that does not get it goes on
}

// work makes one worker's outcomes.
func (r *run) work(ctx context.Context, worker int, count uint64, maker func(worker int) (Maker, error)) error {
	m, err := maker(worker)
	if err != nil {
		return err
	}
	for count > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(count, Block)
		for range n {
			values, err := m.Next()
			if err != nil {
				return err
			}
			if err := r.each(worker, values); err != nil {
				return err
			}
		}
		count -= n
		r.made(n)
	}
	return nil
}

// made counts outcomes and reports progress.
func (r *run) made(n uint64) {
	r.done.Add(n)
	if r.progress != nil && r.showing.TryLock() {
		r.progress(r.done.Load())
		r.showing.Unlock()
	}
}
