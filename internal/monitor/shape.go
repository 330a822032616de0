package monitor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/shuffle"
)

// Bounds of what is counted. The largest shape takes 0.5 MB, all of them together below 11.5 MB.
const (
	maxShapes    = 8   // of orders and of draws, alongside the published decks dealt whole
	maxPositions = 416 // of an order; later positions are not counted
	columns      = 64  // of a row; cards of a larger deck share columns, modulo shoeTypes
	shoeTypes    = 52  // equal cards of a shoe are one type
	maxClasses   = 128 // of draws; for a larger k they are equal stretches of 1..k
	maxPairs     = 50  // largest k whose pairs of draws are counted
)

// published are the sizes of the named decks.
var published = func() map[int]bool {
	sizes := make(map[int]bool)
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		sizes[d.Len()] = true
	}
	return sizes
}()

// key tells which outcomes are counted together: orders of take of the cards, or draws of 1..k.
type key struct {
	cards, take int
	k           uint32
}

// places hold the shapes of one kind, first come, first served, until the process ends. There are few places, since a
// caller may ask for thousands of shapes. No shape displaces another, or a published deck. They fill from the front.
type places []atomic.Pointer[shape]

// find returns the shape, made when it is new; nil when there is no place for it.
func (p places) find(k key) *shape {
	for i := range p {
		if p[i].Load() == nil {
			p[i].CompareAndSwap(nil, newShape(k)) // unless another goroutine is first
		}
		if s := p[i].Load(); s.key == k {
			return s
		}
	}
	return nil
}

// shape counts outcomes of one key.
type shape struct {
	key   key
	types int                      // columns in use: cards, card types, or classes of values
	of    *[shuffle.MaxCards]uint8 // of an order: type of each card
	began time.Time                // of the window by count, zero before the first Turn; guarded by Monitor.turning

	mu     sync.Mutex // guards what follows
	window *tally     // since the window began
	today  *tally     // since the day began
	total  uint64
}

// tally is what is counted over some time.
type tally struct {
	n      uint64       // outcomes: orders, or drawn values
	fixed  uint64       // cards that stood at the position of their number
	pairs  uint64       // of draws: pairs of them
	cells  []row        // orders: position × type; draws: classes, from left to right and row by row
	follow [columns]row // orders: type × type of the next position; draws: value × next value
}

// row is as wide as a power of two, so that no index needs a check.
type row [columns]uint64

// same and modulo are the types of small decks and of large ones.
var same, modulo = func() (same, modulo [shuffle.MaxCards]uint8) {
	for v := range same {
		same[v], modulo[v] = uint8(v), uint8(v%shoeTypes)
	}
	return same, modulo
}()

func newShape(k key) *shape {
	s := &shape{key: k}
	rows := k.take
	switch {
	case k.k != 0:
		s.types, rows = int(min(k.k, maxClasses)), maxClasses/columns
	case k.cards <= columns:
		s.types, s.of = k.cards, &same
	default:
		s.types, s.of = shoeTypes, &modulo
	}
	s.window, s.today = newTally(rows), newTally(rows)
	return s
}

func newTally(rows int) *tally { return &tally{cells: make([]row, rows)} }

// String returns the name of the shape for people and in metrics.
func (s *shape) String() string {
	if s.key.k != 0 {
		return fmt.Sprintf("draws of 1 to %d", s.key.k)
	}
	return fmt.Sprintf("%d of %d cards", s.key.take, s.key.cards)
}

// count counts the first positions of an order, or the draws of one outcome, each 1..k.
func (s *shape) count(values []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.today.n
	for _, t := range [...]*tally{s.window, s.today} {
		if s.key.k != 0 {
			t.values(s.key.k, values)
		} else {
			t.order(s.of, values)
		}
	}
	s.total += s.today.n - before
}

func (t *tally) order(of *[shuffle.MaxCards]uint8, values []uint32) {
	fixed := uint64(0)
	cells := t.cells[:min(len(t.cells), len(values))]
	first := of[values[0]%shuffle.MaxCards] % columns
	cells[0][first]++
	if values[0] == 0 {
		fixed++
	}
	before := &t.follow[first]
	for i := 1; i < len(cells); i++ {
		v := values[i]
		here := of[v%shuffle.MaxCards] % columns
		cells[i][here]++
		before[here]++
		before = &t.follow[here]
		if int(v) == i {
			fixed++
		}
	}
	t.fixed += fixed
	t.n++
}

// values counts draws by value and in pairs: the first with the second, the third with the fourth. A draw without a
// partner in its outcome is in no pair: no draw is kept until the next outcome.
func (t *tally) values(k uint32, values []uint32) {
	for _, v := range values {
		c := class(k, v)
		t.cells[c/columns][c%columns]++
	}
	if k <= maxPairs {
		for i := 1; i < len(values); i += 2 {
			t.follow[(values[i-1]-1)%columns][(values[i]-1)%columns]++
		}
		t.pairs += uint64(len(values) / 2)
	}
	t.n += uint64(len(values))
}

// class returns the class of a value of 1..k.
func class(k, v uint32) uint64 {
	if k <= maxClasses {
		return uint64(v - 1)
	}
	return uint64(v-1) * maxClasses / uint64(k)
}

// end returns one of the tallies of s and begins another in its place, if it has at least
// so many outcomes. It returns nil if it has fewer.
func (s *shape) end(t **tally, least uint64) *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := *t
	if ended.n < least {
		return nil
	}
	*t = newTally(len(ended.cells))
	return ended
}
