package entropy

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"testing"
)

// tails returns Σ weight(i) for i ≥ k, k = 0..n, where weight(i)/256^n is the exact probability of i hits in n trials
// of probability 1/256. It adds trial after trial and knows no binomial coefficient, unlike Cutoffs.
func tails(n int) []*big.Int {
	w := make([]*big.Int, n+1)
	for i := range w {
		w[i] = new(big.Int)
	}
	w[0].SetInt64(1)
	miss := big.NewInt(255)
	for trial := 1; trial <= n; trial++ {
		for i := trial; i >= 0; i-- {
			w[i].Mul(w[i], miss)
			if i > 0 {
				w[i].Add(w[i], w[i-1]) // of the trial before: i counts down
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		w[i].Add(w[i], w[i+1])
	}
	return w
}

// quantile returns qbinom(1−2^-alphaExp, n, 1/256): the least c with P(X ≤ c) ≥ 1−α, that is P(X ≥ c+1) ≤ α.
func quantile(tail []*big.Int, alphaExp int) int {
	n := len(tail) - 1
	total := new(big.Int).Exp(big.NewInt(256), big.NewInt(int64(n)), nil)
	for c := range n {
		// tail / 256^n ≤ 1 / 2^alphaExp, without a division
		if new(big.Int).Lsh(tail[c+1], uint(alphaExp)).Cmp(total) <= 0 {
			return c
		}
	}
	return n
}

func TestCutoffsPublished(t *testing.T) {
	uncorrected := tails(window)
	for _, c := range []struct{ alphaExp, repetition, proportion, uncorrected int }{
		{20, 4, 14, 13},
		{40, 6, 20, 19},
		{60, 9, 26, 25},
	} {
		r, p := Cutoffs(c.alphaExp)
		if r != c.repetition || p != c.proportion {
			t.Errorf("α = 2^-%d: C = %d and %d, want %d and %d", c.alphaExp, r, p, c.repetition, c.proportion)
		}
		// The standard's first form, C = 1 + critbinom(W, 2^-H, 1−α), shows that
		// the fractions here are those others computed.
		if got := 1 + quantile(uncorrected, c.alphaExp); got != c.uncorrected {
			t.Errorf("α = 2^-%d: uncorrected C = %d, want %d", c.alphaExp, got, c.uncorrected)
		}
	}
}

func TestCutoffsExact(t *testing.T) {
	tail := tails(window - 1)
	for alphaExp := 1; alphaExp <= 64; alphaExp++ {
		r, p := Cutoffs(alphaExp)
		if want := 2 + quantile(tail, alphaExp); p != want {
			t.Errorf("α = 2^-%d: proportion cutoff %d, want %d", alphaExp, p, want)
		}
		// A run of C samples has probability 2^-8(C−1): at most α for C, more than α for C−1.
		if 8*(r-1) < alphaExp || 8*(r-2) >= alphaExp {
			t.Errorf("α = 2^-%d: repetition cutoff %d", alphaExp, r)
		}
	}
}

func TestCutoffsRange(t *testing.T) {
	for _, alphaExp := range []int{-1, 0, 65} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Cutoffs(%d) did not panic", alphaExp)
				}
			}()
			Cutoffs(alphaExp)
		}()
	}
}

// reference is both tests as section 4.4 writes them: one sample at a time, no shortcut, all samples kept.
type reference struct {
	repetition, proportion int
	samples                []byte
}

// test says which tests fail within p, repetition first, and forgets everything after a failure.
func (r *reference) test(p []byte) Reason {
	before := len(r.samples)
	r.samples = append(r.samples, p...)
	repeated, frequent := false, false
	for i := before; i < len(r.samples); i++ {
		b := 1
		for j := i; j > 0 && r.samples[j-1] == r.samples[i]; j-- {
			b++
		}
		repeated = repeated || b >= r.repetition
		start := i - i%window
		count := 0
		for _, x := range r.samples[start : i+1] {
			if x == r.samples[start] {
				count++
			}
		}
		frequent = frequent || count >= r.proportion
	}
	switch {
	case repeated:
		r.samples = nil
		return ReasonRepetition
	case frequent:
		r.samples = nil
		return ReasonProportion
	}
	return 0
}

