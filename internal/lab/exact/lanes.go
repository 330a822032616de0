package exact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/shuffle"
)

// MaxEnumerated is the largest k whose lanes are all tried: the largest of a
// two-byte lane.
const MaxEnumerated = 1 << 14

// LanesReport says that draws are exactly uniform on uniform lanes.
type LanesReport struct {
	Verdict
	// Enumerated are the draws whose lanes were all tried, by lane width.
	Enumerated []Width `json:"enumerated"`
	// Wide are the draws with lanes too many to try, looked at where a draw can
	// go wrong.
	Wide WideDraws `json:"wide"`
	// Cards says how the shuffle's own way to draw was tried.
	Cards CardDraws `json:"cards"`
}

// Width is what was tried of the draws with lanes of one width.
type Width struct {
	Bytes    int    `json:"lane_bytes"`
	From     uint32 `json:"from_k"`
	To       uint32 `json:"to_k"`
	Draws    uint64 `json:"draws"` // values of k
	Lanes    uint64 `json:"lanes"` // all lanes of all of them
	Rejected uint64 `json:"rejected"`
	// WorstK rejects the largest share of its lanes.
	WorstK        uint32 `json:"worst_k"`
	WorstRejected uint64 `json:"worst_rejected"`
}

// WideDraws is what was tried of the draws with four-byte lanes.
type WideDraws struct {
	Draws uint64 `json:"draws"`
	Lanes uint64 `json:"lanes"`
	From  uint32 `json:"from_k"`
	To    uint32 `json:"to_k"`
}

// CardDraws is what was tried of the first draw of a shuffle of n cards.
type CardDraws struct {
	Enumerated uint64 `json:"enumerated_decks"` // all lanes tried
	Edges      uint64 `json:"edge_decks"`       // looked at where a draw can go wrong
	Lanes      uint64 `json:"lanes"`
}

// EveryK returns the draws whose lanes are enumerated, 2..MaxEnumerated. A draw
// 1..1 takes no lane.
func EveryK() []uint32 {
	ks := make([]uint32, 0, MaxEnumerated)
	for k := uint32(2); k <= MaxEnumerated; k++ {
		ks = append(ks, k)
	}
	return ks
}

// WideK returns draws with four-byte lanes. For every quotient ⌊2^32/k⌋ that
// there is, it has the smallest k, which rejects the most lanes of those, and the
// largest, and for every power of two its neighbours.
func WideK() (ks []uint32) {
	const lanes = 1 << 32
	for q := uint64(4); q <= lanes/(MaxEnumerated+1); q++ {
		ks = append(ks, uint32(max(lanes/(q+1), MaxEnumerated)+1), uint32(lanes/q))
	}
	for p := uint32(2 * MaxEnumerated); p <= shuffle.MaxRange; p *= 2 {
		ks = append(ks, p-1, p, min(p+1, shuffle.MaxRange))
	}
	slices.Sort(ks)
	return slices.Compact(ks)
}

// Lanes proves of every k of ks, 2 ≤ k ≤ MaxEnumerated, that each value 1..k
// comes from exactly ⌊2^(8w)/k⌋ of the 2^(8w) lanes of w bytes and that the rest
// are rejected, by drawing from every lane. Draws with wider lanes it tries at
// the edges of wide, and the first draw of a shuffle for every size of deck.
// Progress counts lanes.
//
// Where lanes are not enumerated, the argument is this. limit = ⌊2^32/k⌋·k is the
// largest multiple of k there are lanes for. The lanes below it are limit/k runs of
// k neighbours, and 1 + x mod k takes every value once in each run. So it is
// enough that a draw accepts exactly the lanes below limit and takes x mod k, and
// that is what the edges show: the first and last lane of the first and of the last
// run, both sides of the limit, and the last lane of all.
func Lanes(ctx context.Context, run Run, ks, wide []uint32, o Options) (*LanesReport, error) {
	report := &LanesReport{Enumerated: widths(ks), Wide: wideDraws(wide)}
	var jobs []laneJob
	for _, k := range ks {
		lanes, _ := limitOf(k)
		jobs = append(jobs, laneJob{k: k, lanes: lanes, prove: (*laneProver).every})
	}
	for _, k := range wide {
		jobs = append(jobs, laneJob{k: k, lanes: uint64(len(edges(k))), prove: (*laneProver).edges})
	}
	jobs = append(jobs, cardJobs(&report.Cards)...)
	fault, err := each(ctx, o, jobs, func(j laneJob) uint64 { return j.lanes }, func() func(laneJob) error {
		p := newLaneProver(run)
		return func(j laneJob) error { return j.prove(p, j.k) }
	})
	if err != nil {
		return nil, err
	}
	report.Verdict = verdict(fault)
	return report, nil
}

// laneJob is one draw and the way to prove it.
type laneJob struct {
	k     uint32
	lanes uint64
	prove func(*laneProver, uint32) error
}

