// Package monitor tests production outcomes. For every order and value that a daemon commits to, it counts which card
// is at which position and what follows what. It compares the counts of a window with those of a uniform shuffle.
//
// It is a smoke test of a cryptographic generator. It finds a fault of a few per cent in
// a window. It cannot show that there is no fault: the exhaustive proof does.
//
// Counts are in memory only, and only sums over whole windows are judged. A single
// outcome is not kept, logged or exported (docs/THREATS.md, "Counters").
package monitor

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/shuffle"
)

// The levels are the chances that a window of a perfect generator has such a p-value or a smaller one. They hold for
// each window; docs/LAB.md has the rates per year. At HaltLevel there is a halt only if the configuration asks for it.
const (
	WarnLevel = 1e-4
	HaltLevel = 1e-6
)

// A window by count has at least CountWindow outcomes of one shape and lasts at least CountLeast. A window by day has
// all outcomes of one UTC day, if they are at least DayLeast. One commit may hold thousands of draws: without
// CountLeast a caller who may ask for draws could cause as many windows, and so false halts, as the host can count.
const (
	CountWindow = 100_000
	CountLeast  = 10 * time.Minute
	DayLeast    = 10_000
)

// Config is what the owner of a Monitor decides. Report is required.
type Config struct {
	// Report is called with each window at or below WarnLevel, by the goroutine that called Turn, which holds no lock.
	Report func(Finding)

	// Halt makes a window at or below HaltLevel a halt. Otherwise it is a warning.
	Halt bool

	// CountWindow and DayLeast are for tests; 0 is the constant of that name.
	CountWindow, DayLeast uint64
	CountLeast            time.Duration // below 0: none
}

// Monitor counts and judges. It is safe for concurrent use.
type Monitor struct {
	cfg Config

	whole, other, drawn places        // published decks dealt whole, other orders, draws
	unwatched           atomic.Uint64 // outcomes of shapes that had no place

	turning sync.Mutex // one Turn at a time; guards all below and shape.began
	day     int64      // days since 1970, UTC, of the day windows
	turned  time.Time  // the last Turn, or New
	totals  Totals
}

// New returns a Monitor whose first day is that of now.
func New(cfg Config, now time.Time) *Monitor {
	cfg.CountWindow = cmp.Or(cfg.CountWindow, CountWindow)
	cfg.CountLeast = cmp.Or(cfg.CountLeast, CountLeast)
	cfg.DayLeast = cmp.Or(cfg.DayLeast, DayLeast)
	return &Monitor{cfg: cfg, whole: make(places, len(published)), other: make(places, maxShapes),
		drawn: make(places, maxShapes), day: dayOf(now), turned: now}
}

func dayOf(t time.Time) int64 { return t.Unix() / 86_400 }

// Watch counts one outcome of r. It keeps nothing of out, and allocates only for a shape
// that is new. It waits only for others that count the same shape.
func (m *Monitor) Watch(r shuffle.Recipe, out shuffle.Outcome) {
	if takesNumbers(r.Ranges) {
		m.numbers(r, out.Values)
		return
	}
	if r.Ranges != nil {
		for at := 0; at < len(r.Ranges); {
			end := at + 1
			for end < len(r.Ranges) && r.Ranges[end] == r.Ranges[at] {
				end++
			}
			m.values(r.Ranges[at], out.Values[at:end])
			at = end
		}
		return
	}
	m.order(r, out.Values)
	if r.EndHi != 0 {
		end := [1]uint32{uint32(out.EndAt - r.EndLo + 1)}
		m.values(uint32(r.EndHi-r.EndLo+1), end[:])
	}
}

// takesNumbers reports whether there are two ranges or more, each one less than the last.
func takesNumbers(ranges []uint32) bool {
	for i := 1; i < len(ranges); i++ {
		if ranges[i] != ranges[i-1]-1 {
			return false
		}
	}
	return len(ranges) > 1
}

