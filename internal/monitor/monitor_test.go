package monitor

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
	"shuffled/internal/shuffle"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// stand is a Monitor whose findings are kept.
type stand struct {
	*Monitor
	found []Finding
}

// newStand returns one whose windows by count end as soon as they are full.
func newStand(window, day uint64) *stand { return newSlowStand(window, day, -1) }

func newSlowStand(window, day uint64, least time.Duration) *stand {
	s := new(stand)
	s.Monitor = New(Config{Report: func(f Finding) { s.found = append(s.found, f) },
		Halt: true, CountWindow: window, DayLeast: day, CountLeast: least}, noon)
	return s
}

// tapes makes outcomes as the daemon does, from a fixed stream: the same in every run.
type tapes struct {
	stream *rand.ChaCha8
	recipe shuffle.Recipe
	tape   []byte
}

func newTapes(seed byte, r shuffle.Recipe) *tapes {
	return &tapes{rand.NewChaCha8([32]byte{seed}), r, make([]byte, r.TapeLen())}
}

func (m *tapes) next(t *testing.T) shuffle.Outcome {
	_, _ = m.stream.Read(m.tape)
	out, err := m.recipe.Run(m.tape)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func whole(n int) shuffle.Recipe { return shuffle.Recipe{Cards: n, Take: n} }

func ranges(k uint32, count int) shuffle.Recipe {
	return shuffle.Recipe{Ranges: slices.Repeat([]uint32{k}, count)}
}

// TestFair: outcomes of the daemon's own shuffle from a good stream raise nothing.
func TestFair(t *testing.T) {
	if raceEnabled {
		t.Skip("statistics of one goroutine")
	}
	for _, r := range []shuffle.Recipe{whole(52), whole(54), {Cards: 52, Take: 9}, {Cards: 100, Take: 100}, whole(416),
		{Cards: 832, Take: 832}, {Cards: 208, Take: 208, EndLo: 150, EndHi: 180}, {Cards: 49, Take: 6},
		{Cards: 1000, Take: 1},
		ranges(2, 3), ranges(6, 2), ranges(37, 1), ranges(1000, 4), ranges(1<<30, 1)} {
		m, from := newStand(10_000, 0), newTapes(1, r)
		for range 10_000 {
			m.Watch(r, from.next(t))
		}
		m.Turn(noon)
		judged := uint64(0)
		for _, n := range m.Totals().Windows[ByCount] {
			judged += n
		}
		if judged == 0 || len(m.found) > 0 {
			t.Errorf("%+v: %d windows, %v", r, judged, m.found)
		}
	}
}

// windows is how many windows TestFalseAlarms judges; 200,000 take a quarter of an hour,
// and say something of WarnLevel itself.
var windows = flag.Int("windows", 1000, "windows of the false-alarm test")

// TestFalseAlarms: over many windows of a good stream each test, and the window as a whole, is below a level as often
// as the level says, or less. Each bound is exceeded by chance with 1e-4; the streams are fixed, and so is the result.
func TestFalseAlarms(t *testing.T) {
	if raceEnabled {
		t.Skip("statistics of one goroutine")
	}
	for name, c := range map[string]struct {
		r        shuffle.Recipe
		outcomes int // in each window
		windows  int
	}{
		"8 cards": {whole(8), 1500, *windows}, "8 of 24 cards": {shuffle.Recipe{Cards: 24, Take: 8}, 1500, *windows},
		"52 cards": {whole(52), DayLeast, *windows / 20}, "8 decks": {whole(416), DayLeast, *windows / 200},
		"pairs of dice": {ranges(6, 8), 250, *windows},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := float64(c.windows)
			k := key{cards: c.r.Cards, take: c.r.Take}
			if c.r.Ranges != nil {
				k = key{k: c.r.Ranges[0]}
			}
			s, from := newShape(k), newTapes(2, c.r)
			below := make(map[float64]int)
			tests := 0
			for range c.windows {
				for range c.outcomes {
					s.count(from.next(t).Values)
				}
				var j judgement
				if k.k != 0 {
					s.judgeValues(&j, s.window)
				} else {
					s.judgeOrders(&j, s.window)
				}
				tests = j.tests
				for _, level := range []float64{0.1, 1e-2, 1e-3, WarnLevel} {
					if j.least*float64(j.tests) <= level {
						below[level]++
					}
				}
				s.end(&s.window, 0)
			}
			if tests < 2 {
				t.Fatalf("%d tests in a window", tests)
			}
			for _, level := range []float64{0.1, 1e-2, 1e-3, WarnLevel} {
				expected := level * all
				most := expected + 4*math.Sqrt(expected) + 4
				// More than so many come of a Poisson distribution with this chance, and
				// of a binomial one of that mean more rarely.
				if _, chance := ChiSquare(2*expected, 2*(int(most)+1)); chance > 1e-4 {
					t.Fatalf("the bound %v is exceeded by chance with %v", most, chance)
				}
				// The tests of a window see the same outcomes: together they may come
				// less often than the sum of their chances, by half at most.
				if got := float64(below[level]); got > most || got < expected/2-4*math.Sqrt(expected) {
					t.Errorf("%d of %d windows at or below %v, expected %.1f, at most %.1f", below[level], c.windows,
						level, expected, most)
				}
				t.Logf("%d of %d windows at or below %v, expected %.1f", below[level], c.windows, level, expected)
			}
		})
	}
}

