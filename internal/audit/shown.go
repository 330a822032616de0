package audit

import (
	"encoding/binary"
	"slices"
)

// shown tells which of the dealt places of a shuffle are public: for each stretch of
// places alike u16 length ‖ u8 of what they are. It is empty while all are public, which
// they are before the first deal.
type shown string

const (
	placePublic uint8 = iota
	placeHidden
	placeAside // a burn or discard that is not public
)

// places returns what each of the places below next is.
func (s shown) places(next int) []uint8 {
	out := make([]uint8, 0, next)
	for ; len(s) >= 3; s = s[3:] {
		out = append(out, slices.Repeat([]uint8{s[2]}, int(s[0])<<8|int(s[1]))...)
	}
	return append(out, make([]uint8, max(0, next-len(out)))...)
}

func shownOf(places []uint8) shown {
	if !slices.ContainsFunc(places, func(p uint8) bool { return p != placePublic }) {
		return ""
	}
	var b []byte
	for n := 0; len(places) > 0; places = places[n:] {
		if n = slices.IndexFunc(places, func(p uint8) bool { return p != places[0] }); n < 0 {
			n = len(places)
		}
		b = append(binary.BigEndian.AppendUint16(b, uint16(n)), places[0])
	}
	return shown(b)
}

// sound reports whether s is one of so many places.
func (s shown) sound(next int) bool {
	places := s.places(next)
	return len(places) == next && shownOf(places) == s && !slices.ContainsFunc(places,
		func(p uint8) bool { return p > placeAside })
}

// dealt is s after a deal that makes next the next place. A place that an illegal deal
// leaves out is not public.
func (s shown) dealt(before, next int, d *Deal) shown {
	if s == "" && d.First == before && !slices.ContainsFunc(d.Runs, func(r Run) bool { return !r.Public }) {
		return ""
	}
	places := slices.Concat(s.places(before), slices.Repeat([]uint8{placeHidden}, next-before))
	for place, r := range d.Places() {
		if place < next {
			places[place] = r.shows()
		}
	}
	return shownOf(places)
}

// Aside reports whether the cards of the run are for nobody to see: a burn or discard
// that is not public opens nothing before the tape is disclosed (docs/SPEC.md section 8).
func (r Run) Aside() bool {
	return !r.Public && (r.Purpose == PurposeBurn || r.Purpose == PurposeDiscard)
}

// shows returns what the places of the run are.
func (r Run) shows() uint8 {
	switch {
	case r.Public:
		return placePublic
	case r.Aside():
		return placeAside
	}
	return placeHidden
}

// revealed is s after a reveal of those of the places that were dealt.
func (s shown) revealed(next int, of []uint16) shown {
	places := s.places(next)
	for _, p := range of {
		if int(p) < next {
			places[p] = placePublic
		}
	}
	return shownOf(places)
}

// show sets what of the places of an open shuffle is public.
func (s *openShuffles) show(o opened, places shown) {
	was := o.open.shownNumber
	o.open.shownNumber = s.shown.hold(string(places), places)
	s.shown.release(was, string(s.shown.values[was]))
}
