package rules

import (
	"fmt"
	"slices"
)

// SavedShuffle is an open shuffle.
type SavedShuffle struct {
	ID        uint64
	Commit    []byte // its body
	Next      uint16 // next place to deal
	Round     uint16 // of the newest run of its chain, 0 for none
	Entries   uint16 // that name it
	Chain     SavedChain
	Mixed     bool
	Owner     string
	Takeovers uint8
	Shown     []byte   // which of the dealt places are public, as State keeps it
	Given     []uint32 // the values that a co-dealer gave
}

// Copy copies a state in pieces. Between two pieces the state may change; the pieces hold the state as it was at the
// beginning. A shuffle that changes before its turn is copied before it changes. The size of a piece bounds the time
// for which the state is held up, and the memory that a copy takes. A Copy belongs to the goroutine of its state.
type Copy struct {
	s       *State
	below   uint64         // entries at the beginning
	left    int            // open shuffles of that time that are not copied
	turn    uint8          // marks the slots that are
	slot    uint32         // the next
	changed []SavedShuffle // since the last piece
}

// More returns the next piece: n open shuffles, and those that changed since the last piece. It is empty at the end.
func (c *Copy) More(n int) ([]SavedShuffle, error) {
	if c.s.copy != c {
		return nil, fmt.Errorf("copying the state of %d entries: another copy was begun", c.below)
	}
	piece := slices.Grow(c.changed, n)
	c.changed = nil
	for ; n > 0 && int(c.slot) < len(c.s.open.chunks)*chunkSlots; c.slot++ {
		if o := &c.s.open.chunks[c.slot/chunkSlots][c.slot%chunkSlots]; o.id != 0 && c.wants(o) {
			piece = append(piece, c.take(c.s.open.at(c.slot)))
			n--
		}
	}
	if len(piece) == 0 && c.left != 0 {
		return nil, fmt.Errorf("copying the state of %d entries: %d open shuffles are missing", c.below, c.left)
	}
	return piece, nil
}

// End ends the copy, whether it is whole or not.
func (c *Copy) End() {
	if c.s.copy == c {
		c.s.copy = nil
	}
}

func (c *Copy) wants(o *open) bool { return o.id < c.below && o.copied != c.turn }

func (c *Copy) take(o opened) SavedShuffle {
	o.copied = c.turn
	c.left--
	return SavedShuffle{ID: o.id, Commit: o.appendBody(make([]byte, 0, o.bodyLen())), Next: o.next, Round: o.round,
		Entries: o.entries, Mixed: o.mixed, Owner: c.s.holders.identities[o.owner], Takeovers: o.takeovers,
		Shown: []byte(o.shown), Chain: o.save(), Given: o.given}
}