// fault changes what a good shuffle gave. They stand for faults that a monitor of
// production is there for: small enough for no one to see at a table.
type fault struct {
	name   string
	r      shuffle.Recipe
	change func(rng *rand.Rand, values []uint32)
	warn   int // windows until a warning or more
	halt   int // windows until a halt
}

var faults = []fault{
	{"any position swapped with any", whole(52), func(rng *rand.Rand, v []uint32) {
		for i := range v {
			v[i] = uint32(i)
		}
		for i := range v {
			j := rng.IntN(len(v))
			v[i], v[j] = v[j], v[i]
		}
	}, 1, 1},
	{"no card ever stays where it was", whole(52), func(rng *rand.Rand, v []uint32) {
		for i := range v {
			v[i] = uint32(i)
		}
		for i := len(v) - 1; i > 0; i-- {
			j := rng.IntN(i)
			v[i], v[j] = v[j], v[i]
		}
	}, 1, 1},
	{"a card never last", whole(52), func(_ *rand.Rand, v []uint32) {
		if v[51] == 51 {
			v[51], v[50] = v[50], v[51]
		}
	}, 1, 1},
	{"one in 100 orders has an ace brought to the front", whole(52), func(rng *rand.Rand, v []uint32) {
		if rng.IntN(100) == 0 {
			i := slices.Index(v, uint32(13*rng.IntN(4)))
			v[0], v[i] = v[i], v[0]
		}
	}, 1, 1},
	{"one in 100 orders is the one before it", whole(52), repeated(100), 0, 0},
	{"one in 4 orders is the one before it", whole(52), repeated(4), 1, 1},
	{"one in 30 orders has a run of three from the box", whole(52), func(rng *rand.Rand, v []uint32) {
		if rng.IntN(30) == 0 {
			at := slices.Index(v, uint32(rng.IntN(50)))
			if at > 49 {
				return
			}
			for i := at; i < at+2; i++ {
				j := slices.Index(v, v[i]+1)
				if j < 0 || v[i]+1 > 51 {
					return
				}
				v[i+1], v[j] = v[j], v[i+1]
			}
		}
	}, 2, 4},
	{"a byte modulo 52 for the first card", whole(52), func(rng *rand.Rand, v []uint32) {
		i := slices.Index(v, uint32(rng.IntN(256)%52))
		v[0], v[i] = v[i], v[0]
	}, 1, 1},
	{"a shoe's first card is a byte modulo 52", whole(416), func(rng *rand.Rand, v []uint32) {
		type52 := uint32(rng.IntN(256) % 52)
		i := slices.IndexFunc(v, func(x uint32) bool { return x%52 == type52 })
		v[0], v[i] = v[i], v[0]
	}, 1, 1},
	{"a byte modulo 37", ranges(37, 1), func(rng *rand.Rand, v []uint32) { v[0] = 1 + uint32(rng.IntN(256)%37) }, 1, 1},
	{"one in 25 ones of a die shows a six", ranges(6, 1), func(rng *rand.Rand, v []uint32) {
		if v[0] == 1 && rng.IntN(25) == 0 {
			v[0] = 6
		}
	}, 1, 1},
	{"one in 40 pairs of dice is made to agree", ranges(6, 2), func(rng *rand.Rand, v []uint32) {
		if rng.IntN(40) == 0 {
			v[1] = v[0]
		}
	}, 1, 1},
	{"too even: values dealt from a bag", ranges(64, 64), func(_ *rand.Rand, v []uint32) {
		for i := range v {
			v[i] = uint32(i) + 1
		}
	}, 1, 1},
}

