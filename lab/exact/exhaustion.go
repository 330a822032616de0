package exact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"shuffled/internal/shuffle"
)

// BoundLog2 is the bound of docs/SPEC.md section 2.4: a tape runs out with a probability below 2^BoundLog2,
// for any draws.
const BoundLog2 = -66

// ExhaustionReport says how rarely a tape runs out.
type ExhaustionReport struct {
	Verdict
	// EveryListLog2 bounds the probability for every possible list of draws, as a power of two.
	EveryListLog2 float64 `json:"every_list_log2"`
	// Lists are exact: the named decks, and the lists of equal draws that run out most often.
	Lists []Exhaustion `json:"lists"`
}

// Exhaustion is one list of draws and its tape.
type Exhaustion struct {
	Name  string  `json:"name"`
	Draws int     `json:"draws"`
	Need  int     `json:"need_bytes"` // S: without rejections
	Tape  int     `json:"tape_bytes"` // L
	Log2  float64 `json:"log2"`       // of the probability, exact to 53 bits
}

// Exhausted proves with integers that a tape runs out with a probability below 2^BoundLog2: for every list of draws by
// Chernoff's bound, for the named decks and the worst lists of equal draws by counting tapes. It then tries with run
// that tapes run out at the counted lane, not one lane earlier or later. Progress counts lists.
func Exhausted(ctx context.Context, run Run, o Options) (*ExhaustionReport, error) {
	report := &ExhaustionReport{EveryListLog2: chernoffLog2}
	fault := chernoffHolds()
	lists := worstLists()
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		lists = append(lists, exhaustionJob{name: name, r: shuffle.Recipe{Cards: d.Len(), Take: d.Len()}})
	}
	report.Lists = make([]Exhaustion, len(lists))
	for i := range lists {
		lists[i].at = &report.Lists[i]
	}
	found, err := each(ctx, o, lists, func(exhaustionJob) uint64 { return 1 }, func() func(exhaustionJob) error {
		return func(j exhaustionJob) error { return j.prove(run) }
	})
	if err != nil {
		return nil, err
	}
	report.Verdict = verdict(cmp.Or(fault, found))
	return report, nil
}

// exhaustionJob is one list and the place for its figures.
type exhaustionJob struct {
	name string
	r    shuffle.Recipe
	at   *Exhaustion
}

// worstLists are, for each width of lane, equal draws of the k that rejects the largest share of its lanes,
// in the number that runs out most often.
func worstLists() (lists []exhaustionJob) {
	for _, l := range []struct {
		k     uint32
		draws int
	}{{52, 102}, {13_108, 117}, {858_993_460, 117}} {
		ranges := make([]uint32, l.draws)
		for i := range ranges {
			ranges[i] = l.k
		}
		name := fmt.Sprintf("%d draws 1..%d", l.draws, l.k)
		lists = append(lists, exhaustionJob{name: name, r: shuffle.Recipe{Ranges: ranges}})
	}
	return lists
}

// drawsOf lists the k of each draw of a recipe without a drawn cut-card place.
func drawsOf(r shuffle.Recipe) []uint32 {
	if r.Ranges != nil {
		return r.Ranges
	}
	ks := make([]uint32, r.Take)
	for i := range ks {
		ks[i] = uint32(r.Cards - i)
	}
	return ks
}

func (j exhaustionJob) prove(run Run) error {
	ks := drawsOf(j.r)
	need, _ := j.r.Need()
	tape := j.r.TapeLen()
	exhausted := countExhausted(ks, tape-need)
	*j.at = Exhaustion{Name: j.name, Draws: len(ks), Need: need, Tape: tape, Log2: log2(exhausted) - float64(8*tape)}
	// exhausted / 2^8L < 2^BoundLog2
	if exhausted.BitLen() > 8*tape+BoundLog2 {
		return fmt.Errorf("%s: a tape runs out with probability 2^%.2f", j.name, j.at.Log2)
	}
	for _, i := range []int{firstRejecting(ks), lastRejecting(ks)} {
		if err := runsOutAt(run, j.r, ks, i, tape-need); err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
	}
	return nil
}

