package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
)

// hand is what both ledgers have of one order.
type hand struct {
	order     uint64
	commit    *noted // of the co-dealer; nil: its ledger has none for this house at this index
	deals     []*noted
	closed    *noted
	house     []*played           // ascending, at most mostPlayed; more than one is a fault
	further   uint64              // commits behind these
	values    []uint32            // nil: the order's tape was not recomputed
	seen      [2]map[uint64]int64 // by index of a deal
	faulty    bool
	unsettled bool // something is pending or beyond
}

// mostPlayed bounds what is kept of shuffles whose plans name one order.
const mostPlayed = 4

// played is a shuffle of the house whose plan names the order.
type played struct {
	commit, mix, closed *noted
	deals               []*noted
	naming              map[audit.Foreign]int // by deal of the co-dealer: the first of deals that names it
	leaves              map[[32]byte]bool     // of deals
}

// noted is an entry.
type noted struct {
	pairRecord
	audit.Entry
	matched bool // a deal of the house: it was held against the co-dealer's
}

func (n *noted) deal() *audit.Deal      { return n.Body.(*audit.Deal) }
func (n *noted) start() *audit.Commit   { return n.Body.(*audit.Commit) }
func (n *noted) foreign() audit.Foreign { return audit.Foreign{Index: n.index, Leaf: n.leaf} }

// tally is what one part of the work files showed.
type tally struct {
	*pair
	counts  PairCounts
	tables  map[string]*PairTable
	daemons map[uint64]*PairCounts
	lines   []PairLine
	faults  findings
}

// part judges the orders of one part.
func (p *pair) part(b []byte) (*tally, error) {
	t := &tally{pair: p, tables: map[string]*PairTable{}, daemons: map[uint64]*PairCounts{}}
	hands := map[uint64]*hand{}
	for len(b) > 0 {
		var r pairRecord
		r, b = next(b)
		h := hands[r.order]
		if h == nil {
			h = &hand{order: r.order, seen: [2]map[uint64]int64{{}, {}}}
			hands[r.order] = h
		}
		if err := h.take(r); err != nil {
			return nil, err
		}
	}
	for _, order := range slices.Sorted(maps.Keys(hands)) {
		t.judge(hands[order])
	}
	return t, nil
}

