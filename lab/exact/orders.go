package exact

import (
	"context"
	"fmt"

	"shuffled/internal/shuffle"
)

// MaxOrderCards is the largest deck whose orders are all made: 9! = 362,880. Only the time limits it.
const MaxOrderCards = 9

// OrdersReport says that each order comes from exactly one vector of draws.
type OrdersReport struct {
	Verdict
	Decks []Orders `json:"decks"`
}

// Orders has the tried orders of one deck.
type Orders struct {
	Cards   int    `json:"cards"`
	Orders  uint64 `json:"orders"`  // n!, each from one vector
	Partial uint64 `json:"partial"` // orders of the first m cards, for all m < n together
}

// AllOrders proves, for every deck of 2 to most ≤ 12 cards and every take m of n, that the n!/(n−m)!
// vectors of draws give the n!/(n−m)! orders, each once. Exact draws make the vectors equally likely
// (Lanes), and therefore the orders. Progress counts vectors.
//
// For more cards the argument is the same without a trial: i + draw(n−i) − 1 may be any card that has no
// place yet, so an order determines its draws one by one.
func AllOrders(ctx context.Context, run Run, most int, o Options) (*OrdersReport, error) {
	report := new(OrdersReport)
	var jobs []orderJob
	for n := shuffle.MinCards; n <= most; n++ {
		deck := Orders{Cards: n}
		for m := 1; m <= n; m++ {
			j := orderJob{n, m, ordersOf(n, m)}
			jobs = append(jobs, j)
			if m < n {
				deck.Partial += j.orders
			} else {
				deck.Orders = j.orders
			}
		}
		report.Decks = append(report.Decks, deck)
	}
	fault, err := each(ctx, o, jobs, func(j orderJob) uint64 { return j.orders }, func() func(orderJob) error {
		return func(j orderJob) error { return j.prove(run) }
	})
	if err != nil {
		return nil, err
	}
	report.Verdict = verdict(fault)
	return report, nil
}

// orderJob is m of n cards.
type orderJob struct {
	n, m   int
	orders uint64
}

// ordersOf returns n!/(n−m)!.
func ordersOf(n, m int) uint64 {
	orders := uint64(1)
	for i := range m {
		orders *= uint64(n - i)
	}
	return orders
}

// prove goes through the vectors like an odometer. There are as many vectors as orders, and no order comes
// twice, so each order comes once.
func (j orderJob) prove(run Run) error {
	r := shuffle.Recipe{Cards: j.n, Take: j.m}
	tape := make([]byte, r.TapeLen())
	draws := make([]int, j.m) // 0..n−i−1 each: the draw less 1
	seen := make([]bool, j.orders)
	for turn := range j.orders {
		writeDraws(tape, j.n, draws, int(turn))
		out, err := run(r, tape)
		if err != nil {
			return fmt.Errorf("%d of %d cards: draws %d: %w", j.m, j.n, plusOne(draws), err)
		}
		rank, ok := rankOf(out.Values, j.n, j.m)
		if !ok {
			return fmt.Errorf("%d of %d cards: draws %d give %d, which is no order", j.m, j.n, plusOne(draws),
				out.Values)
		}
		if seen[rank] {
			return fmt.Errorf("%d of %d cards: draws %d give %d, as other draws did", j.m, j.n, plusOne(draws),
				out.Values)
		}
		seen[rank] = true
		for i := j.m - 1; i >= 0; i-- {
			if draws[i]++; draws[i] < j.n-i {
				break
			}
			draws[i] = 0
		}
	}
	return nil
}

// writeDraws puts lanes on the tape that give exactly these draws. turn picks one of the lanes that give a
// draw, another one each time.
func writeDraws(tape []byte, n int, draws []int, turn int) {
	for i, v := range draws {
		if k := n - i; k > 1 { // a draw 1..1 takes no lane
			tape[i] = byte(v + k*(turn%(256/k)))
		}
	}
}

func plusOne(draws []int) []int {
	vector := make([]int, len(draws))
	for i, v := range draws {
		vector[i] = v + 1
	}
	return vector
}

// rankOf numbers the orders of m of n cards from 0, n ≤ 64; ok is false if it is no order.
func rankOf(values []uint32, n, m int) (rank int, ok bool) {
	if len(values) != m {
		return 0, false
	}
	var taken uint64
	for i, v := range values {
		if int64(v) >= int64(n) || taken>>v&1 != 0 {
			return 0, false
		}
		below := int(v) // cards below v that are not taken
		for _, earlier := range values[:i] {
			if earlier < v {
				below--
			}
		}
		rank = rank*(n-i) + below
		taken |= 1 << v
	}
	return rank, true
}
