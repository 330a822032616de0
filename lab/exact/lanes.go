package exact

import (
	"context"
	"slices"

	"shuffled/internal/shuffle"
)

// MaxEnumerated is the largest k whose lanes are all tried: the largest with a two-byte lane.
const MaxEnumerated = 1 << 14

// LanesReport says that draws are exactly uniform on uniform lanes.
type LanesReport struct {
	Verdict
	// Enumerated are the draws whose lanes were all tried, by lane width.
	Enumerated []Width `json:"enumerated"`
	// Wide are the draws with too many lanes to try, tried at the lanes at which a draw can go wrong.
	Wide WideDraws `json:"wide"`
	// Halves are some of them, tried at every high half of a lane and at every low half.
	Halves WideDraws `json:"halves"`
}

// Width has the tried draws with lanes of one width.
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

// WideDraws has the tried draws with four-byte lanes.
type WideDraws struct {
	Draws uint64 `json:"draws"`
	Lanes uint64 `json:"lanes"`
	From  uint32 `json:"from_k"`
	To    uint32 `json:"to_k"`
}

// EveryK returns the draws whose lanes are enumerated, 2..MaxEnumerated. A draw 1..1 takes no lane.
func EveryK() []uint32 {
	ks := make([]uint32, 0, MaxEnumerated)
	for k := uint32(2); k <= MaxEnumerated; k++ {
		ks = append(ks, k)
	}
	return ks
}

// WideK returns draws with four-byte lanes. For every quotient ⌊2^32/k⌋ that occurs, it has the smallest k,
// which rejects the most lanes of them, and the largest. For every power of two it has the neighbours, and it has
// HalvesK.
func WideK() (ks []uint32) {
	const lanes = 1 << 32
	for q := uint64(4); q <= lanes/(MaxEnumerated+1); q++ {
		ks = append(ks, uint32(max(lanes/(q+1), MaxEnumerated)+1), uint32(lanes/q))
	}
	for p := uint32(2 * MaxEnumerated); p <= shuffle.MaxRange; p *= 2 {
		ks = append(ks, p-1, p, min(p+1, shuffle.MaxRange))
	}
	ks = append(ks, HalvesK()...)
	slices.Sort(ks)
	return slices.Compact(ks)
}

// HalvesK returns a draw of each kind with four-byte lanes: the smallest, powers of two, their neighbours, a small one,
// a prime, the one that rejects the most lanes, and the largest.
func HalvesK() []uint32 {
	return []uint32{MaxEnumerated + 1, 20_000, 1<<16 - 1, 1 << 16, 1_000_003, 1<<24 + 1, 858_993_460,
		shuffle.MaxRange - 1, shuffle.MaxRange}
}

// Lanes proves for every k of ks, 2 ≤ k ≤ MaxEnumerated, that each value 1..k comes from exactly ⌊2^(8w)/k⌋ of the
// 2^(8w) lanes of w bytes and that the rest are rejected, by drawing from every lane. It tries draws of wide, with
// wider lanes, at their edges, and those of halves at every high and every low half. Progress counts lanes.
//
// If lanes are not enumerated, the argument is this. limit = ⌊2^32/k⌋·k is the largest multiple of k that is at most
// 2^32. The lanes below it are limit/k blocks of k neighbours, and 1 + x mod k takes every value once in each block. It
// is therefore enough that a draw accepts exactly the lanes below limit and takes x mod k. The edges try this: the
// first and last lane of the first and of the last block, both sides of the limit, and the last lane of all. The halves
// try that the draw looks at all bytes of a lane alike.
func Lanes(ctx context.Context, run Run, ks, wide, halves []uint32, o Options) (*LanesReport, error) {
	report := &LanesReport{Enumerated: widths(ks), Wide: wideDraws(wide, edges), Halves: wideDraws(halves, everyHalf)}
	var jobs []laneJob
	for _, k := range ks {
		lanes, _ := limitOf(k)
		jobs = append(jobs, laneJob{k: k, lanes: lanes, prove: (*laneProver).every})
	}
	for _, k := range wide {
		jobs = append(jobs, laneJob{k: k, lanes: uint64(len(edges(k))), prove: (*laneProver).edges})
	}
	for _, k := range halves {
		jobs = append(jobs, laneJob{k: k, lanes: halvesLanes, prove: (*laneProver).halves})
	}
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

func wideDraws(ks []uint32, lanes func(k uint32) []uint64) (d WideDraws) {
	if len(ks) == 0 {
		return d
	}
	d = WideDraws{Draws: uint64(len(ks)), From: slices.Min(ks), To: slices.Max(ks)}
	for _, k := range ks {
		d.Lanes += uint64(len(lanes(k)))
	}
	return d
}

// edges are the lanes at which a draw 1..k can go wrong.
func edges(k uint32) []uint64 {
	lanes, limit := limitOf(k)
	xs := []uint64{0, 1, uint64(k) - 1, uint64(k), limit - uint64(k), limit - 1, lanes - 1}
	if limit < lanes {
		xs = append(xs, limit)
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// halvesLanes is the number of lanes of everyHalf.
const halvesLanes = 6 << 16

// everyHalf are lanes of four bytes: every high half with a first, a last and another low half, and every low half with
// the first high half, one in the middle and another.
func everyHalf(uint32) []uint64 {
	xs := make([]uint64, 0, halvesLanes)
	for half := range uint64(1 << 16) {
		other := half * 40_503 % (1 << 16) // each of the others once
		xs = append(xs, half<<16, half<<16|0xffff, half<<16|other, half, 0x7fff<<16|half, other<<16|half)
	}
	return xs
}
