package monitor

import "fmt"

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