// take puts a record where it belongs. Those of one ledger come in the order of its entries.
func (h *hand) take(r pairRecord) error {
	switch r.kind {
	case recordValues:
		for b := r.body; len(b) > 0; b = b[4:] {
			h.values = append(h.values, binary.BigEndian.Uint32(b))
		}
		return nil
	case recordSeen + sideHouse, recordSeen + sideCoDealer:
		h.seen[r.kind-recordSeen][r.index] = r.second
		return nil
	}
	e, err := audit.ParseEntry(r.body)
	if err != nil {
		return fmt.Errorf("reading entry %d from a work file: %w", r.index, err)
	}
	n := &noted{pairRecord: r, Entry: e}
	if _, ok := e.Body.(*audit.Commit); ok && r.kind == recordHouse && len(h.house) == mostPlayed {
		h.further++
	} else if ok && r.kind == recordHouse {
		h.house = append(h.house, &played{commit: n, naming: map[audit.Foreign]int{}, leaves: map[[32]byte]bool{}})
	} else if r.kind == recordHouse {
		h.play(n)
		return nil
	}
	if r.kind == recordHouse {
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

// play takes an entry of a shuffle of the house behind its commit.
func (h *hand) play(n *noted) {
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
		x.deals, x.leaves[n.leaf] = append(x.deals, n), true
	case *audit.Close:
		x.closed = n
	}
}

func (h *hand) of(id uint64) *played {
	for _, x := range h.house {
		if x.commit.index == id {
			return x
		}
	}
	return nil
}

// fault names what is wrong with an entry, by side.
func (t *tally) fault(h *hand, which int, at *noted, code, format string, args ...any) {
	h.faulty = true
	f := fault(code, t.origins[which], format, args...).at(at.index)
	if which == sideHouse {
		f = f.of(audit.ShuffleOf(at.Body))
	}
	t.faults.add(f)
}

// beyondGrace is how many seconds later than an entry the evidence of the other ledger was seen, and then covers what
// the entry names: a checkpoint has that long to be cosigned, by clocks that differ.
const beyondGrace = 60

// beyond reports whether an entry of one ledger names more entries of the other than its evidence has. It
// is a fault if that evidence is newer than the entry.
func (t *tally) beyond(h *hand, which int, at *noted, size uint64) bool {
	has := t.work.sizes[1-which]
	if size <= has {
		return false
	}
	if second := h.seen[which][at.index]; second != 0 && t.sides[1-which].newest > second+beyondGrace {
		t.fault(h, which, at, []string{CodeCoDealerForked, CodeHouseForked}[which],
			"it names %d entries of %s, and witnesses saw it at %s; that ledger has %d, which witnesses saw at %s", size,
			t.origins[1-which], formatSecond(second), has, formatSecond(t.sides[1-which].newest))
	}
	return true
}

// judge judges one order and the shuffle that it is for.
func (t *tally) judge(h *hand) {
	var counts []*PairCounts // where this hand counts
	var table *PairTable
	if len(h.house) == 0 {
		counts = []*PairCounts{&t.counts}
	} else if c := h.house[0].commit; (t.from == 0 || c.Time >= t.from) && (t.to == 0 || c.Time < t.to) {
		name, start := c.start().Context.Table, c.start().Instance
		if table = t.tables[name]; table == nil {
			table = &PairTable{Table: name}
			t.tables[name] = table
		}
		if t.daemons[start] == nil {
			t.daemons[start] = &PairCounts{}
		}
		counts = []*PairCounts{&t.counts, &table.PairCounts, t.daemons[start]}
	}
	count := func(f func(*PairCounts) *uint64) {
		for _, c := range counts {
			*f(c)++
		}
	}
	for range uint64(len(h.house)) + h.further {
		count(func(c *PairCounts) *uint64 { return &c.Shuffles })
	}
	if h.values != nil && len(h.house) > 0 {
		count(func(c *PairCounts) *uint64 { return &c.OrdersChecked })
	}
	t.orders(h, count)
	for i, d := range h.deals {
		count(func(c *PairCounts) *uint64 { return &c.Requests })
		if f := t.request(h, d, i == len(h.deals)-1, table); f != nil {
			count(f)
		}
	}
	t.named(h, count)
	t.early(h)
	t.hold(h, table, count)
}

// orders: the house's commit names the order, which is one for it alone.
func (t *tally) orders(h *hand, count func(func(*PairCounts) *uint64)) {
	for i, x := range h.house {
		planned, _ := x.commit.start().Context.CoDealer()
		switch {
		case h.commit == nil && t.beyond(h, sideHouse, x.commit, planned.Index+1):
			h.unsettled = true
			count(func(c *PairCounts) *uint64 { return &c.Beyond })
		case h.commit == nil || planned.Leaf != h.commit.leaf:
			t.fault(h, sideHouse, x.commit, CodeOrderCommit,
				"entry %d of %s is no order for this ledger with the hash that the plan names", planned.Index, t.origins[1])
		case i > 0:
			t.fault(h, sideHouse, x.commit, CodeOrderCommit, "the commit of entry %d names the same order",
				h.house[0].commit.index)
			if i == mostPlayed-1 && h.further > 0 {
				t.fault(h, sideHouse, x.commit, CodeOrderCommit, "%d later commits name the same order, too", h.further)
			}
		default:
			if err := audit.CheckOrder(x.commit.start(), h.commit.start()); err != nil {
				t.fault(h, sideHouse, x.commit, CodeOrderCommit, "%v", err)
			}
		}
	}
}

// request judges a deal of the co-dealer, and returns what it counts as; nil for nothing,
// which is a fault.
func (t *tally) request(h *hand, d *noted, last bool, table *PairTable) func(*PairCounts) *uint64 {
	asked := d.deal().Asked
	if asked == nil {
		return nil // the rule co_dealer said so
	}
	beyond := t.beyond(h, sideCoDealer, d, max(asked.Commit.Index+1, asked.Head.Size))
	x := h.of(asked.Commit.Index)
	if x == nil || x.commit.leaf != asked.Commit.Leaf {
		if asked.Commit.Index >= t.work.sizes[sideHouse] {
			return h.pending()
		}
		if h.further > 0 {
			return nil // it may be of a commit that is not kept, whose fault was named
		}
		t.fault(h, sideCoDealer, d, CodeLookedElsewhere,
			"it was asked for behind entry %d of %s with a hash that no commit there has which names this order; whether the house asked cannot be checked: ask the co-dealer for the receipts that it was shown",
			asked.Commit.Index, t.origins[0])
		return nil
	}
	if errors.Is(audit.CheckAsked(d.deal(), x.commit.start(), asked.Commit, asked.After), audit.ErrNotAsked) {
		t.fault(h, sideCoDealer, d, CodeUnasked, "%v", audit.ErrNotAsked)
		return nil
	}
	number, dealt := x.naming[d.foreign()]
	before := x.before(number) // of the first deal, if there is none
	fits := before != nil && before.leaf == asked.After || !dealt && x.leaves[asked.After]
	switch {
	case fits:
	case !dealt && x.closed == nil && beyond:
		return h.pending()
	default:
		t.fault(h, sideCoDealer, d, CodeLookedElsewhere,
			"the house asked for places from %d on behind an entry that is not the one before them in %s, shuffle %d",
			d.deal().First, t.origins[0], x.commit.index)
		if !dealt {
			return nil
		}
	}
	if dealt {
		return t.matched(h, d, x.deals[number], table)
	}
	return t.unmatched(h, d, x, last, table)
}

// before returns the entry behind which deal number of the shuffle is asked for (docs/SPEC.md section 4.5); nil:
// it is not there.
func (x *played) before(number int) *noted {
	switch {
	case number > 0:
		return x.deals[number-1]
	case len(x.commit.start().Context.Mixed()) > 0:
		return x.mix
	}
	return x.commit
}

func (h *hand) pending() func(*PairCounts) *uint64 {
	h.unsettled = true
	return func(c *PairCounts) *uint64 { return &c.Pending }
}

// matched: the house dealt the same runs, and what the order has.
func (t *tally) matched(h *hand, d, by *noted, table *PairTable) func(*PairCounts) *uint64 {
	by.matched = true
	a, b := by.deal(), d.deal()
	if a.First != b.First || !slices.Equal(a.Runs, b.Runs) {
		t.fault(h, sideHouse, by, CodeOtherRuns, "the co-dealer was asked for other runs or places, in its entry %d", d.index)
	}
	t.given(h, by, b, a.Blind.Values)
	from, to := h.seen[sideCoDealer][d.index], h.seen[sideHouse][by.index]
	if from == 0 {
		h.unsettled = true // no witness of both saw it
	}
	if from != 0 && to != 0 && table != nil {
		table.gaps.add(from*1000, to*1000)
		table.Longest = max(table.Longest, to-from)
	}
	return func(c *PairCounts) *uint64 { return &c.Matched }
}

// given holds the values that an entry of the house has for the places of a deal against the order's.
func (t *tally) given(h *hand, by *noted, d *audit.Deal, values []uint32) {
	place := d.First
	for _, r := range d.Runs {
		for end := place + r.Count; place < end && len(values) > 0; place++ {
			if r.Aside() {
				continue
			}
			if place < len(h.values) && h.values[place] != values[0] {
				t.fault(h, sideHouse, by, CodeOtherValue, "it has %d of the co-dealer for place %d, and the order's tape gives %d",
					values[0], place, h.values[place])
				return
			}
			values = values[1:]
		}
	}
}

// unmatched judges a deal of the co-dealer that the house did not deal on.
func (t *tally) unmatched(h *hand, d *noted, x *played, last bool, table *PairTable) func(*PairCounts) *uint64 {
	looked := func(why string) func(*PairCounts) *uint64 {
		t.fault(h, sideCoDealer, d, CodeLooked,
			"the house asked for %d places from %d on of its shuffle %d and did not deal them, and %s", d.deal().Count(),
			d.deal().First, x.commit.index, why)
		return nil
	}
	switch {
	case x.closed == nil:
		if late := t.sides[sideHouse].newest*1000 - x.commit.start().CloseBy; late > t.limit {
			t.fault(h, sideHouse, x.commit, CodeNotInTime,
				"places were opened in entry %d of %s, and the shuffle is open %d s behind its close-by", d.index, t.origins[1],
				late/1000)
		}
		return h.pending()
	case !last:
		return looked("asked for more")
	}
	c := x.closed.Body.(*audit.Close)
	second := h.seen[sideCoDealer][d.index]
	line := PairLine{Table: x.commit.start().Context.Table, Shuffle: x.commit.index, Close: x.closed.index,
		Request: d.index, Place: d.deal().First, Places: d.deal().Count(), Closed: bundle.FormatTime(x.closed.Time),
		Daemon: x.commit.start().Instance, Restarted: x.closed.instance > x.commit.index}
	if second != 0 {
		line.Seen = formatSecond(second)
	}
	named := c.Unplayed()
	switch {
	case named != nil && named.Deal == d.foreign():
		line.Kind = "unplayed"
		if len(named.Values) == 0 {
			line.Kind = "unanswered"
		} else if want := audit.Opens(d.deal().Runs); len(named.Values) != want {
			t.fault(h, sideHouse, x.closed, CodeOtherRuns, "the close has %d values of the co-dealer, and %d were asked for",
				len(named.Values), want)
		}
		t.given(h, x.closed, d.deal(), named.Values)
	case c.Blind != nil && c.Blind.Head.Size > d.index:
		return looked(fmt.Sprintf("its close holds a checkpoint of %d entries, which covers this one, and does not name it",
			c.Blind.Head.Size))
	case second != 0 && second+audit.WitnessGrace/1000 < max(x.closed.Time/1000, x.closed.second):
		return looked("its close, which does not name this, was written after the witnesses had seen it")
	default:
		line.Kind = "withheld"
	}
	if table != nil { // of the period
		t.lines = append(t.lines, line)
	}
	if len(t.lines) >= 2*MaxListed {
		t.lines = firstLines(t.lines)
	}
	return func(c *PairCounts) *uint64 {
		if line.Restarted {
			c.Restarted++
		}
		switch line.Kind {
		case "unplayed":
			return &c.Unplayed
		case "unanswered":
			return &c.Unanswered
		}
		return &c.Withheld
	}
}

// named: what the house names of the order is there, and one entry of the house rests on it. Each of its deals was
// held against the one that it names.
func (t *tally) named(h *hand, count func(func(*PairCounts) *uint64)) {
	there, by := make(map[audit.Foreign]bool, len(h.deals)), make(map[audit.Foreign]uint64, len(h.deals))
	for _, d := range h.deals {
		there[d.foreign()] = true
	}
	check := func(at *noted, b *audit.Blind) {
		beyond := t.beyond(h, sideHouse, at, max(b.Head.Size, b.Deal.Index+1))
		named := b.Deal
		if named == (audit.Foreign{}) {
			return // a close without what was not played
		}
		first, again := by[named]
		switch {
		case again:
			t.fault(h, sideHouse, at, CodeOtherDeal, "entry %d names the same deal of the co-dealer, entry %d of %s", first,
				named.Index, t.origins[1])
		case there[named]:
		case beyond && named.Index >= t.work.sizes[sideCoDealer]:
			h.unsettled = true
			count(func(c *PairCounts) *uint64 { return &c.Beyond })
		default:
			t.fault(h, sideHouse, at, CodeCoDealerForked, "entry %d of %s is no deal of the order with the hash that it names",
				named.Index, t.origins[1])
		}
		if !again {
			by[named] = at.index
		}
	}
	for _, x := range h.house {
		for _, d := range x.deals {
			if b := d.deal().Blind; b != nil {
				check(d, b)
			}
			if !d.matched && !h.faulty && !h.unsettled {
				t.fault(h, sideHouse, d, CodeOtherDeal, "no deal of %s that was asked for stands behind it", t.origins[1])
			}
		}
		if x.closed != nil {
			if b := x.closed.Body.(*audit.Close).Blind; b != nil {
				check(x.closed, b)
			}
		}
	}
}

// early: an order that was dealt from is not disclosed in front of its shuffle.
func (t *tally) early(h *hand) {
	if h.closed == nil || len(h.deals) == 0 {
		return
	}
	c := h.closed.Body.(*audit.Close)
	if c.Outcome == audit.OutcomeExpired || c.Form == audit.FormNone {
		return
	}
	behind := func(x *played) bool { return x.closed != nil && x.closed.foreign() == *c.Follows }
	switch {
	case c.Follows != nil && slices.ContainsFunc(h.house, behind):
	case c.Follows != nil && t.beyond(h, sideCoDealer, h.closed, c.Follows.Index+1):
		h.unsettled = true
	default:
		t.fault(h, sideCoDealer, h.closed, CodeDisclosedEarly,
			"the order was closed, with its tape, and not behind the close of the shuffle that it is for")
	}
}

// hold counts the shuffle as blind if all of it holds.
func (t *tally) hold(h *hand, table *PairTable, count func(func(*PairCounts) *uint64)) {
	if !t.able || h.faulty || h.unsettled || table == nil || h.house[0].closed == nil {
		return
	}
	if h.closed == nil && t.sides[sideCoDealer].newest*1000 <= h.house[0].closed.Time {
		return // the co-dealer's bundle may end in front of one more deal
	}
	dealt := len(h.house[0].deals) > 0
	if h.values == nil { // what the house has of the co-dealer is its word
		if dealt {
			count(func(c *PairCounts) *uint64 { return &c.BlindUnchecked })
		}
		return
	}
	table.held++
	if h.house[0].closed.witnessed {
		table.raised++
	}
	if dealt {
		count(func(c *PairCounts) *uint64 { return &c.Blind })
	}
}

func formatSecond(unix int64) string { return bundle.FormatTime(unix * 1000) }
