package entropy

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// script is a reader whose i-th call is answered by the i-th function; the last
// one answers all later calls. It keeps the lengths asked for.
type script struct {
	mu    sync.Mutex
	calls []func([]byte) (int, error)
	asked []int
}

func scripted(calls ...func([]byte) (int, error)) *script { return &script{calls: calls} }

func (s *script) Read(b []byte) (int, error) {
	s.mu.Lock()
	s.asked = append(s.asked, len(b))
	call := s.calls[min(len(s.asked), len(s.calls))-1]
	s.mu.Unlock()
	return call(b)
}

func (s *script) lengths() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.asked...)
}

// The answers of good and bad generators.
func good(b []byte) (int, error)  { return rand.Read(b) }
func stuck(b []byte) (int, error) { clear(b); return len(b), nil }
func eof([]byte) (int, error)     { return 0, io.EOF }
func cycle(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(i % 2)
	}
	return len(b), nil
}
func short(b []byte) (int, error)   { return rand.Read(b[:len(b)-1]) }
func nothing([]byte) (int, error)   { return 0, nil }
func tooMany(b []byte) (int, error) { rand.Read(b); return len(b) + 1, nil }
func failing([]byte) (int, error)   { return 0, errors.New("the device is gone") }
func fullAndEOF(b []byte) (int, error) {
	rand.Read(b)
	return len(b), io.EOF
}

var faults = []struct {
	name   string
	read   func([]byte) (int, error)
	want   Reason
	atNew  Reason // at the start-up test
	detail string
}{
	{"stuck", stuck, ReasonRepetition, ReasonStartup, "health test"},
	{"cycle", cycle, ReasonProportion, ReasonStartup, "health test"},
	{"short", short, ReasonShortRead, ReasonShortRead, " of "},
	{"nothing", nothing, ReasonShortRead, ReasonShortRead, "0 of "},
	{"too many", tooMany, ReasonShortRead, ReasonShortRead, " of "},
	{"failing", failing, ReasonReadError, ReasonReadError, "the device is gone"},
	{"end", eof, ReasonReadError, ReasonReadError, "EOF"},
	{"full and end", fullAndEOF, ReasonReadError, ReasonReadError, "EOF"},
}

// from returns a Source over r and the causes it reports.
func from(t *testing.T, r io.Reader) (*Source, *[]Cause) {
	t.Helper()
	causes := &[]Cause{}
	s, err := NewFrom(r, Config{OnLatch: func(c Cause) { *causes = append(*causes, c) }})
	must(t, err)
	return s, causes
}

func mustTape(t *testing.T, s *Source, n int) []byte {
	t.Helper()
	tape, err := s.Tape(n)
	must(t, err)
	if len(tape) != n {
		t.Fatalf("a tape of %d bytes, not %d", len(tape), n)
	}
	return tape
}

func mustRefuse(t *testing.T, s *Source) error {
	t.Helper()
	tape, err := s.Tape(tape52)
	if tape != nil || !errors.Is(err, ErrLatched) {
		t.Fatalf("a tape of %d bytes and error %v, want none and ErrLatched", len(tape), err)
	}
	return err
}

