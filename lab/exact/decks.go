package exact

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/shuffle"
)

// MaxPairCards is the largest deck of which every pair of draws is tried. Only the time limits it.
const MaxPairCards = 54

// DecksReport says that whole decks are dealt by the swaps of docs/SPEC.md section 2.2, in every tried case.
type DecksReport struct {
	Verdict
	Decks []Deck `json:"decks"`
}

// Deck is a number of cards or a span of such numbers, and the cases that were tried of each.
type Deck struct {
	Cards int      `json:"cards"`
	To    int      `json:"to,omitempty"` // of a span the last number
	Names []string `json:"names"`        // the published decks of so many cards
	// Lanes counts the shuffles with one draw that is not 1: for each place, every lane of one byte; for wider lanes,
	// the lanes at the edges and, in a deck that is not of a span, one for every value. EveryLane says that all draws
	// have lanes of one byte. Three says that only the first place, the middle one and the last one with a lane of
	// two bytes were tried.
	Lanes     uint64 `json:"lanes"`
	EveryLane bool   `json:"every_lane"`
	Three     bool   `json:"three_places,omitempty"`
	// Pairs counts the shuffles with every pair of values at two places, and 1 at all others: none above MaxPairCards,
	// and none of a published deck, whose size a span has.
	Pairs uint64 `json:"pairs"`
	// Random counts the orders of draws that a fixed sequence chose, Rejected the lanes to reject that were
	// put before their draws.
	Random   uint64 `json:"random"`
	Rejected uint64 `json:"rejected"`
}

// AllDecks returns every size of a deck. The published ones come first, with 20,000 random orders each, and 1,000,000
// of 52 cards. Small ones, those about the largest published one and the largest of all are tried at every place.
func AllDecks() (decks []Deck) {
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		i := slices.IndexFunc(decks, func(of Deck) bool { return of.Cards == d.Len() })
		if i < 0 {
			i = len(decks)
			decks = append(decks, Deck{Cards: d.Len(), Random: 20_000})
		}
		decks[i].Names = append(decks[i].Names, name)
		if d.Len() == 52 {
			decks[i].Random = 1_000_000
		}
	}
	slices.SortFunc(decks, func(a, b Deck) int { return a.Cards - b.Cards })
	return append(decks, Deck{Cards: shuffle.MinCards, To: 64, Random: 500}, Deck{Cards: 831, To: 834, Random: 500},
		Deck{Cards: shuffle.MaxCards - 1, To: shuffle.MaxCards, Random: 500},
		Deck{Cards: 65, To: shuffle.MaxCards, Random: 5, Three: true})
}

// Decks compares run with the swaps, computed separately, for every deck of decks. It reads their Cards, To, Names,
// Three and Random. Progress counts shuffles.
//
// It tries every draw alone, every pair of draws of decks up to MaxPairCards, and random draws with lanes
// to reject before them. A function that agrees with the swaps on all draws gives each order once
// (AllOrders says why). It is not proved here that it agrees on draws that are not tried.
func Decks(ctx context.Context, run Run, decks []Deck, o Options) (*DecksReport, error) {
	report := &DecksReport{Decks: slices.Clone(decks)}
	var jobs []*deckJob
	for i := range report.Decks {
		jobs = append(jobs, deckJobs(&report.Decks[i])...)
	}
	fault, err := each(ctx, o, jobs, func(j *deckJob) uint64 { return j.shuffles }, func() func(*deckJob) error {
		p := &deckProver{run: run, want: make([]uint32, shuffle.MaxCards), tape: make([]byte, shuffle.MaxTape)}
		return func(j *deckJob) error { return j.prove(p, j) }
	})
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		j.of.Rejected += j.rejected
	}
	report.Verdict = verdict(fault)
	return report, nil
}

// deckJob is a part of the work on one deck.
type deckJob struct {
	of       *Deck
	n        int // cards
	at       int // the place of the draw, or the number of the part of the random orders
	shuffles uint64
	rejected uint64 // of random orders, when it is done
	prove    func(*deckProver, *deckJob) error
}

// randomPart is the number of random orders in a job.
const randomPart = 10_000

func deckJobs(d *Deck) (jobs []*deckJob) {
	d.EveryLane = shuffle.LaneWidth(uint32(max(d.Cards, d.To))) == 1
	for n := d.Cards; n <= max(d.Cards, d.To); n++ {
		for i := range n - 1 {
			if d.Three && i != 0 && i != n/2 && i != n-65 {
				continue
			}
			j := &deckJob{of: d, n: n, at: i, shuffles: uint64(len(d.lanesToTry(n, i))), prove: (*deckProver).single}
			d.Lanes += j.shuffles
			jobs = append(jobs, j)
		}
		for i := 0; i < n-1 && n <= MaxPairCards && d.Names == nil; i++ {
			later := (n - i) * (n - i - 1) / 2 // places after i times their values
			j := &deckJob{of: d, n: n, at: i, shuffles: uint64(later * (n - i)), prove: (*deckProver).pairs}
			d.Pairs += j.shuffles
			jobs = append(jobs, j)
		}
		for from := uint64(0); from < d.Random; from += randomPart {
			jobs = append(jobs, &deckJob{of: d, n: n, at: int(from / randomPart),
				shuffles: min(randomPart, d.Random-from), prove: (*deckProver).random})
		}
	}
	return jobs
}

