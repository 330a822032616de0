// Package alarms counts the false alarms of the health tests on the bytes of tapes, at weaker cutoffs than a Source's,
// because at 2^-60 there is none to observe. It compares the count with the binomial distribution.
package alarms

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
	"shuffled/lab/battery"
)

const (
	window   = 512 // samples of the adaptive proportion test (SP 800-90B section 4.4.2)
	stretch  = 64  // windows of one read: a tape of the maximum length
	perValue = 1.0 / 256
)

// FarOut is the p-value below which a count is no chance.
const FarOut = 1e-9

// Health is one run of the health tests: an entropy.Health.
type Health interface {
	Test(p []byte) entropy.Reason
	Reset()
}

// Options set how much is tested, and how.
type Options struct {
	Bytes     uint64 // lower bound, rounded up to a whole window; at least 1
	AlphaExps []int  // cutoffs at α = 2^-AlphaExp, 1..64 each
	Workers   int    // goroutines; below 1: one for each processor
	// Progress, if not nil, is told how many of the bytes are tested, by one goroutine at a time.
	Progress func(done, total uint64)
}

// Report has the counts.
type Report struct {
	Bytes   uint64  `json:"bytes"`
	Windows uint64  `json:"windows"` // of 512 bytes
	Passed  bool    `json:"passed"`  // no p-value is below FarOut
	Counts  []Count `json:"counts"`
	Halt    Halt    `json:"halt"`
}

// Count is one test at one cutoff.
type Count struct {
	AlphaExp int     `json:"alpha_exp"` // α = 2^-AlphaExp, which the cutoff is chosen for
	Test     string  `json:"test"`      // repetition or proportion
	Cutoff   int     `json:"cutoff"`
	Chance   float64 `json:"chance"` // of an alarm in one window, exact
	Expected float64 `json:"expected"`
	Alarms   uint64  `json:"alarms"`
	P        float64 `json:"p"` // two-sided, of the binomial distribution
}

// Halt has the false-alarm rates of a Source's cutoffs.
type Halt struct {
	AlphaExp          int     `json:"alpha_exp"`
	Repetition        int     `json:"repetition_cutoff"`
	RepetitionPerByte float64 `json:"repetition_per_byte"` // chance of an alarm
	Proportion        int     `json:"proportion_cutoff"`
	ProportionPerByte float64 `json:"proportion_per_byte"`
	TapesPerSecond    int     `json:"tapes_per_second"`
	TapeBytes         int     `json:"tape_bytes"`
	Years             float64 `json:"years_between_alarms"` // at that rate
}

// Measure tests windows of src at every α and counts the alarms. Each window is tested without history. On uniform
// bytes windows are therefore independent, and the number of alarms is exactly binomial. health is entropy.NewHealth.
func Measure(ctx context.Context, src *entropy.Source, health func(alphaExp int) Health, o Options) (*Report, error) {
	windows := (o.Bytes + window - 1) / window
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	var (
		mu     sync.Mutex // guards all below
		left   = windows
		done   uint64
		failed error
		sum    = make([]tally, len(o.AlphaExps))
	)
	take := func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil || ctx.Err() != nil {
			return 0
		}
		n := min(left, stretch)
		left -= n
		return n
	}
	finish := func(n uint64, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && failed == nil {
			failed = fmt.Errorf("reading bytes to test: %w", err)
		}
		if done += n; err == nil && o.Progress != nil {
			o.Progress(done*window, windows*window)
		}
	}
	var wg sync.WaitGroup
	for range o.Workers {
		wg.Go(func() {
			own := newTallies(health, o.AlphaExps)
			for n := take(); n > 0; n = take() {
				b, err := outcome.Raw(src, int(n)*window)
				for i := range own {
					own[i].test(b)
				}
				clear(b)
				finish(n, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for i := range own {
				sum[i].repetition += own[i].repetition
				sum[i].proportion += own[i].proportion
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return report(windows, o.AlphaExps, sum), nil
}

// tally counts the alarms of one goroutine at one α.
type tally struct {
	health                 Health
	repetition, proportion uint64
}

func newTallies(health func(alphaExp int) Health, alphaExps []int) []tally {
	ts := make([]tally, len(alphaExps))
	for i, a := range alphaExps {
		ts[i].health = health(a)
	}
	return ts
}

func (t *tally) test(b []byte) {
	for ; len(b) > 0; b = b[window:] {
		switch t.health.Test(b[:window]) {
		case entropy.ReasonRepetition:
			t.repetition++
		case entropy.ReasonProportion:
			t.proportion++
		}
		t.health.Reset()
	}
}

func report(windows uint64, alphaExps []int, sum []tally) *Report {
	r := &Report{Bytes: windows * window, Windows: windows, Passed: true, Halt: halt()}
	for i, a := range alphaExps {
		repetition, proportion := entropy.Cutoffs(a)
		ofRepetition, ofProportion := chances(repetition, proportion)
		r.Counts = append(r.Counts,
			count(a, "repetition", repetition, ofRepetition, windows, sum[i].repetition),
			count(a, "proportion", proportion, ofProportion, windows, sum[i].proportion))
	}
	for _, c := range r.Counts {
		r.Passed = r.Passed && c.P >= FarOut
	}
	return r
}

func count(alphaExp int, test string, cutoff int, chance float64, windows, alarms uint64) Count {
	p := battery.BinomialP(float64(alarms), float64(windows), chance)
	return Count{alphaExp, test, cutoff, chance, float64(windows) * chance, alarms, p}
}

// halt computes the false-alarm rates of a Source's own cutoffs, for a busy house: 20,000 decks of 52 cards a second.
func halt() Halt {
	h := Halt{AlphaExp: entropy.AlphaExp, TapesPerSecond: 20_000, TapeBytes: 129}
	h.Repetition, h.Proportion = entropy.Cutoffs(h.AlphaExp)
	// A byte completes a run of C if it equals the C−1 before it.
	h.RepetitionPerByte = 1
	for range h.Repetition - 1 {
		h.RepetitionPerByte *= perValue
	}
	_, ofWindow := chances(window+1, h.Proportion)
	h.ProportionPerByte = ofWindow / window
	perSecond := float64(h.TapesPerSecond*h.TapeBytes) * (h.RepetitionPerByte + h.ProportionPerByte)
	h.Years = 1 / perSecond / (365.25 * 24 * 3600)
	return h
}
