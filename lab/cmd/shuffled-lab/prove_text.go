package main

import (
	"fmt"
	"strings"

	"shuffled/internal/term"
	"shuffled/lab/exact"
)

// proof puts a title over a table and the verdict under it.
func (s sheet) proof(title string, rows [][]string, v exact.Verdict, says string) string {
	verdict := term.Hanging(s.P.Good("proved")+"  ", says, s.W)
	if !v.Proved {
		verdict = term.Hanging(s.P.Bad("NOT PROVED")+"  ", term.Visible(v.Fault), s.W)
	}
	return s.P.Bold(title) + "\n" + term.Table(rows) + verdict + "\n"
}

// whole writes a count as a cell of a table.
func whole[T int | uint32 | uint64](n T) string { return term.Counted(uint64(n)) }

func (s sheet) lanesProof(r *exact.LanesReport) string {
	rows := [][]string{{"lane", "draws 1..k", "lanes tried", "rejected", "rejects most"}}
	for _, w := range r.Enumerated {
		rows = append(rows, []string{
			map[int]string{1: "1 byte", 2: "2 bytes"}[w.Bytes],
			fmt.Sprintf("every k of %s..%s", whole(w.From), whole(w.To)), whole(w.Lanes), whole(w.Rejected),
			fmt.Sprintf("k = %s: %s of %s", whole(w.WorstK), whole(w.WorstRejected), whole(w.Lanes/w.Draws)),
		})
	}
	rows = append(rows,
		[]string{"4 bytes", fmt.Sprintf("%s k of %s..%s", whole(r.Wide.Draws), whole(r.Wide.From), whole(r.Wide.To)),
			whole(r.Wide.Lanes), "", "at the edges"},
		[]string{"", whole(r.Halves.Draws) + " k of the same", whole(r.Halves.Lanes), "",
			"every high half, every low half"})
	return s.proof("Lanes: each value comes from equally many", rows, r.Verdict, fmt.Sprintf(
		"Each value 1..k comes from exactly ⌊2^(8w)/k⌋ lanes of w bytes for k ≤ 16,384, and all other lanes are rejected: every lane was tried. For wider draws not all lanes can be tried. By argument the same is true of a draw that accepts exactly the lanes below the largest multiple of k and takes the remainder. That it does was tried at both sides of that limit and at the ends, for the smallest and the largest k of every quotient ⌊2^32/k⌋ and about every power of two, and for %d k also at every high half of a lane with three low halves, and at every low half with three high ones. A fault at other lanes, or for another k, would not show.", r.Halves.Draws))
}

func (s sheet) ordersProof(r *exact.OrdersReport) string {
	rows := [][]string{{"cards", "orders = vectors of draws", "of the first m < n", ""}}
	for _, d := range r.Decks {
		rows = append(rows, []string{whole(d.Cards), whole(d.Orders), whole(d.Partial), ""})
	}
	return s.proof("Orders: each comes from one vector of draws", rows, r.Verdict,
		"Every vector of draws gave another order, so each of the n!/(n−m)! orders came once. Vectors are equally likely, because draws are, and so are orders. For more cards the argument is the same: an order determines its draws one by one. The decks below show that the argument is about this function.")
}

func (s sheet) decksProof(r *exact.DecksReport) string {
	rows := [][]string{{"cards", "one draw", "pairs of draws", "fixed orders", "with lanes rejected", "of which decks"}}
	for _, d := range r.Decks {
		lanes, pairs := whole(d.Lanes), "-"
		if !d.EveryLane {
			lanes += "*"
		}
		if d.Pairs > 0 {
			pairs = whole(d.Pairs)
		}
		cards, names := whole(d.Cards), strings.Join(d.Names, ", ")
		if d.To > 0 {
			cards, names = cards+".."+whole(d.To), "each size, at every place"
		}
		if d.Three {
			names = "each size, at three places"
		}
		rows = append(rows, []string{cards, lanes, pairs, whole(d.Random), whole(d.Rejected), names})
	}
	return s.proof("Decks: whole decks are dealt by the swaps of the specification", rows, r.Verdict, fmt.Sprintf(
		"Every size of a deck was shuffled, and each order was compared with swaps that other code computed. Tried completely, for each size up to 64 cards: every lane of every draw, the other draws being 1; and up to %d cards every pair of values at every pair of places. Tried in part: larger decks (*: of lanes of two bytes those at the edges, and in published decks one for every value; of most other sizes three draws), and a fixed sequence of orders, takes and cut-card places, with lanes to reject in front of the draws. Of 52 cards not all 8·10^67 orders were tried, and no run can try all: the argument above, proved by machine for every n (docs/PROOF.md), shows that swaps give each order once.",
		exact.MaxPairCards))
}

func (s sheet) exhaustionProof(r *exact.ExhaustionReport) string {
	rows := [][]string{{"list", "draws", "S bytes", "L bytes", "runs out", ""}}
	for _, l := range r.Lists {
		rows = append(rows, []string{l.Name, whole(l.Draws), whole(l.Need), whole(l.Tape),
			fmt.Sprintf("2^%.1f", l.Log2), ""})
	}
	return s.proof("Exhaustion: how rarely a tape runs out", rows, r.Verdict, fmt.Sprintf(
		"Counted with integers for the lists above: the named decks, and for each lane width the equal draws that run out most often. No list of draws runs out with a probability above 2^%.2f (Chernoff's bound, docs/SPEC.md section 2.4), which is below 2^%d. Tapes were tried to run out where the count says.",
		r.EveryListLog2, exact.BoundLog2))
}

func (s sheet) budgetProof(r *exact.BudgetReport) string {
	rows := [][]string{{"deck", "cards", "log2 n!", "equal cards as one", "S bits", "L bits", ""}}
	reach := [][]string{{"share of n! in %, at most: state of"}}
	for _, bits := range exact.StateBits {
		reach[0] = append(reach[0], fmt.Sprintf("%d bits", bits))
	}
	reach[0] = append(reach[0], "")
	for _, d := range r.Decks {
		rows = append(rows, []string{d.Name, whole(d.Cards), fmt.Sprintf("%.2f", d.OrdersLog2),
			fmt.Sprintf("%.2f", d.FacesLog2), whole(d.NeedBits), whole(d.TapeBits), ""})
		row := []string{d.Name}
		for _, share := range d.Reach {
			row = append(row, share.SharePercent)
		}
		reach = append(reach, append(row, ""))
	}
	row := []string{"largest deck"}
	for _, cards := range r.Largest {
		row = append(row, fmt.Sprintf("%d cards", cards))
	}
	reach = append(reach, append(row, ""))
	return s.proof("Budget: bits for every order", rows, r.Verdict,
		"Every tape has, besides the bytes for rejected lanes, more bits than its deck has orders: n! ≤ 2^8S. The generator behind the tape is another question: the platform generator has about 256 bits of state between reseeds, which is enough, by counting, for every order of one deck and for few orders of a shoe. It is no theorem that each order is then reached: a random function would reach each, except with a chance below e^-10^9. The largest deck of a state is the largest with n! ≤ 2^bits.") +
		term.Table(reach) + "\n"
}
