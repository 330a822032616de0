// Package lesson writes docs/SHUFFLING.md, a page about right and wrong shuffles, and its pictures. No figure in them
// is typed in: each is counted here, exactly, by the code that the lab's proofs and controls use.
package lesson

import (
	"bytes"
	_ "embed"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"text/template"

	"shuffled/lab/controls"
	"shuffled/lab/exact"
)

//go:generate go run ../cmd/shuffled-lab lesson --out ../../docs

//go:embed text/shuffling.md.tmpl
var page string

// Files returns the page and its pictures by name.
func Files() (map[string][]byte, error) {
	f := figuresOf()
	t, err := template.New("page").Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, f); err != nil {
		return nil, err
	}
	return map[string][]byte{
		"SHUFFLING.md":        b.Bytes(),
		"shuffling-steps.svg": f.stepsPicture(),
		"shuffling-tree.svg":  treePicture(),
		"shuffling-27.svg":    waysPicture("27 ways to shuffle three cards with any position", f.Ways),
		"shuffling-never.svg": waysPicture("Three cards, never in place", f.Never),
		"shuffling-coin.svg":  waysPicture("Three cards, sorted by coin toss", f.Coin),
		"shuffling-one.svg":   waysPicture("Three cards, one riffle", f.Riffle),
		"shuffling-seven.svg": f.rifflesPicture(),
		"shuffling-curve.svg": f.curvePicture(),
		"shuffling-heat.svg":  heatPicture(),
		"shuffling-decks.svg": f.decksPicture(),
	}, nil
}

// figures has the numbers of the page.
type figures struct {
	Steps   []step   // of five cards
	Lists   [][]step // of three cards: every list of draws
	Ways    controls.Ways
	Never   controls.Ways
	Coin    controls.Ways
	Riffle  controls.Ways
	Riffles []riffles
	Primes  []primes
	Curve   []place
	Half    string // (n−1)/2
	Two     []twoDecks
	Unseen  []controls.Unseen
	Largest []largest
	Forty   string // log2 40!
	One     string // log2 41!
	Reach   string // of 52 cards by 64 bits, in %
	Reach48 string
}

func figuresOf() *figures {
	const n = 9
	f := &figures{Steps: dryRun([]int{4, 2, 2, 2, 1}), Lists: lists(), Ways: controls.SwapAnywhere(3),
		Never: controls.Sattolo(3), Coin: controls.CoinSort(3), Riffle: controls.Riffle(3),
		Riffles: rifflesOf(52), Unseen: controls.UnseenFaults()}
	for cards := 2; cards <= 10; cards++ {
		f.Primes = append(f.Primes, primesOf(cards))
	}
	f.Curve, f.Half = curve(n), fmt.Sprint((n-1)/2)
	all := controls.Cut(5)
	f.Two = []twoDecks{tryOrders("cut", possible(all)), tryOrders("even", evens(all)), tryOrders("all", all.Orders)}
	for _, bits := range []int{15, 16, 31, 32, 48, 53, 64, 128, 160, 256} {
		f.Largest = append(f.Largest, largest{bits, exact.LargestDeck(bits)})
	}
	f.Forty, f.One = exact.Log2Factorial(40), exact.Log2Factorial(41)
	for _, r := range exact.Reaches(52) {
		switch r.StateBits {
		case 48:
			f.Reach48 = r.SharePercent
		case 64:
			f.Reach = r.SharePercent
		}
	}
	return f
}

// step is one swap of the dry run, places and draws counted from 1.
type step struct {
	I, J, Range, Draw int
	Cards             []int // after it
}

// Row is the cards, those that are done in bold.
func (s step) Row() string {
	var row []string
	for i, c := range s.Cards {
		if i < s.I {
			row = append(row, fmt.Sprintf("**%d**", c))
		} else {
			row = append(row, fmt.Sprint(c))
		}
	}
	return strings.Join(row, " ")
}

func dryRun(draws []int) (steps []step) {
	cards := make([]int, len(draws))
	for i := range cards {
		cards[i] = i + 1
	}
	for i, draw := range draws {
		j := i + draw - 1
		cards[i], cards[j] = cards[j], cards[i]
		steps = append(steps, step{i + 1, j + 1, len(draws) - i, draw, append([]int(nil), cards...)})
	}
	return steps
}

// lists are the dry runs of all lists of draws for three cards.
func lists() (all [][]step) {
	for first := 1; first <= 3; first++ {
		for second := 1; second <= 2; second++ {
			all = append(all, dryRun([]int{first, second, 1}))
		}
	}
	return all
}

// riffles is what so many riffles of a new deck do.
type riffles struct {
	Rounds   int
	Distance float64 // how far the chances of the orders are from equal ones: 1 is farthest, 0 is equal
}