// cardJobs are the first draws of shuffles. Up to 64 cards a shuffle draws by a
// pass of its own over one-byte lanes, and that one is enumerated; above, it
// draws as draw lists do.
func cardJobs(c *CardDraws) (jobs []laneJob) {
	for k := uint32(shuffle.MinCards); k <= shuffle.MaxCards; k++ {
		j := laneJob{k: k, lanes: uint64(len(edges(k))), prove: (*laneProver).cardEdges}
		if shuffle.LaneWidth(k) == 1 {
			j.lanes, j.prove = 1<<8, (*laneProver).everyCard
			c.Enumerated++
		} else {
			c.Edges++
		}
		c.Lanes += j.lanes
		jobs = append(jobs, j)
	}
	return jobs
}

func widths(ks []uint32) (ws []Width) {
	for _, k := range ks {
		lanes, limit := limitOf(k)
		i := slices.IndexFunc(ws, func(w Width) bool { return w.Bytes == shuffle.LaneWidth(k) })
		if i < 0 {
			i, ws = len(ws), append(ws, Width{Bytes: shuffle.LaneWidth(k), From: k, To: k})
		}
		w := &ws[i]
		w.From, w.To = min(w.From, k), max(w.To, k)
		w.Draws++
		w.Lanes += lanes
		w.Rejected += lanes - limit
		if lanes-limit > w.WorstRejected {
			w.WorstK, w.WorstRejected = k, lanes-limit
		}
	}
	return ws
}

func wideDraws(ks []uint32) (d WideDraws) {
	if len(ks) == 0 {
		return d
	}
	d = WideDraws{Draws: uint64(len(ks)), From: slices.Min(ks), To: slices.Max(ks)}
	for _, k := range ks {
		d.Lanes += uint64(len(edges(k)))
	}
	return d
}

