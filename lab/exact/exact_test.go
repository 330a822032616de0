package exact

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/shuffle"
)

// model is a second shuffle that can be broken in several ways. Without any it is
// right.
type model struct {
	limit  func(x, limit uint64, k uint32) bool // lanes that are accepted; nil: x < limit
	value  func(x, lanes uint64, k uint32) uint32
	ranges func(i, n int) int    // k of draw i; nil: n − i
	swap   func(i, v, n int) int // nil: i + v − 1
	spare  int                   // bytes at the end of the tape that are not read
	part   bool                  // returns the values so far when the tape runs out
}

func (m model) run(r shuffle.Recipe, tape []byte) (out shuffle.Outcome, err error) {
	tape = tape[:len(tape)-m.spare]
	draw := func(k uint32) uint32 {
		w := shuffle.LaneWidth(k)
		lanes, limit := limitOf(k)
		for ; len(tape) >= w; tape = tape[w:] {
			x := uint64(0)
			for _, b := range tape[:w] {
				x = x<<8 | uint64(b)
			}
			if ok := x < limit; m.limit == nil && !ok || m.limit != nil && !m.limit(x, limit, k) {
				continue
			}
			tape = tape[w:]
			if m.value != nil {
				return m.value(x, lanes, k)
			}
			return 1 + uint32(x%uint64(k))
		}
		if !m.part {
			err = shuffle.ErrTapeExhausted
		}
		return 1
	}
	for _, k := range r.Ranges {
		out.Values = append(out.Values, draw(k))
	}
	for i := range r.Cards {
		out.Values = append(out.Values, uint32(i))
	}
	for i := range r.Take {
		k, j := r.Cards-i, i
		if m.ranges != nil {
			k = m.ranges(i, r.Cards)
		}
		if v := int(draw(uint32(k))); m.swap != nil {
			j = m.swap(i, v, r.Cards)
		} else {
			j = min(max(0, i+v-1), r.Cards-1)
		}
		out.Values[i], out.Values[j] = out.Values[j], out.Values[i]
	}
	if r.Ranges == nil {
		out.Values = out.Values[:r.Take]
	}
	if err != nil {
		return shuffle.Outcome{}, err
	}
	return out, nil
}

// The provers, small enough for many models.
var provers = map[string]func(Run) (Verdict, error){
	"lanes": func(run Run) (Verdict, error) {
		ks := append(EveryK()[:80], 255, 256, 257, 13_107, 13_108, 16_383, 16_384)
		r, err := Lanes(context.Background(), run, ks, nil, nil, Options{})
		return r.Verdict, err
	},
	"wide lanes": func(run Run) (Verdict, error) {
		wide := slices.DeleteFunc(WideK(), func(k uint32) bool { return k%16 != 0 }) // the others take the time
		r, err := Lanes(context.Background(), run, nil, wide, nil, Options{})
		return r.Verdict, err
	},
	"halves": func(run Run) (Verdict, error) {
		r, err := Lanes(context.Background(), run, nil, nil, []uint32{20_000}, Options{})
		return r.Verdict, err
	},
	"orders": func(run Run) (Verdict, error) {
		r, err := AllOrders(context.Background(), run, 5, Options{})
		return r.Verdict, err
	},
	"exhaustion": func(run Run) (Verdict, error) {
		r, err := Exhausted(context.Background(), run, Options{})
		return r.Verdict, err
	},
}

// only breaks draw lists and leaves cards unchanged, or the reverse: the two draw by
// different code.
func only(lists bool, broken model) Run {
	return func(r shuffle.Recipe, tape []byte) (shuffle.Outcome, error) {
		if lists == (r.Ranges != nil) {
			return broken.run(r, tape)
		}
		return model{}.run(r, tape)
	}
}