// repeated is a fault: one in n orders is the one before it.
func repeated(n int) func(*rand.Rand, []uint32) {
	var before []uint32
	return func(rng *rand.Rand, v []uint32) {
		if before != nil && rng.IntN(n) == 0 {
			copy(v, before)
		}
		before = append(before[:0], v...)
	}
}

// TestFaults: each fault is seen within the stated number of windows, and one that
// is too small for this battery is not, which docs/LAB.md says.
func TestFaults(t *testing.T) {
	if raceEnabled {
		t.Skip("statistics of one goroutine")
	}
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, from := newStand(0, 0), newTapes(3, c.r)
			rng := rand.New(rand.NewChaCha8([32]byte{4}))
			warned, halted := 0, 0
			for window := 1; window <= max(1, c.halt); window++ {
				for left := CountWindow; left > 0; left -= max(1, len(c.r.Ranges)) {
					out := from.next(t)
					c.change(rng, out.Values)
					m.Watch(c.r, out)
				}
				m.Turn(noon)
				if len(m.found) > 0 && warned == 0 {
					warned = window
				}
				if slices.ContainsFunc(m.found, func(f Finding) bool { return f.Halt }) {
					halted = window
					break
				}
			}
			if warned > c.warn || halted > c.halt || c.warn > 0 && warned == 0 || c.halt > 0 && halted == 0 {
				t.Errorf("warned after %d windows, halted after %d; stated %d and %d: %v", warned, halted, c.warn,
					c.halt, m.found)
			}
			t.Logf("warned after %d windows, halted after %d: %v", warned, halted, m.found)
		})
	}
}

// stuckBit reads a good stream in which one bit of each twentieth byte is stuck: no health test sees it.
type stuckBit struct {
	stream *rand.ChaCha8
	reads  int
}

func (s *stuckBit) Read(b []byte) (int, error) {
	n, err := s.stream.Read(b)
	for i := range b {
		if s.reads++; s.reads%20 == 0 {
			b[i] |= 1
		}
	}
	return n, err
}

// TestGenerator: a generator whose fault passes the health tests of the source,
// from tape to latch, as the daemon is wired.
func TestGenerator(t *testing.T) {
	var causes []entropy.Cause
	source, err := entropy.NewFrom(&stuckBit{stream: rand.NewChaCha8([32]byte{6})},
		entropy.Config{OnLatch: func(c entropy.Cause) { causes = append(causes, c) }})
	if err != nil {
		t.Fatal(err)
	}
	m := New(Config{Halt: true, CountLeast: -1, Report: func(f Finding) {
		if f.Halt {
			source.Trip(entropy.ReasonStatistics)
		}
	}}, noon)
	r := ranges(64, 32)
	outcomes := 0
	for ; ; outcomes++ {
		_, out, err := outcome.Make(source, r)
		if err != nil {
			break
		}
		m.Watch(r, out)
		if outcomes*32 > 4*CountWindow {
			t.Fatal("no halt within four windows")
		}
		m.Turn(noon)
	}
	if len(causes) != 1 || causes[0].Reason != entropy.ReasonStatistics {
		t.Errorf("causes %v", causes)
	}
	if outcomes*32 > CountWindow {
		t.Errorf("halted after %d values, stated %d", outcomes*32, CountWindow)
	}
}

// orderOf52 is an order that counts alike in every test below.
func orderOf52() shuffle.Outcome {
	return shuffle.Outcome{Values: slices.Concat(counting(26, 52), counting(0, 26))}
}

func counting(from, to uint32) (values []uint32) {
	for v := from; v < to; v++ {
		values = append(values, v)
	}
	return values
}

