package openings

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// MixSeed returns SHA-256(label ‖ leaf hash of the commit entry ‖ values): the slots' 32 bytes and the beacon's 48, in
// plan order, without the cut (docs/SPEC.md section 4.2).
func MixSeed(commit tlog.Hash, values []audit.MixValue) [32]byte {
	b := append([]byte(labelMix), commit[:]...)
	for _, v := range values {
		switch v.Source {
		case audit.SourceSlot:
			b = append(b, v.Slot[:]...)
		case audit.SourceBeacon:
			b = append(b, v.Beacon[:]...)
		}
	}
	return sha256.Sum256(b)
}

// Order says what each place of a shuffle shows, once the values of its plan are known.
type Order struct {
	positions []uint32 // by place; nil for the identity
	seed      [32]byte // of mixed draws
	shifted   bool     // draws move by the seed
	ranges    []uint32
	of        uint32 // of numbers: n; 0 for anything else

	blind bool           // there is a co-dealer
	given map[int]uint32 // by place: what it gave
}

// NewOrder returns the order of places under a commit and its mix (docs/SPEC.md section 4.3). leaf is the RFC 6962 leaf
// hash of the commit entry. mix is nil exactly when the plan has no source with a value.
func NewOrder(leaf tlog.Hash, c *audit.Commit, mix *audit.Mix) (Order, error) {
	if (len(c.Context.Mixed()) == 0) != (mix == nil) {
		return Order{}, fmt.Errorf("%w order: a plan without its mix, or a mix without a plan", audit.ErrMalformed)
	}
	_, blind := c.Context.CoDealer()
	o := Order{of: c.Context.Of, ranges: c.Context.Recipe.Ranges, blind: blind}
	if mix == nil {
		return o, nil
	}
	o.seed = MixSeed(leaf, mix.Values)
	if c.Context.IsDraw() {
		o.shifted = true
		return o, nil
	}
	p, err := shuffle.Mix(o.seed, c.Context.Recipe.Take)
	if err != nil {
		return Order{}, err
	}
	if n := len(mix.Values); n > 0 && mix.Values[n-1].Source == audit.SourceCut {
		if p, err = shuffle.Cut(p, int(mix.Values[n-1].Cut)); err != nil {
			return Order{}, err
		}
	}
	o.positions = p
	return o, nil
}

// Give adds what the co-dealer gave for the places of a deal (docs/SPEC-BLIND.md section 1).
func (o *Order) Give(d *audit.Deal) {
	if d.Blind == nil {
		return
	}
	if o.given == nil {
		o.given = make(map[int]uint32)
	}
	for i, place := range d.Opens() {
		if i < len(d.Blind.Values) {
			o.given[place] = d.Blind.Values[i]
		}
	}
}

// Position returns the committed position that a place shows, −1 if the co-dealer gave nothing for the place.
func (o Order) Position(place int) int {
	if o.blind && o.ranges == nil {
		v, ok := o.given[place]
		if !ok {
			return -1
		}
		place = int(v)
	}
	if o.positions == nil || place >= len(o.positions) { // the latter is no position, whatever the co-dealer gave
		return place
	}
	return int(o.positions[place])
}

// Shows returns what the places show, from the committed values from position 0 on. Draws show the values moved by the
// mix, numbers those that the moved draws take, and anything else the values themselves.
func (o Order) Shows(values []uint32) (shown []uint32, err error) {
	if shown, err = o.Moved(values); err != nil || o.of == 0 {
		return shown, err
	}
	return shuffle.Numbers(int(o.of), shown)
}

// Moved returns the committed draws from position 0 on as the mix moved them, and then the co-dealer where it
// gave a value. It returns other values as they are.
func (o Order) Moved(values []uint32) (moved []uint32, err error) {
	moved = values
	if o.shifted && len(values) > 0 {
		if moved, err = shuffle.Shift(o.seed, o.ranges[:min(len(values), len(o.ranges))], values); err != nil {
			return nil, err
		}
	}
	if o.blind && o.ranges != nil {
		moved = slices.Clone(moved)
		for i, x := range moved {
			if v, ok := o.given[i]; ok {
				moved[i] = 1 + uint32((uint64(x)-1+uint64(v)-1)%uint64(o.ranges[i]))
			}
		}
	}
	return moved, nil
}

// ChildValues returns the cards of a child, as values of the root ancestor's deck (docs/SPEC.md
// section 3.3). A child shuffles the parent's values at the listed positions, in that order.
// indexes is the order that the child's recipe gave.
func ChildValues(parent []uint32, positions []uint16, indexes []uint32) ([]uint32, error) {
	values := make([]uint32, len(indexes))
	for i, x := range indexes {
		if uint64(x) >= uint64(len(positions)) || int(positions[x]) >= len(parent) {
			return nil, fmt.Errorf("%w child: no parent position for card %d", audit.ErrMalformed, x)
		}
		values[i] = parent[positions[x]]
	}
	return values, nil
}

// Given returns what the co-dealer gave for a place; ok is false if it gave nothing.
func (o Order) Given(place int) (v uint32, ok bool) {
	v, ok = o.given[place]
	return v, ok
}
