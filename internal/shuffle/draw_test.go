package shuffle

import (
	"flag"
	"fmt"
	"slices"
	"testing"
)

// full asks for the enumerations that take minutes.
var full = flag.Bool("shuffle.full", false, "enumerate all lanes of some four-byte draws (minutes)")

// every returns all lanes of w bytes, end to end, in order.
func every(w int) []byte {
	buf := make([]byte, 0, w<<(8*w))
	for x := range uint64(1) << (8 * w) {
		buf = appendLane(buf, w, x)
	}
	return buf
}

// oneByte and twoByte hold every lane of their width.
var oneByte, twoByte = every(1), every(2)

// checkLanes draws 1..k from every lane there is, 2 ≤ k ≤ 2^14, for the draw itself; TestDrawIsUniform does it for
// every k, through Run. Each value comes ⌊2^(8w)/k⌋ times. That is as often as all k values can come equally often, so
// no lane is rejected in vain. Seen as lanes of another width, the buffer would not give these counts.
func checkLanes(s shuffler, k uint32) error {
	buf := twoByte
	if k <= 1<<6 {
		buf = oneByte
	}
	lanes := uint32(len(buf) / refWidth(uint64(k)))
	counts := make([]uint32, k+1) // a value above k would panic
	s.tally(counts, k, buf)
	for v, c := range counts[1:] {
		if c != lanes/k {
			return fmt.Errorf("draws 1..%d gave %d from %d of %d lanes, want %d", k, v+1, c, lanes, lanes/k)
		}
	}
	return nil
}

// TestDrawForgetsEarlierLanes feeds lanes one at a time, each to a draw of its own: what a lane gives does not depend
// on the lanes before it, so the counts above hold wherever on a tape a lane stands. A lane cut short gives nothing.
func TestDrawForgetsEarlierLanes(t *testing.T) {
	t.Parallel()
	for _, k := range []uint32{2, 3, 51, 52, 63, 64, 65, 66, 416, 13107, 13108, 16383, 16384} {
		w, limit := refWidth(uint64(k)), refLimit(uint64(k))
		for x := range uint64(1) << (8 * w) {
			buf := appendLane(nil, w, x)
			must(t, oneLane(ours{}, k, buf, x, limit))
			if v, _, ok := (ours{}).draw(k, buf[:w-1]); ok {
				t.Fatalf("k = %d: %d of %d bytes of a lane gave %d", k, w-1, w, v)
			}
		}
	}
}

// oneLane checks what lane x alone gives.
func oneLane(s shuffler, k uint32, buf []byte, x, limit uint64) error {
	v, rest, ok := s.draw(k, buf)
	switch {
	case x >= limit && ok:
		return fmt.Errorf("k = %d: lane %d is not below the limit %d and gave %d", k, x, limit, v)
	case x < limit && (!ok || uint64(v) != 1+x%uint64(k) || len(rest) != 0):
		return fmt.Errorf("k = %d: lane %d gave %d (%v, %d bytes unread), want %d", k, x, v, ok, len(rest),
			1+x%uint64(k))
	}
	return nil
}

// wideRanges are draws with four-byte lanes: the ends, the neighbours of powers of two, the powers themselves (2^32 mod
// k = 0: nothing is rejected), and for some q the k that rejects most among those with ⌊2^32/k⌋ = q.
func wideRanges() []uint32 {
	ks := []uint32{1<<14 + 1, 1<<14 + 2, 100_000, 1_000_003, 1<<30 - 2}
	for e := 15; e <= 30; e++ {
		ks = append(ks, 1<<e-1, 1<<e)
		if e < 30 {
			ks = append(ks, 1<<e+1)
		}
	}
	for _, q := range []uint64{4, 5, 6, 7, 10, 100, 1000, 10_000, 200_000} {
		ks = append(ks, uint32(1<<32/(q+1)+1), uint32(1<<32/(q+1)))
	}
	return ks
}

// halvedRanges are those of wideRanges that are tried with every high half and every low half of a lane.
var halvedRanges = []uint32{1<<14 + 1, 1_000_003, 858_993_460}