// numbers counts numbers without repeats, whose ranges fall by one. They are counted as an
// order of cards. If there are more numbers than a deck has cards, only their first draw is
// counted. Counted one by one, each range would be a shape and take the place of others.
func (m *Monitor) numbers(r shuffle.Recipe, draws []uint32) {
	n := r.Ranges[0]
	if n > shuffle.MaxCards {
		m.values(n, draws[:1])
		return
	}
	order, err := shuffle.Numbers(int(n), draws)
	if err != nil { // the outcome was checked
		m.unwatched.Add(1)
		return
	}
	for i := range order {
		order[i]--
	}
	m.order(shuffle.Recipe{Cards: int(n), Take: len(order)}, order)
}

// order counts the order of a shuffle.
func (m *Monitor) order(r shuffle.Recipe, values []uint32) {
	in := m.other
	if r.Take == r.Cards && published[r.Cards] {
		in = m.whole
	}
	s := in.find(key{cards: r.Cards, take: min(r.Take, maxPositions)})
	if s == nil {
		m.unwatched.Add(1)
		return
	}
	s.count(values)
}

// values counts draws of 1..k from one outcome. A draw of 1..1 is not counted.
func (m *Monitor) values(k uint32, values []uint32) {
	if k < 2 {
		return
	}
	s := m.drawn.find(key{k: k})
	if s == nil {
		m.unwatched.Add(uint64(len(values)))
		return
	}
	s.count(values)
}

// Run calls Turn every second until ctx ends, and then once more. The counts of windows that are not due then are lost.
func (m *Monitor) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for more := true; more; {
		select {
		case <-ctx.Done():
			more = false
		case <-tick.C:
		}
		m.Turn(time.Now())
	}
}

// Turn judges every window that has CountWindow outcomes and has lasted CountLeast, and at the first call of a UTC day
// the windows of the day before. A window holds all outcomes up to the Turn that ends it. It begins with the Turn that
// ended the window before it; the first of a shape begins with the last Turn before the shape came. At a halt all
// counts are dropped, so that outcomes after the latch is cleared are judged by themselves.
func (m *Monitor) Turn(now time.Time) {
	for _, f := range m.turn(now) {
		m.cfg.Report(f)
	}
}

func (m *Monitor) turn(now time.Time) (findings []Finding) {
	m.turning.Lock()
	defer m.turning.Unlock()
	day, before := dayOf(now), m.turned
	over := day != m.day
	m.day, m.turned = day, now
	for s := range m.shapes {
		if s.began.IsZero() {
			s.began = before
		}
		if now.Sub(s.began) >= m.cfg.CountLeast {
			if w := s.end(&s.window, m.cfg.CountWindow); w != nil {
				findings = m.judge(findings, s, ByCount, w)
				s.began = now
			}
		}
		if over {
			if w := s.end(&s.today, 0); w.n >= m.cfg.DayLeast {
				findings = m.judge(findings, s, ByDay, w)
			}
		}
	}
	if slices.ContainsFunc(findings, func(f Finding) bool { return f.Halt }) {
		for s := range m.shapes {
			s.end(&s.window, 0)
			s.end(&s.today, 0)
			s.began = now
		}
	}
	return findings
}

// judge counts a window that ended, and appends a finding if there is one.
func (m *Monitor) judge(to []Finding, s *shape, span Span, w *tally) []Finding {
	p, test := s.judge(w)
	f := Finding{Halt: m.cfg.Halt && p <= HaltLevel, Shape: s.String(), Span: span, Outcomes: w.n, Test: test,
		AtMost: atMost(p)}
	m.totals.Windows[span][classOf(p)]++
	switch {
	case f.Halt:
		m.totals.Halts++
	case p <= WarnLevel:
		m.totals.Warnings++
	default:
		return to
	}
	return append(to, f)
}

// shapes calls yield with every shape that has a place.
func (m *Monitor) shapes(yield func(*shape) bool) {
	for _, in := range []places{m.whole, m.other, m.drawn} {
		for i := range in {
			s := in[i].Load()
			if s == nil {
				break
			}
			if !yield(s) {
				return
			}
		}
	}
}

// Totals returns the figures for metrics.
func (m *Monitor) Totals() Totals {
	m.turning.Lock()
	t := m.totals
	m.turning.Unlock()
	t.Unwatched = m.unwatched.Load()
	for s := range m.shapes {
		s.mu.Lock()
		t.Watched = append(t.Watched, Watched{s.String(), s.total})
		s.mu.Unlock()
	}
	return t
}
