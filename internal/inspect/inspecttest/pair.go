package inspecttest

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Pair is the ledger of a house, of Origin, and that of its co-dealer, of CoDealer. Three
// witnesses have both, and two of them are a quorum.
type Pair struct {
	House, Lab *Ledger
	seen       [2]uint64
}

// asker is the house in the co-dealer's ledger.
var asker = audit.Actor{Identity: "house", Credential: "house-1"}

// NewPair begins the two ledgers, and pins the co-dealer.
func NewPair(house, lab string) *Pair {
	g := Plain()
	g.MixModes, g.Policy = 15, Policy(false, 2, "w1", "w2", "w3")
	p := &Pair{House: New(house, "house", g)}
	g.Origin = CoDealer
	p.Lab = New(lab, "lab", g)
	p.Lab.Hire(asker, audit.RoleBlind)
	p.Lab.dealer = asker
	k := &audit.Key{Subject: audit.SubjectCoDealer, Origin: CoDealer, Public: Public(firstKey(CoDealer)),
		Policy: PolicyOf(CoDealer, 2, "w1", "w2", "w3")}
	p.House.Approve(audit.Daemon.Identity, k)
	p.House.Append(k)
	p.See()
	return p
}

// Wait lets time pass in both.
func (p *Pair) Wait(seconds int64) {
	p.House.Now += 1000 * seconds
	p.Lab.Now += 1000 * seconds
}

// See has two witnesses see what is new in both ledgers.
func (p *Pair) See() {
	for i, l := range []*Ledger{p.House, p.Lab} {
		if l.Size > p.seen[i] {
			p.seen[i] = l.Cosigned("w1", "w2")
		}
	}
}

// Finish ends both bundles.
func (p *Pair) Finish() {
	p.House.Finish()
	p.Lab.Finish()
}

// Hand is a shuffle of the house that is dealt blind.
type Hand struct {
	*Pair
	A, B   *Shuffle
	Order  audit.Head    // the co-dealer's ledger up to B's commit
	Asked  *audit.Deal   // what the co-dealer dealt last, nil: the house dealt it on
	Deal   audit.Foreign // it
	commit audit.Foreign // of A
	before tlog.Hash     // entry of A behind which is asked
}

// Begin commits to an order and, for it, to a shuffle.
func (p *Pair) Begin(table string, wishes ...Wish) *Hand {
	h, order := p.Commit()
	h.Name(table, order, wishes...)
	return h
}

// Commit commits to an order, and returns what a plan says of it.
func (p *Pair) Commit() (*Hand, audit.Planned) {
	h := &Hand{Pair: p}
	h.B = p.Lab.Commit("orders", func(s *Shuffle) {
		c := s.Commit.Context
		c.ForLedger, c.DeckHash = p.House.origin, s.l.Deck(shuffle.Positions(52))
		s.Commit.CloseBy += 2 * audit.OrderMargin
	})
	h.Order = p.Lab.head()
	return h, audit.Planned{Source: audit.SourceCoDealer, Origin: CoDealer, Index: h.B.ID, Leaf: p.Lab.Leaf}
}

// Name commits to a shuffle whose plan names an order.
func (h *Hand) Name(table string, order audit.Planned, wishes ...Wish) {
	wishes = append(wishes, func(s *Shuffle) {
		s.Commit.Context.Plan = slices.Insert(s.Commit.Context.Plan, 0, order)
	})
	h.A = h.House.Forge(table, func(s *Shuffle) {
		s.Commit.AskKey = Public(audit.AskKey(s.Commit.Commitment, s.Tape))[1:]
	}, wishes...)
	h.before = h.House.Leaf
	h.commit = audit.Foreign{Index: h.A.ID, Leaf: h.before}
}

// Mix reveals the plan.
func (h *Hand) Mix() {
	h.A.Mix(0)
	h.before = h.House.Leaf
}

