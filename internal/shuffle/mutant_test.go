package shuffle

import (
	"fmt"
	"testing"
)

// mutant is the shuffle with places to break it. With none set it is right, which TestMutantsAreCaught checks first: a
// mutant is then caught for its fault alone.
type mutant struct {
	width  func(k uint64) int                 // nil: the table of widths
	reject func(x, limit, k, all uint64) bool // nil: x ≥ limit
	number func(lane []byte) uint64           // nil: big-endian
	draws  func(r Recipe) []uint64            // nil: n, n−1 … n−m+1
	swap   func(i int, v uint64, n int) int   // nil: j = i + v − 1
	remove bool                               // takes card j out and closes the gap
	early  bool                               // draws end_at before the cards
	anyLen bool                               // takes a tape of any length
	part   bool                               // gives what it has when the tape runs out
}

func (m mutant) draw(k uint32, buf []byte) (uint32, []byte, bool) {
	width := refWidth
	if m.width != nil {
		width = m.width
	}
	w := width(uint64(k))
	all := uint64(1) << (8 * w)
	limit := all / uint64(k) * uint64(k)
	for len(buf) >= w {
		x := uint64(0)
		for _, b := range buf[:w] {
			x = x<<8 | uint64(b)
		}
		if m.number != nil {
			x = m.number(buf[:w])
		}
		buf = buf[w:]
		rejected := x >= limit
		if m.reject != nil {
			rejected = m.reject(x, limit, uint64(k), all)
		}
		if !rejected {
			return 1 + uint32(x%uint64(k)), buf, true
		}
	}
	return 1, nil, false
}

func (m mutant) tally(counts []uint32, k uint32, buf []byte) { tallyByDraw(m, counts, k, buf) }

func (m mutant) run(r Recipe, tape []byte) (out Outcome, err error) {
	ks := refDraws(r)
	if !m.anyLen && len(tape) != refTapeLen(ks) {
		return Outcome{}, ErrTapeLength
	}
	if m.draws != nil {
		ks = m.draws(r)
	}
	end := r.EndHi != 0
	if m.early && end {
		ks = append(ks[len(ks)-1:], ks[:len(ks)-1]...)
	}
	drawn := make([]uint64, len(ks))
	for i, k := range ks {
		v, rest, ok := m.draw(uint32(k), tape)
		if !ok && !m.part {
			return Outcome{}, ErrTapeExhausted
		}
		if !ok {
			err = ErrTapeExhausted
		}
		drawn[i], tape = uint64(v), rest
	}
	if m.early && end {
		drawn = append(drawn[1:], drawn[0])
	}
	if r.Ranges != nil {
		return refOutcome(r, drawn), err
	}
	out.Values = m.cards(r, drawn)
	if end {
		out.EndAt = r.EndLo + int(drawn[len(drawn)-1]) - 1
	}
	return out, err
}

// cards moves the cards as the draws say.
func (m mutant) cards(r Recipe, drawn []uint64) []uint32 {
	cards := make([]uint32, r.Cards)
	for i := range cards {
		cards[i] = uint32(i)
	}
	for i := range min(r.Take, len(drawn)) {
		j := i + int(drawn[i]) - 1
		if m.swap != nil {
			j = m.swap(i, drawn[i], r.Cards)
		}
		if m.remove {
			card := cards[j]
			copy(cards[i+1:j+1], cards[i:j])
			cards[i] = card
			continue
		}
		cards[i], cards[j] = cards[j], cards[i]
	}
	return cards[:r.Take]
}

// The checks, each small enough to run on every mutant.
var checks = map[string]func(s shuffler) error{
	"lanes": func(s shuffler) error {
		for k := 2; k <= 1<<14; k++ {
			if k <= 80 || k == 255 || k == 256 || k == 257 || k == 13107 || k == 13108 || k >= 16383 {
				if err := checkLanes(s, uint32(k)); err != nil {
					return err
				}
			}
		}
		return nil
	},
	"wide lanes": checkWideLanes,
	"orders": func(s shuffler) error {
		for n := 2; n <= 5; n++ {
			for m := 1; m <= n; m++ {
				if err := checkOrders(s, n, m); err != nil {
					return err
				}
			}
		}
		return nil
	},
	"rejections":  checkRejections,
	"ways":        func(s shuffler) error { _, err := checkWays(s, Recipe{Cards: 5, Take: 3}); return err },
	"exhaustion":  checkExhaustion,
	"tape length": checkTapeLength,
	"reference":   func(s shuffler) error { _, err := checkReference(s, fixed(9), 2000); return err },
}

// sameRange gives every draw of a shuffle the same k: n less less.
func sameRange(less int) func(r Recipe) []uint64 {
	return func(r Recipe) []uint64 {
		ks := refDraws(r)
		for i := range r.Take {
			ks[i] = uint64(r.Cards - less)
		}
		return ks
	}
}