// TestBrokenShufflesFail shows that each prover finds the faults that it must find.
func TestBrokenShufflesFail(t *testing.T) {
	t.Parallel()
	always := func(_, _ uint64, _ uint32) bool { return true }
	noRejection := model{limit: always}
	offByOne := model{limit: func(x, limit uint64, _ uint32) bool { return x <= limit }}
	for _, c := range []struct {
		name   string
		run    Run
		caught []string
	}{
		{"modulo without rejection", noRejection.run, []string{"lanes", "wide lanes"}},
		{"modulo without rejection, draw lists", only(true, noRejection), []string{"lanes", "wide lanes"}},
		{"one lane too many", offByOne.run, []string{"lanes", "wide lanes"}},
		{"one lane too many, draw lists", only(true, offByOne), []string{"lanes", "wide lanes"}},
		{"one lane too few", model{limit: func(x, limit uint64, _ uint32) bool { return x < limit-1 }}.run,
			[]string{"lanes", "wide lanes"}},
		{"one run too few", model{limit: func(x, limit uint64, k uint32) bool { return x < limit-uint64(k) }}.run,
			[]string{"lanes", "wide lanes"}},
		{"the first lane rejected", model{limit: func(x, limit uint64, _ uint32) bool {
			return 0 < x &&
				x < limit
		}}.run, []string{"lanes", "wide lanes"}},
		{"a lane rejected whose value the end of the tape gives, draw lists",
			only(true, model{limit: func(x, limit uint64, k uint32) bool {
				return x != uint64(k) && x < limit
			}}), []string{"lanes"}},
		{"a lane in the middle rejected",
			model{limit: func(x, limit uint64, _ uint32) bool { return x != 100 && x < limit }}.run, []string{"lanes"}},
		{"one value for a high half", model{value: func(x, _ uint64, k uint32) uint32 {
			if x>>16 == 0x1234 {
				return 1
			}
			return 1 + uint32(x%uint64(k))
		}}.run, []string{"halves"}},
		{"another value for a low half", model{value: func(x, _ uint64, k uint32) uint32 {
			if x&0xffff == 0x4321 {
				x++
			}
			return 1 + uint32(x%uint64(k))
		}}.run, []string{"halves"}},
		{"limit in 32 bits", model{limit: func(x, limit uint64,
			_ uint32) bool {
			return uint32(x) < uint32(limit)
		}}.run, []string{"wide lanes"}},
		{"values from 0", model{value: func(x, _ uint64, k uint32) uint32 { return uint32(x % uint64(k)) }}.run,
			[]string{"lanes", "wide lanes"}},
		{"values to k + 1", model{value: func(x, _ uint64, k uint32) uint32 { return 1 + uint32(x%uint64(k+1)) }}.run,
			[]string{"lanes", "wide lanes"}},
		{"32-bit float", model{limit: always, value: func(x, lanes uint64, k uint32) uint32 {
			return min(k, 1+uint32(float32(x)/float32(lanes)*float32(k)))
		}}.run, []string{"lanes", "wide lanes"}},
		{"any position", model{ranges: func(_, n int) int { return n },
			swap: func(_, v, _ int) int { return v - 1 }}.run, []string{"orders"}},
		{"never in place", model{ranges: func(i, n int) int { return max(1, n-1-i) },
			swap: func(i, v, n int) int { return min(n-1, i+v) }}.run, []string{"orders"}},
		{"the first card stays", model{swap: func(i, v, _ int) int { return i + (v-1)*min(i, 1) }}.run,
			[]string{"orders"}},
		{"a byte less of tape", model{spare: 1}.run, []string{"exhaustion"}},
		{"part of an outcome", model{part: true}.run, []string{"exhaustion", "lanes"}},
	} {
		for _, name := range c.caught {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				v, err := provers[name](c.run)
				if err != nil || v.Proved || v.Fault == "" {
					t.Fatalf("%+v, %v", v, err)
				}
				t.Log(v.Fault)
			})
		}
	}
	for name, prove := range provers {
		t.Run(name+"/nothing broken", func(t *testing.T) {
			t.Parallel()
			if v, err := prove(model{}.run); err != nil || !v.Proved || v.Fault != "" {
				t.Fatalf("%+v, %v", v, err)
			}
		})
	}
}