// lanesToTry are the lanes of draw i of n cards: all lanes of one byte; of two bytes those at the edges and, if the
// deck is not of a span, one for each value, from every part of the range.
func (d *Deck) lanesToTry(n, i int) (xs []uint64) {
	k := uint32(n - i)
	lanes, limit := limitOf(k)
	if shuffle.LaneWidth(k) == 1 {
		for x := range lanes {
			xs = append(xs, x)
		}
		return xs
	}
	for v := uint64(0); v < uint64(k) && d.To == 0; v++ {
		xs = append(xs, v+uint64(k)*(v%(limit/uint64(k))))
	}
	return append(xs, edges(k)...)
}

// deckProver belongs to one goroutine.
type deckProver struct {
	run  Run
	want []uint32
	tape []byte
}

// fresh returns the tape of an order of n cards whose draws are all 1, and the order that it gives.
func (p *deckProver) fresh(n int) (r shuffle.Recipe, tape []byte, want []uint32) {
	r = shuffle.Recipe{Cards: n, Take: n}
	tape, want = p.tape[:r.TapeLen()], p.want[:n]
	clear(tape) // lane 0 is draw 1, of every k
	for i := range want {
		want[i] = uint32(i)
	}
	return r, tape, want
}

// single tries the lanes of the draw at one place, all other draws being 1. The order
// is then that of a new deck, except one swap.
func (p *deckProver) single(j *deckJob) error {
	n, i := j.n, j.at
	r, tape, want := p.fresh(n)
	k := uint64(n - i)
	w, at := shuffle.LaneWidth(uint32(k)), offset(n, i)
	_, limit := limitOf(uint32(k))
	for _, x := range j.of.lanesToTry(n, i) {
		clear(tape)
		putLane(tape[at:], w, x)
		v := x % k
		if x >= limit {
			// The next lane gives another value, so a function that takes this one is found.
			v = (v + 1) % k
			putLane(tape[at+w:], w, v)
		}
		to := i + int(v)
		want[i], want[to] = want[to], want[i]
		if err := p.agrees(r, tape, want, 0); err != nil {
			return fmt.Errorf("%d cards, lane %d of draw %d, all others 1: %w", n, x, i+1, err)
		}
		want[i], want[to] = want[to], want[i]
	}
	return nil
}

// pairs tries every pair of values of the draw at one place and at each later one.
func (p *deckProver) pairs(j *deckJob) error {
	n, i := j.n, j.at
	r, tape, want := p.fresh(n)
	a, b := swapper{n, i}, swapper{n, 0}
	for v := range n - i {
		a.put(tape, want, v)
		for b.at = i + 1; b.at < n; b.at++ {
			for u := range n - b.at {
				b.put(tape, want, u)
				if err := p.agrees(r, tape, want, 0); err != nil {
					return fmt.Errorf("%d cards, draw %d of %d and draw %d of %d, all others 1: %w", n, i+1, v+1,
						b.at+1, u+1, err)
				}
				b.take(tape, want, u)
			}
		}
		a.take(tape, want, v)
	}
	return nil
}

// swapper puts one draw on a tape of one-byte lanes, and its swap into the order.
type swapper struct{ n, at int }

func (s swapper) put(tape []byte, want []uint32, v int) {
	if k := s.n - s.at; k > 1 { // a draw 1..1 takes no lane
		tape[s.at] = byte(v + k*((v+s.at)%(256/k)))
	}
	want[s.at], want[s.at+v] = want[s.at+v], want[s.at]
}

func (s swapper) take(tape []byte, want []uint32, v int) {
	tape[s.at] = 0
	want[s.at], want[s.at+v] = want[s.at+v], want[s.at]
}

// offset returns where the lane of draw i of n cards is if none was rejected.
func offset(n, i int) int {
	s, _ := shuffle.Recipe{Cards: n, Take: max(i, 1)}.Need()
	return s * min(i, 1)
}

// agrees runs the tape and compares the outcome with the wanted order.
func (p *deckProver) agrees(r shuffle.Recipe, tape []byte, want []uint32, endAt int) error {
	out, err := p.run(r, tape)
	switch {
	case err != nil:
		return err
	case len(out.Values) != len(want):
		return fmt.Errorf("%d cards came out, not %d", len(out.Values), len(want))
	case !slices.Equal(out.Values, want):
		i := 0
		for out.Values[i] == want[i] {
			i++
		}
		return fmt.Errorf("place %d holds card %d, and the swaps put card %d there", i, out.Values[i], want[i])
	case out.EndAt != endAt:
		return fmt.Errorf("end_at %d is not %d, which the draw gives", out.EndAt, endAt)
	}
	return nil
}
