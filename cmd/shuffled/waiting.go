package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"shuffled/internal/ledger"
)

// How soon the start says what it waits for, how often it says so again, and how
// long it pauses before it tries again what may pass.
const (
	sayAfter = 500 * time.Millisecond
	sayEvery = 10 * time.Second
	tryAgain = 2 * time.Second
)

// waiting is what a start waits for, in several places at once: it is logged, and
// readiness tells it. Its goroutine ends with stop.
type waiting struct {
	log  *slog.Logger
	tell func(what string) // readiness

	mu    sync.Mutex
	steps []*step // under way, in the order in which they began

	run    sync.WaitGroup
	cancel context.CancelFunc // of run
}

// step is one thing that the start waits for.
type step struct {
	w           *waiting
	of          string // whose it is: a ledger
	what        string
	told        string    // what readiness says of it, "" for nothing
	began, said time.Time // of what; said is zero before it was
	again       bool      // an attempt failed
}

// newWaiting begins to watch. tell may be nil.
func newWaiting(log *slog.Logger, tell func(string)) *waiting {
	if tell == nil {
		tell = func(string) {}
	}
	w := &waiting{log: log, tell: tell}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.Background())
	w.run.Go(func() { every(ctx, sayAfter/2, w.say) })
	return w
}

// say logs the steps that take long.
func (w *waiting) say() {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.steps {
		if now.Sub(s.began) < sayAfter || !s.said.IsZero() && now.Sub(s.said) < sayEvery {
			continue
		}
		s.said, s.told = now, s.what
		w.log.Warn("the start waits", "for", s.what, "ledger", s.of, "since",
			now.Sub(s.began).Truncate(time.Millisecond))
	}
	w.tellAll()
}

// tellAll has readiness name everything that is waited for. w.mu is held.
func (w *waiting) tellAll() {
	var all []string
	for _, s := range w.steps {
		if s.told != "" && !slices.Contains(all, s.told) {
			all = append(all, s.told)
		}
	}
	w.tell(strings.Join(all, "; "))
}

// stop ends it: the start is over.
func (w *waiting) stop() {
	w.cancel()
	w.run.Wait()
	w.tell("")
}

// begin begins a step of the ledger, or of none.
func (w *waiting) begin(of, what string) *step {
	s := &step{w: w, of: of, what: what, began: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
	return s
}

// next says what the step waits for from now on.
func (s *step) next(what string) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.what, s.began, s.said = what, time.Now(), time.Time{}
}

func (s *step) end() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.steps = slices.DeleteFunc(s.w.steps, func(other *step) bool { return other == s })
	s.w.tellAll()
}

// failed has readiness say that an attempt failed.
func (s *step) failed(why string) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.again, s.told = true, why
	s.w.tellAll()
}

// insist does something of the start, and does it again while what keeps it from
// succeeding may pass by itself. Each attempt has the deadlines of what it does.
func insist[T any](ctx context.Context, w *waiting, of, what string, do func(*step) (T, error)) (T, error) {
	s := w.begin(of, what)
	defer s.end()
	for {
		s.next(what)
		done, err := do(s)
		cause := ledger.CauseOf(err)
		if err == nil || !cause.Passes() || ctx.Err() != nil {
			return done, err
		}
		w.log.Warn("the start is tried again", "for", what, "ledger", of, "cause", string(cause),
			"error", err, "in", tryAgain)
		s.failed(what + ": " + string(cause))
		pause := time.NewTimer(tryAgain)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return done, err
		}
	}
}