func TestTapeFromPlatform(t *testing.T) {
	s, err := New(Config{OnLatch: func(c Cause) { t.Errorf("latched: %+v", c) }})
	must(t, err)
	seen := map[string]bool{}
	for _, n := range []int{52, tape52, 1255, MaxTape} {
		for range 4 {
			seen[string(mustTape(t, s, n))] = true
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d different tapes of 16", len(seen))
	}
	if got, want := s.Stats(), (Stats{Tapes: 16, Bytes: 4 * (52 + tape52 + 1255 + MaxTape)}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if c, ok := s.Latched(); ok {
		t.Errorf("latched: %+v", c)
	}
}

// TestTapeReadsOnce: after the start-up test each tape is one read of exactly
// its length, and exactly the bytes that were read.
func TestTapeReadsOnce(t *testing.T) {
	stream := make([]byte, 1<<16)
	rand.Read(stream)
	rest := bytes.NewReader(stream)
	r := scripted(rest.Read)
	s, _ := from(t, r)
	at := startupSamples
	for _, n := range []int{1, 52, tape52, 1255, MaxTape} {
		if !bytes.Equal(mustTape(t, s, n), stream[at:at+n]) {
			t.Fatalf("the tape of %d bytes is not what was read", n)
		}
		at += n
	}
	if got := fmt.Sprint(r.lengths()); got != "[1024 1 52 129 1255 32768]" {
		t.Errorf("reads of %s bytes", got)
	}
}

func TestTapeLength(t *testing.T) {
	r := scripted(good)
	s, causes := from(t, r)
	for _, n := range []int{-1, 0, MaxTape + 1} {
		if tape, err := s.Tape(n); tape != nil || err == nil || errors.Is(err, ErrLatched) {
			t.Errorf("Tape(%d): %d bytes, error %v", n, len(tape), err)
		}
	}
	if len(*causes) != 0 || len(r.lengths()) != 1 {
		t.Errorf("a wrong length was read or latched: %v, %v", *causes, r.lengths())
	}
}

func TestFaultLatches(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			r := scripted(good, good, f.read, good)
			s, causes := from(t, r)
			mustTape(t, s, window) // the fault begins a window of the proportion test
			before := time.Now()
			err := mustRefuse(t, s)
			if !strings.Contains(err.Error(), f.want.String()) || !strings.Contains(err.Error(), f.detail) {
				t.Errorf("the error %q does not name %v and %q", err, f.want, f.detail)
			}
			reads := len(r.lengths())
			for range 3 { // the generator is good again and is not asked
				if again := mustRefuse(t, s); again.Error() != err.Error() {
					t.Errorf("later error %q, first %q", again, err)
				}
			}
			if len(r.lengths()) != reads {
				t.Error("a latched source was read")
			}
			c, ok := s.Latched()
			if !ok || c.Reason != f.want || c.At.Before(before.Add(-time.Second)) || c.At.Location() != time.UTC {
				t.Errorf("cause %+v, %v; want %v", c, ok, f.want)
			}
			if len(*causes) != 1 || (*causes)[0] != c {
				t.Errorf("reported %+v, want %+v once", *causes, c)
			}
			if got := s.Stats().Failures; got != 1 {
				t.Errorf("%d failures counted", got)
			}
		})
	}
}

func TestFaultAtStart(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			var causes []Cause
			s, err := NewFrom(scripted(f.read, good), Config{OnLatch: func(c Cause) { causes = append(causes, c) }})
			if !errors.Is(err, ErrLatched) || !strings.Contains(err.Error(), f.atNew.String()) {
				t.Fatalf("error %v, want ErrLatched naming %v", err, f.atNew)
			}
			if c, ok := s.Latched(); !ok || c.Reason != f.atNew {
				t.Errorf("cause %+v, want %v", c, f.atNew)
			}
			if len(causes) != 1 {
				t.Errorf("reported %d times", len(causes))
			}
			mustRefuse(t, s)
			must(t, s.Clear("replaced the card"))
			mustTape(t, s, tape52)
		})
	}
}

// TestHealthAcrossTapes: a fault too small for one tape is found over several.
func TestHealthAcrossTapes(t *testing.T) {
	t.Run("one byte tapes", func(t *testing.T) {
		s, _ := from(t, scripted(good, stuck))
		limit := 9
		for i := 1; i < limit; i++ {
			mustTape(t, s, 1)
		}
		if _, err := s.Tape(1); !errors.Is(err, ErrLatched) {
			t.Errorf("tape %d of one equal byte: %v", limit, err)
		}
	})
	t.Run("a frequent byte", func(t *testing.T) {
		s, _ := from(t, scripted(good, func(b []byte) (int, error) {
			rand.Read(b)
			b[0], b[4], b[9], b[14] = 7, 7, 7, 7
			return len(b), nil
		}))
		for i := 0; ; i++ {
			_, err := s.Tape(52)
			if errors.Is(err, ErrLatched) {
				break
			}
			if i > 11 { // 26 of 4 per tape are in 7 tapes; a window holds 9.8
				t.Fatal("never found")
			}
		}
		if c, _ := s.Latched(); c.Reason != ReasonProportion {
			t.Errorf("%+v", c)
		}
	})
}