// countExhausted returns how many tapes run out, of those with slack bytes more than the draws need without
// a rejection.
//
// Draws take one lane after another, so a tape is long enough exactly if the lanes rejected before the last draw have
// together at most slack bytes. rejected[t] counts the ways to reject t bytes: for each draw any number of its rejected
// lanes, one after another. Each accepted lane is one of limit, and each byte after the last draw one of 256.
func countExhausted(ks []uint32, slack int) *big.Int {
	rejected := make([]big.Int, slack+1)
	rejected[0].SetInt64(1)
	accepted, need, term := big.NewInt(1), 0, new(big.Int)
	for _, k := range ks {
		w := shuffle.LaneWidth(k)
		if w == 0 {
			continue
		}
		lanes, limit := limitOf(k)
		need += w
		accepted.Mul(accepted, term.SetUint64(limit))
		if limit == lanes {
			continue
		}
		each := new(big.Int).SetUint64(lanes - limit)
		for t := w; t <= slack; t++ { // upwards: one more lane before this draw
			rejected[t].Add(&rejected[t], term.Mul(&rejected[t-w], each))
		}
	}
	last := new(big.Int)
	for t := range rejected {
		last.Add(last.Lsh(last, 8), &rejected[t])
	}
	last.Mul(last, accepted)
	all := new(big.Int).Lsh(big.NewInt(1), uint(8*(need+slack)))
	return all.Sub(all, last)
}

func firstRejecting(ks []uint32) int {
	for i, k := range ks {
		if lanes, limit := limitOf(k); limit < lanes {
			return i
		}
	}
	return -1
}

func lastRejecting(ks []uint32) int {
	for i := len(ks) - 1; i >= 0; i-- {
		if lanes, limit := limitOf(ks[i]); limit < lanes {
			return i
		}
	}
	return -1
}

// runsOutAt tries tapes of zeros with lanes of ones before draw i, which rejects them: from no such lane to
// one more than slack has room for.
func runsOutAt(run Run, r shuffle.Recipe, ks []uint32, i, slack int) error {
	before := 0
	for _, k := range ks[:i] {
		before += shuffle.LaneWidth(k)
	}
	w := shuffle.LaneWidth(ks[i])
	tape := make([]byte, r.TapeLen())
	for n := range slack/w + 2 {
		clear(tape)
		for b := range n * w {
			if before+b < len(tape) {
				tape[before+b] = 0xff
			}
		}
		_, err := run(r, tape)
		if fits := n*w <= slack; fits && err != nil || !fits && !errors.Is(err, shuffle.ErrTapeExhausted) {
			return fmt.Errorf("%d lanes rejected before draw %d on a tape with %d bytes to spare: error %v", n, i,
				slack, err)
		}
	}
	return nil
}

// Chernoff's bound, for every list of draws (docs/SPEC.md section 2.4).
//
// k ≤ 2^(8w−2), so q = ⌊2^(8w)/k⌋ ≥ 4. The rejected lanes are fewer than k, and therefore fewer than 1/(q+1) of all: a
// lane is rejected with probability p < 1/5. The number R of lanes rejected before a draw has E(x^R) = (1−p)/(1−p·x) ≤
// (4/5)/(1−x/5), 1 ≤ x < 5. With W the widest lane, at least 1, the tape runs out if more than ⌈S/2⌉ + 52·W bytes are
// rejected. For any 1 < u < √5, let each of them count u^(2/W), so that a lane of w bytes counts x = u^(2w/W). Then
//
//	P ≤ u^−104 · Π E(x^R)/√x,
//
// and a factor is at most 1 if 4 ≤ v·(5 − v²) for v = √x = u^(w/W), which lies between 1 and u. The right side is
// concave in v > 0 and is 4 at v = 1, so it is enough that 4 ≤ u·(5 − u²): up to u = (√17−1)/2 = 1.56155….
// chernoffU/chernoffOne is just below.
const (
	chernoffU   = 15_615
	chernoffOne = 10_000
)

// chernoffLog2 is the bound u^−104 as a power of two.
var chernoffLog2 = -104 * math.Log2(float64(chernoffU)/chernoffOne)

// chernoffHolds checks the bound with integers.
func chernoffHolds() error {
	u, one := big.NewInt(chernoffU), big.NewInt(chernoffOne)
	cube := new(big.Int).Exp(one, big.NewInt(3), nil)
	right := new(big.Int).Mul(u, new(big.Int).Sub(
		new(big.Int).Mul(big.NewInt(5), new(big.Int).Mul(one, one)), new(big.Int).Mul(u, u)))
	if left := cube.Mul(cube, big.NewInt(4)); left.Cmp(right) > 0 || u.Cmp(one) <= 0 {
		return fmt.Errorf("chernoff's bound: 4 > u·(5 − u²) at u = %d/%d", chernoffU, chernoffOne)
	}
	// u^−104 < 2^BoundLog2
	e := big.NewInt(104)
	small := new(big.Int).Lsh(new(big.Int).Exp(one, e, nil), -BoundLog2)
	if large := new(big.Int).Exp(u, e, nil); small.Cmp(large) >= 0 {
		return fmt.Errorf("chernoff's bound: 2^%.2f is not below 2^%d", chernoffLog2, BoundLog2)
	}
	return nil
}

// log2 returns the binary logarithm of x > 0.
func log2(x *big.Int) float64 {
	mantissa := new(big.Float)
	exponent := new(big.Float).SetInt(x).MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log2(m) + float64(exponent)
}