// rifflesOf counts one to ten riffles. An order with r rising sequences comes from C(2^R + n − r, n) of the 2^(R·n)
// ways of R riffles (Bayer and Diaconis), and there are as many such orders as Euler's number A(n, r) says.
func rifflesOf(n int) (all []riffles) {
	euler := []*big.Int{new(big.Int), big.NewInt(1)} // by r, of 1 card
	for m := 2; m <= n; m++ {
		next := []*big.Int{new(big.Int)}
		for r := 1; r <= m; r++ { // A(m, r) = r·A(m−1, r) + (m−r+1)·A(m−1, r−1)
			sum := new(big.Int).Mul(big.NewInt(int64(m-r+1)), euler[r-1])
			if r < m {
				sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(r)), euler[r]))
			}
			next = append(next, sum)
		}
		euler = next
	}
	orders := new(big.Int).MulRange(1, int64(n))
	for rounds := 1; rounds <= 10; rounds++ {
		ways, off := new(big.Int).Lsh(big.NewInt(1), uint(rounds*n)), new(big.Rat)
		for r := 1; r <= n; r++ {
			chance := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(1<<rounds+n-r), int64(n)), ways)
			chance.Sub(chance, new(big.Rat).SetFrac(big.NewInt(1), orders)).Abs(chance)
			off.Add(off, chance.Mul(chance, new(big.Rat).SetFrac(euler[r], big.NewInt(2))))
		}
		distance, _ := off.Float64()
		all = append(all, riffles{rounds, distance})
	}
	return all
}

// primes shows why n! does not divide n^n.
type primes struct {
	N      int
	Ways   *big.Int // n^n
	Orders *big.Int // n!
	Rest   *big.Int // of the division
	Prime  int      // a factor of n! that does not divide n^n; 0: there is none
}

func primesOf(n int) primes {
	p := primes{N: n, Ways: new(big.Int).Exp(big.NewInt(int64(n)), big.NewInt(int64(n)), nil),
		Orders: new(big.Int).MulRange(1, int64(n))}
	p.Rest = new(big.Int).Mod(p.Ways, p.Orders)
	for q := n - 1; q > 1; q-- {
		if big.NewInt(int64(q)).ProbablyPrime(0) && n%q != 0 { // certain below 2^64
			p.Prime = q
			break
		}
	}
	return p
}

// place is a place after the naive swap.
type place struct {
	At     int
	Before *big.Rat // mean card that it holds when its turn comes
	After  *big.Rat // in the end
}

// Turn is Before to four decimals, and End After.
func (p place) Turn() string { return p.Before.FloatString(4) }

// End is After to four decimals.
func (p place) End() string { return p.After.FloatString(4) }

// curve follows the means: at its turn place i takes the card of any place, so its mean becomes that of
// all; every other place takes, once in n, the card that i held.
func curve(n int) []place {
	mean, places := make([]*big.Rat, n), make([]place, n)
	for i := range mean {
		mean[i] = big.NewRat(int64(i), 1)
	}
	for i := range n {
		held := mean[i]
		places[i] = place{At: i, Before: held}
		for q := range mean {
			pull := new(big.Rat).Sub(held, mean[q])
			mean[q] = new(big.Rat).Add(mean[q], pull.Mul(pull, big.NewRat(1, int64(n))))
		}
		mean[i] = big.NewRat(int64(n-1), 2)
	}
	for i := range places {
		places[i].After = mean[i]
	}
	return places
}

// twoDecks says which properties of a fair shuffle a set of orders of five cards has.
type twoDecks struct {
	Name   string
	Orders int
	Cards  bool // each card as often at each place
	Pairs  bool // each two cards as often at each two places
	Threes bool
}

// Yes writes it as a word.
func (t twoDecks) Yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func tryOrders(name string, all [][]uint32) twoDecks {
	t := twoDecks{Name: name, Orders: len(all)}
	t.Cards, t.Pairs, t.Threes = flat(all, 1), flat(all, 2), flat(all, 3)
	return t
}

// flat reports whether every k cards in order are equally often at every k places.
func flat(all [][]uint32, k int) bool {
	n := len(all[0])
	places := tuples(n, k)
	for _, at := range places {
		counts := map[string]int{}
		for _, order := range all {
			var cards []uint32
			for _, p := range at {
				cards = append(cards, order[p])
			}
			counts[fmt.Sprint(cards)]++
		}
		if len(counts) != len(places) {
			return false
		}
		for _, c := range counts {
			if c*len(places) != len(all) {
				return false
			}
		}
	}
	return true
}

// tuples are the ways to take k of n, in order.
func tuples(n, k int) (all [][]int) {
	var add func(chosen []int)
	add = func(chosen []int) {
		if len(chosen) == k {
			all = append(all, append([]int(nil), chosen...))
			return
		}
	next:
		for v := range n {
			for _, c := range chosen {
				if c == v {
					continue next
				}
			}
			add(append(chosen, v))
		}
	}
	add(nil)
	return all
}

// possible are the orders that some way leads to.
func possible(w controls.Ways) (some [][]uint32) {
	for i, order := range w.Orders {
		if w.Counts[i] > 0 {
			some = append(some, order)
		}
	}
	return some
}

// evens are the even ones of all orders.
func evens(w controls.Ways) [][]uint32 {
	return slices.DeleteFunc(slices.Clone(w.Orders), controls.Odd)
}

// largest is the largest deck of which this many bits of state could give every order.
type largest struct{ Bits, Cards int }
