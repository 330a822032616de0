package battery

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestHolm(t *testing.T) {
	tests := []struct {
		p, adjusted []float64
		rejected    []bool
	}{
		{nil, nil, nil},
		{[]float64{0.009}, []float64{0.009}, []bool{true}},
		{[]float64{0.01}, []float64{0.01}, []bool{false}},
		// 0.02·3 = 0.06; 0.001·4; 0.03·2 = 0.06; 0.9.
		{[]float64{0.02, 0.001, 0.03, 0.9}, []float64{0.06, 0.004, 0.06, 0.9}, []bool{false, true, false, false}},
		// The second step counts one less: 0.0045·2 = 0.009 is rejected, as by Bonferroni it would not be.
		{[]float64{0.0045, 0.003, 1}, []float64{0.009, 0.009, 1}, []bool{true, true, false}},
		// Never less than the one before: 0.5·3 = 1 (cut), then 1.
		{[]float64{0.5, 0.6, 0.7}, []float64{1, 1, 1}, []bool{false, false, false}},
		{[]float64{0, 0}, []float64{0, 0}, []bool{true, true}},
	}
	for _, tt := range tests {
		var results []Result
		for _, p := range tt.p {
			results = append(results, Result{P: p})
		}
		holm(results)
		for i, res := range results {
			if !alike(res.Adjusted, tt.adjusted[i]) || res.Rejected != tt.rejected[i] {
				t.Errorf("%v: result %d is %v, %v; want %v, %v", tt.p, i, res.Adjusted, res.Rejected, tt.adjusted[i],
					tt.rejected[i])
			}
		}
	}
}

func TestJudge(t *testing.T) {
	s := Shape{Cards: 52, Decks: 1}
	b, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	report := func(outcomes uint64, p ...float64) *Report {
		r := &Report{Shape: s, Outcomes: outcomes}
		for i, p := range p {
			r.Results = append(r.Results, Result{Test: "test", Name: ordinal(i), P: p})
		}
		r.conclude()
		return r
	}
	only := func(p float64) *Report {
		r := &Report{Shape: s, Outcomes: 9, Results: []Result{{Test: "complete", P: p}}}
		r.conclude()
		return r
	}
	tests := []struct {
		name          string
		first, second *Report
		want          Decision
		retested      int
	}{
		{"nothing", report(9, 0.5, 0.9), nil, Accept, 0},
		{"nothing tested", report(9), nil, Repeat, 0},
		{"every card once, and no test of chance", only(1), nil, Repeat, 0},
		{"a card missing, and no test of chance", only(0), nil, Reject, 0},
		{"no sample", report(0, 0.5, 0.9), nil, Reject, 0},
		{"just above the level", report(9, 0.0051, 0.9), nil, Accept, 0},
		{"below at once", report(9, 0.00004, 0.9), nil, Reject, 0},
		{"below at once, whatever a second says", report(9, 0.00004, 0.9), report(9, 0.5, 0.5), Reject, 0},
		{"borderline", report(9, 0.00006, 0.9), nil, Repeat, 0},
		{"borderline, then fair", report(9, 0.00006, 0.9), report(9, 0.02, 0.002), Accept, 1},
		{"borderline, then again", report(9, 0.00006, 0.9), report(9, 0.009, 0.9), Reject, 1},
		{"two borderline, one again by Holm", report(9, 0.00006, 0.0001, 0.9), report(9, 0.004, 0.3, 0.9), Reject, 2},
		{"two borderline, neither again by Holm", report(9, 0.00006, 0.0001, 0.9), report(9, 0.006, 0.3, 0.9), Accept,
			2},
		{"another test gives way in the second", report(9, 0.00006, 0.9), report(9, 0.5, 0.000001), Reject, 0},
		{"smaller second", report(9, 0.00006, 0.9), report(8, 0.5, 0.5), Repeat, 0},
		{"second lacks the test", report(9, 0.9, 0.00006), report(9, 0.5), Repeat, 0},
	}
	for _, tt := range tests {
		v := b.Judge(tt.first, tt.second)
		if v.Decision != tt.want || len(v.Retested) != tt.retested || v.Why == "" {
			t.Errorf("%s: %+v, want %s with %d retested", tt.name, v, tt.want, tt.retested)
		}
	}
	if !alike(FalseAlarm, 0.000201) {
		t.Errorf("FalseAlarm is %v; its comment and docs/LAB.md say 0.000201", FalseAlarm)
	}
}