// TestWindows: a window by count ends when it is full, one by day with the day,
// each judges what came in it, and a day of few outcomes says nothing.
func TestWindows(t *testing.T) {
	m, from := newStand(2000, 3000), newTapes(7, whole(8))
	watch := func(n int) {
		for range n {
			m.Watch(whole(8), from.next(t))
		}
	}
	want := func(what string, byCount, byDay uint64) {
		t.Helper()
		got := [2]uint64{}
		for span, classes := range m.Totals().Windows {
			for _, n := range classes {
				got[span] += n
			}
		}
		if got != [2]uint64{byCount, byDay} {
			t.Errorf("%s: %v windows, want %d and %d", what, got, byCount, byDay)
		}
	}
	watch(1999)
	m.Turn(noon)
	want("one is missing", 0, 0)
	watch(1)
	m.Turn(noon)
	want("full", 1, 0)
	watch(1500)
	m.Turn(noon.Add(12 * time.Hour)) // the next day
	want("3,500 in a day", 1, 1)
	watch(499)
	m.Turn(noon.Add(12 * time.Hour))
	want("a window goes on over midnight", 1, 1)
	watch(1)
	m.Turn(noon.Add(12 * time.Hour))
	want("and is full", 2, 1)
	m.Turn(noon.Add(36 * time.Hour))
	want("500 in a day", 2, 1)
	watch(5000)
	m.Turn(noon.Add(36 * time.Hour))
	want("more came than the window holds", 3, 1)
	if len(m.found) > 0 {
		t.Errorf("found %v", m.found)
	}
	if got := m.Totals().Watched; len(got) != 1 || got[0] != (Watched{"8 of 8 cards", 9000}) {
		t.Errorf("watched %v", got)
	}
}

// judged returns how many windows were, by span.
func (s *stand) judged() (n [2]uint64) {
	for span, classes := range s.Totals().Windows {
		for _, c := range classes {
			n[span] += c
		}
	}
	return n
}

// TestCountLeast: commits of 4,096 draws, enough for 26 windows between two Turns, end no window sooner than CountLeast
// after the one before; it holds them all, and ends by time alone. A day of any load has 144.
func TestCountLeast(t *testing.T) {
	if raceEnabled {
		t.Skip("counts of one goroutine")
	}
	const coins = 4096
	m, r, out := newSlowStand(0, 0, 0), ranges(2, coins), shuffle.Outcome{Values: make([]uint32, coins)}
	for i := range out.Values {
		out.Values[i] = 1 + uint32(i/2+i)%2 // as many of each, and of each pair
	}
	now, end := noon, noon.Add(CountLeast)
	counted := uint64(0)
	for ; now.Before(end); now = now.Add(20 * time.Second) {
		for range 26 * 25 {
			m.Watch(r, out)
			counted += coins
		}
		m.Turn(now)
	}
	if got := m.judged(); got != [2]uint64{} {
		t.Fatalf("%v windows in less than %v", got, CountLeast)
	}
	m.Watch(r, out)
	counted += coins
	m.Turn(end.Add(-1))
	s := m.drawn[0].Load()
	if got := m.judged(); got != [2]uint64{} || s.window.n != counted {
		t.Errorf("%v windows, %d of %d draws", got, s.window.n, counted)
	}
	m.Turn(end)
	// So even a table is one finding; it has all the draws.
	if got := m.judged(); got != [2]uint64{1, 0} {
		t.Errorf("%v windows after %v", got, CountLeast)
	}
	if s.window.n != 0 {
		t.Errorf("%d draws are left of the window that ended", s.window.n)
	}

	m = newSlowStand(0, math.MaxUint64, 0)
	for now := noon; now.Before(noon.Add(24 * time.Hour)); now = now.Add(7 * time.Second) {
		for range 25 {
			m.Watch(r, out)
		}
		m.Turn(now)
	}
	if got := m.judged(); got[ByCount] < 140 || got[ByCount] > 144 {
		t.Errorf("%d windows in a day", got[ByCount])
	}
}

// TestCountLeastAfterHalt: a halt begins the time anew too, and a window that is slow to fill ends when it is full.
func TestCountLeastAfterHalt(t *testing.T) {
	m := newSlowStand(1000, 0, 0)
	ones := func(n int) { m.Watch(ranges(2, n), shuffle.Outcome{Values: slices.Repeat([]uint32{1}, n)}) }
	ones(1000)
	m.Turn(noon.Add(CountLeast))
	if len(m.found) != 1 || !m.found[0].Halt {
		t.Fatalf("found %v", m.found)
	}
	ones(1000)
	m.Turn(noon.Add(2*CountLeast - 1))
	if len(m.found) != 1 {
		t.Errorf("a window ended too soon after a halt: %v", m.found)
	}
	m.Turn(noon.Add(2 * CountLeast))
	ones(999)
	m.Turn(noon.Add(4 * CountLeast))
	if len(m.found) != 2 {
		t.Errorf("found %v, want two", m.found)
	}
	ones(1)
	m.Turn(noon.Add(4 * CountLeast))
	if len(m.found) != 3 {
		t.Errorf("found %v, want three", m.found)
	}
}

