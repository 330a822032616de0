package controls

import (
	"math/rand/v2"
	"slices"
	"testing"

	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
	"shuffled/internal/shuffle"
	"shuffled/lab"
)

// stream is a source with the same bytes in every run of the test, so that nothing
// here depends on chance.
func stream(t *testing.T, seed byte) *entropy.Source {
	t.Helper()
	src, err := entropy.NewFrom(rand.NewChaCha8([32]byte{seed}), entropy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// made returns the first outcomes of a maker.
func made(t *testing.T, m lab.Maker, count int) (all [][]uint32) {
	t.Helper()
	for range count {
		values, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(values))
	}
	return all
}

// TestFormIsRight: the outcomes of every control have the right form, which the
// statistics require; only dropped has a wrong form as its fault. Each control has a
// unique name, a sample and, with a fault, a test.
func TestFormIsRight(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		t.Run(c.Name, func(t *testing.T) {
			if seen[c.Name] || c.Name == "" || c.Sample == 0 || (c.Fault == "") != (c.Finder == "") {
				t.Errorf("%+v", c)
			}
			seen[c.Name] = true
			form := shuffle.Recipe{Cards: c.Shape.Cards, Take: c.Shape.Cards}
			if c.Shape.K > 0 {
				form = shuffle.Recipe{Ranges: same(c.Shape.Values, c.Shape.K)}
			}
			foul := 0
			for _, values := range made(t, c.maker(stream(t, 1)), 1100) {
				if outcome.Check(form, shuffle.Outcome{Values: values}) != nil {
					foul++
				}
			}
			if want := map[bool]int{true: 1}[c.Name == "dropped"]; foul != want {
				t.Errorf("%d outcomes are not of the form, want %d", foul, want)
			}
		})
	}
	faulty := 0
	for _, c := range All() {
		if !c.True() {
			faulty++
		}
	}
	if faulty < 10 || len(All())-faulty < 1 {
		t.Errorf("%d faulty and %d true shufflers", faulty, len(All())-faulty)
	}
}

// TestTrueIsTheDealers: the true deck is the one that internal/outcome makes of the
// same bytes.
func TestTrueIsTheDealers(t *testing.T) {
	c, err := Named("true-deck")
	if err != nil {
		t.Fatal(err)
	}
	src := stream(t, 2)
	for i, values := range made(t, c[0].maker(stream(t, 2)), 100) {
		_, out, err := outcome.Make(src, wholeDeck)
		if err != nil || !slices.Equal(out.Values, values) {
			t.Fatalf("deck %d: %v, want %v (%v)", i, values, out.Values, err)
		}
	}
}

