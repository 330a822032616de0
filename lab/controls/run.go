package controls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/entropy"
	"shuffled/lab"
	"shuffled/lab/battery"
)

// tries is how often the true shuffler is judged before it counts as rejected. The battery's two-stage rule
// rejects it with a chance of at most battery.FalseAlarm, 0.0002, and three times in a row with 8·10^-12. A
// fault that the sample shows is rejected each time.
const tries = 3

// A Finding is the battery's result for a control.
type Finding struct {
	Name   string `json:"name"`
	Fault  string `json:"fault,omitempty"`  // none: the true shuffler
	Finder string `json:"finder,omitempty"` // the test that must reject it
	Sample uint64 `json:"sample"`           // outcomes

	Verdict    battery.Decision `json:"verdict"`
	Passed     bool             `json:"passed"`          // the verdict is the required one
	Why        string           `json:"why,omitempty"`   // it did not pass
	Tests      int              `json:"tests"`           // p-values in the report
	Smallest   *Member          `json:"smallest"`        // p of all
	Found      *Member          `json:"found,omitempty"` // smallest p of Finder
	RejectedBy []string         `json:"rejected_by"`     // tests with a p that rejects at once
	Tries      int              `json:"tries"`           // samples judged
}

// A Member is one p-value of the battery. P is 0 where it is too small for a float.
type Member struct {
	Test     string  `json:"test"`
	Name     string  `json:"name"`
	P        float64 `json:"p"`
	Adjusted float64 `json:"adjusted"` // after Holm's correction
}

// Run makes the control's sample on the workers and has the battery judge it. progress, which may be nil,
// is called as lab.Run does. An error means no verdict.
func (c Control) Run(ctx context.Context, src *entropy.Source, workers int, progress func(done uint64)) (Finding,
	error) {
	s := sampler{c, src, workers, progress}
	for try := 1; ; try++ {
		report, verdict, err := s.judge(ctx)
		if err != nil {
			return Finding{}, fmt.Errorf("control %s: %w", c.Name, err)
		}
		if !c.True() || verdict == battery.Accept || try == tries {
			return c.find(report, verdict, try), nil
		}
	}
}

// sampler makes samples of a control.
type sampler struct {
	Control
	src      *entropy.Source
	workers  int
	progress func(done uint64)
}

// judge judges the control by one sample, or by two if the two-stage rule requires it. A fault must show in the first.
func (s sampler) judge(ctx context.Context) (*battery.Report, battery.Decision, error) {
	b, first, err := s.sample(ctx)
	if err != nil {
		return nil, "", err
	}
	verdict := b.Judge(first, nil).Decision
	if verdict != battery.Repeat || !s.True() {
		return first, verdict, nil
	}
	_, second, err := s.sample(ctx)
	if err != nil {
		return nil, "", err
	}
	return first, b.Judge(first, second).Decision, nil
}

// sample makes a sample and counts it in a new battery.
func (s sampler) sample(ctx context.Context) (*battery.Battery, *battery.Report, error) {
	b, err := battery.New(s.Shape)
	if err != nil {
		return nil, nil, err
	}
	counts := make([]*battery.Worker, s.workers)
	for w := range counts {
		counts[w] = b.Worker()
	}
	err = lab.Run(ctx, s.workers, s.Sample,
		func(int) (lab.Maker, error) { return s.maker(s.src), nil },
		func(w int, values []uint32) error {
			counts[w].Add(values)
			return nil
		}, s.progress)
	if err != nil {
		return nil, nil, err
	}
	return b, b.Report(), nil
}

// find reads the report and says whether the battery gave the required verdict.
func (c Control) find(r *battery.Report, verdict battery.Decision, tries int) Finding {
	f := Finding{Name: c.Name, Fault: c.Fault, Finder: c.Finder, Sample: c.Sample,
		Verdict: verdict, Tests: len(r.Results), RejectedBy: []string{}, Tries: tries}
	for _, t := range r.Results {
		m := &Member{t.Test, t.Name, t.P, t.Adjusted}
		if f.Smallest == nil || m.P < f.Smallest.P {
			f.Smallest = m
		}
		if t.Test == c.Finder && (f.Found == nil || m.P < f.Found.P) {
			f.Found = m
		}
		if t.Adjusted < battery.RejectAtOnce && !slices.Contains(f.RejectedBy, t.Test) {
			f.RejectedBy = append(f.RejectedBy, t.Test)
		}
	}
	f.Why = f.fault(r.Untested)
	f.Passed = f.Why == ""
	return f
}

// fault says what is wrong with a verdict, or nothing.
func (f *Finding) fault(untested []string) string {
	switch {
	case f.Tests == 0:
		return "the battery tested nothing"
	case f.Fault == "" && f.Verdict != battery.Accept:
		return fmt.Sprintf("the true shuffler is rejected by %s: %s, in each of %d samples", f.Smallest.Test,
			f.Smallest.Name, f.Tries)
	case f.Fault == "":
		return ""
	case f.Verdict != battery.Reject:
		return "the battery does not see the fault"
	case f.Found == nil:
		return fmt.Sprintf("the battery has no p for the test %q; too small a sample: %s", f.Finder,
			strings.Join(untested, "; "))
	case !slices.Contains(f.RejectedBy, f.Finder):
		return fmt.Sprintf("the battery rejects the shuffler, but not by the test %q, which is meant for it", f.Finder)
	}
	return ""
}