// Ask has the co-dealer deal runs, of so many cards each, the first to a seat and the others to the board, or
// what change makes of the request before it is signed, if it does not sign it itself.
func (h *Hand) Ask(change func(*audit.Deal), counts ...int) {
	d := &audit.Deal{Shuffle: h.B.ID, First: h.B.next, Checkpoint: h.B.ID + 1, Asked: &audit.Asked{Commit: h.commit,
		After: h.before, Head: h.House.head()}}
	for i, n := range counts {
		r := audit.Run{Count: n, Purpose: audit.PurposeBoard, Public: true}
		if i == 0 {
			r = audit.Run{Count: n, Purpose: audit.PurposeSeat, Recipient: "seat-1"}
		}
		d.Runs = append(d.Runs, r)
	}
	if change != nil {
		change(d)
	}
	if d.Asked.Ask == [64]byte{} {
		d.Asked.Sign(audit.AskKey(h.A.Commit.Commitment, h.A.Tape), d.First, d.Runs)
	}
	h.B.next = d.First + d.Count()
	h.Give(d)
}

// Give has the co-dealer deal d, which is what the house then has of it.
func (h *Hand) Give(d *audit.Deal) {
	h.Asked = d
	h.Deal = audit.Foreign{Index: h.Lab.Append(d), Leaf: h.Lab.Leaf}
}

// given is what the co-dealer gave last.
func (h *Hand) given() *audit.Blind {
	b := &audit.Blind{Deal: h.Deal, Head: h.Lab.head()}
	for _, place := range h.Asked.Opens() {
		b.Values = append(b.Values, h.B.Values[place])
	}
	return b
}

// Play has the house deal on what the co-dealer dealt, or something else that change makes of it.
func (h *Hand) Play(change func(*audit.Deal)) {
	d := &audit.Deal{Shuffle: h.A.ID, First: h.Asked.First, Checkpoint: h.A.ID + 1, Runs: slices.Clone(h.Asked.Runs),
		Blind: h.given()}
	if change != nil {
		change(d)
	}
	h.A.next = d.First + d.Count()
	h.House.Append(d)
	h.before, h.Asked = h.House.Leaf, nil
}

// End closes the shuffle, and names what was not played; change makes something else of it.
func (h *Hand) End(o audit.Outcome, r audit.Reason, change func(*audit.Close)) {
	c := h.A.Closing(o, r)
	c.Blind = &audit.Blind{Head: h.Lab.head()}
	if h.Asked != nil {
		c.Blind = h.given()
	}
	if change != nil {
		change(c)
	}
	h.before, h.Deal = tlog.Hash{}, audit.Foreign{Index: h.House.Append(c), Leaf: h.House.Leaf}
}

// Follow closes the order behind the close of the shuffle, or as change makes it.
func (h *Hand) Follow(change func(*audit.Close)) {
	c := h.B.Closing(audit.OutcomeCompleted, audit.ReasonNone)
	c.Follows = &audit.Follows{Foreign: h.Deal, Places: h.B.next}
	if change != nil {
		change(c)
	}
	h.Lab.Append(c)
}

// head is the checkpoint of all entries so far, as another ledger holds it.
func (l *Ledger) head() audit.Head { return audit.Head{Size: l.Size, Root: l.Root()} }

// Play writes a hand of five deals to its end.
func (p *Pair) Play(table string, wishes ...Wish) *Hand {
	h := p.Begin(table, wishes...)
	p.See()
	if len(h.A.Commit.Context.Mixed()) > 0 {
		h.Mix()
	}
	for _, counts := range [][]int{{2}, {2}, {1, 3}, {1, 1}} {
		h.Ask(nil, counts...)
		p.See()
		h.Play(nil)
		p.Wait(1)
	}
	h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
	p.See()
	h.Follow(nil)
	return h
}

// FastPair writes n blind hands on fifty tables, for measurements.
func FastPair(house, lab string, n int) *Pair {
	p := NewPair(house, lab)
	var hands []*Hand
	for i := range n {
		hands = append(hands, p.Begin(fmt.Sprintf("table-%d", i%50)))
		if len(hands) < 50 && i < n-1 {
			continue
		}
		for _, counts := range [][]int{{2}, {2}, {1, 3}, {1, 1}} {
			p.Wait(1)
			p.See()
			for _, h := range hands {
				h.Ask(nil, counts...)
			}
			p.See()
			for _, h := range hands {
				h.Play(nil)
			}
		}
		for _, h := range hands {
			h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
			h.Follow(nil)
		}
		hands = hands[:0]
	}
	p.Wait(1)
	p.See()
	p.Finish()
	return p
}
