// Package shuffle turns random bytes into draws, orders and mixes, exactly as docs/SPEC.md sections 2 to 4 say. It is
// pure: no clock, no state, no entropy source. The same bytes give the same cards for ever, here and in any other
// implementation of the specification.
//
// In one page (algorithm 1, "shuffled/v1"):
//
//   - Draw 1..k. The lane width w is 0 bytes for k = 1, 1 for k ≤ 2^6, 2 for
//     k ≤ 2^14 and 4 for k ≤ 2^30. Take the next w bytes as a big-endian
//     integer x. With limit = ⌊2^(8w)/k⌋·k, an x ≥ limit is rejected and the
//     next w bytes are taken; otherwise the value is 1 + x mod k. Every value
//     is the image of exactly limit/k lanes, so a uniform tape gives a uniform
//     value.
//   - Shuffle. For i = 0 … m−1: j = i + draw(n−i) − 1, swap A[i] and A[j]. The
//     first m cards are the result. Each of the n!/(n−m)! results has exactly
//     one vector of draws (Fisher–Yates, Durstenfeld's form).
//   - Numbers. m of the numbers 1..n without repeats are the first m cards of n,
//     each and 1. What is committed is the draws, of 1..n, 1..n−1 …, as a list.
//   - Tape. The draws need S = Σ w bytes when nothing is rejected; a tape is
//     L = S + ⌈S/2⌉ + 52·max(1, widest w) bytes and is used directly, never
//     stretched from a seed, which could not reach the orders of a shoe.
//   - Mix. A second Fisher–Yates over positions, fed by the AES-256-CTR
//     keystream of a public seed, moves committed positions to dealt places.
package shuffle

import (
	"errors"
	"fmt"
)

// Limits of docs/SPEC.md section 1.2. They bound the work of every reader.
const (
	MinCards  = 2       // cards in a deck, at least
	MaxCards  = 4096    // cards in a deck, at most
	MaxRanges = 4096    // values in one draw list, at most
	MaxRange  = 1 << 30 // largest k of one draw 1..k
	MaxTape   = 32768   // bytes of a tape, at most
)

// ErrTapeExhausted reports a tape whose lanes were rejected so often that it ran out. Its probability is below 2^-66 on
// a uniform tape (docs/SPEC.md section 2.4), so it is evidence of a broken generator, never bad luck.
var ErrTapeExhausted = errors.New("the tape ran out of bytes")

// ErrTapeLength reports a tape that is not exactly Recipe.TapeLen bytes long.
var ErrTapeLength = errors.New("the tape has the wrong length")

// Recipe says which draws one tape is spent on. Exactly one of Cards and Ranges is set.
type Recipe struct {
	Cards  int      // n: cards that are shuffled, MinCards..MaxCards
	Take   int      // m: cards of the order that are committed, 1..Cards
	Ranges []uint32 // for a draw list: the k of each value, 1..MaxRange each

	// EndLo and EndHi bound a drawn cut-card place: after the shuffle one more
	// value of EndLo..EndHi is drawn from the same tape. Both 0: none is drawn.
	EndLo, EndHi int
}

// Outcome is what a tape gives under a Recipe.
type Outcome struct {
	// Values holds, by position, the index of a card in the input order
	// (0..n−1, m of them), or the drawn value (1..k) for a draw list.
	Values []uint32
	// EndAt is the drawn cut-card place, 0 when the recipe draws none.
	EndAt int
}

// Validate reports the first rule of docs/SPEC.md section 2 that r breaks.
func (r Recipe) Validate() error {
	if r.Ranges != nil {
		return r.validateRanges()
	}
	switch {
	case r.Cards < MinCards || r.Cards > MaxCards:
		return fmt.Errorf("a deck has %d to %d cards, not %d", MinCards, MaxCards, r.Cards)
	case r.Take < 1 || r.Take > r.Cards:
		return fmt.Errorf("take is 1 to the %d cards of the deck, not %d", r.Cards, r.Take)
	case r.EndLo == 0 && r.EndHi == 0:
		return nil
	case r.EndLo < 1 || r.EndLo >= r.EndHi || r.EndHi > r.Take:
		return fmt.Errorf("a drawn end_at needs 1 ≤ lo < hi ≤ %d, not %d..%d", r.Take, r.EndLo, r.EndHi)
	}
	return nil
}

