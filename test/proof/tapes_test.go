package proof

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"shuffled/internal/shuffle"
)

var (
	tapes = flag.Int("tapes", 4000, "random tapes that TestTapes gives to both programs")
	seed  = flag.Uint64("seed", 1, "seed of the random tests")
)

// TestTapes: the extracted recipe and internal/shuffle give the same answers for random
// recipes and tapes. Many of the tapes have more rejections than chance gives.
func TestTapes(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(*seed, 19))}
	counts := map[string]int{}
	for left := *tapes; left > 0; left -= 1000 {
		var questions []question
		for range min(left, 1000) {
			questions = append(questions, g.questions(t, counts)...)
		}
		if ask(t, questions); t.Failed() {
			return
		}
	}
	t.Logf("seed %d: %v", *seed, counts)
	for _, kind := range []string{"cards", "draws", "numbers", "end_at", "run out", "rejections"} {
		if counts[kind] < *tapes/100+1 {
			t.Errorf("of %d tapes only %d for %s", *tapes, counts[kind], kind)
		}
	}
}

// A generator makes random recipes, tapes and entries. The same seed gives the same ones.
type generator struct{ *rand.Rand }

// recipe returns a recipe for cards, for numbers or for draws.
func (g generator) recipe(t *testing.T) (r shuffle.Recipe, kind string, of int) {
	switch g.IntN(3) {
	case 0:
		n := g.size()
		r = shuffle.Recipe{Cards: n, Take: 1 + g.IntN(n)}
		if g.IntN(2) == 0 {
			r.Take = n
		}
		if r.Take > 1 && g.IntN(3) == 0 {
			r.EndLo, r.EndHi = g.ends(r.Take)
		}
		return r, "cards", n
	case 1:
		n, most := max(2, int(g.wide())), 30
		if g.IntN(100) == 0 {
			most = shuffle.MaxNumbers
		}
		ranges, err := shuffle.NumberRanges(n, 1+g.IntN(min(n, most)))
		if err != nil {
			t.Fatal(err)
		}
		return shuffle.Recipe{Ranges: ranges}, "numbers", n
	}
	r.Ranges = make([]uint32, 1+g.IntN(20))
	for i := range r.Ranges {
		r.Ranges[i] = g.wide()
	}
	return r, "draws", 0
}

// size returns a number of cards: 2 to 66, one time in 50 up to 832 and one time in 500 up to the largest.
func (g generator) size() int {
	switch g.IntN(500) {
	case 0:
		return 2 + g.IntN(shuffle.MaxCards-1)
	case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
		return 2 + g.IntN(831)
	}
	return 2 + g.IntN(65)
}

// ends returns the places of a cut card among so many: any, or 64 places, the most with a lane of one byte, or 65.
func (g generator) ends(take int) (lo, hi int) {
	if span := 63 + g.IntN(2); span < take && g.IntN(2) == 0 {
		lo = 1 + g.IntN(take-span)
		return lo, lo + span
	}
	lo = 1 + g.IntN(take-1)
	return lo, lo + 1 + g.IntN(take-lo)
}

// wide returns the end k of a range 1..k. Each width of lanes is as likely as the others, and one time in four k is the
// largest of the width or a neighbour of it, on either side.
func (g generator) wide() uint32 {
	most := []uint32{1 << 6, 1 << 14, shuffle.MaxRange}[g.IntN(3)]
	if g.IntN(4) == 0 {
		return min(most+2-g.Uint32N(5), shuffle.MaxRange)
	}
	return 1 + g.Uint32N(most)
}

// tape returns a random tape for the recipe. In three of five tapes some bytes are 0xff, so that
// lanes are rejected.
func (g generator) tape(r shuffle.Recipe) []byte {
	tape := make([]byte, r.TapeLen())
	often := []int{0, 0, 2, 8, 9}[g.IntN(5)]
	for i := range tape {
		tape[i] = byte(g.Uint32())
		if g.IntN(10) < often {
			tape[i] = 0xff
		}
	}
	return tape
}