// eighth is eight bytes of ones on a bus with a line that is stuck.
var eighth = []byte{0xf7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// TestFaults checks each fault in a way that needs no statistics.
func TestFaults(t *testing.T) {
	t.Run("never last", func(t *testing.T) {
		for _, d := range made(t, neverLast.maker(stream(t, 3)), 5000) {
			if d[cards-1] == cards-1 {
				t.Fatal("the last card is in the last place")
			}
		}
	})
	t.Run("Sattolo", func(t *testing.T) {
		for _, d := range made(t, sattolo.maker(stream(t, 3)), 5000) {
			for p, card := range d {
				if int(card) == p {
					t.Fatalf("card %d is in its place", card)
				}
			}
		}
	})
	t.Run("short range", func(t *testing.T) {
		for _, d := range made(t, shortRange.maker(stream(t, 3)), 1000) {
			if d[cards-1] != cards-1 {
				t.Fatal("the last card has moved")
			}
		}
	})
	t.Run("riffles", func(t *testing.T) {
		for rounds, most := range []int{1, 2, 4, 8} {
			for _, d := range made(t, riffles(rounds+1).maker(stream(t, 3)), 1000) {
				if r := rising(d); r > 2*most {
					t.Fatalf("%d rising sequences after %d riffles", r, rounds+1)
				}
			}
		}
	})
	t.Run("16-bit seed", func(t *testing.T) {
		found := map[string]bool{}
		for _, d := range made(t, seeded(2)(stream(t, 3)), 100_000) {
			found[key(d)] = true
		}
		// Of 65,536 seeds the share 1 − e^(−100,000/65,536) has come: 51,288.
		if n := len(found); n < 50_900 || n > 51_700 {
			t.Errorf("%d different decks", n)
		}
	})
	t.Run("repeated", func(t *testing.T) {
		all := made(t, repeated(1000)(stream(t, 3)), 3000)
		for i, d := range all {
			if again := i >= 999 && slices.Equal(d, all[i-999]); again != (i%1000 == 999) {
				t.Fatalf("game %d repeats one: %v", i, again)
			}
		}
	})
	t.Run("not twice", func(t *testing.T) {
		all := made(t, notTwice(stream(t, 3)), 5000)
		for i := 1; i < len(all); i++ {
			if all[i][0] == all[i-1][0] {
				t.Fatalf("game %d begins like the one before", i)
			}
		}
	})
	t.Run("carried", func(t *testing.T) {
		all := made(t, carried(1, 1)(stream(t, 3)), 1000)
		for i := 1; i < len(all); i++ {
			place := make([]uint32, cards) // of each card in the game before
			for p, card := range all[i-1] {
				place[card] = uint32(p)
			}
			for p, card := range all[i] {
				all[i-1][p] = place[card]
			}
			if r := rising(all[i-1]); r > 2 {
				t.Fatalf("game %d is %d rising sequences of the one before", i, r)
			}
		}
	})
	t.Run("stacked", func(t *testing.T) {
		for _, shoe := range made(t, stacked(8)(stream(t, 3)), 100) {
			for ; len(shoe) > 0; shoe = shoe[cards:] {
				for p := range cards {
					shoe[p] %= cards
				}
				if err := outcome.Check(wholeDeck, shuffle.Outcome{Values: shoe[:cards]}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	t.Run("stuck bit", func(t *testing.T) {
		tape := make([]byte, 20)
		stick(tape, slices.Repeat([]byte{0xff}, 20))
		if want := slices.Concat(eighth, eighth, eighth[:4]); !slices.Equal(tape, want) {
			t.Errorf("%x, want %x", tape, want)
		}
	})
	t.Run("windows", func(t *testing.T) {
		pick := windows(&raw{src: stream(t, 3)})
		last := pick(1 << 31)
		for i := range 1000 {
			now := pick(1 << 31)
			if now>>4 != last&(1<<27-1) {
				t.Fatalf("window %d is %08x after %08x", i, now, last)
			}
			last = now
		}
	})
	t.Run("low bits", func(t *testing.T) {
		pick := lowBits(&raw{src: stream(t, 3)})
		last := pick(2)
		for range 1000 {
			now := pick(2)
			if now == last {
				t.Fatal("the lowest bit does not alternate")
			}
			last = now
		}
	})
}

// rising counts the rising sequences of a deck: runs of cards that follow each
// other in new order, from front to back.
func rising(deck []uint32) int {
	place, runs := make([]int, len(deck)), 1
	for p, card := range deck {
		place[card] = p
	}
	for card := 1; card < len(place); card++ {
		if place[card] < place[card-1] {
			runs++
		}
	}
	return runs
}

// TestNumbers goes through all words from which a faulty number is made, and counts
// the numbers.
func TestNumbers(t *testing.T) {
	var bytes, words []byte
	for x := range 256 {
		bytes = append(bytes, byte(x))
	}
	for x := range 1 << 16 { // the upper half of each word
		words = append(words, byte(x>>8), byte(x), 0, 0)
	}
	const k = 52
	for name, c := range map[string]struct {
		pick       func(*raw) picker
		words      []byte
		draws      int
		fewer      []int // values that come less often
		less, more int
	}{
		"byte remainder":      {byteModulo, bytes, 256, []int{48, 49, 50, 51}, 4, 5},
		"byte multiplication": {byteMultiply, bytes, 256, []int{12, 25, 38, 51}, 4, 5},
		"rounded float":       {floatRounded, words, 1 << 16, []int{0, 51}, 642, 1285},
	} {
		t.Run(name, func(t *testing.T) {
			r := &raw{buf: c.words}
			pick, counts := c.pick(r), make([]int, k)
			for range c.draws {
				counts[pick(k)]++
			}
			if len(r.buf) != 0 {
				t.Fatalf("%d bytes are left", len(r.buf))
			}
			for v, n := range counts {
				want := c.more
				if slices.Contains(c.fewer, v) {
					want = c.less
				}
				if n < want || n > want+want/200 { // the steps of a float are uneven
					t.Errorf("%d comes %d times, want %d", v, n, want)
				}
			}
		})
	}
}
