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
	seed  = flag.Uint64("seed", 1, "seed of TestTapes and TestRules")
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
	for _, kind := range []string{"cards", "draws", "numbers", "run out", "rejections"} {
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
		return shuffle.Recipe{Cards: n, Take: 1 + g.IntN(n)}, "cards", n
	case 1:
		n := int(g.wide())
		n = max(n, 2)
		ranges, err := shuffle.NumberRanges(n, 1+g.IntN(min(n, 30)))
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

// size returns a number of cards: 2 to 66, and one time in 50 up to 832.
func (g generator) size() int {
	if g.IntN(50) == 0 {
		return 2 + g.IntN(831)
	}
	return 2 + g.IntN(65)
}

// wide returns the end k of a range 1..k. Each width of lanes is as likely as the others, and one
// time in four k is at or just below the largest of the width.
func (g generator) wide() uint32 {
	most := []uint32{1 << 6, 1 << 14, shuffle.MaxRange}[g.IntN(3)]
	if g.IntN(4) == 0 {
		return most - min(most, uint32(g.IntN(3)))
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
	counts["rejections"] += min(rejections, 1)
	ranges := join(rangesOf(r), ",")
	questions := []question{
		{kind, "length " + ranges, fmt.Sprint(len(tape))},
		{kind, fmt.Sprintf("draws %s %x", ranges, tape), taken(draws)},
	}
	switch {
	case kind == "cards":
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