// TestFailedTapeIsWiped: the bytes of a refused tape do not stay in memory.
func TestFailedTapeIsWiped(t *testing.T) {
	buffers := [][]byte{}
	for _, f := range faults {
		calls := 0
		s, err := newSource(func(b []byte) (int, error) {
			if calls++; calls == 1 {
				return good(b)
			}
			for i := range b {
				b[i] = byte(100 + i%2)
			}
			buffers = append(buffers, b)
			n, err := f.read(append([]byte(nil), b...))
			return n, err
		}, Config{})
		must(t, err)
		mustRefuse(t, s)
	}
	if len(buffers) != len(faults) {
		t.Fatalf("%d reads", len(buffers))
	}
	for i, b := range buffers {
		if !bytes.Equal(b, make([]byte, tape52)) {
			t.Errorf("%s: bytes are left", faults[i].name)
		}
	}
}

func TestTrip(t *testing.T) {
	for _, r := range []Reason{ReasonTapeExhausted, ReasonFoulDeck, ReasonOperator, 0, 200} {
		s, causes := from(t, scripted(good))
		s.Trip(r)
		if err := mustRefuse(t, s); !strings.Contains(err.Error(), r.String()) {
			t.Errorf("error %q does not name %v", err, r)
		}
		s.Trip(ReasonOperator) // the first cause stays
		if c, ok := s.Latched(); !ok || c.Reason != r {
			t.Errorf("cause %+v, want %v", c, r)
		}
		if len(*causes) != 1 {
			t.Errorf("reported %d times", len(*causes))
		}
		if got := s.Stats().Failures; got != 2 {
			t.Errorf("%d failures counted, want 2", got)
		}
	}
}

// TestTripWhileReading: a tape that was on its way when the latch was set is refused.
func TestTripWhileReading(t *testing.T) {
	var s *Source
	s, _ = from(t, scripted(good, func(b []byte) (int, error) {
		s.Trip(ReasonFoulDeck)
		return rand.Read(b)
	}))
	mustRefuse(t, s)
}

func TestReasonNames(t *testing.T) {
	want := "none repetition proportion short_read read_error slow replaced startup tape_exhausted foul_deck operator statistics unknown_12"
	var got []string
	for r := range Reason(13) {
		got = append(got, r.String())
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
}

func TestConcurrentTapes(t *testing.T) {
	s, err := New(Config{})
	must(t, err)
	const callers, each = 32, 200
	tapes := make([][][]byte, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for range each {
				tape, err := s.Tape(tape52)
				if err != nil {
					t.Error(err)
					return
				}
				tapes[i] = append(tapes[i], tape)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, list := range tapes {
		for _, tape := range list {
			seen[string(tape)] = true
		}
	}
	if len(seen) != callers*each {
		t.Errorf("%d different tapes of %d", len(seen), callers*each)
	}
	if got, want := s.Stats(), (Stats{Tapes: callers * each, Bytes: callers * each * tape52}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestConcurrentFault: the generator breaks under load; once one caller was
// refused no caller that comes later gets a tape.
func TestConcurrentFault(t *testing.T) {
	var reads, reported atomic.Int64
	s, err := newSource(func(b []byte) (int, error) {
		if reads.Add(1) > 500 {
			return stuck(b)
		}
		return good(b)
	}, Config{OnLatch: func(Cause) { reported.Add(1) }})
	must(t, err)
	var refused atomic.Bool
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 100 {
				late := refused.Load()
				_, err := s.Tape(tape52)
				if err == nil && late {
					t.Error("a tape after a refusal")
				}
				if err != nil {
					refused.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if !refused.Load() || reported.Load() != 1 {
		t.Errorf("refused %v, reported %d times", refused.Load(), reported.Load())
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
