package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
)

const (
	// patience is how many turns, of its own length, a daemon lets pass for each
	// that is ahead of it in the line, and once more: theirs begin with reading
	// what was written before.
	patience = 4
	// A turn is what a daemon measures of its own, from when it begins to prepare
	// a batch until the batch has landed, within limits.
	minTurn = 200 * time.Microsecond
	maxTurn = 250 * time.Millisecond
	// maxWait bounds the wait for our turn.
	maxWait = time.Second
	// mostPassed is how often a daemon may be overtaken and is still waited for.
	mostPassed = 3
	// mostTries is how often a request is prepared.
	mostTries = 64
)

// pace lets the daemons that write a ledger at the same time take turns, so that
// few of them prepare what is then overtaken. It is a matter of speed alone: what
// keeps them apart is the compare-and-swap, and nobody waits for ever.
//
// A commit names the daemon that wrote it, so every daemon sees in the ledger, and
// all see the same, in which order the others landed. Who landed last is last in
// line, and goes again when those ahead have landed, or have let some turns pass.
// Who is overtaken again and again had nothing to write, or is gone: it leaves the
// line, and comes back when it lands. A daemon that is alone has nobody to wait for.
//
// It is the sequencer's, and zero before the first batch.
type pace struct {
	line  []place       // of the daemons that write, us included; who landed last is last
	turn  time.Duration // smoothed
	began time.Time     // of the turn that is under way
	moved time.Time     // when the line was last seen to move
}

// place is the place of a daemon in the line.
type place struct {
	instance uint64
	passed   int // how often it was overtaken since it landed
}

// landed puts the daemon that wrote at the end of the line. Those that it overtook
// too often leave, but never we ourselves.
func (p *pace) landed(instance, ours uint64, now time.Time) {
	if n := len(p.line); n > 0 && p.line[n-1].instance == instance && instance != ours {
		return // another entry of its batch, or a batch out of turn, which is no reason to wait on
	}
	p.moved = now
	at := slices.IndexFunc(p.line, func(one place) bool { return one.instance == instance })
	kept := p.line[:0]
	for i, one := range p.line {
		if i < at {
			one.passed++
		}
		if i != at && (one.passed <= mostPassed || one.instance == ours) {
			kept = append(kept, one)
		}
	}
	p.line = append(kept, place{instance: instance})
}

// ahead returns how many daemons are to land before it is our turn.
func (p *pace) ahead(ours uint64) int {
	return max(0, slices.IndexFunc(p.line, func(one place) bool { return one.instance == ours }))
}

// alone reports whether only we stand in the line.
func (p *pace) alone(ours uint64) bool { return len(p.line) == 1 && p.line[0].instance == ours }

// ended takes the time of our turn into account.
func (p *pace) ended(now time.Time) {
	took := min(max(now.Sub(p.began), minTurn), maxTurn)
	if p.turn == 0 {
		p.turn = took
	}
	p.turn += (took - p.turn) / 8
}

// sawEntry notes who wrote an entry that was folded.
func (l *Ledger) sawEntry(e audit.Entry) {
	if c, ok := e.Body.(*audit.Commit); ok && l.started {
		l.pace.landed(c.Instance, l.instance, time.Now())
		l.recent.alone.Store(l.pace.alone(l.instance))
	}
}

// sawLanding notes that a batch of our own has landed.
func (l *Ledger) sawLanding() {
	now := time.Now()
	l.pace.landed(l.instance, l.instance, now)
	l.recent.alone.Store(l.pace.alone(l.instance))
	l.pace.ended(now)
	l.appends.landed.Add(1)
}

// giveWay waits for our turn, and folds what the others write meanwhile. It
// returns at once where nobody else writes.
func (l *Ledger) giveWay() {
	p := &l.pace
	latest := time.Now().Add(maxWait) // whatever the others do
	for len(p.line) > 1 && !errors.Is(l.Ready(), ErrFrozen) {
		if !l.followOthers() {
			break
		}
		ahead := time.Duration(p.ahead(l.instance))
		left := min(time.Until(p.moved.Add((ahead+1)*patience*p.turn)), time.Until(latest))
		if ahead == 0 || left <= 0 || l.stopping(min(left, max(ahead*p.turn/2, minTurn))) {
			break
		}
	}
	p.began = time.Now()
}

// followOthers catches up if there is anything new, which a plain read tells, and
// reports whether it could be told: where readers have all connections, waiting for
// one costs more than a lost swap. An error of the store is left to the append.
func (l *Ledger) followOthers() bool {
	look, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	_, err := l.cfg.Store.CheckpointAfter(look, l.id, l.head.Size)
	if err != nil {
		return errors.Is(err, ErrNotFound)
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := l.catchUp(ctx); err != nil {
		l.unreadable(err)
		return false
	}
	return true
}

// overtook notes that another daemon was first, and returns those of the requests
// that are to be prepared again. One for which that is too much is refused.
func (l *Ledger) overtook(requests []*request) (again []*request) {
	l.appends.lost.Add(1)
	for _, r := range requests {
		r.tries++
		if r.tries > l.appends.most.Load() {
			l.appends.most.Store(r.tries)
		}
		if r.tries == mostTries {
			r.answer(answer{err: fmt.Errorf("%w: other daemons were first %d times in a row", ErrUnavailable,
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
	Lost      uint64 // another daemon moved the head first, and they were prepared again
	Duplicate uint64 // a key or slot stood in the ledger
	Failed    uint64 // nothing was written
	Unknown   uint64 // tries whose outcome had to be found out

	Most uint64 // how often one request was overtaken, at most
}

// appends are the counters of Appends, written by the sequencer.
type appends struct {
	landed, lost, duplicate, failed, unknown, most atomic.Uint64
}

func (a *appends) read() Appends {
	return Appends{Landed: a.landed.Load(), Lost: a.lost.Load(), Duplicate: a.duplicate.Load(),
		Failed: a.failed.Load(), Unknown: a.unknown.Load(), Most: a.most.Load()}
}
