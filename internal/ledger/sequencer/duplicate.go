package ledger

import (
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
)

// draft is a batch before it is written: entries at their indexes, and the head that covers them.
type draft struct {
	all      []*request // requests and refused, in the order in which they came
	requests []*request // that have entries in it
	refused  []refusal  // that have none, because of a rule; answered when memory is known to be current
	later    []*request // that wait for the next batch: they repeat a key or slot, or a signing key stands alone
	entries  []audit.Entry
	batch    Batch
	growth   *growth
	mark     int // of the state, before the first entry
}

type refusal struct {
	request *request
	err     error
}

func (d *draft) answerRefused() {
	for _, r := range d.refused {
		r.request.answer(Answer{Err: r.err})
	}
}

// balked notes that the store refused the draft although the head had not moved. It reports
// whether that had happened to each of its requests the time before as well.
func (d *draft) balked() (twice bool) {
	twice = true
	for _, r := range d.requests {
		twice, r.stale = twice && r.stale, true
	}
	return twice
}

func answerAll(requests []*request, err error) {
	for _, r := range requests {
		r.answer(Answer{Err: err})
	}
}

// repeats reports whether a key tag or slot hash of r was noted for a request before it. If
// not, it notes them. Tags and slots are hashes, so that no tag is equal to a slot.
func repeats(noted map[[32]byte]bool, r *request) bool {
	var hashes [][32]byte
	for _, b := range r.Bodies {
		if c, ok := b.(*audit.Commit); ok {
			hashes = append(append(hashes, c.Context.Slots()...), c.KeyTag)
		}
	}
	if slices.ContainsFunc(hashes, func(h [32]byte) bool { return noted[h] }) {
		return true
	}
	for _, h := range hashes {
		noted[h] = true
	}
	return false
}

// duplicated answers those requests of a refused draft whose key or slot is in the ledger, and returns the others.
func (l *Ledger) duplicated(d *draft, duplicate *DuplicateError) (again []*request) {
	l.appends.duplicate.Add(1)
	for _, r := range d.all {
		var tags [][32]byte
		taken := false
		for _, b := range r.Bodies {
			if c, ok := b.(*audit.Commit); ok {
				if slices.Contains(duplicate.Tags, c.KeyTag) {
					tags = append(tags, c.KeyTag)
				}
				taken = taken || slices.ContainsFunc(c.Context.Slots(),
					func(s [32]byte) bool { return slices.Contains(duplicate.Slots, s) })
			}
		}
		switch {
		case len(tags) > 0:
			r.answer(Answer{Err: &DuplicateError{Tags: tags}})
		case taken:
			r.answer(Answer{Err: SlotTaken()})
		default:
			again = append(again, r)
		}
	}
	return again
}

// SlotTaken is the refusal of a slot that stands in another commit.
func SlotTaken() error {
	return &audit.Illegal{Code: audit.RuleSlot, Detail: "a slot hash stands in another commit of the ledger"}
}

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