// TestLevels: so many more ones than half of a window of coins are at the levels
// of the normal distribution, 3.8906 and 4.8916 standard deviations.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		more        int
		found, halt bool
	}{{615, false, false}, {616, true, false}, {773, true, false}, {774, true, true}, {-774, true, true}} {
		m := newStand(0, 0)
		for i := range CountWindow {
			v := uint32(1)
			if i >= CountWindow/2+c.more {
				v = 2
			}
			m.Watch(ranges(2, 1), shuffle.Outcome{Values: []uint32{v}})
		}
		m.Turn(noon)
		if len(m.found) == 1 != c.found || c.found && m.found[0].Halt != c.halt {
			t.Errorf("%d more: %v", c.more, m.found)
		}
	}
}

// TestWarnsOnly: unless it may halt, a monitor warns of a window that is far out, and
// forgets nothing: the day ends with a finding as well.
func TestWarnsOnly(t *testing.T) {
	t.Parallel()
	s := new(stand)
	s.Monitor = New(Config{Report: func(f Finding) { s.found = append(s.found, f) },
		CountWindow: 1000, DayLeast: 1000, CountLeast: -1}, noon)
	for range 1000 {
		s.Watch(ranges(2, 1), shuffle.Outcome{Values: []uint32{1}})
	}
	s.Turn(noon)
	s.Turn(noon.Add(24 * time.Hour))
	if len(s.found) != 2 || s.found[0].Span != ByCount || s.found[1].Span != ByDay {
		t.Fatalf("found %+v", s.found)
	}
	for _, f := range s.found {
		if f.Halt || f.AtMost != HaltLevel {
			t.Errorf("%+v", f)
		}
	}
	if n := s.Totals(); n.Warnings != 2 || n.Halts != 0 {
		t.Errorf("%d warnings and %d halts", n.Warnings, n.Halts)
	}
}

// TestHaltForgets: after a halt nothing of what was counted before is judged again.
func TestHaltForgets(t *testing.T) {
	m, from := newStand(2000, 3000), newTapes(8, whole(52))
	for range 1500 {
		m.Watch(whole(52), from.next(t))
	}
	for range 2000 {
		m.Watch(whole(40), shuffle.Outcome{Values: counting(0, 40)})
	}
	m.Turn(noon)
	if len(m.found) != 1 || !m.found[0].Halt || m.found[0].AtMost != HaltLevel || m.found[0].Shape != "40 of 40 cards" {
		t.Fatalf("found %v", m.found)
	}
	reason := m.found[0].String()
	if audit.CheckReason(reason) != nil ||
		reason != "40 of 40 cards, count window of 2000: position x card, p <= 1e-06" {
		t.Errorf("reason %q", reason)
	}
	for range 1999 {
		m.Watch(whole(52), from.next(t))
		m.Watch(whole(40), shuffle.Outcome{Values: counting(0, 40)})
	}
	m.Turn(noon.Add(24 * time.Hour)) // fewer than DayLeast since
	if got := m.Totals(); len(m.found) != 1 || got.Halts != 1 || got.Warnings != 0 ||
		got.Windows[ByDay] != [len(Classes)]uint64{} {
		t.Errorf("found %v, %+v", m.found, got)
	}
	m.Watch(whole(40), shuffle.Outcome{Values: counting(0, 40)})
	m.Turn(noon.Add(24 * time.Hour))
	if len(m.found) != 2 {
		t.Errorf("a fault that goes on is not found: %v", m.found)
	}
}

// TestPlaces: anyone who asks for many shapes takes the places of none that is there,
// nor those of published decks; what has no place is counted.
func TestPlaces(t *testing.T) {
	m := newStand(0, 0)
	watch := func(n int) { m.Watch(whole(n), shuffle.Outcome{Values: counting(0, uint32(n))}) }
	for n := 105; n < 115; n++ {
		watch(n)
		m.Watch(ranges(uint32(n), 2), shuffle.Outcome{Values: []uint32{1, 2}})
	}
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		watch(d.Len())
	}
	watch(105)
	m.Watch(ranges(1, 5), shuffle.Outcome{Values: slices.Repeat([]uint32{1}, 5)}) // no draws
	got := m.Totals()
	if got.Unwatched != 2+2*2 || len(got.Watched) != len(published)+8+8 {
		t.Errorf("%d without a place, %d shapes: %v", got.Unwatched, len(got.Watched), got.Watched)
	}
	// standard-52 and shoe-1 are of one shape.
	if !slices.Contains(got.Watched, Watched{"52 of 52 cards", 2}) ||
		!slices.Contains(got.Watched, Watched{"105 of 105 cards", 2}) {
		t.Errorf("watched %v", got.Watched)
	}
}