// Limits from the regulation's note and from tables of distributions.
func TestKnownChances(t *testing.T) {
	about := func(name string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within*want {
			t.Errorf("%s: %v, want about %v", name, got, want)
		}
	}
	about("chi-square 77.4, df 51", chiSquareP(77.4, 51), 2*0.01, 0.02)
	about("chi-square 2771.7, df 2601", chiSquareP(2771.7, 2601), 2*0.01, 0.02)
	about("chi-square 114.5, df 51", chiSquareP(114.5, 51), 2e-6, 0.15)
	about("chi-square 6.635, df 1", chiSquareP(6.635, 1), 0.01, 0.001)
	about("too even, df 50", chiSquareP(29.707, 50), 2*0.01, 0.001)
	if p := chiSquareP(0, 3); p != 1 {
		t.Errorf("a perfect fit of four cells has p %v", p)
	}
	about("normal 1.96", normalP(1.959964), 0.05, 1e-5)
	about("normal −1.96", normalP(-1.959964), 0.05, 1e-5)
	about("normal 10", normalP(10), 1.5239706e-23, 1e-6)
	about("Kolmogorov 1.358", kolmogorovP(1.3581e-2, 0.001, 10000), 0.05, 0.001)
	about("Poisson 5 of 1", poissonP(5, 1), 2*0.00365985, 1e-5)
	about("Poisson 0 of 10", poissonP(0, 10), 2*4.539993e-5, 1e-5)
	if p := poissonP(0, 1e-30); p != 1 {
		t.Errorf("no repeats where none are expected have p %v", p)
	}
	// RMS cell deviation that position × card finds at 99 % and 99 % power.
	// The figures of the note are one-sided.
	for decks, want := range map[float64]float64{1e5: 0.0084, 1e6: 0.0027, 1e7: 0.00084} {
		about("position × card", math.Sqrt(noncentrality(2*0.01, 2601)/(51*decks)), want, 0.025)
	}
	about("excess of nothing", excess(1e-12, 1e-5), -math.Log(0.01), 0.01)
}

