package battery

import (
	"cmp"
	"fmt"
	"slices"
)

// Level is the family-wise error of one report: the chance that a perfect
// generator has any Result rejected is at most 1 % (Holm).
const Level = 0.01

// RejectAtOnce is the adjusted p below which one sample decides alone.
const RejectAtOnce = 0.0001

// FalseAlarm bounds the chance that the two-stage rule rejects a perfect generator: 0.0001 at once, plus
// 0.01 for a second sample times the chance that it is rejected there. It is 0.000201.
const FalseAlarm = RejectAtOnce + Level*(Level+RejectAtOnce)

// A Report is what the battery says about a sample.
type Report struct {
	Shape    Shape    `json:"shape"`
	Outcomes uint64   `json:"outcomes"`
	Level    float64  `json:"level"`
	Results  []Result `json:"results"`
	// Untested names the tests for which the sample is too small, with the number of outcomes that they need.
	Untested []string `json:"untested,omitempty"`
	// Rejected: an adjusted p is below RejectAtOnce. Borderline: none is, but one
	// is below Level, and a second sample decides (see Judge).
	Rejected   bool `json:"rejected"`
	Borderline bool `json:"borderline"`
	// Positions counts card types by position.
	Positions [][]uint64 `json:"positions,omitempty"`
	// Means is the mean card type by position.
	Means []float64 `json:"means,omitempty"`
}

// A Result is one test.
type Result struct {
	// Test is the family, Name this member of it.
	Test string `json:"test"`
	Name string `json:"name"`

	Statistic float64 `json:"statistic"`
	DF        float64 `json:"df"` // degrees of freedom; 0 for a statistic that has none
	P         float64 `json:"p"`
	Adjusted  float64 `json:"adjusted"` // P after Holm's correction
	N         uint64  `json:"n"`        // observations
	// Detects is the smallest deviation that the test finds with 99 % power.
	Detects string `json:"detects"`
	// Rejected: Adjusted is below Level.
	Rejected bool `json:"rejected"`
}

// conclude corrects the p-values for their number and sets the members that depend on them.
func (r *Report) conclude() {
	holm(r.Results)
	r.Rejected, r.Borderline = false, false
	for _, res := range r.Results {
		r.Rejected = r.Rejected || res.Adjusted < RejectAtOnce
		r.Borderline = r.Borderline || res.Rejected
	}
	r.Borderline = r.Borderline && !r.Rejected
}

// holm sets Adjusted and Rejected: the i-th smallest of m p-values is multiplied by m−i+1, and is never
// less than the one before it (Holm 1979). This holds for any dependence of the tests.
func holm(results []Result) {
	order := make([]int, len(results))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(results[a].P, results[b].P) })
	adjusted := 0.0
	for rank, i := range order {
		adjusted = max(adjusted, min(1, results[i].P*float64(len(results)-rank)))
		results[i].Adjusted, results[i].Rejected = adjusted, adjusted < Level
	}
}

// A Decision is the result of the two-stage rule.
type Decision string

// The decisions.
const (
	Accept Decision = "accept"
	Reject Decision = "reject"
	Repeat Decision = "repeat" // a second, independent sample of the same size is needed
)

// A Verdict is a decision and its grounds.
type Verdict struct {
	Decision Decision `json:"decision"`
	Why      string   `json:"why"`
	// Retested are the borderline tests, judged on the second sample alone.
	Retested []Result `json:"retested,omitempty"`
}

// Tested reports whether a test of chance was possible. That each card is there once says nothing of chance.
func (r *Report) Tested() bool {
	return slices.ContainsFunc(r.Results, func(t Result) bool { return t.Test != "complete" || t.P < 1 })
}

// Judge applies the two-stage rule. It rejects at once if an adjusted p of the first report is below
// RejectAtOnce, and accepts if none is below Level. In between, the tests below Level are judged alone, at
// Level by Holm, on a second independent sample of the same size; without one (nil) the decision is Repeat.
// A second sample that is itself below RejectAtOnce in any test is rejected too. Judge rejects a perfect
// generator with a chance of at most FalseAlarm. It never accepts a sample of which nothing was tested.
func (b *Battery) Judge(first, second *Report) Verdict {
	switch {
	case first.Outcomes == 0:
		return Verdict{Decision: Reject, Why: "the sample is empty"}
	case !first.Tested():
		return Verdict{Decision: Repeat, Why: "the sample is too small: nothing could be tested"}
	case first.Rejected:
		return Verdict{Decision: Reject, Why: fmt.Sprintf("first sample: an adjusted p is below %v", RejectAtOnce)}
	case !first.Borderline:
		return Verdict{Decision: Accept, Why: fmt.Sprintf("no adjusted p is below %v", Level)}
	case second == nil:
		return Verdict{Decision: Repeat,
			Why: fmt.Sprintf("the smallest adjusted p is between %v and %v: a second sample of the same size decides",
				RejectAtOnce, Level)}
	case second.Shape != first.Shape || second.Outcomes != first.Outcomes:
		return Verdict{Decision: Repeat,
			Why: fmt.Sprintf("the second sample has %d outcomes, the first %d: they must be alike", second.Outcomes,
				first.Outcomes)}
	case second.Rejected:
		return Verdict{Decision: Reject, Why: fmt.Sprintf("second sample: an adjusted p is below %v", RejectAtOnce)}
	}
	return rejudge(first, second)
}

// rejudge judges the tests that are borderline in first on second alone.
func rejudge(first, second *Report) Verdict {
	var again []Result
	for _, res := range first.Results {
		if !res.Rejected {
			continue
		}
		i := slices.IndexFunc(second.Results, func(s Result) bool { return s.Test == res.Test && s.Name == res.Name })
		if i < 0 {
			return Verdict{Decision: Repeat,
				Why: fmt.Sprintf("the second sample lacks the test %q, %q", res.Test, res.Name)}
		}
		again = append(again, second.Results[i])
	}
	holm(again)
	for _, res := range again {
		if res.Rejected {
			return Verdict{Reject, fmt.Sprintf("second sample: %q, %q is below %v again", res.Test, res.Name, Level),
				again}
		}
	}
	return Verdict{Accept, fmt.Sprintf("second sample: no borderline test is below %v again", Level), again}
}