// questions returns the questions for one tape, with the answers of internal/shuffle.
func (g generator) questions(t *testing.T, counts map[string]int) []question {
	r, kind, of := g.recipe(t)
	tape := g.tape(r)
	rejections := 0
	var draws []uint32
	out, err := r.Explain(tape, func(s shuffle.Step) {
		rejections += len(s.Rejected)
		draws = append(draws, s.Value)
	})
	if ran, runErr := r.Run(tape); !errors.Is(runErr, err) || fmt.Sprint(ran) != fmt.Sprint(out) {
		t.Fatalf("%+v: %v, %v, and explained %v, %v", r, ran, runErr, out, err)
	}
	switch {
	case errors.Is(err, shuffle.ErrTapeExhausted):
		counts["run out"]++
		draws, out.Values = nil, nil
	case err != nil:
		t.Fatalf("%+v: %v", r, err)
	}
	counts[kind]++
	if r.EndHi != 0 {
		counts["end_at"]++
		if err == nil && out.EndAt != r.EndLo+int(draws[len(draws)-1])-1 {
			t.Errorf("%+v: end_at %d, and the last draw is %d", r, out.EndAt, draws[len(draws)-1])
		}
	}
	counts["rejections"] += min(rejections, 1)
	ranges := join(rangesOf(r), ",")
	questions := []question{
		{kind, "length " + ranges, fmt.Sprint(len(tape))},
		{kind, fmt.Sprintf("draws %s %x", ranges, tape), taken(draws)},
	}
	switch {
	case kind == "cards" && (err == nil || r.EndHi == 0): // a tape may run out in the draw of end_at
		line := fmt.Sprintf("cards %d %d %x", r.Cards, r.Take, tape)
		questions = append(questions, question{kind, line, taken(out.Values)})
	case kind == "numbers" && err == nil:
		numbers, err := shuffle.Numbers(of, draws)
		if err != nil {
			t.Fatal(err)
		}
		questions = append(questions, question{kind, "numbers " + join(draws, ","), taken(numbers)})
	}
	return questions
}

// TestSizes: both programs give the same order for every small deck, for those about the largest published one and for
// the largest of all, with one draw at its end and all others 1.
func TestSizes(t *testing.T) {
	var questions []question
	for n := 2; n <= shuffle.MaxCards; n++ {
		if n > 66 && (n%52 != 0 || n > 832) && (n < 831 || n > 834) && n < 4095 {
			continue
		}
		r := shuffle.Recipe{Cards: n, Take: n}
		for _, i := range []int{0, n / 2, n - 2} {
			if n > 832 && i != 0 {
				continue
			}
			before, _ := shuffle.Recipe{Cards: n, Take: max(i, 1)}.Need()
			tape, k := make([]byte, r.TapeLen()), n-i
			lane := tape[before*min(i, 1):]
			if lane[0] = byte(k - 1); shuffle.LaneWidth(uint32(k)) == 2 {
				lane[0], lane[1] = byte((k-1)>>8), byte(k-1)
			}
			out, err := r.Run(tape)
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("cards %d %[1]d %x", n, tape)
			questions = append(questions, question{fmt.Sprintf("%d cards, draw %d", n, i+1), line, taken(out.Values)})
		}
	}
	ask(t, questions)
}

// seed32 is a seed of a mix.
func (g generator) seed32() (seed [32]byte) {
	for i := range seed {
		seed[i] = byte(g.Uint32())
	}
	return seed
}

// TestMixesOfSeeds: with the keystream of a random seed as its tape, the extracted recipe gives the permutation of
// internal/shuffle, and after a cut the same one.
func TestMixesOfSeeds(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(*seed, 4))}
	var questions []question
	for i := range max(400, *tapes/10) {
		seed, m := g.seed32(), g.size()-1
		switch i {
		case 0, 1, 2:
			m = shuffle.MaxCards - i
		}
		p, err := shuffle.Mix(seed, m)
		if err != nil {
			t.Fatal(err)
		}
		c := []int{0, 1, m / 2, m - 1, g.IntN(m)}[g.IntN(5)] % m
		after, err := shuffle.Cut(p, c)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("mix of %d positions", m)
		questions = append(questions,
			question{name, fmt.Sprintf("cards %d %[1]d %s", m, keystream(t, seed[:], 4*m+64)), taken(p)},
			question{name, fmt.Sprintf("cut %d %s", c, join(p, ",")), taken(after)})
	}
	ask(t, questions)
}

// TestShiftsOfSeeds: the extracted recipe draws the values of random seeds from the keystream, and moves drawn values
// by them as internal/shuffle does: also those that become the first and the last of their range.
func TestShiftsOfSeeds(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(*seed, 5))}
	var questions []question
	for i := range max(200, *tapes/20) {
		seed, ranges := g.seed32(), make([]uint32, 1+g.IntN(20))
		if i == 0 {
			ranges = make([]uint32, shuffle.MaxRanges)
		}
		values := make([]uint32, len(ranges))
		for j := range ranges {
			ranges[j], values[j] = g.wide(), 1
		}
		us, err := shuffle.Shift(seed, ranges, values) // of the value 1 it is what was drawn
		if err != nil {
			t.Fatal(err)
		}
		for j, k := range ranges {
			first := 1 + (k+1-us[j])%k // becomes 1
			values[j] = []uint32{1, k, first, 1 + (first+k-2)%k, 1 + g.Uint32N(k)}[g.IntN(5)]
		}
		shifted, err := shuffle.Shift(seed, ranges, values)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("draws %s %s", join(ranges, ","), keystream(t, seed[:], 8*len(ranges)+256))
		questions = append(questions, question{"shift", line, taken(us)})
		for j, k := range ranges {
			line := fmt.Sprintf("shift %d %d %d", k, values[j], us[j])
			questions = append(questions, question{"shift", line, fmt.Sprint(shifted[j])})
		}
	}
	ask(t, questions)
}
