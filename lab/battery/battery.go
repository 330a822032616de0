// Package battery tests final outcomes with every test that a regulator names: frequency, position × card,
// pairs, runs, gaps and the rest of docs/LAB.md.
//
// A tally counts exactly and in bounded memory while outcomes are made. The p-values are computed once, at
// the end. Every expected distribution is exact for the size of the deck. The battery is a smoke test: it
// finds a faulty shuffle or a broken generator, and cannot show that a cryptographic generator is
// unpredictable, nor a bias smaller than its Detects figures.
package battery

import (
	"fmt"
	"sync"
)

// maxCards bounds memory: a shoe of eight decks is the largest that is tested.
const maxCards = 416

// shoeTypes is the number of card types of a shoe: value mod 52.
const shoeTypes = 52

// A Shape describes one outcome. A deck has Cards of 4..416 and Decks 1. A shoe has Decks of 2..8 and Cards 52·Decks;
// its card types are the values mod 52. Draws have K > 0 and Values per outcome, and neither Cards nor Decks.
type Shape struct {
	Cards  int    `json:"cards,omitempty"`
	Decks  int    `json:"decks,omitempty"`
	K      uint32 `json:"k,omitempty"`
	Values int    `json:"values,omitempty"`
}

// types returns the number of card types.
func (s Shape) types() int { return s.Cards / s.Decks }

func (s Shape) check() error {
	switch {
	case s.K > 0 && (s.Cards != 0 || s.Decks != 0):
		return fmt.Errorf("draws of 1..%d must have neither cards nor decks", s.K)
	case s.K > 0 && (s.K < 2 || s.K > 1<<30):
		return fmt.Errorf("k must be 2..%[2]d, not %[1]d", s.K, 1<<30)
	case s.K > 0 && (s.Values < 1 || s.Values > 4096):
		return fmt.Errorf("values must be 1..4096, not %d", s.Values)
	case s.K > 0:
		return nil
	case s.Cards < 4 || s.Cards > maxCards:
		return fmt.Errorf("cards must be 4..%[2]d, not %[1]d", s.Cards, maxCards)
	case s.Decks < 1 || s.Decks > 1 && s.Cards != shoeTypes*s.Decks:
		return fmt.Errorf("decks must be 1, or the number of decks of %[3]d cards in a shoe, not %[1]d with %[2]d cards", s.Decks, s.Cards,
			shoeTypes)
	}
	return nil
}

// A tally counts outcomes of one shape. One goroutine uses it until it is merged.
type tally interface {
	// add counts one outcome. It does not keep the slice.
	add(outcome []uint32)
	// merge adds the counts of another tally of the same shape.
	merge(other tally)
	// report fills in Outcomes, Results, Untested, Positions and Means. It does not apply Holm's correction.
	report(r *Report)
}

// A Battery tests outcomes of one shape.
type Battery struct {
	shape Shape

	mu      sync.Mutex
	workers []*Worker // guarded by mu
}

// New returns a battery for outcomes of the shape, or an error that names the invalid member of the shape.
func New(s Shape) (*Battery, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("battery: %w", err)
	}
	return &Battery{shape: s}, nil
}

// A Worker takes the outcomes of one goroutine, in their order.
type Worker struct{ tally tally }

// Worker returns a new worker. It may be called from any goroutine.
func (b *Battery) Worker() *Worker {
	w := &Worker{tally: b.newTally()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers = append(b.workers, w)
	return w
}

// Add counts one outcome, which follows the one before: tests of successive games compare neighbours. Add
// does not keep the slice. A worker takes at most 2^32−1 outcomes.
func (w *Worker) Add(outcome []uint32) { w.tally.add(outcome) }

func (b *Battery) newTally() tally {
	if b.shape.K > 0 {
		return newDrawTally(b.shape)
	}
	return newDeckTally(b.shape)
}

// Report judges the counts of all workers, each of which must be done. It does not change the workers and
// may be called again.
func (b *Battery) Report() *Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.newTally()
	for _, w := range b.workers {
		all.merge(w.tally)
	}
	r := &Report{Shape: b.shape, Level: Level}
	all.report(r)
	r.conclude()
	return r
}
