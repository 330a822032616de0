package shuffle

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// deck returns the recipe that shuffles all of n cards.
func deck(n int) Recipe { return Recipe{Cards: n, Take: n} }

// TestTapeLenOfNamedDecks is the table of docs/SPEC.md section 2.3. It is frozen with the algorithm.
func TestTapeLenOfNamedDecks(t *testing.T) {
	t.Parallel()
	want := map[string]int{
		"standard-52": 129, "standard-54": 132, "short-36": 105, "pinochle-48": 123, "spanish-40": 111,
		"shoe-1": 129, "shoe-2": 319, "shoe-3": 475, "shoe-4": 631,
		"shoe-5": 787, "shoe-6": 943, "shoe-7": 1099, "shoe-8": 1255,
		"shoe-9": 1411, "shoe-10": 1567, "shoe-11": 1723, "shoe-12": 1879,
		"shoe-13": 2035, "shoe-14": 2191, "shoe-15": 2347, "shoe-16": 2503,
	}
	if len(want) != len(Names()) {
		t.Errorf("%d decks are named, %d have a tape length here", len(Names()), len(want))
	}
	for _, name := range Names() {
		d, _ := Named(name)
		if got := deck(d.Len()).TapeLen(); got != want[name] {
			t.Errorf("%s takes a tape of %d bytes, want %d", name, got, want[name])
		}
	}
}

// TestNeedIsTheNaiveSum compares the closed form with the sum over the draws,
// for every n and m there are: 8.4 million recipes.
func TestNeedIsTheNaiveSum(t *testing.T) {
	t.Parallel()
	longest := 0
	for n := MinCards; n <= MaxCards; n++ {
		sum, widest := 0, 0
		for m := 1; m <= n; m++ {
			w := refWidth(uint64(n - m + 1))
			sum, widest = sum+w, max(widest, w)
			r := Recipe{Cards: n, Take: m}
			if s, most := r.Need(); s != sum || most != widest {
				t.Fatalf("%d of %d cards need %d bytes, widest lane %d; want %d and %d", m, n, s, most, sum, widest)
			}
			if got, want := r.TapeLen(), sum+(sum+1)/2+52*max(1, widest); got != want {
				t.Fatalf("%d of %d cards take a tape of %d bytes, want %d", m, n, got, want)
			}
			longest = max(longest, r.TapeLen())
		}
	}
	if longest+3 > MaxTape { // a drawn end_at adds a lane of two bytes, and half of it
		t.Errorf("a deck takes a tape of %d bytes", longest)
	}
}

// TestTapeLenIsTheReferences covers what the table of decks leaves out: draw lists and drawn cut-card places. The
// longest tape of all is the one of MaxRanges widest draws, since L grows with every lane and its width.
func TestTapeLenIsTheReferences(t *testing.T) {
	t.Parallel()
	recipes := []Recipe{
		{Ranges: []uint32{1}}, {Ranges: []uint32{1, 1, 1}}, {Ranges: []uint32{64}}, {Ranges: []uint32{64, 65}},
		{Ranges: []uint32{1 << 14, 1, 1<<14 + 1}}, {Ranges: []uint32{MaxRange}},
		{Cards: 2, Take: 1}, {Cards: 2, Take: 2, EndLo: 1, EndHi: 2},
		{Cards: 416, Take: 416, EndLo: 300, EndHi: 363}, {Cards: 416, Take: 416, EndLo: 300, EndHi: 364},
		{Cards: 4096, Take: 4096, EndLo: 1, EndHi: 4096},
	}
	rng := fixed(5)
	for range 10_000 {
		recipes = append(recipes, randomRecipe(rng))
	}
	for _, r := range recipes {
		if got, want := r.TapeLen(), refTapeLen(refDraws(r)); got != want || got > MaxTape {
			t.Errorf("%+v takes a tape of %d bytes, want %d", r, got, want)
		}
	}
	most := Recipe{Ranges: bytesToRanges(bytes.Repeat([]byte{0x40, 0, 0, 0}, MaxRanges))}
	if got := most.TapeLen(); got != 24_784 || got > MaxTape {
		t.Errorf("the widest list takes a tape of %d bytes, want 24784", got)
	}
}

