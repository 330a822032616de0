package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// core is the ledger that is witnessed, with its parts.
type core struct {
	*Core
	cfg   Config
	id    ID
	shown *Shown
	life  *Life
}

const (
	// witnessRetry is the pause after a round without a quorum.
	witnessRetry = time.Second
	// missedRounds is how many rounds without a quorum raise the alarm. They take ten seconds if
	// witnesses refuse, and a minute if they do not answer.
	missedRounds = 10
)

// asked is a witness that is asked, at one address.
type asked struct {
	witness audit.Witness
	size    uint64 // of the newest head that it cosigned for this daemon
	err     error  // why it did not cosign the newest head that it was asked for; nil: it did
	told    string // err as it was last logged
	toldAt  time.Time
}

// WitnessState is what the daemon knows of a witness.
type WitnessState struct {
	Name string // in its policy; followed by the key's id, and by the URL, if the name alone is another's
	Size uint64 // of the newest head that it cosigned for this daemon
	Err  error  // why it did not cosign the newest head that it was asked for; nil: it did
}

// roll is what each witness that is asked said last, and which witnesses doubt.
type roll struct {
	l *core

	mu     sync.Mutex
	asked  []*asked                                   // each at one address
	doubts map[gateway.Address]*gateway.Contradiction // of witnesses that have seen another history
}

// call makes these the witnesses that are asked. If a witness that is no longer asked doubts,
// the doubt stays if the witness showed a checkpoint for it, and ends if it did not.
func (r *roll) call(named []audit.Witness) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.asked
	r.asked = nil
	for _, one := range named {
		a := find(before, gateway.AddressOf(one))
		if a == nil {
			a = &asked{witness: one, err: errors.New("not asked yet")}
		}
		r.asked = append(r.asked, a)
	}
	for at, c := range r.doubts {
		if c.Seen == nil && find(r.asked, at) == nil {
			delete(r.doubts, at)
		}
	}
}

// find returns the witness at an address, nil for none.
func find(list []*asked, at gateway.Address) *asked {
	i := slices.IndexFunc(list, func(a *asked) bool { return gateway.AddressOf(a.witness) == at })
	if i < 0 {
		return nil
	}
	return list[i]
}

// doubted reports whether a witness has seen another history.
func (r *roll) doubted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.doubts) > 0
}

// doubters returns those of the given witnesses that have seen another history.
func (r *roll) doubters(of []audit.Witness) []audit.Witness {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(of, func(one audit.Witness) bool { return r.doubts[gateway.AddressOf(one)] == nil })
}

// note takes in what a witness said. A witness that cosigns doubts no more.
func (r *roll) note(a gateway.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := gateway.AddressOf(a.Witness)
	one := find(r.asked, at)
	if one == nil {
		return
	}
	var doubt *gateway.Contradiction
	if one.err = a.Err; a.Err == nil {
		one.size = a.Size
		delete(r.doubts, at)
	} else if errors.As(a.Err, &doubt) {
		r.doubts[at] = doubt
	}
	r.tell(one)
}

// doubt returns a doubt about the history up to head, nil for none. A doubt ends when head
// extends the checkpoint that the witness showed, even if the witness cannot be reached.
func (r *roll) doubt(ctx context.Context, head Head) *gateway.Contradiction {
	r.mu.Lock()
	doubts := maps.Clone(r.doubts)
	r.mu.Unlock()
	for _, at := range slices.SortedFunc(maps.Keys(doubts), gateway.Address.Compare) {
		c := doubts[at]
		if c.Seen == nil {
			return c
		}
		if held, err := r.l.extends(ctx, head, *c.Seen); err != nil || !held {
			return c
		}
		r.mu.Lock()
		if r.doubts[at] == c {
			delete(r.doubts, at)
		}
		r.mu.Unlock()
	}
	return nil
}

// tell logs why a witness did not cosign, if the reason is new; and not too often, for a
// witness can make up a reason for every head. The caller holds the lock.
func (r *roll) tell(one *asked) {
	if one.err == nil {
		one.told = ""
		return
	}
	if why := one.err.Error(); why != one.told && time.Since(one.toldAt) >= witnessRetry {
		one.told, one.toldAt = why, time.Now()
		r.l.cfg.Log.Warn("a witness did not cosign", "ledger", r.l.cfg.Info.Name, "witness", one.witness.Name, "url",
			one.witness.URL, "error", one.err)
	}
}
