// Package exact proves claims about draws, orders and tapes by trying every case or by counting with
// integers. It states the limits: of decks of more than nine cards it tries a fixed list of cases. It reads
// no random byte and rounds nothing: a claim holds or the prover names a counterexample.
//
// The provers take the function under test as a parameter, and see only tapes and outcomes. Daemon is the
// function to prove; tests give them broken ones. docs/LAB.md states their assumptions.
package exact

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"shuffled/internal/shuffle"
)

// Run is the function under test: it makes the draws of a recipe from a tape.
type Run func(r shuffle.Recipe, tape []byte) (shuffle.Outcome, error)

// Daemon is the function with which the daemon makes outcomes.
func Daemon(r shuffle.Recipe, tape []byte) (shuffle.Outcome, error) { return r.Run(tape) }

// Options set how a prover works, not what it proves.
type Options struct {
	Workers int // goroutines; below 1: one for each processor
	// Progress, if not nil, is told how much is done, by one goroutine at a time. Each prover has its own unit.
	Progress func(done, total uint64)
}

// Verdict is the part of a report that all have.
type Verdict struct {
	Proved bool `json:"proved"`
	// Fault is a counterexample, "" if the claim is proved.
	Fault string `json:"fault,omitempty"`
}

func verdict(fault error) Verdict {
	if fault == nil {
		return Verdict{Proved: true}
	}
	return Verdict{Fault: fault.Error()}
}

// each does all jobs, started in order and run in parallel; cost is a job's share of the progress. worker
// is called once for each goroutine and returns the function that does one job there. each returns the
// fault of the first job, in order, that has one: the jobs after it may be left out. err is the context's.
func each[J any](ctx context.Context, o Options, jobs []J, cost func(J) uint64, worker func() func(J) error) (fault,
	err error) {
	var (
		mu          sync.Mutex // guards all below
		next        int        // the first job that no goroutine took
		done, total uint64
		faultAt     = len(jobs)
	)
	for _, j := range jobs {
		total += cost(j)
	}
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		i, next = next, next+1
		return i, i < faultAt && ctx.Err() == nil
	}
	finish := func(i int, found error) {
		mu.Lock()
		defer mu.Unlock()
		if found != nil && i < faultAt {
			fault, faultAt = found, i
		}
		if done += cost(jobs[i]); o.Progress != nil {
			o.Progress(done, total)
		}
	}
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for range o.Workers {
		wg.Go(func() {
			do := worker()
			for i, ok := take(); ok; i, ok = take() {
				finish(i, do(jobs[i]))
			}
		})
	}
	wg.Wait()
	return fault, ctx.Err()
}

// putLane writes x as a lane of w bytes, big-endian (docs/SPEC.md section 2.1).
func putLane(b []byte, w int, x uint64) {
	for i := w - 1; i >= 0; i-- {
		b[i], x = byte(x), x>>8
	}
}

// fill repeats the first n bytes of b to its end.
func fill(b []byte, n int) {
	for n < len(b) {
		n += copy(b[n:], b[:n])
	}
}

// limitOf returns the number of lanes for a draw 1..k and how many of them may be accepted so that every
// value has equally many.
func limitOf(k uint32) (lanes, limit uint64) {
	lanes = 1 << (8 * shuffle.LaneWidth(k))
	return lanes, lanes / uint64(k) * uint64(k)
}

// notRejected is the fault of a lane that should not have given a value.
func notRejected(k uint32, lane string, out shuffle.Outcome) error {
	return fmt.Errorf("draw 1..%d: a tape of lanes %s gave %d instead of running out", k, lane, out.Values)
}
