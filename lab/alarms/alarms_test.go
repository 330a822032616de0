package alarms

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"shuffled/internal/entropy"
)

// seeded is a generator that gives the same bytes on every run, to any goroutine. A
// fault begins after the start-up test.
type seeded struct {
	mu    sync.Mutex
	src   *rand.ChaCha8
	fault func([]byte)
	reads int
}

func (s *seeded) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.src.Read(b)
	if s.reads++; s.fault != nil && s.reads > 1 {
		s.fault(b)
	}
	return len(b), nil
}

func newSeeded(t *testing.T, fault func([]byte)) *entropy.Source {
	t.Helper()
	r := &seeded{src: rand.NewChaCha8([32]byte([]byte("health tests are counted on this"))), fault: fault}
	src, err := entropy.NewFrom(r, entropy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func genuine(alphaExp int) Health { return entropy.NewHealth(alphaExp) }

var levels = []int{8, 12, 16, 20}

// TestSeeded counts over 40 million bytes that are the same on every run.
func TestSeeded(t *testing.T) {
	t.Parallel()
	r, err := Measure(context.Background(), newSeeded(t, nil), genuine, Options{Bytes: 40_000_000, AlphaExps: levels})
	if err != nil || !r.Passed || len(r.Counts) != 2*len(levels) || r.Windows != 78_125 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, c := range r.Counts {
		t.Logf("%+v", c)
		if c.P < 0.001 {
			t.Errorf("%+v", c)
		}
	}
}

// TestPlatform is the same over bytes of the platform generator. By chance one of
// four times two p-values is below FarOut once in 10^8 runs.
func TestPlatform(t *testing.T) {
	t.Parallel()
	src, err := entropy.New(entropy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var last uint64
	r, err := Measure(context.Background(), src, genuine,
		Options{Bytes: 20_000_001, AlphaExps: levels, Progress: func(done, total uint64) {
			if done <= last || total != 20_000_256 {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		}})
	if err != nil || !r.Passed || last != r.Bytes || r.Bytes != 20_000_256 {
		t.Fatalf("%+v, %v, %d", r, err, last)
	}
}

// TestBroken: wrong health tests and wrong bytes are far out.
func TestBroken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		health func(alphaExp int) Health
		bytes  func([]byte)
		test   string
	}{
		"one too many in a window": {func(int) Health { return entropy.NewHealth(10) }, nil, "proportion"},
		"one too many in a row":    {func(int) Health { return entropy.NewHealth(17) }, nil, "repetition"},
		"one too few in a row":     {func(int) Health { return entropy.NewHealth(8) }, nil, "repetition"},
		"never an alarm":           {func(int) Health { return silent{} }, nil, "proportion"},
		"one byte doubled": {genuine, func(b []byte) {
			for i := 2; i < len(b); i += 40 {
				b[i], b[i-1] = b[i-2], b[i-2]
			}
		}, "repetition"},
		"a frequent byte": {genuine, func(b []byte) {
			for i := 0; i < len(b); i += 100 {
				b[i] = 7
			}
		}, "proportion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Measure(context.Background(), newSeeded(t, c.bytes), c.health,
				Options{Bytes: 40_000_000, AlphaExps: []int{9}})
			if err != nil || r.Passed {
				t.Fatalf("%+v, %v", r, err)
			}
			for _, n := range r.Counts {
				if n.Test == c.test && n.P >= FarOut {
					t.Errorf("%+v", n)
				}
			}
		})
	}
}

// silent never fails.
type silent struct{}

func (silent) Test([]byte) entropy.Reason { return 0 }
func (silent) Reset()                     {}