// TestHealthAgainstReference feeds streams of few different values, in pieces
// of every kind of length, to both implementations.
func TestHealthAgainstReference(t *testing.T) {
	verdicts := map[Reason]int{}
	for seed := range uint64(400) {
		rng := mathrand.New(mathrand.NewPCG(seed, 1))
		alphaExp := []int{8, 9, 20, 40, 60, 64}[seed%6]
		values := []int{2, 3, 12, 20, 40, 256}[rng.IntN(6)]
		r, p := Cutoffs(alphaExp)
		h, ref := NewHealth(alphaExp), &reference{repetition: r, proportion: p}
		for piece := range 20 {
			b := make([]byte, []int{rng.IntN(4), rng.IntN(40), rng.IntN(300)}[rng.IntN(3)])
			for i := range b {
				b[i] = byte(rng.IntN(values))
				if i > 0 && rng.IntN(8) < int(seed%8) {
					b[i] = b[i-1] // make runs
				}
			}
			got, want := h.Test(b), ref.test(b)
			if got != want {
				t.Fatalf("seed %d, α = 2^-%d, piece %d of %d bytes: %v, want %v", seed, alphaExp, piece, len(b), got,
					want)
			}
			verdicts[got]++
		}
	}
	for _, r := range []Reason{0, ReasonRepetition, ReasonProportion} {
		if verdicts[r] < 100 {
			t.Errorf("only %d pieces with verdict %v: the streams do not exercise it", verdicts[r], r)
		}
	}
}

func FuzzHealth(f *testing.F) {
	f.Add([]byte("aaaaaaaaa"), uint16(3), uint8(60))
	f.Add(bytes.Repeat([]byte("ab"), 300), uint16(100), uint8(20))
	var fresh []Health // by α: cutoffs take longer than the tests
	for alphaExp := range 64 {
		fresh = append(fresh, *NewHealth(alphaExp + 1))
	}
	f.Fuzz(func(t *testing.T, p []byte, cut uint16, alpha uint8) {
		if len(p) > 3*window {
			return // the reference is quadratic
		}
		h := fresh[int(alpha)%64]
		ref := &reference{repetition: h.repetition, proportion: h.proportion}
		at := int(cut) % (len(p) + 1)
		for _, piece := range [][]byte{p[:at], p[at:]} {
			if got, want := h.Test(piece), ref.test(piece); got != want {
				t.Fatalf("%d bytes: %v, want %v", len(piece), got, want)
			}
		}
	})
}

// counting returns n bytes without equal neighbours or frequent values.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// TestRepetitionEdge puts C−1 and C equal bytes at every place of a tape, cut into two calls at every place.
func TestRepetitionEdge(t *testing.T) {
	const c = 9
	h := NewHealth(60)
	for at := range tape52 - c {
		for cut := range tape52 {
			for _, run := range []int{c - 1, c} {
				tape := counting(tape52)
				for i := range run {
					tape[at+i] = 0xee
				}
				h.Reset()
				got := h.Test(tape[:cut])
				if got == 0 {
					got = h.Test(tape[cut:])
				}
				if want := map[int]Reason{c - 1: 0, c: ReasonRepetition}[run]; got != want {
					t.Fatalf("%d equal bytes at %d, cut at %d: %v, want %v", run, at, cut, got, want)
				}
			}
		}
	}
}

