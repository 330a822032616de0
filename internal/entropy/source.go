package entropy

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a Source, in bytes.
const (
	MaxTape = 32_768 // longest tape (docs/SPEC.md section 5.6)

	// startupSamples is the length of the start-up test: SP 800-90B section 4.3
	// asks for at least 1,024 consecutive samples.
	startupSamples = 1024
)

// Config is what the owner of a Source decides. The zero Config is good.
type Config struct {
	// OnLatch is called once each time the latch goes from clear to set. The goroutine that found
	// the fault calls it before its Tape returns, or before New returns. The owner logs the cause
	// and writes it into the ledger. It must not wait for a Tape.
	OnLatch func(Cause)
}

// Source gives out tapes. It is safe for concurrent use and owns no goroutine.
type Source struct {
	latch    latch
	read     func([]byte) (int, error) // fills the bytes of one tape with one read
	clearing sync.Mutex                // one Clear at a time; Tape never waits for it

	mu     sync.Mutex // held for the health tests of one tape; guards all below
	health Health
	tapes  uint64
	bytes  uint64
}

// New returns the Source of the platform generator after the start-up test. If crypto/rand.Reader
// was replaced or the test fails, New returns the latched Source with an error that matches
// ErrLatched, so that the owner can record the failure before it stops.
func New(c Config) (*Source, error) { return newSource(readPlatform, c) }

// NewFrom returns a Source that reads from r, for tests of failing generators.
// The production binary never calls it. Each tape is one call of r.Read.
func NewFrom(r io.Reader, c Config) (*Source, error) { return newSource(r.Read, c) }

func newSource(read func([]byte) (int, error), c Config) (*Source, error) {
	s := &Source{read: read, health: *NewHealth(AlphaExp), latch: latch{onSet: c.OnLatch}}
	return s, s.SelfTest()
}

// Tape reads the n bytes of one tape, 1 ≤ n ≤ MaxTape, and tests each of them. On any failure it wipes the bytes and
// sets the latch. Its error then matches ErrLatched, and so does that of every later Tape until Clear.
func (s *Source) Tape(n int) ([]byte, error) {
	if n < 1 || n > MaxTape {
		return nil, fmt.Errorf("a tape must have 1 to %d bytes, not %d", MaxTape, n)
	}
	if err := s.latch.err(); err != nil {
		return nil, err
	}
	tape := make([]byte, n)
	if err := s.fill(tape); err != nil {
		return nil, err
	}
	if failed := s.test(tape); failed != 0 {
		clear(tape)
		return nil, s.latch.trip(failed, "the health test of this name")
	}
	if err := s.latch.err(); err != nil { // another caller set it since
		clear(tape)
		return nil, err
	}
	return tape, nil
}

// test runs the health tests over one tape.
func (s *Source) test(tape []byte) Reason {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tapes++
	s.bytes += uint64(len(tape))
	return s.health.Test(tape)
}

// fill reads all of b at once or trips the latch.
func (s *Source) fill(b []byte) error {
	n, err := s.read(b)
	if err == nil && n == len(b) {
		return nil
	}
	clear(b)
	switch {
	case errors.Is(err, errReplaced):
		return s.latch.trip(ReasonReplaced, err.Error())
	case err != nil:
		return s.latch.trip(ReasonReadError, fmt.Sprintf("after %d of %d bytes: %v", n, len(b), err))
	default:
		return s.latch.trip(ReasonShortRead, fmt.Sprintf("%d of %d bytes", n, len(b)))
	}
}

// SelfTest runs the start-up test: it puts 1,024 samples through health tests without history, and discards them. A
// failure sets the latch, and the error matches ErrLatched. Success does not clear the latch.
func (s *Source) SelfTest() error {
	var samples [startupSamples]byte
	if err := s.fill(samples[:]); err != nil {
		return err
	}
	failed := NewHealth(AlphaExp).Test(samples[:])
	clear(samples[:])
	if failed != 0 {
		return s.latch.trip(ReasonStartup, "the health test "+failed.String())
	}
	return nil
}

// Latched returns the first cause since the latch was last clear. ok is false if it is clear.
func (s *Source) Latched() (c Cause, ok bool) {
	if p := s.latch.cause.Load(); p != nil {
		return *p, true
	}
	return Cause{}, false
}

// Trip sets the latch for a reason seen outside this package.
func (s *Source) Trip(r Reason) { _ = s.latch.trip(r, "reported by the dealer or an operator") }