// TestTapeHasRoomForEveryOrder: even without the spare bytes, a tape has more bits than the logarithm of the number of
// orders, for every number of cards and takes from one card to all.
func TestTapeHasRoomForEveryOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int
		bits float64
	}{{52, 225.6}, {416, 3024.9}, {4096, 43250.0}} {
		orders, _ := math.Lgamma(float64(c.n + 1))
		orders /= math.Ln2
		if s, _ := deck(c.n).Need(); math.Abs(orders-c.bits) > 0.1 || float64(8*s) < orders {
			t.Errorf("%d cards: log2 n! = %.1f, %d bits before spare bytes; want %.1f", c.n, orders, 8*s, c.bits)
		}
	}
	for n := 2; n <= MaxCards; n++ {
		all, _ := math.Lgamma(float64(n + 1))
		for _, take := range []int{1, 2, 5, n / 4, n / 2, n - 1, n} {
			if take < 1 || take > n {
				continue
			}
			rest, _ := math.Lgamma(float64(n - take + 1))
			orders := (all - rest) / math.Ln2 // of n!/(n−take)!
			if s, _ := (Recipe{Cards: n, Take: take}).Need(); float64(8*s) < orders {
				t.Errorf("%d of %d cards: %.1f bits of orders, %d before spare bytes", take, n, orders, 8*s)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	many := make([]uint32, MaxRanges+1)
	for i := range many {
		many[i] = 6
	}
	for _, c := range []struct {
		r  Recipe
		ok bool
	}{
		{Recipe{}, false},
		{deck(1), false}, {deck(2), true}, {deck(4096), true}, {deck(4097), false}, {deck(-1), false},
		{Recipe{Cards: 52, Take: 0}, false}, {Recipe{Cards: 52, Take: 1}, true},
		{Recipe{Cards: 52, Take: 53}, false}, {Recipe{Cards: 52, Take: -1}, false},
		{Recipe{Cards: 52, Take: 52, EndLo: 1, EndHi: 52}, true},
		{Recipe{Cards: 52, Take: 52, EndLo: 1, EndHi: 53}, false},
		{Recipe{Cards: 52, Take: 20, EndLo: 20, EndHi: 21}, false},
		{Recipe{Cards: 52, Take: 52, EndLo: 0, EndHi: 5}, false},
		{Recipe{Cards: 52, Take: 52, EndLo: 5, EndHi: 0}, false},
		{Recipe{Cards: 52, Take: 52, EndLo: 5, EndHi: 5}, false},
		{Recipe{Cards: 52, Take: 52, EndLo: 6, EndHi: 5}, false},
		{Recipe{Cards: 52, Take: 52, EndLo: -1, EndHi: 5}, false},
		{Recipe{Ranges: []uint32{}}, false}, {Recipe{Ranges: []uint32{1}}, true},
		{Recipe{Ranges: []uint32{0}}, false}, {Recipe{Ranges: []uint32{6, 0}}, false},
		{Recipe{Ranges: []uint32{1 << 30}}, true}, {Recipe{Ranges: []uint32{1<<30 + 1}}, false},
		{Recipe{Ranges: []uint32{math.MaxUint32}}, false},
		{Recipe{Ranges: many[:MaxRanges]}, true}, {Recipe{Ranges: many}, false},
		{Recipe{Ranges: []uint32{6}, Cards: 52}, false}, {Recipe{Ranges: []uint32{6}, Take: 1}, false},
		{Recipe{Ranges: []uint32{6}, EndLo: 1}, false}, {Recipe{Ranges: []uint32{6}, EndHi: 1}, false},
	} {
		if err := c.r.Validate(); (err == nil) != c.ok || refValid(c.r) != c.ok {
			t.Errorf("%+.60v: %v, want ok %v", c.r, err, c.ok)
		}
		if c.ok {
			continue
		}
		if out, err := c.r.Run(make([]byte, 129)); err == nil || out.Values != nil || out.EndAt != 0 {
			t.Errorf("%+.60v ran: %v", c.r, out)
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    Recipe
		want int
	}{{deck(52), 52}, {Recipe{Cards: 52, Take: 7}, 7}, {Recipe{Ranges: []uint32{6, 6, 1}}, 3}} {
		if got := c.r.Positions(); got != c.want {
			t.Errorf("%+v has %d positions, want %d", c.r, got, c.want)
		}
	}
}

// someRecipes are the recipes that the checks of rejections go through: every
// lane width alone and alongside each other, every end of a width.
var someRecipes = []Recipe{
	deck(3), deck(52), deck(65), deck(66), deck(67), deck(416),
	{Cards: 66, Take: 1}, {Cards: 100, Take: 60}, {Cards: 4096, Take: 5},
	{Cards: 52, Take: 52, EndLo: 10, EndHi: 20}, {Cards: 300, Take: 300, EndLo: 1, EndHi: 300},
	{Ranges: []uint32{37}}, {Ranges: []uint32{1<<30 - 1}}, {Ranges: []uint32{6, 13108, 858_993_460, 1, 6}},
	{Ranges: []uint32{100_000, 3, 3, 3}}, {Ranges: []uint32{65, 3, 100_000, 65, 3}},
}

// checkRejections forces rejections at chosen draws and compares with the outcome that the same values have without:
// first one draw at a time up to the last lane that the tape has room for, and one more; then at random draws.
func checkRejections(s shuffler) error {
	rng := fixed(6)
	for _, r := range someRecipes {
		ks := refDraws(r)
		room := refTapeLen(ks)
		for _, k := range ks {
			room -= refWidth(k)
		}
		for i, k := range ks {
			if !rejectable(k) {
				continue
			}
			last := room / refWidth(k)
			for _, times := range []int{1, 2, last, last + 1} {
				rejected := make([]int, len(ks))
				rejected[i] = times
				if err := rejecting(s, rng, r, rejected); err != nil {
					return err
				}
			}
		}
		for range 200 {
			rejected := make([]int, len(ks))
			for range rng.IntN(room) {
				if i := rng.IntN(len(ks)); rejectable(ks[i]) {
					rejected[i]++
				}
			}
			if err := rejecting(s, rng, r, rejected); err != nil {
				return err
			}
		}
	}
	return nil
}

// rejecting runs r on random draws with the given rejections before them.
func rejecting(s shuffler, rng *rand.Rand, r Recipe, rejected []int) error {
	var v []uint64
	for _, k := range refDraws(r) {
		v = append(v, 1+rng.Uint64N(k))
	}
	tape, need := tapeOf(rng, r, v, rejected)
	if need > len(tape) {
		return expect(s, r, tape, Outcome{}, ErrTapeExhausted)
	}
	return expect(s, r, tape, refOutcome(r, v), nil)
}

func TestForcedRejections(t *testing.T) {
	t.Parallel()
	must(t, checkRejections(ours{}))
}

// checkExhaustion runs tapes of 0xff, the lane that every draw rejects whose k is no power of two. Some of them starve
// a two-byte lane with one byte left, which a narrower draw after it could still read.
func checkExhaustion(s shuffler) error {
	exhausted := 0
	for n := MinCards; n <= 300; n++ {
		for _, m := range []int{1, (n + 1) / 2, n} {
			r := Recipe{Cards: n, Take: m}
			tape := bytes.Repeat([]byte{0xff}, refTapeLen(refDraws(r)))
			if err := agree(s, r, tape); err != nil {
				return err
			}
			if _, err := s.run(r, tape); err != nil {
				exhausted++
			}
		}
	}
	if exhausted < 800 {
		return fmt.Errorf("only %d tapes ran out", exhausted)
	}
	for _, r := range someRecipes {
		tape := bytes.Repeat([]byte{0xff}, refTapeLen(refDraws(r)))
		if err := expect(s, r, tape, Outcome{}, ErrTapeExhausted); err != nil {
			return err
		}
	}
	return nil
}

func TestExhaustedTapes(t *testing.T) {
	t.Parallel()
	must(t, checkExhaustion(ours{}))
}

// checkTapeLength offers tapes of every wrong length that could tempt.
func checkTapeLength(s shuffler) error {
	for _, r := range someRecipes {
		length := refTapeLen(refDraws(r))
		long := make([]byte, 2*length)
		for _, wrong := range [][]byte{nil, {}, long[:1], long[:length-1], long[:length+1], long} {
			if err := expect(s, r, wrong, Outcome{}, ErrTapeLength); err != nil {
				return err
			}
		}
		if _, err := s.run(r, long[:length]); err != nil {
			return fmt.Errorf("%+v on its zero tape: %w", r, err)
		}
	}
	return nil
}

func TestTapeLength(t *testing.T) {
	t.Parallel()
	must(t, checkTapeLength(ours{}))
	if errors.Is(ErrTapeLength, ErrTapeExhausted) || errors.Is(ErrTapeExhausted, ErrTapeLength) {
		t.Error("the two errors cannot be told apart")
	}
}

// TestRunLeavesTheTapeAlone: the tape is evidence, Run only reads it, and the
// values do not share memory with it or with another run.
func TestRunLeavesTheTapeAlone(t *testing.T) {
	t.Parallel()
	rng := fixed(7)
	for _, r := range someRecipes {
		tape := randomTape(rng, r.TapeLen(), 0)
		before := bytes.Clone(tape)
		one, err := r.Run(tape)
		must(t, err)
		kept := fmt.Sprint(one)
		if cap(one.Values) != len(one.Values) {
			t.Errorf("%+v: the cards that were not taken are behind the values", r)
		}
		two, _ := r.Run(tape)
		clear(two.Values)
		if !bytes.Equal(tape, before) || fmt.Sprint(one) != kept {
			t.Errorf("%+v: a run changed the tape or an earlier outcome", r)
		}
	}
}
