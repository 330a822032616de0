package exact

import (
	"fmt"
	"math/big"

	"shuffled/internal/shuffle"
)

// StateBits are the sizes of generator state that the budget compares with.
var StateBits = []int{32, 48, 64, 128, 160, 256}

// BudgetReport says that a tape has room for every order of a deck.
type BudgetReport struct {
	Verdict
	Decks []Budget `json:"decks"`
	// Largest are the largest decks of which states of StateBits could give every order.
	Largest []int `json:"largest_decks"`
}

// Budget is one deck, in bits.
type Budget struct {
	Name  string `json:"name"`
	Decks int    `json:"decks,omitempty"` // of 52 cards, for a shoe
	Cards int    `json:"cards"`
	// OrdersLog2 is log2(n!): all cards are distinct.
	OrdersLog2 float64 `json:"orders_log2"`
	// FacesLog2 is the same with equal cards counted as one: log2(n!/Π m!).
	FacesLog2 float64 `json:"faces_log2"`
	// NeedBits are 8·S, consumed even if no lane is rejected. TapeBits are 8·L.
	NeedBits int `json:"need_bits"`
	TapeBits int `json:"tape_bits"`
	// Reach bounds, for each size of state, the orders that it can give.
	Reach []Reach `json:"reach"`
}

// Reach bounds the share of orders, all cards being distinct, that a generator with this many bits of state
// can give: one order for each state.
type Reach struct {
	StateBits int `json:"state_bits"`
	// SharePercent is a decimal number of two digits, "100" for all: a float64 cannot hold most of them.
	SharePercent string  `json:"share_percent"`
	ShareLog2    float64 `json:"share_log2"` // 0 for all
}

// Budgets computes the budget of shoes of 1, 2, 6 and 8 decks and then of all other named decks. It proves that a tape
// has enough bits for every order, without the bits for rejected lanes: n! ≤ 2^8S. need is Recipe.Need.
func Budgets(need func(shuffle.Recipe) (s, widest int)) *BudgetReport {
	report := new(BudgetReport)
	var fault error
	for _, name := range budgetNames() {
		d, _ := shuffle.Named(name)
		b, err := budgetOf(d, need)
		if err != nil && fault == nil {
			fault = err
		}
		report.Decks = append(report.Decks, b)
	}
	for _, bits := range StateBits {
		report.Largest = append(report.Largest, LargestDeck(bits))
	}
	report.Verdict = verdict(fault)
	return report
}

// LargestDeck returns the largest n with n! ≤ 2^bits: a generator with this many bits of state misses some
// orders of a larger deck, whatever it does.
func LargestDeck(bits int) (n int) {
	states := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	for n = 1; factorial(n+1).Cmp(states) <= 0; n++ {
	}
	return n
}

// Log2Factorial returns log2 n! to two decimals.
func Log2Factorial(n int) string { return fmt.Sprintf("%.2f", log2(factorial(n))) }

// Reaches bounds, for each of StateBits, the share of the orders of n cards that it could give.
func Reaches(n int) (reaches []Reach) {
	for _, bits := range StateBits {
		reaches = append(reaches, reachOf(bits, factorial(n)))
	}
	return reaches
}

func budgetNames() []string {
	first := []string{"shoe-1", "shoe-2", "shoe-6", "shoe-8"}
	names := first
	for _, name := range shuffle.Names() {
		listed := false
		for _, f := range first {
			listed = listed || f == name
		}
		if !listed {
			names = append(names, name)
		}
	}
	return names
}

func budgetOf(d shuffle.Deck, need func(shuffle.Recipe) (s, widest int)) (b Budget, err error) {
	r := shuffle.Recipe{Cards: d.Len(), Take: d.Len()}
	s, _ := need(r)
	orders := factorial(d.Len())
	b = Budget{
		Name: d.Name(), Cards: d.Len(),
		OrdersLog2: log2(orders), FacesLog2: log2(faces(d, orders)),
		NeedBits: 8 * s, TapeBits: 8 * r.TapeLen(),
	}
	if _, scanErr := fmt.Sscanf(d.Name(), "shoe-%d", &b.Decks); scanErr != nil {
		b.Decks = 0
	}
	b.Reach = Reaches(d.Len())
	if orders.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(b.NeedBits))) > 0 {
		err = fmt.Errorf("%s: %d bits are less than log2 %d! = %.2f", b.Name, b.NeedBits, b.Cards, b.OrdersLog2)
	}
	return b, err
}

func factorial(n int) *big.Int { return new(big.Int).MulRange(1, int64(n)) }

// faces returns n!/Π m! over the cards of one name each.
func faces(d shuffle.Deck, orders *big.Int) *big.Int {
	copies := make(map[string]int)
	for _, c := range d.Cards() {
		copies[c]++
	}
	n := new(big.Int).Set(orders)
	for _, m := range copies {
		n.Quo(n, factorial(m)) // exact: a multinomial coefficient stays whole
	}
	return n
}

// reachOf returns min(1, 2^bits/orders).
func reachOf(bits int, orders *big.Int) Reach {
	states := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if states.Cmp(orders) >= 0 {
		return Reach{StateBits: bits, SharePercent: "100"}
	}
	percent := new(big.Float).Quo(new(big.Float).SetInt(states.Mul(states, big.NewInt(100))),
		new(big.Float).SetInt(orders))
	return Reach{bits, percent.Text('e', 1), float64(bits) - log2(orders)}
}