// TestWideK compares the set with the description of WideK, over all quotients.
func TestWideK(t *testing.T) {
	t.Parallel()
	ks := WideK()
	has := make(map[uint32]bool, len(ks))
	for i, k := range ks {
		if shuffle.LaneWidth(k) != 4 || i > 0 && k <= ks[i-1] {
			t.Fatalf("%d of %d is %d", i, len(ks), k)
		}
		has[k] = true
	}
	quotients := 0
	for k := uint64(MaxEnumerated + 1); k <= shuffle.MaxRange; quotients++ {
		last := min((1<<32)/((1<<32)/k), shuffle.MaxRange)
		if !has[uint32(k)] || !has[uint32(last)] {
			t.Fatalf("%d or %d is missing", k, last)
		}
		k = last + 1
	}
	if quotients < 100_000 {
		t.Errorf("%d quotients", quotients)
	}
}

// TestCountExhausted counts the tapes of small lists one by one.
func TestCountExhausted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ks    []uint32
		slack int
	}{
		{[]uint32{52}, 0}, {[]uint32{52}, 1}, {[]uint32{52, 37}, 0}, {[]uint32{64, 3}, 0}, {[]uint32{13_108}, 0},
		{[]uint32{1, 6, 1}, 1},
	} {
		need := 0
		for _, k := range c.ks {
			need += shuffle.LaneWidth(k)
		}
		want := int64(0)
		for x := range 1 << (8 * (need + c.slack)) {
			tape := make([]byte, need+c.slack)
			putLane(tape, len(tape), uint64(x))
			if _, err := (model{}).run(shuffle.Recipe{Ranges: c.ks}, tape); err != nil {
				want++
			}
		}
		if got := countExhausted(c.ks, c.slack); got.Cmp(big.NewInt(want)) != 0 || want == 0 {
			t.Errorf("draws %d with %d bytes to spare: %d tapes run out, counted %d", c.ks, c.slack, got, want)
		}
	}
}

// negativeBinomialLog2 returns the binary logarithm of the chance that c draws 1..k
// run out, by summing a tail in floating point, which is an independent way.
func negativeBinomialLog2(k uint32, c int) float64 {
	lanes, limit := limitOf(k)
	p, w := float64(lanes-limit)/float64(lanes), shuffle.LaneWidth(k)
	lnTerm := func(r int) float64 { // C(r+c−1, r) · p^r · (1−p)^c
		a, _ := math.Lgamma(float64(r + c))
		b, _ := math.Lgamma(float64(r + 1))
		d, _ := math.Lgamma(float64(c))
		return a - b - d + float64(r)*math.Log(p) + float64(c)*math.Log1p(-p)
	}
	first := ((c*w+1)/2+52*w)/w + 1
	tail := 0.0
	for r := first; ; r++ {
		term := math.Exp(lnTerm(r) - lnTerm(first))
		if tail += term; term < 1e-12 {
			return math.Log2(tail) + lnTerm(first)/math.Ln2
		}
	}
}

// TestWorstLists: the k of worstLists reject the largest share of their width, their
// number is the worst of all, and both ways to compute agree there.
func TestWorstLists(t *testing.T) {
	t.Parallel()
	worst := map[int]uint32{}
	for _, k := range append(EveryK(), WideK()...) {
		w := shuffle.LaneWidth(k)
		lanes, limit := limitOf(k)
		if old := worst[w]; old == 0 {
			worst[w] = k
		} else if _, oldLimit := limitOf(old); lanes-limit > lanes-oldLimit {
			worst[w] = k
		}
	}
	lists := worstLists()
	if len(lists) != len(worst) {
		t.Fatalf("%d lists for %d widths", len(lists), len(worst))
	}
	for _, l := range lists {
		k, draws := l.r.Ranges[0], len(l.r.Ranges)
		if k != worst[shuffle.LaneWidth(k)] {
			t.Errorf("1..%d does not reject the most, 1..%d does", k, worst[shuffle.LaneWidth(k)])
		}
		most, at := math.Inf(-1), 0
		for c := 1; c <= shuffle.MaxRanges; c++ {
			if p := negativeBinomialLog2(k, c); p > most {
				most, at = p, c
			}
		}
		if at != draws {
			t.Errorf("%d draws 1..%d run out more often than %d", at, k, draws)
		}
		need, _ := l.r.Need()
		exactly := log2(countExhausted(l.r.Ranges, l.r.TapeLen()-need)) - float64(8*l.r.TapeLen())
		if math.Abs(exactly-most) > 1e-6 {
			t.Errorf("%d draws 1..%d: 2^%.7f counted, 2^%.7f summed", draws, k, exactly, most)
		}
	}
}