// Published odds.
func TestKnownOdds(t *testing.T) {
	byName := map[string]bet{}
	for _, b := range bets {
		byName[b.name] = b
	}
	suits, ranks := groupings(Shape{Cards: 52, Decks: 1})
	poker, _ := handLaw(ranks.size)
	flush, _ := handLaw(suits.size)
	eight := baccaratLaw(8)
	three := byName["first three cards as at poker"].law(1)
	tests := []struct {
		name string
		got  float64
		want float64
	}{
		{"one pair", poker[1], 1098240.0 / 2598960},
		{"two pairs", poker[2], 123552.0 / 2598960},
		{"three of a kind", poker[3], 54912.0 / 2598960},
		{"full house", poker[4], 3744.0 / 2598960},
		{"four of a kind", poker[5], 624.0 / 2598960},
		{"flush", flush[len(flush)-1], 5148.0 / 2598960},
		{"perfect pair, 8 decks", byName["pair on the first two cards"].law(8)[3], 7.0 / 415},
		{"coloured pair, 8 decks", byName["pair on the first two cards"].law(8)[2], 8.0 / 415},
		{"mixed pair, 8 decks", byName["pair on the first two cards"].law(8)[1], 16.0 / 415},
		{"blackjack, 1 deck", byName["twenty and blackjack"].law(1)[2], 128.0 / 2652},
		{"king and queen of a suit, 1 deck", byName["suited first two cards"].law(1)[2], 8.0 / 2652},
		{"straight flush of three", three[4], 48.0 / 22100},
		{"three of a kind of three", three[3], 52.0 / 22100},
		{"straight of three", three[2], 720.0 / 22100},
		{"flush of three", three[1], 1096.0 / 22100},
		{"baccarat player, 8 decks", math.Round(eight[0]*1e6) / 1e6, 0.446247},
		{"baccarat banker, 8 decks", math.Round(eight[1]*1e6) / 1e6, 0.458597},
		{"baccarat tie, 8 decks", math.Round(eight[2]*1e6) / 1e6, 0.095156},
	}
	for _, tt := range tests {
		if !alike(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

// Two workers count the same as one, except for successive games; Report does not
// change the workers.
func TestWorkersMerge(t *testing.T) {
	s := Shape{Cards: 52, Decks: 1}
	const games = 6000
	one, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := New(s)
	next, alone := fairDeck(8, 52), one.Worker()
	var halves [2][][]uint32
	for i := range games {
		order := slices.Clone(next())
		alone.Add(order)
		halves[i*2/games] = append(halves[i*2/games], order)
	}
	done := make(chan struct{})
	for _, half := range halves {
		w := two.Worker()
		go func() {
			defer func() { done <- struct{}{} }()
			for _, order := range half {
				w.Add(order)
			}
		}()
	}
	<-done
	<-done
	a, b, again := one.Report(), two.Report(), two.Report()
	if b.Outcomes != games || a.Outcomes != games {
		t.Fatalf("%d and %d outcomes of %d", a.Outcomes, b.Outcomes, games)
	}
	follow := []string{"next game", "interplay", "matches", "overlaps", "earlier games"}
	for i, res := range b.Results {
		if again.Results[i] != res {
			t.Errorf("a second report says %+v, the first %+v", again.Results[i], res)
		}
		lag := uint64(1)
		if res.Test == "earlier games" { // each worker has none before its first so many
			lag = uint64(res.Name[0] - '0')
		}
		if lag > 1 || slices.Contains(follow, res.Test) {
			if want := a.Results[i].N - lag; res.N != want {
				t.Errorf("%s: %d observations by two workers, want %d", res.Test, res.N, want)
			}
		} else if a.Results[i] != res {
			t.Errorf("two workers: %+v, one: %+v", res, a.Results[i])
		}
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	for _, s := range []Shape{{Cards: 52, Decks: 1}, {Cards: 416, Decks: 8}} {
		b, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		w, next := b.Worker(), fairDeck(4, s.Cards)
		if n := testing.AllocsPerRun(500, func() { w.Add(next()) }); n != 0 {
			t.Errorf("%v: %v allocations in each Add", s, n)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, s := range []Shape{{}, {Cards: 52}, {Cards: 3, Decks: 1}, {Cards: 417, Decks: 1}, {Cards: 104, Decks: 3},
		{Cards: 468, Decks: 9},
		{Cards: 52, Decks: -1}, {K: 6}, {K: 6, Values: -1}, {K: 6, Values: 1, Cards: 52, Decks: 1}} {
		if _, err := New(s); err == nil || !strings.HasPrefix(err.Error(), "battery: ") {
			t.Errorf("%+v: error %v", s, err)
		}
	}
}

// A sample that is too small, or broken, is named as such and never panics.
func TestFewAndBroken(t *testing.T) {
	for _, s := range []Shape{{Cards: 52, Decks: 1}, {Cards: 104, Decks: 2}, {Cards: 80, Decks: 1},
		{Cards: 4, Decks: 1}} {
		for _, games := range []int{0, 1, 2, 50} {
			r := sample(t, s, games, 6, nil)
			if r.Rejected || r.Borderline || r.Outcomes != uint64(games) || len(r.Untested) == 0 {
				t.Errorf("%v, %d games: rejected %v, borderline %v, %d outcomes, %d untested", s, games, r.Rejected,
					r.Borderline, r.Outcomes, len(r.Untested))
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%v, %d games: %v", s, games, err)
			}
		}
		b, _ := New(s)
		w := b.Worker()
		for _, broken := range [][]uint32{nil, {0}, make([]uint32, s.Cards),
			slices.Repeat([]uint32{math.MaxUint32}, s.Cards)} {
			w.Add(broken)
		}
		if r := b.Report(); !r.Rejected || r.Results[0].Statistic != 4 {
			t.Errorf("%v: four outcomes that are no orders: %+v", s, r.Results[0])
		}
	}
}
