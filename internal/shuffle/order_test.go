package shuffle

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// checkOrders writes a tape for every vector of draws and checks that each of the n!/(n−m)! orders of m cards of n
// comes from exactly one of them. With exact draws every vector is equally likely, so every order is.
// TestEveryOrderHasOneDrawVector goes further.
func checkOrders(s shuffler, n, m int) error {
	r := Recipe{Cards: n, Take: m}
	rng := fixed(uint64(100*n + m))
	seen := make(map[[8]byte]bool)
	err := vectors(refDraws(r), func(v []uint64) error {
		tape, _ := tapeOf(rng, r, v, nil)
		out, err := s.run(r, tape)
		if err != nil {
			return fmt.Errorf("draws %d: %w", v, err)
		}
		key, err := orderKey(out.Values, n, m)
		if err != nil {
			return fmt.Errorf("draws %d: %w", v, err)
		}
		if seen[key] {
			return fmt.Errorf("draws %d give %d, which other draws gave before", v, out.Values)
		}
		seen[key] = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("%d of %d cards: %w", m, n, err)
	}
	want := 1
	for i := range m {
		want *= n - i
	}
	if len(seen) != want {
		return fmt.Errorf("%d of %d cards: %d orders, want %d", m, n, len(seen), want)
	}
	return nil
}

// orderKey packs m different cards of n into a comparable value.
func orderKey(values []uint32, n, m int) (key [8]byte, err error) {
	if len(values) != m {
		return key, fmt.Errorf("%d cards, want %d", len(values), m)
	}
	for i, v := range values {
		if int(v) >= n || slices.Contains(values[:i], v) {
			return key, fmt.Errorf("%d is not an order", values)
		}
		key[i] = byte(v) + 1
	}
	return key, nil
}

// TestEveryOutcomeHasOneDrawVector extends what orders show to the drawn cut-card place and
// to draw lists: each pair of order and place, and each list of values, once.
func TestEveryOutcomeHasOneDrawVector(t *testing.T) {
	t.Parallel()
	for _, r := range []Recipe{
		{Cards: 4, Take: 4, EndLo: 1, EndHi: 4},
		{Cards: 5, Take: 3, EndLo: 2, EndHi: 3},
		{Ranges: []uint32{6, 6, 6}},
		{Ranges: []uint32{1}},
		{Ranges: []uint32{1, 37, 1, 2, 100}},
	} {
		rng := fixed(2)
		seen, want := make(map[string]bool), 1
		for _, k := range refDraws(r) {
			want *= int(k)
		}
		err := vectors(refDraws(r), func(v []uint64) error {
			tape, _ := tapeOf(rng, r, v, nil)
			out, err := r.Run(tape)
			if err != nil {
				return err
			}
			for i, k := range r.Ranges {
				if out.Values[i] < 1 || out.Values[i] > k {
					return fmt.Errorf("value %d is %d of 1..%d", i, out.Values[i], k)
				}
			}
			if r.EndHi != 0 && (out.EndAt < r.EndLo || out.EndAt > r.EndHi) {
				return fmt.Errorf("end_at %d", out.EndAt)
			}
			seen[fmt.Sprint(out)] = true
			return nil
		})
		if err != nil || len(seen) != want {
			t.Errorf("%+v: %d outcomes, want %d (%v)", r, len(seen), want, err)
		}
	}
}

// patterns calls f with every way to reject lanes before the draws ks that
// costs at most budget bytes. f must not keep the slice.
func patterns(ks []uint64, budget int, f func(rejected []int, cost int)) {
	rejected := make([]int, len(ks))
	var choose func(i, cost int)
	choose = func(i, cost int) {
		if i == len(ks) {
			f(rejected, cost)
			return
		}
		w := refWidth(ks[i])
		for rejected[i] = 0; cost+rejected[i]*w <= budget; rejected[i]++ {
			choose(i+1, cost+rejected[i]*w)
			if !rejectable(ks[i]) {
				break
			}
		}
		rejected[i] = 0
	}
	choose(0, 0)
}

// TestUniformGivenNotExhausted takes tiny recipes apart. A way to reject is how many lanes fall before each draw. For
// every way that fits, and the first that do not, it checks on tapes that
//
//   - the outcome is the one of the vector of draws, whatever was rejected, and
//   - whether the tape runs out depends on the way alone, not on the draws.
//
// The tapes of one way and one vector are counted by Π (rejected lanes)^r · limit/k and the free bytes behind the last
// draw: no v in it, so all vectors, and with them all outcomes, have equally many tapes that do not run out
// (docs/SPEC.md section 2.4). What the counts leave of all 256^L tapes is the chance of exhaustion, which
// exhaustion_test.go computes in another way.
func TestUniformGivenNotExhausted(t *testing.T) {
	t.Parallel()
	for _, r := range []Recipe{
		{Cards: 3, Take: 3},
		{Cards: 3, Take: 1},
		{Cards: 4, Take: 4},
		{Cards: 4, Take: 3, EndLo: 1, EndHi: 3},
		{Cards: 5, Take: 3},
		{Ranges: []uint32{3, 5}},
		{Ranges: []uint32{3, 65}},
	} {
		left, err := checkWays(ours{}, r)
		if err != nil {
			t.Error(err)
		}
		if want := exhaustionLog2(refDraws(r)); math.Abs(left-want) > 1e-6 {
			t.Errorf("%+v: exhausted with probability 2^%.7f by counting tapes, 2^%.7f by convolution", r, left, want)
		}
	}
}

// checkWays returns the binary logarithm of the chance that r's tape runs out.
func checkWays(s shuffler, r Recipe) (left float64, err error) {
	ks, rng := refDraws(r), fixed(3)
	length, slack, outcomes := refTapeLen(ks), refTapeLen(ks), int64(1)
	for _, k := range ks {
		slack -= refWidth(k)
		outcomes *= int64(k)
	}
	tapes := new(big.Int).Lsh(big.NewInt(1), uint(8*length))
	patterns(ks, slack+refWidth(slices.Max(ks)), func(rejected []int, cost int) {
		count := rng.IntN(5)
		each := vectors(ks, func(v []uint64) error {
			if count++; cost > 8 && count%5 != 0 {
				return nil // long ways: a fifth of the vectors, not always the same
			}
			tape, need := tapeOf(rng, r, v, rejected)
			if need > length {
				return expect(s, r, tape, Outcome{}, ErrTapeExhausted)
			}
			return expect(s, r, tape, refOutcome(r, v), nil)
		})
		if err == nil {
			err = each
		}
		if cost <= slack {
			n := wayCount(ks, rejected, slack-cost)
			tapes.Sub(tapes, n.Mul(n, big.NewInt(outcomes)))
		}
	})
	mantissa := new(big.Float)
	exponent := new(big.Float).SetInt(tapes).MantExp(mantissa)
	f, _ := mantissa.Float64()
	return math.Log2(f) + float64(exponent-8*length), err
}

// wayCount counts the tapes that reject exactly so, accept one given vector and have free bytes behind it.
func wayCount(ks []uint64, rejected []int, free int) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), uint(8*free))
	for i, k := range ks {
		lanes, limit := int64(1)<<(8*refWidth(k)), int64(refLimit(k))
		for range rejected[i] {
			n.Mul(n, big.NewInt(lanes-limit))
		}
		n.Mul(n, big.NewInt(limit/int64(k)))
	}
	return n
}

// TestEveryTapeOfTwoLanes needs no argument at all: it spends all 65,536 tapes that begin with two free bytes and go on
// with bytes that both draws reject. Those on which two lanes are accepted give each pair of values equally often.
func TestEveryTapeOfTwoLanes(t *testing.T) {
	t.Parallel()
	for _, ks := range [][2]uint32{{3, 5}, {6, 6}, {52, 51}, {63, 37}} {
		r := Recipe{Ranges: ks[:]}
		tape := make([]byte, r.TapeLen())
		for i := range tape {
			tape[i] = 0xff
		}
		counts := make(map[[2]uint32]uint32)
		for x := range 1 << 16 {
			tape[0], tape[1] = byte(x>>8), byte(x)
			if out, err := r.Run(tape); err == nil {
				counts[[2]uint32(out.Values)]++
			}
		}
		if len(counts) != int(ks[0]*ks[1]) {
			t.Errorf("%d: %d pairs", ks, len(counts))
		}
		for pair, c := range counts {
			if want := (256 / ks[0]) * (256 / ks[1]); c != want {
				t.Errorf("%d: %d came from %d tapes, want %d", ks, pair, c, want)
			}
		}
	}
}
