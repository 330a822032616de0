package inspect

import (
	"encoding/binary"
	"fmt"

	"shuffled/internal/audit"
)

// hand is the entries of both ledgers about one order.
type hand struct {
	commit    *noted // of the co-dealer; nil: its ledger has none for this house at this index
	deals     []*noted
	closed    *noted
	house     []*played              // ascending, at most mostPlayed; more than one is a fault
	further   uint64                 // later commits that name the order
	values    []uint32               // nil: the order's tape was not recomputed
	seen      [2]map[uint64]int64    // by index of an entry
	later     map[[32]byte]bool      // entries of the house behind which legal deals judged so far were asked for
	counts    PairCounts             // of it alone
	table     *PairTable             // nil: it is outside the period, or of no shuffle
	there     map[audit.Foreign]bool // the deals of the co-dealer
	excused   map[[32]byte]bool      // entries of the house whose next request may have two deals
	faulty    bool
	illegal   [2]bool // an entry breaks a rule of its own ledger, by side
	unsettled bool    // something is pending or beyond
}

// mostPlayed bounds how many shuffles are kept whose plans name one order.
const mostPlayed = 4

// played is a shuffle of the house whose plan names the order.
type played struct {
	commit, mix, closed *noted
	deals               []*noted
	naming              map[audit.Foreign]int // by deal of the co-dealer: number of the first of deals that names it
	leaves              map[[32]byte]*noted   // deals, by their hash
}

// noted is an entry with its record.
type noted struct {
	pairRecord
	audit.Entry
	matched bool // of a deal of the house: it was compared with the co-dealer's
}

func (n *noted) deal() *audit.Deal      { return n.Body.(*audit.Deal) }
func (n *noted) start() *audit.Commit   { return n.Body.(*audit.Commit) }
func (n *noted) foreign() audit.Foreign { return audit.Foreign{Index: n.Index, Leaf: n.Leaf} }

// take adds a record to the hand. Those of one ledger come in the order of its entries.
func (h *hand) take(r pairRecord) error {
	switch r.Kind {
	case recordValues:
		for b := r.body; len(b) > 0; b = b[4:] {
			h.values = append(h.values, binary.BigEndian.Uint32(b))
		}
		return nil
	case recordSeen + sideHouse, recordSeen + sideCoDealer:
		h.seen[r.Kind-recordSeen][r.Index] = r.Second
		return nil
	}
	e, err := audit.ParseEntry(r.body)
	if err != nil {
		return fmt.Errorf("reading entry %d from a work file: %w", r.Index, err)
	}
	n := &noted{pairRecord: r, Entry: e}
	h.illegal[r.Kind] = h.illegal[r.Kind] || !r.Legal
	if r.Kind == recordHouse {
		h.play(n)
		return nil
	}
	switch e.Body.(type) {
	case *audit.Commit:
		h.commit = n
	case *audit.Deal:
		h.deals = append(h.deals, n)
	case *audit.Close:
		h.closed = n
	}
	return nil
}

// play takes an entry of a shuffle of the house.
func (h *hand) play(n *noted) {
	if _, ok := n.Body.(*audit.Commit); ok {
		if len(h.house) == mostPlayed {
			h.further++
			return
		}
		h.house = append(h.house, &played{commit: n, naming: map[audit.Foreign]int{}, leaves: map[[32]byte]*noted{}})
		return
	}
	x := h.of(audit.ShuffleOf(n.Body))
	if x == nil {
		return
	}
	switch n.Body.(type) {
	case *audit.Mix:
		x.mix = n
	case *audit.Deal:
		if b := n.deal().Blind; b != nil {
			if _, again := x.naming[b.Deal]; !again { // again is a fault
				x.naming[b.Deal] = len(x.deals)
			}
		}
		x.deals, x.leaves[n.Leaf] = append(x.deals, n), n
	case *audit.Close:
		x.closed = n
	}
}

// find notes which deals of the co-dealer are there. It also notes the entries of the house behind which the co-dealer
// may have entered one request twice: it has an illegal deal there, or the house names a deal that is not there.
func (h *hand) find() {
	h.there = make(map[audit.Foreign]bool, len(h.deals))
	h.excused = map[[32]byte]bool{}
	for _, d := range h.deals {
		h.there[d.foreign()] = true
		if asked := d.deal().Asked; asked != nil && !d.Legal {
			h.excused[asked.After] = true
		}
	}
	for _, x := range h.house {
		for named, number := range x.naming {
			if before := x.before(number); before != nil && !h.there[named] {
				h.excused[before.Leaf] = true
			}
		}
		if before := x.before(len(x.deals)); x.closed != nil && before != nil {
			if named := x.closed.Body.(*audit.Close).Unplayed(); named != nil && !h.there[named.Deal] {
				h.excused[before.Leaf] = true
			}
		}
	}
}

func (h *hand) of(id uint64) *played {
	for _, x := range h.house {
		if x.commit.Index == id {
			return x
		}
	}
	return nil
}

// before returns the entry behind which a deal of the shuffle is asked for, by the number of
// the deal (docs/SPEC-BLIND.md section 2). nil: it is not there.
func (x *played) before(number int) *noted {
	switch {
	case number > 0:
		return x.deals[number-1]
	case len(x.commit.start().Context.Mixed()) > 0:
		return x.mix
	}
	return x.commit
}
