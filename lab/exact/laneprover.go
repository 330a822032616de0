package exact

import (
	"cmp"
	"errors"
	"fmt"

	"shuffled/internal/shuffle"
)

// block is the number of lanes that one tape offers to the same number of draws.
const block = shuffle.MaxRanges - 1

// rejectedBlock is the number of lanes on the tape of a single draw: all fit.
const rejectedBlock = 52

// laneProver belongs to one goroutine.
type laneProver struct {
	run    Run
	every1 []byte   // all one-byte lanes, in order
	every2 []byte   // all two-byte lanes
	ranges []uint32 // block draws 1..k and one 1..64
	counts []uint32 // by value
	tape   []byte
}

func newLaneProver(run Run) *laneProver {
	p := &laneProver{run: run, ranges: make([]uint32, block+1), counts: make([]uint32, MaxEnumerated+1),
		tape: make([]byte, shuffle.MaxTape)}
	p.every1, p.every2 = make([]byte, 1<<8), make([]byte, 2<<16)
	for x := range 1 << 8 {
		p.every1[x] = byte(x)
	}
	for x := range 1 << 16 {
		putLane(p.every2[2*x:], 2, uint64(x))
	}
	return p
}

// every proves one draw of a draw list by all its lanes.
func (p *laneProver) every(k uint32) error {
	w := shuffle.LaneWidth(k)
	all := map[int][]byte{1: p.every1, 2: p.every2}[w]
	if all == nil {
		return fmt.Errorf("draw 1..%d: lanes of %d bytes are too many to try", k, w)
	}
	lanes, limit := limitOf(k)
	for i := range p.ranges {
		p.ranges[i] = k
	}
	clear(p.counts)
	for from := uint64(0); from < limit; from += block {
		to := min(from+block, limit)
		if err := p.accepted(k, all[int(from)*w:int(to)*w]); err != nil {
			return err
		}
	}
	for v, c := range p.counts[1 : k+1] {
		if uint64(c) != lanes/uint64(k) {
			return fmt.Errorf("draw 1..%d: %d came from %d of %d lanes, not %d", k, v+1, c, lanes, lanes/uint64(k))
		}
	}
	for from := limit; from < lanes; from += rejectedBlock {
		to := min(from+rejectedBlock, lanes)
		if err := p.rejected(k, all[int(from)*w:int(to)*w]); err != nil {
			return err
		}
	}
	return nil
}

// accepted offers lanes to the same number of draws 1..k and counts the values. A last draw 1..64 takes the
// byte after the lanes, a 0 that 1s follow. It shows that the draws took exactly these lanes: if one had
// been rejected, it would read a 1.
func (p *laneProver) accepted(k uint32, lanes []byte) error {
	n := len(lanes) / shuffle.LaneWidth(k)
	r := shuffle.Recipe{Ranges: p.ranges[:n+1]}
	r.Ranges[n] = 64
	defer func() { r.Ranges[n] = k }()
	tape := p.tape[:r.TapeLen()]
	end := tape[copy(tape, lanes):]
	end[0], end[1] = 0, 1
	fill(end[1:], 1)
	out, err := p.run(r, tape)
	if err != nil {
		return fmt.Errorf("draw 1..%d: lanes %x to %x: %w", k, first(lanes, n), last(lanes, n), err)
	}
	if len(out.Values) != n+1 || out.Values[n] != 1 {
		return fmt.Errorf("draw 1..%d: %d draws did not take exactly the %d lanes %x to %x", k, n, n, first(lanes, n),
			last(lanes, n))
	}
	for i, v := range out.Values[:n] {
		if v-1 >= k { // 0 as well
			return fmt.Errorf("draw 1..%d: lane %d after %x gave %d", k, i, first(lanes, n), v)
		}
		p.counts[v]++
	}
	return nil
}

func first(lanes []byte, n int) []byte { return lanes[:len(lanes)/n] }
func last(lanes []byte, n int) []byte  { return lanes[len(lanes)-len(lanes)/n:] }

// rejected repeats the lanes on a whole tape. It must run out: if one of them had been accepted, there
// would be a value.
func (p *laneProver) rejected(k uint32, lanes []byte) error {
	p.ranges[0] = k
	r := shuffle.Recipe{Ranges: p.ranges[:1]}
	tape := p.tape[:r.TapeLen()]
	fill(tape, copy(tape, lanes))
	out, err := p.run(r, tape)
	if !errors.Is(err, shuffle.ErrTapeExhausted) {
		n := len(lanes) / shuffle.LaneWidth(k)
		return cmp.Or(err, notRejected(k, fmt.Sprintf("%x to %x", first(lanes, n), last(lanes, n)), out))
	}
	return nil
}

// one returns what a draw 1..k, which is p.ranges[0], makes of a tape that has only lane x: its value, or ok false if
// it is rejected.
func (p *laneProver) one(k uint32, x uint64) (v uint32, ok bool, err error) {
	w, r := shuffle.LaneWidth(k), shuffle.Recipe{Ranges: p.ranges[:1]}
	tape := p.tape[:r.TapeLen()]
	putLane(tape, w, x)
	fill(tape, w)
	out, err := p.run(r, tape)
	switch {
	case errors.Is(err, shuffle.ErrTapeExhausted):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case len(out.Values) != 1:
		return 0, false, fmt.Errorf("%d values, not 1", len(out.Values))
	}
	return out.Values[0], true, nil
}

// edges proves one draw of a draw list by the lanes at its edges, and halves by every half of a lane.
func (p *laneProver) edges(k uint32) error  { return p.each(k, edges(k)) }
func (p *laneProver) halves(k uint32) error { return p.each(k, everyHalf(k)) }

// each tries lanes one by one.
func (p *laneProver) each(k uint32, lanes []uint64) error {
	p.ranges[0] = k
	_, limit := limitOf(k)
	for _, x := range lanes {
		v, ok, err := p.one(k, x)
		switch want := 1 + uint32(x%uint64(k)); {
		case err != nil:
			return fmt.Errorf("draw 1..%d: lane %d: %w", k, x, err)
		case ok && x >= limit:
			return fmt.Errorf("draw 1..%d: lane %d gave a value, from the limit %d on none may", k, x, limit)
		case !ok && x < limit:
			return fmt.Errorf("draw 1..%d: lane %d is below the limit %d and was rejected", k, x, limit)
		case ok && v != want:
			return fmt.Errorf("draw 1..%d: lane %d gave %d, not %d", k, x, v, want)
		}
	}
	return nil
}