// TestMemory: all shapes that have a place together take no more than is stated.
func TestMemory(t *testing.T) {
	m := newStand(0, 0)
	for n := range published {
		m.order(whole(n), counting(0, uint32(n)))
	}
	for n := range maxShapes {
		m.order(shuffle.Recipe{Cards: 1000 + n, Take: maxPositions}, counting(0, maxPositions))
		m.values(uint32(maxPairs-n), []uint32{1, 1})
	}
	bytes := 0
	for s := range m.shapes {
		bytes += (len(s.window.cells) + len(s.window.follow)) * columns * 2 * 8
	}
	if bytes < 10.5e6 || bytes > 11.5e6 {
		t.Errorf("%d bytes", bytes)
	}
}

// TestNumbers: numbers without repeats are counted as the order of cards that they are,
// where no deck has so many their first draw alone, and a list that falls in part is none.
func TestNumbers(t *testing.T) {
	m := newStand(0, 0)
	watch := func(n, take int, draws ...uint32) {
		t.Helper()
		ranges, err := shuffle.NumberRanges(n, take)
		if err != nil {
			t.Fatal(err)
		}
		m.Watch(shuffle.Recipe{Ranges: ranges}, shuffle.Outcome{Values: draws})
	}
	watch(80, 3, 80, 79, 1)
	watch(1_000_000, 3, 7, 7, 7)
	m.Watch(shuffle.Recipe{Ranges: []uint32{9, 8, 8}}, shuffle.Outcome{Values: []uint32{1, 2, 3}})
	want := []Watched{{"3 of 80 cards", 1},
		{"draws of 1 to 1000000", 1}, {"draws of 1 to 9", 1}, {"draws of 1 to 8", 2}}
	got := slices.DeleteFunc(m.Totals().Watched, func(w Watched) bool { return w.Outcomes == 0 })
	if !slices.Equal(got, want) {
		t.Errorf("watched %v, want %v", got, want)
	}
	// The draws 80, 79, 1 of 80 take the numbers 80, 1, 3: cards 79, 0 and 2.
	if cells := m.other[0].Load().window.cells; cells[0][79%52] != 1 || cells[1][0] != 1 || cells[2][2] != 1 {
		t.Errorf("counted %v", cells[:3])
	}
}

// TestRanges: of a mixed list each value is counted under its own k, and pairs are of neighbours within a run.
func TestRanges(t *testing.T) {
	m := newStand(0, 0)
	m.Watch(shuffle.Recipe{Ranges: []uint32{6, 6, 6, 2, 6, 6}}, shuffle.Outcome{Values: []uint32{1, 2, 3, 1, 5, 6}})
	m.Watch(shuffle.Recipe{Cards: 3, Take: 3, EndLo: 2, EndHi: 3}, shuffle.Outcome{Values: []uint32{2, 1, 0}, EndAt: 3})
	die, coin := m.drawn[0].Load(), m.drawn[1].Load()
	if die.window.n != 5 || die.window.pairs != 2 || die.window.follow[0][1] != 1 || die.window.follow[4][5] != 1 {
		t.Errorf("dice: %+v", die.window)
	}
	if coin.window.n != 2 || coin.window.cells[0][0] != 1 || coin.window.cells[0][1] != 1 {
		t.Errorf("a coin and the place of a cut card: %+v", coin.window)
	}
	three := m.other[0].Load().window
	if three.fixed != 1 || three.cells[0][2] != 1 || three.cells[2][0] != 1 || three.follow[2][1] != 1 ||
		three.follow[1][0] != 1 {
		t.Errorf("three cards: %+v", three)
	}
}

