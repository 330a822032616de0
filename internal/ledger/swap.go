package ledger

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Several daemons may write one ledger. The compare-and-swap of Store.Append keeps them apart: a daemon that loses it
// has written nothing. It waits for a short random time, folds what the others wrote, and prepares its requests again.
const (
	// mostTries is how often a request is prepared.
	mostTries = 64
	// The wait after a lost swap is below firstWait. That bound doubles with each further one, up to maxWait.
	firstWait = 500 * time.Microsecond
	maxWait   = 16 * time.Millisecond
)

// backOff returns how long to wait after the draft lost the swap: a share of the range that
// the clock chooses, so that two daemons do not choose the same one again and again.
func backOff(d *draft) time.Duration {
	var tries uint64
	for _, r := range d.requests {
		tries = max(tries, r.tries)
	}
	limit := min(firstWait<<min(tries, 8), maxWait)
	return time.Duration(time.Now().UnixNano()) % limit
}

// overtook notes that another daemon was first, and returns those of the requests that are to
// be prepared again. It refuses a request that has been overtaken mostTries times.
func (l *Ledger) overtook(requests []*request) (again []*request) {
	l.appends.lost.Add(1)
	for _, r := range requests {
		r.tries++
		r.stale = false
		if r.tries > l.appends.most.Load() {
			l.appends.most.Store(r.tries)
		}
		if r.tries == mostTries {
			r.answer(Answer{Err: fmt.Errorf("%w: other daemons were first %d times in a row", ErrUnavailable,
				mostTries)})
		} else {
			again = append(again, r)
		}
	}
	return again
}

// Appends counts what became of the batches that this daemon tried to append.
type Appends struct {
	Landed    uint64
	Lost      uint64 // another daemon moved the head first
	Duplicate uint64 // a key or slot stood in the ledger
	Failed    uint64 // nothing was written
	Unknown   uint64 // tries whose outcome had to be found out

	Most uint64 // how often the request that was overtaken most was overtaken
}

// appends are the counters of Appends, written by the sequencer.
type appends struct {
	landed, lost, duplicate, failed, unknown, most atomic.Uint64
}

func (a *appends) read() Appends {
	return Appends{Landed: a.landed.Load(), Lost: a.lost.Load(), Duplicate: a.duplicate.Load(),
		Failed: a.failed.Load(), Unknown: a.unknown.Load(), Most: a.most.Load()}
}
