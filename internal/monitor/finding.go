package monitor

import (
	"fmt"
	"math"
)

// Span is how a window is bounded.
type Span uint8

// The spans.
const (
	ByCount Span = 0 // by a number of outcomes and a least time
	ByDay   Span = 1 // by UTC day
)

// String returns the name of the span in metrics and reasons.
func (s Span) String() string { return [...]string{"count", "day"}[s] }

// Finding is a window whose p-value is too small. It names no card and no position, and
// its figures are too coarse to show a single outcome.
type Finding struct {
	Halt     bool    // at or below HaltLevel, if there are halts: no more may be dealt
	Shape    string  // of the outcomes: "52 of 52 cards", "draws of 1 to 37"
	Span     Span    // of the window
	Outcomes uint64  // in the window: orders, or drawn values
	Test     string  // the test with the smallest p-value
	AtMost   float64 // the window's p-value, rounded up to one of Classes
}

// String returns the finding in one line of printable ASCII, which an entry of the ledger can have as its reason.
func (f Finding) String() string {
	return fmt.Sprintf("%s, %s window of %d: %s, p <= %g", f.Shape, f.Span, f.Outcomes, f.Test, f.AtMost)
}

// Classes are the p-values that are reported. Others are rounded up to them: nothing finer leaves this package.
var Classes = [...]float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1}

// classOf returns the index of the class that p is rounded up to.
func classOf(p float64) int {
	for i, class := range Classes {
		if p <= class {
			return i
		}
	}
	return len(Classes) - 1
}

func atMost(p float64) float64 { return Classes[classOf(p)] }

// Totals are figures since the Monitor was made.
type Totals struct {
	Watched   []Watched // by shape
	Unwatched uint64    // outcomes of shapes that had no place
	Warnings  uint64    // windows at or below WarnLevel that are no halt
	Halts     uint64    // windows at or below HaltLevel, if there are halts

	// Windows that were judged, by span and by the class of their p-value.
	Windows [2][len(Classes)]uint64
}

// Watched is how many outcomes of a shape were counted.
type Watched struct {
	Shape    string
	Outcomes uint64
}

// ChiSquare returns the chances that a chi-square of df degrees of freedom, 1 or more, is at least q, and at most q.
//
// With whole degrees of freedom both are sums of the term exp(-x)·x^j/Γ(j+1), at x = q/2 and a = df/2. The first sums j
// = a-1, a-2, … down to 0 or 1/2, and adds erfc √x if df is odd. The second sums j = a, a+1, … These are the identities
// 26.4.4 to 26.4.6 of Abramowitz and Stegun; nothing is approximated. The smaller of the two is summed, and the other
// is one less it: as a difference the smaller one would lose its digits. The module of the lab compares both with
// another implementation.
func ChiSquare(q float64, df int) (atLeast, atMost float64) {
	x, a := q/2, float64(df)/2
	if x <= 0 {
		return 1, 0
	}
	term := func(j float64) float64 {
		gamma, _ := math.Lgamma(j + 1)
		return math.Exp(j*math.Log(x) - x - gamma)
	}
	if x < a {
		for t, j := 1.0, a; t > atMost*0x1p-60; j++ { // until a term, each below the one before, no longer counts
			t = term(j)
			atMost += t
		}
		return 1 - atMost, atMost
	}
	if df%2 == 1 {
		atLeast = math.Erfc(math.Sqrt(x))
	}
	for j := a - 1; j >= 0; j-- {
		atLeast += term(j)
	}
	return atLeast, 1 - atLeast
}

// twoSided returns the p-value of a standard normal statistic.
func twoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }
