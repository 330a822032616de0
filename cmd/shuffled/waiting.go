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

// waiting has the steps that a start waits for, which may be several at once. It logs those that take long, and tells
// readiness.
type waiting struct {
	log  *slog.Logger
	tell func(what string) // tells readiness

	mu    sync.Mutex
	steps []*step // under way, in the order in which they began
}

// step is one thing that the start waits for.
type step struct {
	w     *waiting
	of    string // the name of its ledger, "" for none
	what  string
	told  string      // what readiness says of it, "" for nothing
	began time.Time   // when what began
	late  *time.Timer // calls say
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

// begin begins a step of a ledger, or of none. The caller must end it.
func (w *waiting) begin(of, what string) *step {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &step{w: w, of: of, what: what, began: time.Now()}
	s.late = time.AfterFunc(sayAfter, s.say)
	w.steps = append(w.steps, s)
	return s
}

// next says what the step waits for from now on.
func (s *step) next(what string) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.what, s.began = what, time.Now()
	s.late.Reset(sayAfter)
}

// say logs that the step takes long, unless it ended or went on in this instant.
func (s *step) say() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	since := time.Since(s.began)
	if since < sayAfter || !slices.Contains(s.w.steps, s) {
		return
	}
	s.told = s.what
	s.w.log.Warn("the start waits", "for", s.what, "ledger", s.of, "since", since.Truncate(time.Millisecond))
	s.w.tellAll()
	s.late.Reset(sayEvery)
}

func (s *step) end() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.late.Stop()
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
