package entropy

import (
	"bytes"
	"fmt"
	"math/big"
)

// The health tests assume H = 8 bits of entropy in each byte, as a generator behind crypto/rand delivers.
const (
	minEntropy = 8   // H, bits per sample
	window     = 512 // W of SP 800-90B section 4.4.2 for samples that are not binary
)

// AlphaExp is the false alarm rate of a Source's health tests: α = 2^-AlphaExp
// for each sample (repetition) or window (proportion).
const AlphaExp = 60

// Cutoffs returns the cutoffs C of the repetition count test and of the adaptive proportion test on bytes at α =
// 2^-alphaExp, 1 ≤ alphaExp ≤ 64; it panics outside that range. At 2^-60 they are 9 and 26.
func Cutoffs(alphaExp int) (repetition, proportion int) {
	if alphaExp < 1 || alphaExp > 64 {
		panic(fmt.Sprintf("entropy: α = 2^-%d is not between 2^-1 and 2^-64", alphaExp))
	}
	// SP 800-90B section 4.4.1: C = 1 + ⌈−log2(α) / H⌉.
	repetition = 1 + (alphaExp+minEntropy-1)/minEntropy

	// SP 800-90B section 4.4.2 with its published correction: the first sample of a window always equals itself, so
	// only W−1 are binomial and C = 2 + qbinom(1−α, W−1, 2^-H), that is, 1 + the least k with P(X ≥ k) ≤ α. In
	// integers: the tail is Σ binom(n,i)·(2^H−1)^(n−i) for i ≥ k, out of 2^(H·n).
	const n = window - 1
	limit := new(big.Int).Lsh(big.NewInt(1), uint(minEntropy*n-alphaExp)) // α·2^(H·n)
	term := big.NewInt(1)                                                 // the term of i = n
	tail := new(big.Int)
	k := n
	for ; k >= 0; k-- {
		if tail.Add(tail, term); tail.Cmp(limit) > 0 {
			break // P(X ≥ k) > α, so the least good k is one more
		}
		term.Mul(term, big.NewInt(int64(k)*(1<<minEntropy-1)))
		term.Quo(term, big.NewInt(int64(n-k+1))) // exact: the quotient is the term of i = k−1
	}
	return repetition, k + 2
}

// Health is one run of the two tests over consecutive samples. It keeps its state between calls,
// and of the samples only two bytes. It is not safe for concurrent use.
type Health struct {
	repetition int // cutoffs, constant
	proportion int

	last byte // repetition count test: the latest sample A
	run  int  // B, its occurrences in a row; 0 before the first sample

	first byte // adaptive proportion test: the window's first sample A
	count int  // B, its occurrences in the window
	seen  int  // samples of the window so far; 0 between windows
}

// NewHealth returns tests at α = 2^-alphaExp (see Cutoffs) with no history.
func NewHealth(alphaExp int) *Health {
	r, p := Cutoffs(alphaExp)
	return &Health{repetition: r, proportion: p}
}

// Reset forgets every sample.
func (h *Health) Reset() { *h = Health{repetition: h.repetition, proportion: h.proportion} }

// Test puts every sample of p through both tests. It returns 0 if they pass. Otherwise it returns
// the test that failed, ReasonRepetition if both did, and forgets every sample.
func (h *Health) Test(p []byte) Reason {
	var failed Reason
	switch {
	case !h.countRepetition(p):
		failed = ReasonRepetition
	case !h.adaptProportion(p):
		failed = ReasonProportion
	default:
		return 0
	}
	h.Reset()
	return failed
}

// countRepetition is SP 800-90B section 4.4.1: fail when one value comes C times in a row.
func (h *Health) countRepetition(p []byte) bool {
	last, run := h.last, h.run
	for _, x := range p {
		if x != last {
			last, run = x, 1
			continue
		}
		if run++; run >= h.repetition {
			return false
		}
	}
	h.last, h.run = last, run
	return true
}

// adaptProportion is SP 800-90B section 4.4.2: fail when the first value of a window comes C times in it. Windows
// follow each other without overlap and run on from one call to the next. B only grows within a window, so counting a
// stretch at once gives the verdict of counting sample by sample.
func (h *Health) adaptProportion(p []byte) bool {
	for len(p) > 0 {
		if h.seen == 0 {
			h.first, h.count = p[0], 0
		}
		part := p[:min(len(p), window-h.seen)]
		h.count += bytes.Count(part, []byte{h.first})
		if h.count >= h.proportion {
			return false
		}
		h.seen = (h.seen + len(part)) % window
		p = p[len(part):]
	}
	return true
}