func (r Recipe) validateRanges() error {
	if r.Cards != 0 || r.Take != 0 || r.EndLo != 0 || r.EndHi != 0 {
		return errors.New("a draw list has no cards, no take and no end_at")
	}
	if len(r.Ranges) < 1 || len(r.Ranges) > MaxRanges {
		return fmt.Errorf("a draw list has 1 to %d ranges, not %d", MaxRanges, len(r.Ranges))
	}
	for i, k := range r.Ranges {
		if k < 1 || k > MaxRange {
			return fmt.Errorf("range %d is 1 to %d, not %d", i, MaxRange, k)
		}
	}
	return nil
}

// Positions returns the number of values the recipe commits to.
func (r Recipe) Positions() int {
	if r.Ranges != nil {
		return len(r.Ranges)
	}
	return r.Take
}

// LaneWidth returns the bytes of one lane for a draw 1..k: 0, 1, 2 or 4.
// Two spare bits keep the chance of a rejection below one in five.
func LaneWidth(k uint32) int {
	switch {
	case k <= 1:
		return 0
	case k <= 1<<6:
		return 1
	case k <= 1<<14:
		return 2
	default:
		return 4
	}
}

// Need returns S, the bytes that r spends when no lane is rejected, and the width of its widest lane.
func (r Recipe) Need() (s, widest int) {
	add := func(k uint32) {
		w := LaneWidth(k)
		s += w
		widest = max(widest, w)
	}
	for _, k := range r.Ranges {
		add(k)
	}
	s += laneBytes(r.Cards) - laneBytes(r.Cards-r.Take)
	widest = max(widest, LaneWidth(uint32(r.Cards)))
	if r.EndHi != 0 {
		add(uint32(r.EndHi - r.EndLo + 1))
	}
	return s, widest
}

// laneBytes returns Σ LaneWidth(k) for k = 1..n, n ≤ MaxCards, in closed form.
func laneBytes(n int) int {
	return max(0, min(n, 1<<6)-1) + 2*max(0, n-(1<<6))
}

// TapeLen returns L, the exact length in bytes of r's tape (docs/SPEC.md section 2.3): 129 for 52 cards, 1,255 for an
// eight-deck shoe, never more than MaxTape for a valid recipe.
func (r Recipe) TapeLen() int {
	s, widest := r.Need()
	return s + (s+1)/2 + 52*max(1, widest)
}

// Run spends tape on the draws of r. It returns an error, and no values, for an invalid recipe, ErrTapeLength for a
// tape of another length than TapeLen, and ErrTapeExhausted.
func (r Recipe) Run(tape []byte) (Outcome, error) { return r.run(tape, nil) }

// Step is one draw as Explain shows it.
type Step struct {
	At       int    // offset in the tape of the first lane read
	Rejected []byte // the rejected lanes, end to end
	Lane     []byte // the accepted lane; empty when K is 1
	K        uint32 // the draw was 1..K
	Value    uint32 // its result
	I        int    // the position filled, 0 for the cut-card place; a shuffle swaps I and J = I + Value − 1
	EndAt    bool   // this draw chose the cut-card place
}

// Explain runs r like Run and reports every draw to show, in order.
func (r Recipe) Explain(tape []byte, show func(Step)) (Outcome, error) { return r.run(tape, show) }

func (r Recipe) run(tape []byte, show func(Step)) (Outcome, error) {
	if err := r.Validate(); err != nil {
		return Outcome{}, err
	}
	if len(tape) != r.TapeLen() {
		return Outcome{}, fmt.Errorf("%w: %d bytes where the recipe takes exactly %d", ErrTapeLength, len(tape),
			r.TapeLen())
	}
	l := &lanes{buf: tape}
	var out Outcome
	if r.Ranges != nil {
		out.Values = l.drawList(r.Ranges, show)
	} else {
		out.Values = l.fisherYates(r.Cards, r.Take, show)
		if r.EndHi != 0 {
			out.EndAt = r.EndLo + int(l.explained(uint32(r.EndHi-r.EndLo+1), endAt, show)) - 1
		}
	}
	if l.dry {
		return Outcome{}, ErrTapeExhausted
	}
	return out, nil
}