// edges are the lanes where a draw 1..k can go wrong.
func edges(k uint32) []uint64 {
	lanes, limit := limitOf(k)
	xs := []uint64{0, 1, uint64(k) - 1, uint64(k), limit - uint64(k), limit - 1, lanes - 1}
	if limit < lanes {
		xs = append(xs, limit)
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// block is the number of lanes that one tape offers to as many draws.
const block = shuffle.MaxRanges - 1

// rejectedBlock is the number of lanes on the tape of a single draw: all fit.
const rejectedBlock = 52

// laneProver belongs to one goroutine.
type laneProver struct {
	run    Run
	every1 []byte   // all one-byte lanes, in order
	every2 []byte   // all two-byte lanes
	ranges []uint32 // block draws 1..k and one 1..64
	counts []uint32 // by value
	tape   []byte
}

func newLaneProver(run Run) *laneProver {
	p := &laneProver{run: run, ranges: make([]uint32, block+1), counts: make([]uint32, MaxEnumerated+1), tape: make([]byte, shuffle.MaxTape)}
	p.every1, p.every2 = make([]byte, 1<<8), make([]byte, 2<<16)
	for x := range 1 << 8 {
		p.every1[x] = byte(x)
	}
	for x := range 1 << 16 {
		putLane(p.every2[2*x:], 2, uint64(x))
	}
	return p
}

// every proves one draw of a draw list by all its lanes.
func (p *laneProver) every(k uint32) error {
	w := shuffle.LaneWidth(k)
	all := map[int][]byte{1: p.every1, 2: p.every2}[w]
	if all == nil {
		return fmt.Errorf("draw 1..%d: lanes of %d bytes are too many to try", k, w)
	}
	lanes, limit := limitOf(k)
	for i := range p.ranges {
		p.ranges[i] = k
	}
	clear(p.counts)
	for from := uint64(0); from < limit; from += block {
		to := min(from+block, limit)
		if err := p.accepted(k, all[int(from)*w:int(to)*w]); err != nil {
			return err
		}
	}
	for v, c := range p.counts[1 : k+1] {
		if uint64(c) != lanes/uint64(k) {
			return fmt.Errorf("draw 1..%d: %d came from %d of %d lanes, not %d", k, v+1, c, lanes, lanes/uint64(k))
		}
	}
	for from := limit; from < lanes; from += rejectedBlock {
		to := min(from+rejectedBlock, lanes)
		if err := p.rejected(k, all[int(from)*w:int(to)*w]); err != nil {
			return err
		}
	}
	return nil
}

// accepted offers lanes to as many draws 1..k and counts the values. A last draw
// 1..64 takes the byte behind the lanes, a 0 with 1s behind it, and so tells that
// the draws took exactly these lanes: had one been rejected, it would read a 1.
func (p *laneProver) accepted(k uint32, lanes []byte) error {
	n := len(lanes) / shuffle.LaneWidth(k)
	r := shuffle.Recipe{Ranges: p.ranges[:n+1]}
	r.Ranges[n] = 64
	defer func() { r.Ranges[n] = k }()
	tape := p.tape[:r.TapeLen()]
	end := tape[copy(tape, lanes):]
	end[0], end[1] = 0, 1
	fill(end[1:], 1)
	out, err := p.run(r, tape)
	if err != nil {
		return fmt.Errorf("draw 1..%d: lanes %x to %x: %w", k, first(lanes, n), last(lanes, n), err)
	}
	if len(out.Values) != n+1 || out.Values[n] != 1 {
		return fmt.Errorf("draw 1..%d: %d draws did not take exactly the %d lanes %x to %x", k, n, n, first(lanes, n), last(lanes, n))
	}
	for i, v := range out.Values[:n] {
		if v-1 >= k { // 0 as well
			return fmt.Errorf("draw 1..%d: lane %d after %x gave %d", k, i, first(lanes, n), v)
		}
		p.counts[v]++
	}
	return nil
}

func first(lanes []byte, n int) []byte { return lanes[:len(lanes)/n] }
func last(lanes []byte, n int) []byte  { return lanes[len(lanes)-len(lanes)/n:] }

// rejected makes a whole tape of the lanes, over and over. It must run out: had
// one of them been accepted, there would be a value.
func (p *laneProver) rejected(k uint32, lanes []byte) error {
	p.ranges[0] = k
	r := shuffle.Recipe{Ranges: p.ranges[:1]}
	tape := p.tape[:r.TapeLen()]
	fill(tape, copy(tape, lanes))
	out, err := p.run(r, tape)
	if !errors.Is(err, shuffle.ErrTapeExhausted) {
		n := len(lanes) / shuffle.LaneWidth(k)
		return cmp.Or(err, notRejected(k, fmt.Sprintf("%x to %x", first(lanes, n), last(lanes, n)), out))
	}
	return nil
}

// one returns what r makes of a tape of nothing but lane x: its first value, or
// ok false when it is rejected.
func (p *laneProver) one(r shuffle.Recipe, w int, x uint64) (v uint32, ok bool, err error) {
	tape := p.tape[:r.TapeLen()]
	putLane(tape, w, x)
	fill(tape, w)
	out, err := p.run(r, tape)
	switch {
	case errors.Is(err, shuffle.ErrTapeExhausted):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case len(out.Values) != 1:
		return 0, false, fmt.Errorf("%d values, not 1", len(out.Values))
	}
	return out.Values[0], true, nil
}

// edges proves one draw of a draw list by the lanes at its edges.
func (p *laneProver) edges(k uint32) error {
	p.ranges[0] = k
	return p.atEdges(k, shuffle.Recipe{Ranges: p.ranges[:1]}, 1)
}

// cardEdges is edges for the first draw of a shuffle of k cards, whose value
// counts from 0.
func (p *laneProver) cardEdges(k uint32) error {
	return p.atEdges(k, shuffle.Recipe{Cards: int(k), Take: 1}, 0)
}

func (p *laneProver) atEdges(k uint32, r shuffle.Recipe, least uint32) error {
	_, limit := limitOf(k)
	for _, x := range edges(k) {
		v, ok, err := p.one(r, shuffle.LaneWidth(k), x)
		switch want := least + uint32(x%uint64(k)); {
		case err != nil:
			return fmt.Errorf("draw 1..%d: lane %d: %w", k, x, err)
		case ok && x >= limit:
			return fmt.Errorf("draw 1..%d: lane %d gave a value, from the limit %d on none may", k, x, limit)
		case !ok && x < limit:
			return fmt.Errorf("draw 1..%d: lane %d is below the limit %d and was rejected", k, x, limit)
		case ok && v != want:
			return fmt.Errorf("draw 1..%d: lane %d gave %d, not %d", k, x, v, want)
		}
	}
	return nil
}

// everyCard is every for the first draw of a shuffle of k cards.
func (p *laneProver) everyCard(k uint32) error {
	w, r := shuffle.LaneWidth(k), shuffle.Recipe{Cards: int(k), Take: 1}
	lanes, limit := limitOf(k)
	rejected := uint64(0)
	clear(p.counts)
	for x := range lanes {
		v, ok, err := p.one(r, w, x)
		switch {
		case err != nil:
			return fmt.Errorf("first of %d cards: lane %d: %w", k, x, err)
		case ok && v >= k:
			return fmt.Errorf("first of %d cards: lane %d gave card %d", k, x, v)
		case !ok:
			rejected++
		default:
			p.counts[v]++
		}
	}
	for v, c := range p.counts[:k] {
		if uint64(c) != lanes/uint64(k) || rejected != lanes-limit {
			return fmt.Errorf("first of %d cards: card %d came from %d of %d lanes, not %d; %d were rejected", k, v, c, lanes, lanes/uint64(k), rejected)
		}
	}
	return nil
}
