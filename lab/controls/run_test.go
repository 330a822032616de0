package controls

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"shuffled/internal/entropy"
	"shuffled/lab"
	"shuffled/lab/battery"
)

// muchSmaller is the factor by which the finder's p must be below the p that rejects,
// on every stream that is tried, so that the result does not depend on the bytes of
// the real source.
const muchSmaller = 1e-12

// TestControls has the battery judge all controls, each on bytes that are the same in
// every run, in one goroutine. The true shufflers get smaller samples here.
func TestControls(t *testing.T) {
	if raceEnabled {
		t.Skip("ten times slower, and nothing to find: see TestWorkers")
	}
	for i, c := range All() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && c.Sample > 100_000 {
				t.Skip("takes too long for a short run")
			}
			if c.True() {
				c.Sample = min(c.Sample, 50_000)
			}
			f, err := c.Run(context.Background(), stream(t, byte(100+i)), 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !f.Passed {
				t.Fatalf("%s; rejected by %v; smallest %+v, found %+v", f.Why, f.RejectedBy, f.Smallest, f.Found)
			}
			if !c.True() && f.Found.Adjusted > muchSmaller {
				t.Errorf("found with an adjusted p of %v only", f.Found.Adjusted)
			}
		})
	}
}

// TestWorkers: two workers make and count the whole sample. The bytes are those of
// the platform generator, so the verdict is not checked.
func TestWorkers(t *testing.T) {
	src, err := entropy.New(entropy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"any-position", "byte-modulo", "seed-16", "repeated", "wheel-modulo"} {
		c, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		c[0].Sample = 2*lab.Block + 10
		var done atomic.Uint64
		s := sampler{c[0], src, 2, done.Store}
		_, report, err := s.sample(context.Background())
		if err != nil || report.Outcomes != c[0].Sample || done.Load() != c[0].Sample {
			t.Errorf("%s: %d outcomes, progress to %d, of %d: %v", name, report.Outcomes, done.Load(), c[0].Sample, err)
		}
	}
}

// TestFind: every possible result of a control.
func TestFind(t *testing.T) {
	fault := Control{Name: "x", Fault: "a fault", Finder: "lag 1"}
	honest := Control{Name: "true"}
	good := battery.Result{Test: "runs", Name: "all", P: 0.01, Adjusted: 0.4}
	found := battery.Result{Test: "lag 1", Name: "position 0", P: 1e-40, Adjusted: 1e-38, Rejected: true}
	weak := battery.Result{Test: "lag 1", Name: "position 0", P: 1e-5, Adjusted: 1e-3, Rejected: true}
	other := battery.Result{Test: "overlaps", Name: "all", P: 1e-50, Adjusted: 1e-48, Rejected: true}
	for _, c := range []struct {
		name    string
		control Control
		results []battery.Result
		verdict battery.Decision
		why     string
	}{
		{"found", fault, []battery.Result{good, found}, battery.Reject, ""},
		{"found, too", fault, []battery.Result{other, found, good}, battery.Reject, ""},
		{"not seen", fault, []battery.Result{good, {Test: "lag 1", P: 0.3, Adjusted: 1}}, battery.Accept,
			"does not see"},
		{"hardly seen", fault, []battery.Result{good, weak}, battery.Repeat, "does not see"},
		{"found by another", fault, []battery.Result{other, {Test: "lag 1", P: 0.3, Adjusted: 1}}, battery.Reject,
			"not by the test"},
		{"found weakly", fault, []battery.Result{other, weak}, battery.Reject, "not by the test"},
		{"no such test", fault, []battery.Result{other}, battery.Reject, "no p for the test \"lag 1\""},
		{"nothing tested", fault, nil, battery.Reject, "nothing"},
		{"accepted", honest, []battery.Result{good}, battery.Accept, ""},
		{"rejected", honest, []battery.Result{good, other}, battery.Reject,
			"true shuffler is rejected by overlaps: all"},
		{"borderline", honest, []battery.Result{good, weak}, battery.Repeat, "true shuffler is rejected"},
		{"true, nothing tested", honest, nil, battery.Accept, "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.control.find(&battery.Report{Results: c.results}, c.verdict, 1)
			if f.Passed != (c.why == "") || !strings.Contains(f.Why, c.why) {
				t.Errorf("passed %v, %q", f.Passed, f.Why)
			}
		})
	}
	f := fault.find(&battery.Report{Results: []battery.Result{good, found, other}}, battery.Reject, 1)
	if f.Found.P != found.P || f.Smallest.Test != "overlaps" || strings.Join(f.RejectedBy, " ") != "lag 1 overlaps" ||
		f.Tests != 3 {
		t.Errorf("%+v", f)
	}
}

// TestFaultyCalledTrue: a faulty shuffler under the name of the true one is judged as
// often as the true one may be, and fails.
func TestFaultyCalledTrue(t *testing.T) {
	c := Control{Name: "true", Shape: deck, Sample: 500, maker: sattolo.maker}
	f, err := c.Run(context.Background(), stream(t, 9), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Passed || f.Tries != 3 || f.Verdict != battery.Reject {
		t.Errorf("%+v", f)
	}
}

// TestTrueCalledFaulty: the true shuffler under the name of a fault fails.
func TestTrueCalledFaulty(t *testing.T) {
	c := Control{Name: "x", Fault: "none", Finder: "position × card", Shape: deck, Sample: 500,
		maker: honest(wholeDeck)}
	f, err := c.Run(context.Background(), stream(t, 9), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Passed || f.Tries != 1 {
		t.Errorf("%+v", f)
	}
}

// TestNoVerdict: a source that fails gives an error and no verdict, from every
// maker.
func TestNoVerdict(t *testing.T) {
	src, err := entropy.NewFrom(&dying{}, entropy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range All() {
		if testing.Short() && i%8 != 0 {
			continue
		}
		if _, err := c.Run(context.Background(), src, 2, nil); !errors.Is(err, entropy.ErrLatched) ||
			!strings.Contains(err.Error(), c.Name) {
			t.Errorf("%s: error %v", c.Name, err)
		}
	}
}

// dying passes the start-up test and then fails.
type dying struct{ read bool }

func (d *dying) Read(b []byte) (int, error) {
	if d.read {
		return 0, errors.New("no more")
	}
	d.read = true
	for i := range b {
		b[i] = byte(i * 37)
	}
	return len(b), nil
}

func TestNamed(t *testing.T) {
	all, err := Named()
	if err != nil || len(all) != len(Names()) {
		t.Fatalf("%d controls, %v", len(all), err)
	}
	two, err := Named("seed-16", "true-deck")
	if err != nil || len(two) != 2 || two[0].Name != "seed-16" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := Named("seed-16", "nobody"); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("error %v", err)
	}
}
