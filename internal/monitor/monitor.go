// Package monitor is a rolling battery over production outcomes: of every order
// and value that a daemon commits to it counts which card stood where and what
// followed what, and holds the counts of a window against what a uniform shuffle
// would give.
//
// It is a smoke test on a cryptographic generator. It sees a fault of some per
// cent in a window; that there is none is shown by the exhaustive proof, never
// here.
//
// Counts are in memory only, and only sums over whole windows are judged. A
// single outcome is not kept, logged or exported (docs/THREATS.md, "Counters").
package monitor

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/shuffle"
)

// The levels are chances that a window of a perfect generator is that far out.
// They hold for each window; docs/LAB.md has the rates per year. At HaltLevel there
// is a halt only if the configuration asks for it.
const (
	WarnLevel = 1e-4
	HaltLevel = 1e-6
)

// The windows: so many outcomes of one shape or more, over so long at least, and
// all of one UTC day if they are enough to say something. One commit may hold
// thousands of draws: without CountLeast anyone who may ask for them could have as
// many windows, and with them false halts, as the host can count.
const (
	CountWindow = 100_000
	CountLeast  = 10 * time.Minute
	DayLeast    = 10_000
)

// Config is what the owner of a Monitor decides. Report is required.
type Config struct {
	// Report is told of each window at or below WarnLevel, by the goroutine that
	// called Turn, which holds no lock.
	Report func(Finding)

	// Halt makes a window at or below HaltLevel a halt; else it is a warning.
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
	full                chan struct{} // capacity 1: some shape has counts to collect

	turning sync.Mutex // one Turn at a time; guards all below and the sums of all shapes
	day     int64      // days since 1970, UTC, of the day windows
	turned  time.Time  // the last Turn, or New
	totals  Totals
}

// New returns a Monitor whose first day is that of now.
func New(cfg Config, now time.Time) *Monitor {
	cfg.CountWindow = cmp.Or(cfg.CountWindow, CountWindow)
	cfg.CountLeast = cmp.Or(cfg.CountLeast, CountLeast)
	cfg.DayLeast = cmp.Or(cfg.DayLeast, DayLeast)
	return &Monitor{cfg: cfg, whole: newPlaces(len(published)), other: newPlaces(maxShapes),
		drawn: newPlaces(maxShapes),
		full:  make(chan struct{}, 1), day: dayOf(now), turned: now}
}

func dayOf(t time.Time) int64 { return t.Unix() / 86_400 }

// Watch counts one outcome of r. It keeps nothing of out, allocates only for a
// shape that is new, and waits for nothing but others that count the same shape.
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

// numbers counts numbers without repeats, whose ranges fall by one: as the order of cards
// that they are, or, where no deck has so many, their first draw alone. Each range for
// itself would be a shape, and take the place of others.
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
	in := &m.other
	if r.Take == r.Cards && published[r.Cards] {
		in = &m.whole
	}
	s := in.find(key{cards: r.Cards, take: min(r.Take, maxPositions)}, m.cfg.CountWindow)
	if s == nil {
		m.unwatched.Add(1)
		return
	}
	if s.countOrder(values) {
		m.nudge()
	}
}

// values counts draws of 1..k from one outcome. A draw of 1..1 is none.
func (m *Monitor) values(k uint32, values []uint32) {
	if k < 2 {
		return
	}
	s := m.drawn.find(key{k: k}, m.cfg.CountWindow)
	if s == nil {
		m.unwatched.Add(uint64(len(values)))
		return
	}
	if s.countValues(values) {
		m.nudge()
	}
}

// nudge wakes Run, which may be about to look anyway.
func (m *Monitor) nudge() {
	select {
	case m.full <- struct{}{}:
	default:
	}
}

// Run ends windows as they are due, until ctx is over, and then those that are due
// at that moment. What is counted of others is forgotten.
func (m *Monitor) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second) // for what ends by time
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			m.Turn(time.Now())
			return
		case <-m.full:
		case <-tick.C:
		}
		m.Turn(time.Now())
	}
}

// Turn judges every window that has CountWindow outcomes and has lasted CountLeast, and at the first call of a UTC day
// those of the day before. A window lasts from the Turn that ended the one before it, or from the last before its shape
// came, and holds all that came until the Turn that ends it. At a halt all counts are forgotten: what comes after the
// latch was cleared is judged by itself.
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
	halt := false
	for s := range m.shapes {
		if s.began.IsZero() {
			s.began = before
		}
		lasted := now.Sub(s.began) >= m.cfg.CountLeast
		if !s.collect(m.cfg.CountWindow, over || lasted && s.window.n >= m.cfg.CountWindow) {
			continue
		}
		if lasted && s.window.n >= m.cfg.CountWindow {
			findings = m.judge(findings, s, ByCount, s.window)
			s.window.reset()
			s.began = now
		}
		if over {
			if s.today.n >= m.cfg.DayLeast {
				findings = m.judge(findings, s, ByDay, s.today)
			}
			s.today.reset()
		}
	}
	for _, f := range findings {
		halt = halt || f.Halt
	}
	if halt {
		for s := range m.shapes {
			s.forget(m.cfg.CountWindow)
			s.began = now
		}
	}
	return findings
}

// judge counts a window that is over, and appends a finding if it is one.
func (m *Monitor) judge(to []Finding, s *shape, span Span, w *tally[uint64]) []Finding {
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
	for _, in := range []*places{&m.whole, &m.other, &m.drawn} {
		for i := range in.all {
			s := in.all[i].Load()
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
