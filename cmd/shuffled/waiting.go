package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"shuffled/internal/stops"
)

// sayAfter is how long a step of the start lasts before it is logged. sayEvery is the interval at which it is
// logged again. tryAgain is the pause before another attempt.
const (
	sayAfter = 500 * time.Millisecond
	sayEvery = 10 * time.Second
	tryAgain = 2 * time.Second
)

// waiting has the steps that a start waits for, which may be several at once. It logs them and tells readiness.
// The caller must stop it, which ends its goroutine.
type waiting struct {
	log  *slog.Logger
	tell func(what string) // tells readiness

	mu    sync.Mutex
	steps []*step // under way, in the order in which they began

	run    sync.WaitGroup
	cancel context.CancelFunc // of run
}

// step is one thing that the start waits for.
type step struct {
	w          *waiting
	of         string // the name of its ledger, "" for none
	what       string
	told       string    // what readiness says of it, "" for nothing
	began, due time.Time // when what began, and when it is logged next
}

// newWaiting starts to watch.
func newWaiting(log *slog.Logger, tell func(string)) *waiting {
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
		if now.Before(s.due) {
			continue
		}
		s.due, s.told = now.Add(sayEvery), s.what
		w.log.Warn("the start waits", "for", s.what, "ledger", s.of, "since",
			now.Sub(s.began).Truncate(time.Millisecond))
	}
	w.tellAll()
}

// tellAll tells readiness everything that is waited for. w.mu is held.
func (w *waiting) tellAll() {
	var all []string
	for _, s := range w.steps {
		if s.told != "" && !slices.Contains(all, s.told) {
			all = append(all, s.told)
		}
	}
	w.tell(strings.Join(all, "; "))
}

// stop ends the watch, and tells readiness that nothing is waited for.
func (w *waiting) stop() {
	w.cancel()
	w.run.Wait()
	w.tell("")
}

// begin begins a step of a ledger, or of none.
func (w *waiting) begin(of, what string) *step {
	s := &step{w: w, of: of}
	s.next(what)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
	return s
}

// next says what the step waits for from now on.
func (s *step) next(what string) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.what, s.began = what, time.Now()
	s.due = s.began.Add(sayAfter)
}

func (s *step) end() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.steps = slices.DeleteFunc(s.w.steps, func(other *step) bool { return other == s })
	s.w.tellAll()
}

// failed tells readiness why an attempt failed.
func (s *step) failed(why string) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.told = why
	s.w.tellAll()
}

// insist calls do until it succeeds, or fails for a reason that does not pass by itself, or ctx ends. do has
// its own deadlines.
func insist[T any](ctx context.Context, w *waiting, of, what string, do func(*step) (T, error)) (T, error) {
	s := w.begin(of, what)
	defer s.end()
	for {
		s.next(what)
		done, err := do(s)
		cause := stops.Of(err)
		if err == nil || !cause.Passes() || ctx.Err() != nil {
			return done, err
		}
		w.log.Warn("the start is tried again", "for", what, "ledger", of, "cause", string(cause),
			"error", err, "in", tryAgain)
		s.failed(what + ": " + string(cause))
		select {
		case <-time.After(tryAgain):
		case <-ctx.Done():
			return done, err
		}
	}
}