// TestBoundOfEveryList: rejections are below one in five, which the bound takes from
// k alone, and the bound's base is below the root.
func TestBoundOfEveryList(t *testing.T) {
	t.Parallel()
	if err := chernoffHolds(); err != nil {
		t.Fatal(err)
	}
	if root := (math.Sqrt(17) - 1) / 2; chernoffU >= root*chernoffOne || chernoffU+1 < root*chernoffOne {
		t.Errorf("%d/%d is not just below %v", chernoffU, chernoffOne, root)
	}
	for _, k := range append(EveryK(), WideK()...) {
		if lanes, limit := limitOf(k); 5*(lanes-limit) >= lanes {
			t.Errorf("draw 1..%d rejects %d of %d lanes", k, lanes-limit, lanes)
		}
	}
}

// TestBudget compares the table with published figures.
func TestBudget(t *testing.T) {
	t.Parallel()
	report := Budgets(shuffle.Recipe.Need)
	if !report.Proved || len(report.Decks) != len(shuffle.Names()) {
		t.Fatalf("%v, %d decks", report.Verdict, len(report.Decks))
	}
	for i, want := range []struct {
		decks, need, tape int
		orders, faces     float64
	}{
		{1, 408, 1032, 225.58, 225.58}, {2, 1144, 2552, 551.48, 499.48},
		{6, 4472, 7544, 2140.39, 1646.82}, {8, 6136, 10040, 3024.90, 2229.34},
	} {
		b := report.Decks[i]
		if b.Decks != want.decks || b.NeedBits != want.need || b.TapeBits != want.tape ||
			math.Abs(b.OrdersLog2-want.orders) > 0.005 || math.Abs(b.FacesLog2-want.faces) > 0.005 {
			t.Errorf("%+v, want %+v", b, want)
		}
	}
	var shares []string
	for _, r := range report.Decks[0].Reach {
		shares = append(shares, r.SharePercent)
	}
	if got := strings.Join(shares, " "); got != "5.3e-57 3.5e-52 2.3e-47 4.2e-28 1.8e-18 100" {
		t.Errorf("shares of 52!: %s", got)
	}
	if !slices.Equal(report.Largest, []int{12, 16, 20, 34, 40, 57}) {
		t.Errorf("largest decks %d", report.Largest)
	}
	pinochle := report.Decks[slices.IndexFunc(report.Decks, func(b Budget) bool { return b.Name == "pinochle-48" })]
	if math.Abs(pinochle.OrdersLog2-pinochle.FacesLog2-24) > 1e-9 { // 24 pairs
		t.Errorf("%+v", pinochle)
	}
	half := func(r shuffle.Recipe) (int, int) { s, w := r.Need(); return s / 2, w }
	if short := Budgets(half); short.Proved || short.Fault != "shoe-1: 200 bits are less than log2 52! = 225.58" {
		t.Errorf("half the bytes: %+v", short.Verdict)
	}
}

// TestFirstFault: of several faults the first is reported, with any number of
// goroutines, and progress ends at the total if there is none.
func TestFirstFault(t *testing.T) {
	t.Parallel()
	jobs := make([]int, 1000)
	for i := range jobs {
		jobs[i] = i
	}
	one := func(int) uint64 { return 1 }
	for range 20 {
		fault, err := each(context.Background(), Options{Workers: 8}, jobs, one, func() func(int) error {
			return func(i int) error {
				if i%100 == 37 {
					return errors.New(string(rune('0' + i/100)))
				}
				return nil
			}
		})
		if err != nil || fault == nil || fault.Error() != "0" {
			t.Fatalf("%v, %v", fault, err)
		}
	}
	var last uint64
	progress := func(done, total uint64) {
		if done != last+1 || total != 1000 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	fault, err := each(context.Background(), Options{Progress: progress}, jobs, one, func() func(int) error {
		return func(int) error { return nil }
	})
	if fault != nil || err != nil || last != 1000 {
		t.Errorf("%v, %v, %d", fault, err, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := AllOrders(ctx, model{}.run, MaxOrderCards, Options{}); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