// sattolo draws a card after i, never i itself: n−1, n−2 … 1.
func sattolo(r Recipe) []uint64 {
	ks := refDraws(r)
	for i := range r.Take {
		ks[i] = uint64(max(1, r.Cards-1-i))
	}
	return ks
}

// narrow gives one-byte lanes up to 2^one and two-byte lanes up to 2^two.
func narrow(one, two int) func(k uint64) int {
	return func(k uint64) int {
		switch {
		case k <= 1:
			return 0
		case k <= 1<<one:
			return 1
		case k <= 1<<two:
			return 2
		}
		return 4
	}
}

// mutants are the mistakes that shuffles are known for, each with the check that is there to reject it.
var mutants = []struct {
	name   string
	m      mutant
	caught string
}{
	{"any position: j < n", mutant{draws: sameRange(0), swap: func(_ int, v uint64, _ int) int { return int(v) - 1 }},
		"orders"},
	{"never in place", mutant{draws: sattolo, swap: func(i int, v uint64, n int) int { return min(n-1, i+int(v)) }},
		"orders"},
	{"a range short by one", mutant{draws: sameRange(1),
		swap: func(i int, v uint64, n int) int { return min(n-1, i+int(v)-1) }}, "orders"},
	{"the first card stays", mutant{swap: func(i int, v uint64, _ int) int { return i + (int(v)-1)*min(i, 1) }},
		"orders"},
	{"takes out, moves up", mutant{remove: true}, "reference"},
	{"end_at before the cards", mutant{early: true}, "reference"},
	{"% k without rejection", mutant{reject: func(_, _, _, _ uint64) bool { return false }}, "lanes"},
	{"% k without rejection, forced", mutant{reject: func(_, _, _, _ uint64) bool { return false }}, "rejections"},
	{"% k without rejection, in ways", mutant{reject: func(_, _, _, _ uint64) bool { return false }}, "ways"},
	{"% k without rejection, four bytes", mutant{reject: func(_, _, _, _ uint64) bool { return false }}, "wide lanes"},
	{"limit off by one: x > limit", mutant{reject: func(x, limit, _, _ uint64) bool { return x > limit }}, "lanes"},
	{"limit off by one: x > limit, four bytes", mutant{reject: func(x, limit, _, _ uint64) bool { return x > limit }},
		"wide lanes"},
	{"limit off by one: x ≥ limit − 1", mutant{reject: func(x, limit, _, _ uint64) bool { return x+1 >= limit }},
		"lanes"},
	{"limit off by one: x ≥ limit − 1, four bytes",
		mutant{reject: func(x, limit, _, _ uint64) bool { return x+1 >= limit }}, "wide lanes"},
	{"limit a run too low", mutant{reject: func(x, limit, k, _ uint64) bool { return x >= limit-k }}, "lanes"},
	{"limit 2^32 in 32 bits", mutant{reject: func(x, limit, _, _ uint64) bool { return uint32(x) >= uint32(limit) }},
		"wide lanes"},
	{"one byte up to 2^8", mutant{width: narrow(8, 14)}, "lanes"},
	{"one byte up to 2^14", mutant{width: narrow(14, 14), reject: func(_, _, _, _ uint64) bool { return false }},
		"lanes"},
	{"one byte up to 63", mutant{width: func(k uint64) int {
		if k == 64 {
			return 2
		}
		return refWidth(k)
	}}, "lanes"},
	{"two bytes up to 2^16", mutant{width: narrow(6, 16)}, "wide lanes"},
	{"three-byte lanes", mutant{width: func(k uint64) int { return min(3, refWidth(k)) },
		reject: func(_, _, _, _ uint64) bool { return false }}, "wide lanes"},
	{"little-endian lanes", mutant{number: func(lane []byte) (x uint64) {
		for i, b := range lane {
			x |= uint64(b) << (8 * i)
		}
		return x
	}}, "reference"},
	{"part of an outcome", mutant{part: true}, "exhaustion"},
	{"a tape of any length", mutant{anyLen: true}, "tape length"},
}

// TestMutantsAreCaught shows that the checks can fail: each mutant is rejected by the check that is meant for it. The
// package, the reference and the mutant without a fault pass them all.
func TestMutantsAreCaught(t *testing.T) {
	t.Parallel()
	for name, check := range checks {
		t.Run("check "+name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []shuffler{ours{}, reference{}, mutant{}} {
				if err := check(s); err != nil {
					t.Errorf("rejects %T: %.300v", s, err)
				}
			}
		})
	}
	for _, c := range mutants {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := checks[c.caught](c.m)
			if err == nil {
				t.Fatalf("the check %q does not notice", c.caught)
			}
			t.Logf("caught: %.100s", fmt.Sprint(err))
		})
	}
}