// checkWideLanes looks at four-byte lanes, too many to try for every k.
//
// Argument: limit is the largest multiple of k that 2^32 holds. The lanes below it are limit/k whole runs of k
// neighbours, and 1 + x mod k takes every value once in each run; so each value has limit/k lanes, and the lanes from
// limit on have none. What is left to show is that the draw accepts below limit, not from it on, and takes x mod k; it
// is shown at the ends of the first and last run, at both sides of the limit, at the last lane and at random, and for
// some k at every half of a lane. The loop that reads the lanes is the one of the two-byte lanes, tried above in full.
func checkWideLanes(s shuffler) error {
	rng := fixed(1)
	for _, k := range wideRanges() {
		limit := refLimit(uint64(k))
		xs := []uint64{0, 1, uint64(k) - 1, uint64(k), uint64(k) + 1,
			limit - uint64(k) - 1, limit - uint64(k), limit - 1, 1<<32 - 2, 1<<32 - 1}
		if limit < 1<<32 {
			xs = append(xs, limit, min(limit+1, 1<<32-1))
		}
		for range 1000 {
			xs = append(xs, rng.Uint64N(1<<32))
		}
		for half := uint64(0); half < 1<<16 && slices.Contains(halvedRanges, k); half++ {
			xs = append(xs, half<<16|rng.Uint64N(1<<16), rng.Uint64N(1<<16)<<16|half)
		}
		for _, x := range xs {
			if err := oneLane(s, k, appendLane(nil, 4, x), x, limit); err != nil {
				return err
			}
		}
		if v, _, ok := s.draw(k, []byte{0, 0, 0}); ok {
			return fmt.Errorf("k = %d: three bytes gave %d", k, v)
		}
	}
	return nil
}

func TestDrawWideLanes(t *testing.T) {
	t.Parallel()
	must(t, checkWideLanes(ours{}))
}

// TestDrawEveryWideLane counts all 2^32 lanes for a few k.
func TestDrawEveryWideLane(t *testing.T) {
	if !*full {
		t.Skip("needs -shuffle.full")
	}
	for _, k := range []uint32{1<<14 + 1, 1 << 16, 1_000_003} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			counts := make([]uint32, k+1)
			buf := make([]byte, 0, 1<<20)
			for x := uint64(0); x < 1<<32; {
				buf = buf[:0]
				for len(buf) < cap(buf) {
					buf = appendLane(buf, 4, x)
					x++
				}
				ours{}.tally(counts, k, buf)
			}
			for v := uint32(1); v <= k; v++ {
				if counts[v] != uint32(1<<32/uint64(k)) {
					t.Fatalf("%d came from %d lanes, want %d", v, counts[v], 1<<32/uint64(k))
				}
			}
		})
	}
}

// TestDrawOfOne reads nothing, not even from a tape that has nothing.
func TestDrawOfOne(t *testing.T) {
	t.Parallel()
	for _, buf := range [][]byte{nil, {}, {0xff}} {
		l := lanes{buf: buf}
		if v := l.draw(1); v != 1 || l.pos != 0 || l.dry {
			t.Errorf("a draw 1..1 from %x: value %d, %d bytes read, dry %v", buf, v, l.pos, l.dry)
		}
	}
}

func TestLaneWidth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k uint32
		w int
	}{
		{1, 0}, {2, 1}, {63, 1}, {64, 1}, {65, 2}, {16383, 2}, {16384, 2},
		{16385, 4}, {1<<30 - 1, 4}, {1 << 30, 4},
	} {
		if got := LaneWidth(c.k); got != c.w {
			t.Errorf("LaneWidth(%d) = %d, want %d", c.k, got, c.w)
		}
	}
	for k := uint32(1); k <= 1<<17; k++ {
		if LaneWidth(k) != refWidth(uint64(k)) {
			t.Fatalf("LaneWidth(%d) = %d, want %d", k, LaneWidth(k), refWidth(uint64(k)))
		}
	}
}
