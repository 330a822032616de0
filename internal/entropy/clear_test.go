package entropy

import (
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
)

// tape52 is the tape of a 52-card deck in bytes.
const tape52 = 129

func TestClear(t *testing.T) {
	r := scripted(good, stuck, good)
	s, causes := from(t, r)
	mustRefuse(t, s)
	for _, reason := range []string{"", " \t\n"} {
		if err := s.Clear(reason); err == nil {
			t.Fatalf("cleared with the reason %q", reason)
		}
	}
	if n := len(r.lengths()); n != 2 {
		t.Fatalf("%d reads before a reason was given", n)
	}
	must(t, s.Clear("power supply replaced"))
	if asked := r.lengths(); asked[len(asked)-1] != startupSamples {
		t.Errorf("the start-up test did not run: reads %v", asked)
	}
	if c, ok := s.Latched(); ok {
		t.Errorf("still latched: %+v", c)
	}
	mustTape(t, s, tape52)

	s.Trip(ReasonFoulDeck) // a second incident is reported again
	mustRefuse(t, s)
	if len(*causes) != 2 || (*causes)[1].Reason != ReasonFoulDeck {
		t.Errorf("reported %+v", *causes)
	}
}

func TestClearNotLatched(t *testing.T) {
	r := scripted(good)
	s, _ := from(t, r)
	if err := s.Clear("to be sure"); !errors.Is(err, ErrNotLatched) || errors.Is(err, ErrLatched) {
		t.Errorf("error %v", err)
	}
	mustTape(t, s, tape52)
}

// TestClearStillBroken: the latch keeps its first cause as long as the start-up test fails, whatever the failure.
func TestClearStillBroken(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			s, causes := from(t, scripted(good, eof, f.read, f.read, good))
			mustRefuse(t, s)
			first, _ := s.Latched()
			for range 2 {
				if err := s.Clear("try again"); !errors.Is(err, ErrLatched) {
					t.Fatalf("error %v", err)
				}
				if c, ok := s.Latched(); !ok || c != first {
					t.Fatalf("cause %+v, want %+v", c, first)
				}
				mustRefuse(t, s)
			}
			must(t, s.Clear("repaired"))
			mustTape(t, s, tape52)
			if len(*causes) != 1 || s.Stats().Failures != 3 {
				t.Errorf("reported %d times, %d failures", len(*causes), s.Stats().Failures)
			}
		})
	}
}

// TestClearWhileFailing: a failure reported during the start-up test of Clear is not lost.
func TestClearWhileFailing(t *testing.T) {
	var s *Source
	s, _ = from(t, scripted(good, eof, func(b []byte) (int, error) {
		s.Trip(ReasonFoulDeck)
		return rand.Read(b)
	}, good))
	mustRefuse(t, s)
	if err := s.Clear("repaired"); !errors.Is(err, ErrLatched) || !strings.Contains(err.Error(), "in that time") {
		t.Fatalf("error %v", err)
	}
	mustRefuse(t, s)
	must(t, s.Clear("repaired, really"))
	mustTape(t, s, tape52)
}

// TestClearForgetsSamples: what the tests saw before the failure does not count against the repaired generator.
func TestClearForgetsSamples(t *testing.T) {
	s, _ := from(t, scripted(good, stuck))
	for range 8 {
		mustTape(t, s, 1)
	}
	s.Trip(ReasonOperator)
	s.read = good
	must(t, s.Clear("new generator"))
	s.read = stuck
	for range 8 {
		mustTape(t, s, 1)
	}
	if _, err := s.Tape(1); !errors.Is(err, ErrLatched) {
		t.Errorf("the ninth equal byte passed: %v", err)
	}
}

func TestSelfTestOnDemand(t *testing.T) {
	s, causes := from(t, scripted(good, good, stuck, good))
	must(t, s.SelfTest())
	if err := s.SelfTest(); !errors.Is(err, ErrLatched) {
		t.Fatalf("a stuck generator passed: %v", err)
	}
	must(t, s.SelfTest())
	mustRefuse(t, s) // a passed test clears nothing
	if len(*causes) != 1 || (*causes)[0].Reason != ReasonStartup {
		t.Errorf("reported %+v", *causes)
	}
}

// The tests below assign package variables and crypto/rand.Reader, so they do not run alongside others.

// replace assigns crypto/rand.Reader for the length of one test.
func replace(t *testing.T, r io.Reader) {
	t.Helper()
	before := rand.Reader
	t.Cleanup(func() { rand.Reader = before })
	rand.Reader = r
}

func TestReplacedReader(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"zeros":        scripted(stuck),
		"nil":          nil,
		"wrapped":      struct{ io.Reader }{rand.Reader}, // even if its bytes are the platform's
		"incomparable": uncomparable{},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(Config{})
			must(t, err)
			platformReader := rand.Reader
			replace(t, r)
			mustRefuse(t, s)
			if c, _ := s.Latched(); c.Reason != ReasonReplaced {
				t.Errorf("cause %+v", c)
			}
			if fresh, err := New(Config{}); !errors.Is(err, ErrLatched) {
				t.Errorf("a new source: %v", err)
			} else if c, _ := fresh.Latched(); c.Reason != ReasonReplaced {
				t.Errorf("a new source: %+v", c)
			}
			if err := s.Clear("looks fine"); !errors.Is(err, ErrLatched) {
				t.Errorf("cleared with a replaced reader: %v", err)
			}
			rand.Reader = platformReader
			mustRefuse(t, s)
			must(t, s.Clear("removed the package that did it"))
			mustTape(t, s, tape52)
		})
	}
}

// TestReplacedBeforeInit: a package initialised earlier may have been first.
func TestReplacedBeforeInit(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"nil":     nil,
		"own":     reader{},
		"pointer": &reader{},
		"wrapped": struct{ io.Reader }{rand.Reader},
		"file":    strings.NewReader("x"),
	} {
		if isGenuine(r) {
			t.Errorf("%s passes for the platform generator", name)
		}
	}
	if !isGenuine(rand.Reader) {
		t.Fatalf("%T is not recognised: did this Go release rename it?", rand.Reader)
	}
	genuine = false
	defer func() { genuine = true }()
	s, err := New(Config{})
	if !errors.Is(err, ErrLatched) {
		t.Fatalf("error %v", err)
	}
	mustRefuse(t, s)
}

// reader has the name of the standard library's type, but not its package.
type reader struct{}

func (reader) Read(b []byte) (int, error) { return stuck(b) }

// uncomparable would make a careless comparison panic.
type uncomparable struct{ _ []byte }

func (uncomparable) Read(b []byte) (int, error) { return stuck(b) }
