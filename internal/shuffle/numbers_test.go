package shuffle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// cardsTaken are the numbers of the first m of n cards in the order that the draws
// make, by the whole array: the definition of docs/SPEC.md section 2.5.
func cardsTaken(n int, draws []uint32) []uint32 {
	wide := make([]uint64, len(draws))
	for i, v := range draws {
		wide[i] = uint64(v)
	}
	numbers := refOutcome(Recipe{Cards: n, Take: len(draws)}, wide).Values
	for i := range numbers {
		numbers[i]++
	}
	return numbers
}

// randomDraws are m draws of the ranges n, n−1 …: now and then all at one end, so
// that the same places are swapped again and again.
func randomDraws(rng *rand.Rand, n, m int) []uint32 {
	draws, end := make([]uint32, m), rng.IntN(4)
	for i := range draws {
		switch k := uint32(n - i); {
		case end == 0:
			draws[i] = k
		case end == 1 && rng.IntN(3) > 0:
			draws[i] = 1 + rng.Uint32N(min(k, 3))
		default:
			draws[i] = 1 + rng.Uint32N(k)
		}
	}
	return draws
}

// checkSparse compares with the whole array: for every n for which that runs, taking all and taking some.
func checkSparse(last int) error {
	rng := fixed(4)
	for n := MinCards; n <= last; n++ {
		for _, m := range []int{n, 1 + rng.IntN(n), 1 + rng.IntN(min(n, 20))} {
			draws := randomDraws(rng, n, m)
			got, err := Numbers(n, slices.Clone(draws))
			if want := cardsTaken(n, draws); err != nil || !slices.Equal(got, want) {
				return fmt.Errorf("%d of %d, draws %d: %d, %v; want %d", m, n, draws, got, err, want)
			}
		}
	}
	return nil
}

// checkUniform makes every list of draws, and wants each of the n!/(n−m)! lists of m
// different numbers of 1..n from exactly one of them.
func checkUniform(n, m int) error {
	ranges, err := NumberRanges(n, m)
	if err != nil {
		return err
	}
	seen, want := make(map[[8]byte]bool), 1
	err = vectors(refDraws(Recipe{Ranges: ranges}), func(v []uint64) error {
		draws := make([]uint32, m)
		for i := range v {
			draws[i] = uint32(v[i])
		}
		numbers, err := Numbers(n, draws)
		if err != nil {
			return err
		}
		for i := range numbers {
			numbers[i]--
		}
		key, err := orderKey(numbers, n, m)
		if err == nil && seen[key] {
			err = fmt.Errorf("draws %d give numbers that other draws gave before", draws)
		}
		seen[key] = true
		return err
	})
	for i := range m {
		want *= n - i
	}
	if err == nil && len(seen) != want {
		err = fmt.Errorf("%d of %d numbers: %d results, want %d", m, n, len(seen), want)
	}
	return err
}

