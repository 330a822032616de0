package monitor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/shuffle"
)

// Bounds of what is counted. The largest shape takes 0.75 MB, all of them together
// below 17 MB.
const (
	maxShapes    = 8   // of orders and of draws, alongside the published decks dealt whole
	maxPositions = 416 // of an order; those behind are not counted
	columns      = 64  // of a row; so many cards have a column each, those of larger decks one modulo shoeTypes
	shoeTypes    = 52  // equal cards of a shoe are one type
	maxClasses   = 128 // of draws; those of larger k are counted by equal stretches of 1..k
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

// key is what makes outcomes comparable: an order of take of the cards, or draws
// of 1..k.
type key struct {
	cards, take int
	k           uint32
}

// places hold the shapes of one kind, first come, first served, until the process
// ends. There are few: anyone who may ask for a shuffle may ask for thousands of
// shapes, and displaces none that is there, nor a published deck.
type places struct {
	all    []atomic.Pointer[shape] // filled from the front
	adding sync.Mutex
}

func newPlaces(n int) places { return places{all: make([]atomic.Pointer[shape], n)} }

// find returns the shape, made when it is new; nil when there is no place for it.
func (p *places) find(k key, window uint64) *shape {
	for i := range p.all {
		s := p.all[i].Load()
		if s == nil {
			return p.add(k, window)
		}
		if s.key == k {
			return s
		}
	}
	return nil
}

func (p *places) add(k key, window uint64) *shape {
	p.adding.Lock()
	defer p.adding.Unlock()
	for i := range p.all {
		s := p.all[i].Load()
		if s == nil {
			s = newShape(k, window)
			p.all[i].Store(s)
			return s
		}
		if s.key == k { // another was first
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

	mu    sync.Mutex // held while one outcome is counted
	live  *tally[uint32]
	left  uint64 // outcomes in live at which it is collected: at most a window, so that no count of it overflows
	total uint64

	// Guarded by Monitor.turning.
	spare  *tally[uint32] // empty
	began  time.Time      // of the window by count; zero before the first Turn
	window *tally[uint64] // since it began, without live
	today  *tally[uint64] // since the day began, without live
}

// tally is what is counted over some time.
type tally[C uint32 | uint64] struct {
	n      uint64          // outcomes: orders, or drawn values
	fixed  uint64          // cards that stood at the position of their number
	pairs  uint64          // of draws: pairs of them
	cells  []row[C]        // orders: position × type; draws: classes, from left to right and row by row
	follow [columns]row[C] // orders: type × type of the next position; draws: value × next value
}

// row is as wide as a power of two, so that no index needs a check.
type row[C uint32 | uint64] [columns]C

// same and modulo are the types of small decks and of large ones.
var same, modulo = func() (same, modulo [shuffle.MaxCards]uint8) {
	for v := range same {
		same[v], modulo[v] = uint8(v), uint8(v%shoeTypes)
	}
	return same, modulo
}()

func newShape(k key, window uint64) *shape {
	s := &shape{key: k, left: window}
	rows := k.take
	switch {
	case k.k != 0:
		s.types, rows = int(min(k.k, maxClasses)), maxClasses/columns
	case k.cards <= columns:
		s.types, s.of = k.cards, &same
	default:
		s.types, s.of = shoeTypes, &modulo
	}
	s.live, s.spare = newTally[uint32](rows), newTally[uint32](rows)
	s.window, s.today = newTally[uint64](rows), newTally[uint64](rows)
	return s
}

func newTally[C uint32 | uint64](rows int) *tally[C] { return &tally[C]{cells: make([]row[C], rows)} }

// String returns the name of the shape for people and in metrics.
func (s *shape) String() string {
	if s.key.k != 0 {
		return fmt.Sprintf("draws of 1 to %d", s.key.k)
	}
	return fmt.Sprintf("%d of %d cards", s.key.take, s.key.cards)
}

// countOrder counts the first positions of an order, and says whether there is
// enough to collect.
func (s *shape) countOrder(values []uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, of, fixed := s.live, s.of, uint64(0)
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
	s.total++
	return t.n >= s.left
}

// countValues counts draws of one outcome, each 1..k, by value and in pairs: the
// first with the second, the third with the fourth. A draw without a partner in
// its outcome is in no pair, for none is kept until the next.
func (s *shape) countValues(values []uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.live
	for _, v := range values {
		class := s.class(v)
		t.cells[class/columns][class%columns]++
	}
	if s.key.k <= maxPairs {
		for i := 1; i < len(values); i += 2 {
			t.follow[(values[i-1]-1)%columns][(values[i]-1)%columns]++
		}
		t.pairs += uint64(len(values) / 2)
	}
	t.n += uint64(len(values))
	s.total += uint64(len(values))
	return t.n >= s.left
}

// class returns the column of a drawn value.
func (s *shape) class(v uint32) uint64 {
	if s.key.k <= maxClasses {
		return uint64(v - 1)
	}
	return uint64(v-1) * maxClasses / uint64(s.key.k)
}

// collect adds what was counted to the window and the day, if one of them is due,
// and says whether it did. Anyone who counts waits for an exchange of pointers.
func (s *shape) collect(window uint64, due bool) bool {
	s.mu.Lock()
	if !due && s.live.n < s.left {
		s.mu.Unlock()
		return false
	}
	s.live, s.spare = s.spare, s.live
	s.left = window
	if n := s.window.n + s.spare.n; n < window {
		s.left = window - n
	}
	s.mu.Unlock()
	s.window.add(s.spare)
	s.today.add(s.spare)
	s.spare.reset()
	return true
}

// forget starts all over.
func (s *shape) forget(window uint64) {
	s.mu.Lock()
	s.live, s.spare = s.spare, s.live
	s.left = window
	s.mu.Unlock()
	s.spare.reset()
	s.window.reset()
	s.today.reset()
}

func (t *tally[C]) reset() {
	t.n, t.fixed, t.pairs = 0, 0, 0
	clear(t.cells)
	clear(t.follow[:])
}

// add adds what was counted since.
func (t *tally[C]) add(o *tally[uint32]) {
	t.n, t.fixed, t.pairs = t.n+o.n, t.fixed+o.fixed, t.pairs+o.pairs
	for i := range o.cells {
		t.cells[i].add(&o.cells[i])
	}
	for i := range o.follow {
		t.follow[i].add(&o.follow[i])
	}
}

func (r *row[C]) add(o *row[uint32]) {
	for i, c := range o {
		r[i] += C(c)
	}
}