// Clear opens the latch if the start-up test passes again. reason is the operator's and has at
// least one visible character; the caller records it. On any failure, also one of another caller
// during the test, the latch stays set with its first cause, and the error matches ErrLatched. If
// the latch is not set, the error is ErrNotLatched, and nothing is tested.
func (s *Source) Clear(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return errors.New("clearing the entropy latch needs a reason")
	}
	s.clearing.Lock()
	defer s.clearing.Unlock()
	failures := s.latch.failures.Load()
	if _, ok := s.Latched(); !ok {
		return ErrNotLatched
	}
	if err := s.SelfTest(); err != nil {
		return fmt.Errorf("clearing: %w", err)
	}
	s.mu.Lock()
	s.health.Reset()
	s.mu.Unlock()
	if !s.latch.clear(failures) {
		return fmt.Errorf("clearing: another failure in that time: %w", s.latch.err())
	}
	return nil
}

// Stats are totals since the Source was made, for metrics.
type Stats struct {
	Tapes    uint64 // tapes read and tested
	Bytes    uint64 // bytes of those tapes; start-up tests not counted
	Failures uint64 // failures of any kind, those of a latched source included
}

// Stats returns the totals.
func (s *Source) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Tapes: s.tapes, Bytes: s.bytes, Failures: s.latch.failures.Load()}
}

// ErrLatched is matched by the error of every Tape that was refused because the source is latched
// or was latched since Tape began. The text of that error names the cause.
var ErrLatched = errors.New("the entropy latch is set")

// ErrNotLatched is the answer of Clear to a source that is not latched.
var ErrNotLatched = errors.New("the entropy latch is not set")

// Reason is why the latch was set. Its numbers and names are those of the ledger's latch events. The last four come
// from other packages, through Trip: a shuffle ran out of its tape, which has a probability below 2^-66; a shuffle gave
// no permutation; a latch that was opened could not be cleared in the ledger; statistics over outcomes.
type Reason uint8

// String returns the reason's name in logs, metrics and events.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("unknown_%d", uint8(r))
}

// Cause is the first failure since the latch was last clear.
type Cause struct {
	Reason Reason
	At     time.Time // UTC, when it was noticed
	Detail string    // for people; holds no byte of a tape
}

// latch is set by the first trip. It is cleared only if no trip came during the start-up test.
type latch struct {
	cause    atomic.Pointer[Cause] // nil: clear. Written under mu, read without
	failures atomic.Uint64         // trips ever, those of a set latch included
	mu       sync.Mutex            // held for the few instructions of set and clear
	onSet    func(Cause)           // may be nil; called without mu
}

// err returns nil, or the refusal.
func (l *latch) err() error {
	c := l.cause.Load()
	if c == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %s (%s)", ErrLatched, c.Reason, c.Detail, c.At.Format(time.RFC3339))
}

// trip sets the latch unless it is set, and returns the refusal.
func (l *latch) trip(r Reason, detail string) error {
	c := &Cause{Reason: r, At: time.Now().UTC(), Detail: detail}
	l.mu.Lock()
	l.failures.Add(1)
	first := l.cause.CompareAndSwap(nil, c)
	l.mu.Unlock()
	if first && l.onSet != nil {
		l.onSet(*c)
	}
	if err := l.err(); err != nil {
		return err
	}
	// Another caller cleared the latch just now. This caller is still refused.
	return fmt.Errorf("%w: %s: %s", ErrLatched, r, detail)
}

// clear opens the latch if there were exactly this many failures ever, and reports whether it did.
// So a failure during the start-up test keeps the latch set.
func (l *latch) clear(failures uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures.Load() != failures {
		return false
	}
	l.cause.Store(nil)
	return true
}

var errReplaced = errors.New("crypto/rand.Reader is not the platform generator")

// platform is crypto/rand.Reader as it was when this package was initialised. Any linked package may assign
// crypto/rand.Reader, in FIPS mode too, and rand.Read would then hand out that package's bytes.
var platform = rand.Reader

// readPlatform fills b from the platform generator. It refuses if crypto/rand.Reader was replaced. It calls the reader
// that was captured, so that a replacement between check and read has no effect. It needs no deadline: after the system
// has booted the generator neither blocks nor fails. If the system call fails, crypto/rand ends the process.
func readPlatform(b []byte) (int, error) {
	if rand.Reader != platform || !genuine {
		return 0, errReplaced
	}
	return platform.Read(b)
}

// genuine is false if another package replaced the reader before it was captured.
var genuine = isGenuine(platform)

// isGenuine reports whether r has the type of the platform generator in Go 1.26. The type is
// unexported, in a package that no other module may import, so only the standard library makes
// values of it. The type has no state, so one value is as good as another.
func isGenuine(r io.Reader) bool {
	t := reflect.TypeOf(r)
	return t != nil && t.PkgPath() == "crypto/internal/rand" && t.Name() == "reader"
}