// checkWide compares with a list of the places that were swapped, kept in another
// way, where no whole array could lie in memory.
func checkWide() error {
	rng := fixed(5)
	for _, n := range []int{MaxCards + 1, 1 << 14, 1<<14 + 1, 1_000_000, MaxRange - 1, MaxRange} {
		for _, m := range []int{1, 2, 20, 1000, MaxNumbers} {
			draws := randomDraws(rng, n, m)
			got, err := Numbers(n, slices.Clone(draws))
			if want := refNumbers(draws); err != nil || !slices.Equal(got, want) {
				return fmt.Errorf("%d of %d, draws %.40v …: %.40v …, %v; want %.40v …", m, n, draws, got, err, want)
			}
		}
	}
	return nil
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	last := MaxCards
	if testing.Short() || raceEnabled {
		last = 600
	}
	if err := checkSparse(last); err != nil {
		t.Error(err)
	}
	if err := checkWide(); err != nil {
		t.Error(err)
	}
	for n := MinCards; n <= 7; n++ {
		for m := 1; m <= n; m++ {
			if err := checkUniform(n, m); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNumbersRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, m int }{{0, 1}, {1, 1}, {-1, 1}, {MaxRange + 1, 1}, {2, 0}, {2, 3}, {2, -1},
		{4095, 4096}, {MaxRange, 4097}} {
		if ranges, err := NumberRanges(c.n, c.m); err == nil || ranges != nil {
			t.Errorf("%d of %d numbers are taken", c.m, c.n)
		}
	}
	for _, c := range []struct {
		n     int
		draws []uint32
	}{{1, []uint32{1}}, {MaxRange + 1, []uint32{1}}, {2, []uint32{1, 1, 1}}, {6, []uint32{0}}, {6, []uint32{7}},
		{6, []uint32{6, 6}}, {MaxRange, slices.Repeat([]uint32{1}, 4097)}} {
		if numbers, err := Numbers(c.n, c.draws); err == nil || numbers != nil {
			t.Errorf("Numbers(%d, %.9d) = %.9d", c.n, c.draws, numbers)
		}
	}
	if numbers, err := Numbers(6, nil); err != nil || numbers != nil {
		t.Errorf("no draws: %d, %v", numbers, err)
	}
	draws := []uint32{3, 3}
	if _, err := Numbers(6, draws); err != nil || !slices.Equal(draws, []uint32{3, 3}) {
		t.Errorf("Numbers changed its input to %d (%v)", draws, err)
	}
}

// TestNumbersAreCards: where both run, the tape of m of n numbers is that of m of n
// cards, and gives the same; and what is cut short is the beginning of the whole.
func TestNumbersAreCards(t *testing.T) {
	t.Parallel()
	rng := fixed(6)
	for _, n := range []int{2, 3, 49, 64, 65, 80, 1000, 4096} {
		for _, m := range []int{1, n/2 + 1, n} {
			ranges, err := NumberRanges(n, m)
			must(t, err)
			numbers, cards := Recipe{Ranges: ranges}, Recipe{Cards: n, Take: m}
			tape := randomTape(rng, cards.TapeLen(), 1)
			drawn, err := numbers.Run(tape)
			want, wantErr := cards.Run(tape)
			if err != nil || wantErr != nil {
				t.Fatalf("%d of %d: %v, %v", m, n, err, wantErr)
			}
			got, err := Numbers(n, drawn.Values)
			for i := range want.Values {
				want.Values[i]++
			}
			if err != nil || !slices.Equal(got, want.Values) {
				t.Errorf("%d of %d: %d, %v; want %d", m, n, got, err, want.Values)
			}
			if short, err := Numbers(n, drawn.Values[:m/2]); err != nil || !slices.Equal(short, got[:m/2]) {
				t.Errorf("%d of %d, cut short: %d, %v", m, n, short, err)
			}
		}
	}
}

// FuzzNumbers: any n and draws give an error, or what the reference gives, each number once.
func FuzzNumbers(f *testing.F) {
	f.Add(int32(80), []byte{0, 0, 0, 80, 0, 0, 0, 79, 0, 0, 0, 1})
	f.Add(int32(1<<30), []byte{0x40, 0, 0, 0, 0x3f, 0xff, 0xff, 0xff})
	f.Add(int32(3), []byte{0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, n int32, b []byte) {
		draws := bytesToRanges(b)
		valid := len(draws) == 0 || n >= 2 && n <= 1<<30 && len(draws) <= min(int(n), 4096)
		for i, v := range draws {
			valid = valid && v >= 1 && int64(v) <= int64(n)-int64(i)
		}
		numbers, err := Numbers(int(n), draws)
		if valid != (err == nil) {
			t.Fatalf("Numbers(%d, %d): %v", n, draws, err)
		}
		if err != nil {
			return
		}
		sorted := slices.Sorted(slices.Values(numbers))
		if !slices.Equal(numbers, refNumbers(draws)) || len(slices.Compact(sorted)) != len(draws) {
			t.Fatalf("Numbers(%d, %d) = %d", n, draws, numbers)
		}
	})
}