// TestChances compares the chances with others for cases in which only one of the tests
// can fail. TestSeeded shows the two together, above all at 2^-8, where most windows
// with an alarm for proportion have one for repetition.
func TestChances(t *testing.T) {
	t.Parallel()
	never := window + 1
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
	for _, alphaExp := range []int{1, 8, 9, 16, 17, 20, 40, 60, 64} {
		repetition, proportion := entropy.Cutoffs(alphaExp)
		_, alone := chances(never, proportion)
		// Survival does not work: below 1e-12 it is one less nearly one.
		want := 0.0
		for k := proportion - 1; k < window; k++ {
			want += distuv.Binomial{N: window - 1, P: perValue}.Prob(float64(k))
		}
		if !near(alone, want) || want > math.Exp2(-float64(alphaExp)) {
			t.Errorf("α = 2^-%d: proportion %g, gonum has %g", alphaExp, alone, want)
		}
		run, _ := chances(repetition, never)
		if want := runOf(repetition); !near(run, want) {
			t.Errorf("α = 2^-%d: repetition %g, want %g", alphaExp, run, want)
		}
		both, rest := chances(repetition, proportion)
		if !near(both, run) || rest > alone || rest < alone*(1-run)/20 {
			t.Errorf("α = 2^-%d: %g and %g together, %g and %g alone", alphaExp, both, rest, run, alone)
		}
	}
}

// TestCountP: the p of a count is a probability, also with more windows than those
// for which the continued fraction of the exact distribution converges.
func TestCountP(t *testing.T) {
	t.Parallel()
	for _, windows := range []uint64{1e6, 5e7, 2e8, 2e9, 4.7e9} { // variance 2.1e5 to 1e9
		mean, deviation := 0.3*float64(windows), math.Sqrt(0.21*float64(windows))
		for _, off := range []float64{0, 1e-4, 0.01, 0.1, 0.5, 1, 2, 3, 4.5, 6} {
			want := math.Erfc(off / math.Sqrt2)
			within := max(0.01, 1e-3+2/deviation) * max(want, 1e-9)
			if off > 2 {
				within = 0.05 * want // because of the skew, which the normal distribution lacks
			}
			for _, sign := range []float64{-1, 1} {
				got := count(1, "repetition", 2, 0.3, windows, uint64(math.Round(mean+sign*off*deviation))).P
				if !(got >= 0 && got <= 1) || math.Abs(got-want) > within {
					t.Errorf("%d windows, %v deviations off: p = %v, want %v", windows, sign*off, got, want)
				}
			}
		}
	}
}

// runOf returns the probability of a run of c among the bytes of a window: the first
// ends at byte i if the c−1 bytes before it are its like, the one before those is not,
// and there was none up to there.
func runOf(c int) float64 {
	start := math.Pow(perValue, float64(c-1))
	had := make([]float64, window+1) // within the first i bytes
	for i := c; i <= window; i++ {
		if i == c {
			had[i] = start
			continue
		}
		had[i] = had[i-1] + (1-had[i-c])*(1-perValue)*start
	}
	return had[window]
}

// TestFailingSource: nothing is reported of bytes that did not come, nor after an
// interruption.
func TestFailingSource(t *testing.T) {
	t.Parallel()
	src, err := entropy.NewFrom(bytes.NewReader(make([]byte, 8)), entropy.Config{})
	if err == nil {
		t.Fatal("eight bytes were enough")
	}
	if r, err := Measure(context.Background(), src, genuine,
		Options{Bytes: 1 << 20, AlphaExps: levels}); !errors.Is(err, entropy.ErrLatched) || r != nil {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Measure(ctx, newSeeded(t, nil), genuine, Options{Bytes: 1 << 20, AlphaExps: levels}); !errors.Is(err,
		context.Canceled) || r != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestHalt is the false-alarm rate that docs/LAB.md states.
func TestHalt(t *testing.T) {
	t.Parallel()
	h := halt()
	if h.AlphaExp != 60 || h.Repetition != 9 || h.Proportion != 26 || h.RepetitionPerByte != math.Exp2(-64) ||
		h.ProportionPerByte > math.Exp2(-71) || h.ProportionPerByte < math.Exp2(-72) || h.Years < 200_000 ||
		h.Years > 230_000 {
		t.Errorf("%+v", h)
	}
	t.Logf("%+v", h)
}
