package audit

import (
	"fmt"
	"math"
	"slices"
)

// Copy copies a state in pieces, between which the state goes on: what they hold is
// the state as it was at the beginning. A shuffle that changes ahead of its turn is
// copied before it does, so that a piece bounds the time for which the state is held
// up, and the memory that a copy takes. It belongs to the goroutine of its state.
type Copy struct {
	s       *State
	below   uint64 // entries at the beginning
	left    int    // open shuffles of that time that are not copied
	turn    uint8  // marks the slots that are
	slot    uint32 // the next
	changed writer // the shuffles that changed since the last piece
}

// Copy begins a copy and returns its first piece: the length of an encoding of the
// state without tables and open shuffles, the encoding, and the tables in no order, for
// sorting many would hold the state up. The state is Complete, and nothing of it can be
// taken back. A copy that was begun before ends.
func (s *State) Copy() (*Copy, []byte) {
	s.copies = s.copies%math.MaxUint8 + 1 // a new slot has the mark 0
	s.copy = &Copy{s: s, below: s.size, left: s.open.len(), turn: s.copies}
	encoded := s.encode(0, nil, nil)
	w := &writer{b: make([]byte, 0, 4+len(encoded)+48*len(s.tables))}
	w.u32(uint32(len(encoded)))
	w.raw(encoded)
	for _, t := range s.tables {
		t.encode(w)
	}
	return s.copy, w.b
}

// More returns the next piece, of n open shuffles and those that changed since the
// last, in the room of b; it is empty at the end.
func (c *Copy) More(b []byte, n int) ([]byte, error) {
	if c.s.copy != c {
		return nil, fmt.Errorf("copying the state of %d entries: another copy was begun", c.below)
	}
	piece := &writer{b: append(b[:0], c.changed.b...)}
	c.changed.b = c.changed.b[:0]
	for ; n > 0 && int(c.slot) < len(c.s.open.chunks)*chunkSlots; c.slot++ {
		if o := &c.s.open.chunks[c.slot/chunkSlots][c.slot%chunkSlots]; o.id != 0 && c.wants(o) {
			c.take(piece, c.s.open.at(c.slot))
			n--
		}
	}
	if len(piece.b) == 0 && c.left != 0 {
		return nil, fmt.Errorf("copying the state of %d entries: %d open shuffles are missing", c.below, c.left)
	}
	return piece.b, nil
}

// End ends the copy, whether it is whole or not.
func (c *Copy) End() {
	if c.s.copy == c {
		c.s.copy = nil
	}
}

func (c *Copy) wants(o *open) bool { return o.id < c.below && o.copied != c.turn }

func (c *Copy) take(w *writer, o opened) {
	o.copied = c.turn
	c.s.encodeOpen(w, o)
	c.left--
}

// keep copies a shuffle that is about to change, if a copy is yet to have it.
func (s *State) keep(o opened) {
	if s.copy != nil && s.copy.wants(o.open) {
		s.copy.take(&s.copy.changed, o)
	}
}

// Restored makes a state of the pieces of a Copy, in their order: first the first,
// then each other with Add, then Done.
type Restored struct{ s *State }

// Restore reads the first piece. What Copy would not have written is an
// ErrMalformed, what a later version may have written an ErrUnknown.
func Restore(first []byte) (*Restored, error) {
	r := &stateReader{reader: reader{s: first}}
	encoded := r.take("state", int(r.u32("length of the state")))
	if r.err != nil {
		return nil, r.err
	}
	s, err := ParseState(encoded)
	for r.state = s; err == nil && len(r.s) > 0; err = r.err {
		r.table()
	}
	return &Restored{s}, err
}

// Add reads another piece.
func (c *Restored) Add(piece []byte) error {
	r := &stateReader{reader: reader{s: piece}, state: c.s}
	for r.err == nil && len(r.s) > 0 {
		r.openShuffle()
	}
	return r.err
}

// Done returns the state.
func (c *Restored) Done() *State {
	for _, t := range c.s.tables {
		slices.Sort(t.waiting)
	}
	c.s.Commit()
	return c.s
}
