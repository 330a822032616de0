package battery

// Level is the family-wise error of one report: the chance that a perfect
// generator has any Result rejected is at most 1 % (Holm).
const Level = 0.01

// RejectAtOnce is the adjusted p below which the first sample decides alone.
const RejectAtOnce = 0.0001

// FalseAlarm bounds the chance that the two-stage rule rejects a perfect
// generator: 0.0001 at once, or 0.01 of a second sample times the 0.01 that it
// is rejected there.
const FalseAlarm = RejectAtOnce + Level*Level

// A Report is what the battery says about a sample.
type Report struct {
	Shape    Shape    `json:"shape"`
	Outcomes uint64   `json:"outcomes"`
	Level    float64  `json:"level"`
	Results  []Result `json:"results"`
	// Untested names the tests for which the sample is too small, with the
	// outcomes that they need.
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

// conclude corrects the p-values for their number and sets what follows.
func (r *Report) conclude() {}

// A Decision is what the two-stage rule comes to.
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
	// Retested are the borderline tests as the second sample judges them alone.
	Retested []Result `json:"retested,omitempty"`
}

// Judge applies the two-stage rule. It rejects at once when an adjusted p of the
// first report is below RejectAtOnce and accepts when none is below Level. In
// between, the tests below Level are judged alone, at Level by Holm, on a second
// independent sample of the same size; without one (nil) the decision is Repeat.
// It rejects a perfect generator with a chance of at most FalseAlarm.
func (b *Battery) Judge(first, second *Report) Verdict { return Verdict{Decision: Accept} }