// TestProportionEdge puts the first value of a window C−1 and C times into it,
// never twice in a row, and cuts the calls in several ways.
func TestProportionEdge(t *testing.T) {
	const c = 26
	for _, step := range []int{1, 7, tape52, window, 4 * window} {
		for name, test := range map[string]struct {
			hits  []int // how often each window holds its first value
			fails bool
		}{
			"below":                {[]int{c - 1, c - 1, c - 1}, false},
			"first window":         {[]int{c, 2, 2}, true},
			"second window":        {[]int{c - 1, c, 2}, true},
			"third window":         {[]int{2, 2, c}, true},
			"every sample but two": {[]int{window / 2, 2, 2}, true},
		} {
			var stream []byte
			for _, hits := range test.hits {
				w := counting(window)
				for i := range w {
					if w[i] == 0xee {
						w[i] = 0xed
					}
				}
				for i := range hits {
					w[(2*i*(window/(2*hits)))%window] = 0xee
				}
				if n := bytes.Count(w, []byte{0xee}); n != hits || w[0] != 0xee {
					t.Fatalf("the window holds %d hits, not %d", n, hits)
				}
				stream = append(stream, w...)
			}
			h := NewHealth(60)
			var got Reason
			for p := stream; len(p) > 0 && got == 0; p = p[min(step, len(p)):] {
				got = h.Test(p[:min(step, len(p))])
			}
			if (got != 0) != test.fails || got == ReasonRepetition {
				t.Errorf("%s in calls of %d: %v", name, step, got)
			}
		}
	}
}

// TestProportionLastSample fails on the very last sample of a window and passes when the same value opens the next one.
func TestProportionLastSample(t *testing.T) {
	const c = 26
	for _, inNext := range []bool{false, true} {
		w := counting(2 * window)
		for i := range w {
			w[i] |= 1
		}
		for i := range c - 1 {
			w[10*i] = 0
		}
		w[window-1] = 0
		if inNext {
			w[window-1], w[window] = 1, 0
		}
		want := ReasonProportion
		if inNext {
			want = 0
		}
		if got := NewHealth(60).Test(w); got != want {
			t.Errorf("in the next window %v: %v, want %v", inNext, got, want)
		}
	}
}

// TestTenPercent is the detection goal for a biased source: one value at 10 %
// latches within 45 windows in 99 % of runs.
func TestTenPercent(t *testing.T) {
	const runs = 500
	missed := 0
	for seed := range uint64(runs) {
		rng := mathrand.New(mathrand.NewPCG(seed, 2))
		b := make([]byte, 45*window)
		for i := range b {
			if b[i] = byte(rng.Uint32()); rng.IntN(10) == 0 {
				b[i] = 0x51
			}
		}
		if NewHealth(60).Test(b) == 0 {
			missed++
		}
	}
	if missed > runs/100 {
		t.Errorf("%d of %d biased streams passed", missed, runs)
	}
}

// TestNoFalseAlarm: at α = 2^-60 a good generator passes, at 2^-20 it is stopped about 2^-24 times per byte.
func TestNoFalseAlarm(t *testing.T) {
	b := make([]byte, 1<<20)
	h, weak, alarms := NewHealth(60), NewHealth(8), 0
	for range 4 {
		rand.Read(b)
		if got := h.Test(b); got != 0 {
			t.Fatalf("α = 2^-60: %v", got)
		}
		for p := b; len(p) > 0; p = p[64:] {
			if weak.Test(p[:64]) == ReasonRepetition {
				alarms++
			}
		}
	}
	// At 2^-8, C = 2: a piece of 64 bytes has 63 or 64 pairs and passes with
	// (255/256)^64 = 0.778. Of 65,536 pieces some 14,500 fail; 10 sigmas are 1,100.
	if alarms < 13_000 || alarms > 16_000 {
		t.Errorf("%d alarms at α = 2^-8", alarms)
	}
}

// TestHealthForgets: after a failure and after Reset no sample counts any more.
func TestHealthForgets(t *testing.T) {
	h := NewHealth(60)
	stuck := make([]byte, 8)
	for i := range 3 {
		if got := h.Test(stuck); got != 0 {
			t.Fatalf("round %d: %v", i, got)
		}
		h.Reset()
	}
	h.Test(stuck)
	if got := h.Test(stuck[:1]); got != ReasonRepetition {
		t.Fatalf("9 in a row: %v", got)
	}
	if got := h.Test(stuck); got != 0 {
		t.Fatalf("8 after a failure: %v", got)
	}
}

func ExampleCutoffs() {
	fmt.Println(Cutoffs(20))
	fmt.Println(Cutoffs(AlphaExp))
	// Output:
	// 4 14
	// 9 26
}