// TestTogether: what many count while windows end is all in them.
func TestTogether(t *testing.T) {
	var mu sync.Mutex
	counted := uint64(0)
	m := New(Config{Halt: true, CountWindow: 500, CountLeast: -1, Report: func(f Finding) {
		mu.Lock()
		defer mu.Unlock()
		counted += f.Outcomes // the same order each time: every window is one
	}}, time.Now())
	ctx, stop := context.WithCancel(t.Context())
	var running, watching sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	const each = 20_000
	for range 4 {
		watching.Go(func() {
			out := orderOf52()
			for range each {
				m.Watch(whole(52), out)
			}
		})
	}
	watching.Wait()
	m.Totals()
	stop()
	running.Wait()
	if got := m.Totals(); got.Watched[0].Outcomes != 4*each || got.Halts == 0 {
		t.Errorf("%+v", got)
	}
	if counted == 0 || counted > 4*each {
		t.Errorf("%d outcomes in windows, of %d", counted, 4*each)
	}
}

// TestRunEnds: a window that is due when Run is told to end is judged.
func TestRunEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range 20 {
		found := 0
		m := New(Config{CountWindow: 2000, CountLeast: -1, Report: func(Finding) { found++ }}, time.Now())
		for range 2000 {
			m.Watch(whole(52), orderOf52())
		}
		m.Run(ctx)
		if found != 1 {
			t.Fatalf("%d findings, want 1", found)
		}
	}
}

// TestOneOrder: what is told of a window does not depend on one order in it, but where the p-value stands at the limit
// of a class already. Of 20 orders that could be the last of the smallest window, all lead to the same class.
func TestOneOrder(t *testing.T) {
	if raceEnabled {
		t.Skip("statistics of one goroutine")
	}
	from, others := newTapes(10, whole(52)), newTapes(11, whole(52))
	const windows = 100
	differ := 0
	for range windows {
		s := newShape(key{cards: 52, take: 52})
		for range DayLeast - 1 {
			s.count(from.next(t).Values)
		}
		classes := make(map[int]bool)
		for range 20 {
			w := newTally(52)
			copy(w.cells, s.window.cells)
			w.n, w.fixed, w.follow = s.window.n, s.window.fixed, s.window.follow
			w.order(s.of, others.next(t).Values)
			p, _ := s.judge(w)
			classes[classOf(p)] = true
		}
		if len(classes) > 1 {
			differ++
		}
	}
	t.Logf("in %d of %d windows one order of 20 leads to another class", differ, windows)
	if differ > windows/20 {
		t.Errorf("in %d of %d windows one order decides what is told", differ, windows)
	}
}

// TestNothingKept: the fields of what is exported hold names, totals and classes.
func TestNothingKept(t *testing.T) {
	for _, p := range []float64{0, 1e-300, 1e-6, 2e-6, 3.3e-4, 0.04, 0.5, 1} {
		class := atMost(p)
		if !slices.Contains(Classes[:], class) || p > class {
			t.Errorf("p = %v is told as %v", p, class)
		}
	}
	f := Finding{Shape: "416 of 4096 cards", Span: ByDay, Outcomes: math.MaxUint64, Test: "position x card",
		AtMost: 1e-4}
	if s := f.String(); audit.CheckReason(s) != nil || strings.ContainsAny(s, "\n") {
		t.Errorf("reason %q", s)
	}
}

// TestAllocs: counting allocates nothing once its shape is there.
func TestAllocs(t *testing.T) {
	m := newStand(0, 0)
	r, out := shuffle.Recipe{Cards: 52, Take: 52, EndLo: 20, EndHi: 30}, orderOf52()
	out.EndAt = 25
	dice, thrown := ranges(6, 3), shuffle.Outcome{Values: []uint32{1, 5, 6}}
	if n := testing.AllocsPerRun(100, func() { m.Watch(r, out); m.Watch(dice, thrown) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWatch(b *testing.B) {
	for name, r := range map[string]shuffle.Recipe{"52": whole(52), "416": whole(416), "roulette": ranges(37, 1)} {
		// Different orders: the same one again would find all its cells in a cache.
		from := rand.NewChaCha8([32]byte{9})
		outs := make([]shuffle.Outcome, 1024)
		tape := make([]byte, r.TapeLen())
		for i := range outs {
			_, _ = from.Read(tape)
			outs[i], _ = r.Run(tape)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			m := newStand(math.MaxUint64, 0)
			i := 0
			for b.Loop() {
				m.Watch(r, outs[i%len(outs)])
				i++
			}
		})
		b.Run(name+" together", func(b *testing.B) {
			m := newStand(math.MaxUint64, 0)
			b.RunParallel(func(p *testing.PB) {
				for i := 0; p.Next(); i++ {
					m.Watch(r, outs[i%len(outs)])
				}
			})
		})
	}
}
