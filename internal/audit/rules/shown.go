package rules

import (
	"encoding/binary"
	"slices"

	"shuffled/internal/audit"
)

// shown says which of the dealt places of a shuffle are public. It has u16 length ‖ u8 kind for
// each stretch of places of one kind, and is empty while every dealt place is public.
type shown string

const (
	placePublic uint8 = iota
	placeHidden
	placeAside // a burn or discard that is not public
)

// places returns the kind of each place below next.
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

// dealt is s after a deal that makes next the next place. A place that an illegal deal leaves out is not public.
func (s shown) dealt(before, next int, d *audit.Deal) shown {
	if s == "" && d.First == before && !slices.ContainsFunc(d.Runs, func(r audit.Run) bool { return !r.Public }) {
		return ""
	}
	places := slices.Concat(s.places(before), slices.Repeat([]uint8{placeHidden}, next-before))
	for place, r := range d.Places() {
		if place < next {
			places[place] = shows(r)
		}
	}
	return shownOf(places)
}

// shows returns the kind of the places of a run.
func shows(r audit.Run) uint8 {
	switch {
	case r.Public:
		return placePublic
	case r.Aside():
		return placeAside
	}
	return placeHidden
}

// revealed is s after a reveal of places. It ignores places that were not dealt.
func (s shown) revealed(next int, of []uint16) shown {
	places := s.places(next)
	for _, p := range of {
		if int(p) < next {
			places[p] = placePublic
		}
	}
	return shownOf(places)
}

// pool interns values: it holds each once, under a number, with the count of its holders.
type pool[V any] struct {
	numbers map[string]uint32 // by the key of a value
	values  []V               // by number
	holders []int             // by number
	unused  []uint32          // free numbers
}

func newPool[V any]() pool[V] { return pool[V]{numbers: make(map[string]uint32)} }

// hold counts one more holder of the value of a key and returns its number. If the key is new, its value is v.
func (p *pool[V]) hold(key string, v V) uint32 {
	number, ok := p.numbers[key]
	if !ok {
		if last := len(p.unused) - 1; last >= 0 {
			number, p.unused = p.unused[last], p.unused[:last]
		} else {
			number = uint32(len(p.values))
			p.values, p.holders = append(p.values, v), append(p.holders, 0)
		}
		p.values[number], p.numbers[key] = v, number
	}
	p.holders[number]++
	return number
}

// release counts one holder less of the value of a number and key, and forgets the value after the last.
func (p *pool[V]) release(number uint32, key string) {
	if p.holders[number]--; p.holders[number] == 0 {
		delete(p.numbers, key)
		clear(p.values[number : number+1])
		p.unused = append(p.unused, number)
	}
}
