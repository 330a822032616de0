package inspect

import (
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/bundle"
)

// tally is the result so far. faults are those of the part of the work files that is judged.
type tally struct {
	*pair
	counts  PairCounts
	tables  map[string]*PairTable
	daemons map[uint64]*PairCounts
	lines   []PairLine
	faults  *Findings
}

// hands reads the records of one part, by order.
func (w *pairWork) hands(part int) (map[uint64]*hand, error) {
	hands := map[uint64]*hand{}
	b, err := w.records.read(part)
	for err == nil && len(b) > 0 {
		var r pairRecord
		if r, b, err = next(b); err != nil {
			return nil, fmt.Errorf("reading a work file: %w", err)
		}
		h := hands[r.Order]
		if h == nil {
			h = &hand{seen: [2]map[uint64]int64{{}, {}}, later: map[[32]byte]bool{}}
			hands[r.Order] = h
		}
		err = h.take(r)
	}
	return hands, err
}

// fault names a fault of an entry of one side.
func (t *tally) fault(h *hand, which int, at *noted, code, format string, args ...any) {
	h.faulty = true
	f := fault(code, t.origins[which], format, args...).at(at.Index)
	if which == sideHouse {
		f = f.of(audit.ShuffleOf(at.Body))
	}
	t.faults.add(f)
}

// beyondGrace is how many seconds after an entry the evidence of the other ledger may be seen and still end before what
// the entry names. A checkpoint has that long to be cosigned, by clocks that differ.
const beyondGrace = 60

// forked are the faults, by side, of an entry that names what the other ledger does not have.
var forked = [2]string{sideHouse: CodeCoDealerForked, sideCoDealer: CodeHouseForked}

// beyond reports whether an entry of one ledger names more entries of the other than its evidence has. Then the hand is
// not settled. If that evidence is newer than the entry, it is a fault of this code.
func (t *tally) beyond(h *hand, which int, at *noted, size uint64, code string) bool {
	has := t.work.sizes[1-which]
	if size <= has {
		return false
	}
	h.unsettled = true
	h.counts.Beyond++
	if second := h.seen[which][at.Index]; second != 0 && t.sides[1-which].newest > second+beyondGrace {
		t.fault(h, which, at, code, "it names %d entries of %s, and witnesses saw it at %s; that ledger has %d, which witnesses saw at %s",
			size, t.origins[1-which], formatSecond(second), has, formatSecond(t.sides[1-which].newest))
	}
	return true
}

// behind compares head, a checkpoint of the other ledger that the entry at holds, with later,
// an entry of that ledger that holds the hash of at. If the checkpoint covers later, that is a
// fault: that ledger was not so large when at was written.
func (t *tally) behind(h *hand, which int, at, later *noted, head audit.Head) {
	if head.Size > later.Index {
		t.fault(h, which, at, forked[which], "it holds a checkpoint of %d entries of %s, and entry %d there was written later: it holds the hash of this one",
			head.Size, t.origins[1-which], later.Index)
	}
}

// judge judges one order and the shuffle that it is for.
func (t *tally) judge(h *hand) {
	var of []*PairCounts // to which those of the hand are added
	if len(h.house) == 0 {
		of = []*PairCounts{&t.counts}
	} else if c := h.house[0].commit; (t.from == 0 || c.Time >= t.from) && (t.to == 0 || c.Time < t.to) {
		name, start := c.start().Context.Table, c.start().Instance
		if h.table = t.tables[name]; h.table == nil {
			h.table = &PairTable{Table: name}
			t.tables[name] = h.table
		}
		if t.daemons[start] == nil {
			t.daemons[start] = &PairCounts{}
		}
		of = []*PairCounts{&t.counts, &h.table.PairCounts, t.daemons[start]}
	}
	h.counts.Shuffles, h.counts.Requests = uint64(len(h.house))+h.further, uint64(len(h.deals))
	if h.values != nil && len(h.house) > 0 {
		h.counts.OrdersChecked++
	}
	t.orders(h)
	h.find()
	for _, d := range slices.Backward(h.deals) {
		if figure := t.request(h, d); figure != nil {
			*figure++
		}
	}
	t.named(h)
	t.early(h)
	t.hold(h)
	for _, c := range of {
		sum(c, &h.counts)
	}
}

// orders checks that the house's commit names the order, and that the order is for this commit alone.
func (t *tally) orders(h *hand) {
	for i, x := range h.house {
		planned, _ := x.commit.start().Context.CoDealer()
		switch {
		case h.commit == nil && t.beyond(h, sideHouse, x.commit, planned.Index+1, CodeCoDealerForked):
		case h.commit == nil || planned.Leaf != h.commit.Leaf:
			t.fault(h, sideHouse, x.commit, CodeOrderCommit,
				"entry %d of %s is no order for this ledger with the hash that the plan names", planned.Index, t.origins[1])
		case i > 0:
			t.fault(h, sideHouse, x.commit, CodeOrderCommit, "the commit of entry %d names the same order",
				h.house[0].commit.Index)
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

// request judges a deal of the co-dealer, and returns the figure that counts it, nil for
// none: it is a fault then, or follows from one.
func (t *tally) request(h *hand, d *noted) *uint64 {
	asked := d.deal().Asked
	if asked == nil {
		return nil // the rule co_dealer named it
	}
	t.beyond(h, sideCoDealer, d, max(asked.Commit.Index+1, asked.Head.Size), CodeHouseForked)
	x := h.of(asked.Commit.Index)
	if x == nil || x.commit.Leaf != asked.Commit.Leaf {
		if asked.Commit.Index >= t.work.sizes[sideHouse] {
			return h.pending()
		}
		if h.further > 0 {
			return nil // its commit may be one that is not kept, whose fault was named
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
	if d.Legal {
		defer func() { h.later[asked.After] = true }()
	}
	if e := x.leaves[asked.After]; e != nil && e.deal().Blind != nil {
		t.behind(h, sideHouse, e, d, e.deal().Blind.Head)
	}
	number, dealt := x.naming[d.foreign()]
	before := x.before(number) // of the first deal, if there is none
	fits := before != nil && before.Leaf == asked.After || !dealt && x.leaves[asked.After] != nil
	switch {
	case fits:
	case !dealt && x.closed == nil: // the evidence may end before that entry
		return h.pending()
	default:
		t.fault(h, sideCoDealer, d, CodeLookedElsewhere,
			"the house asked for places from %d on behind an entry that is not the one before them in %s, shuffle %d",
			d.deal().First, t.origins[0], x.commit.Index)
		if !dealt {
			return nil
		}
	}
	if dealt {
		return t.matched(h, d, x.deals[number])
	}
	return t.unmatched(h, d, x)
}

func (h *hand) pending() *uint64 {
	h.unsettled = true
	return &h.counts.Pending
}

// matched checks that the house dealt the same runs, with the values of the order.
func (t *tally) matched(h *hand, d, by *noted) *uint64 {
	by.matched = true
	a, b := by.deal(), d.deal()
	if a.First != b.First || !slices.Equal(a.Runs, b.Runs) {
		t.fault(h, sideHouse, by, CodeOtherRuns, "the co-dealer was asked for other runs or places, in its entry %d", d.Index)
	}
	t.given(h, by, b, a.Blind.Values)
	t.behind(h, sideCoDealer, d, by, b.Asked.Head)
	from, to := h.seen[sideCoDealer][d.Index], h.seen[sideHouse][by.Index]
	if from == 0 {
		h.unsettled = true // no witness of both saw it
	}
	if from != 0 && to != 0 && h.table != nil {
		h.table.gaps.add(from*1000, to*1000)
		h.table.Longest = max(h.table.Longest, to-from)
	}
	return &h.counts.Matched
}

// given compares the values that an entry of the house has for the places of a deal with those of the order.
func (t *tally) given(h *hand, by *noted, d *audit.Deal, values []uint32) {
	for i, place := range d.Opens() {
		if i < len(values) && place < len(h.values) && h.values[place] != values[i] {
			t.fault(h, sideHouse, by, CodeOtherValue, "it has %d of the co-dealer for place %d, and the order's tape gives %d",
				values[i], place, h.values[place])
			return
		}
	}
}

// unmatched judges a deal of the co-dealer that the house did not deal on.
func (t *tally) unmatched(h *hand, d *noted, x *played) *uint64 {
	looked := func(why string) *uint64 {
		t.fault(h, sideCoDealer, d, CodeLooked,
			"the house asked for %d places from %d on of its shuffle %d and did not deal them, and %s", d.deal().Count(),
			d.deal().First, x.commit.Index, why)
		return nil
	}
	asked := d.deal().Asked
	excused := h.excused[asked.After]
	switch {
	case !d.Legal:
		return nil
	case h.later[asked.After] || !excused && x.closed != nil && len(h.later) > 0:
		return looked("asked for more")
	case !excused && asked.After != x.before(len(x.deals)).Leaf:
		return looked("dealt others behind the same entry")
	case x.closed == nil:
		if late := t.sides[sideHouse].newest*1000 - x.commit.start().CloseBy; late > t.limit {
			t.fault(h, sideHouse, x.commit, CodeNotInTime,
				"places were opened in entry %d of %s, and the shuffle is open %d s behind its close-by", d.Index, t.origins[1],
				late/1000)
		}
		return h.pending()
	}
	c := x.closed.Body.(*audit.Close)
	second, ended := h.seen[sideCoDealer][d.Index], h.seen[sideHouse][x.closed.Index]
	line := PairLine{Table: x.commit.start().Context.Table, Shuffle: x.commit.Index, Close: x.closed.Index,
		Request: d.Index, Place: d.deal().First, Places: d.deal().Count(), Closed: bundle.FormatTime(x.closed.Time),
		Daemon: x.commit.start().Instance, Restarted: x.closed.Instance > x.commit.Index,
		Seen: formatSecond(second), CloseSeen: formatSecond(ended)}
	var figure *uint64 // of this kind
	named := c.Unplayed()
	switch {
	case named != nil && named.Deal == d.foreign():
		t.behind(h, sideCoDealer, d, x.closed, asked.Head)
		line.Kind, figure = "unplayed", &h.counts.Unplayed
		if want := len(d.deal().Opens()); len(named.Values) == 0 && want > 0 {
			line.Kind, figure = "unanswered", &h.counts.Unanswered
		} else if len(named.Values) != want {
			t.fault(h, sideHouse, x.closed, CodeOtherRuns, "the close has %d values of the co-dealer, and %d were asked for",
				len(named.Values), want)
		}
		t.given(h, x.closed, d.deal(), named.Values)
	case c.Reason == audit.ReasonTapeLost:
		line.Kind, figure = "tape_lost", &h.counts.TapeLost
	case excused:
		return nil
	case second != 0 && second+trust.WitnessGrace/1000 < max(x.closed.Time/1000, x.closed.Second),
		second != 0 && (ended-second)*1000 > t.limit:
		line.Kind, figure = "silent", &h.counts.Silent
		h.unsettled = true
	case c.Blind != nil && c.Blind.Head.Size > d.Index:
		line.Kind, figure = "unread", &h.counts.Unread
	default:
		line.Kind, figure = "withheld", &h.counts.Withheld
	}
	if h.table != nil { // of the period
		t.lines = append(t.lines, line)
	}
	if len(t.lines) >= 2*MaxListed {
		t.lines = firstLines(t.lines)
	}
	if line.Restarted {
		h.counts.Restarted++
	}
	return figure
}

// named checks that each deal of the co-dealer that the house names is there and is named
// once, and that each deal of the house was compared with one of the co-dealer.
func (t *tally) named(h *hand) {
	by := make(map[audit.Foreign]uint64, len(h.deals))
	check := func(at *noted, b *audit.Blind, before *noted) {
		beyond := t.beyond(h, sideHouse, at, max(b.Head.Size, b.Deal.Index+1), CodeCoDealerForked)
		named := b.Deal
		if named == (audit.Foreign{}) {
			return // a close without what was not played
		}
		first, again := by[named]
		switch {
		case again:
			t.fault(h, sideHouse, at, CodeOtherDeal, "entry %d names the same deal of the co-dealer, entry %d of %s", first,
				named.Index, t.origins[1])
		case h.there[named]:
		case beyond && named.Index >= t.work.sizes[sideCoDealer] && (before == nil || !h.later[before.Leaf]):
		default: // also if the order has a legal deal behind the same entry, of which there is one at most
			t.fault(h, sideHouse, at, CodeCoDealerForked, "entry %d of %s is no deal of the order with the hash that it names",
				named.Index, t.origins[1])
		}
		if !again {
			by[named] = at.Index
		}
	}
	for _, x := range h.house {
		for i, d := range x.deals {
			if b := d.deal().Blind; b != nil {
				check(d, b, x.before(i))
			}
			if !d.matched && !h.faulty && !h.unsettled {
				t.fault(h, sideHouse, d, CodeOtherDeal, "no deal of %s that was asked for stands behind it", t.origins[1])
			}
		}
		if x.closed != nil {
			if b := x.closed.Body.(*audit.Close).Blind; b != nil {
				check(x.closed, b, x.before(len(x.deals)))
			}
		}
	}
}

// early checks that an order that was dealt from is disclosed after its shuffle was closed.
func (t *tally) early(h *hand) {
	if h.closed == nil {
		return
	}
	c := h.closed.Body.(*audit.Close)
	i := slices.IndexFunc(h.house, func(x *played) bool {
		return c.Follows != nil && x.closed != nil && x.closed.foreign() == c.Follows.Foreign
	})
	if i >= 0 {
		if end := h.house[i].closed; end.Body.(*audit.Close).Blind != nil {
			t.behind(h, sideHouse, end, h.closed, end.Body.(*audit.Close).Blind.Head)
		}
	}
	ended := slices.ContainsFunc(h.deals, func(d *noted) bool {
		asked := d.deal().Asked
		return asked != nil && h.of(asked.Commit.Index) != nil && h.of(asked.Commit.Index).closed != nil
	})
	second := h.seen[sideCoDealer][h.closed.Index]
	switch {
	case len(h.deals) == 0, c.Form == audit.FormNone, i >= 0:
	case c.Follows != nil && (h.further > 0 || h.illegal[sideHouse]): // it may follow a close that is not kept
	case c.Outcome == audit.OutcomeExpired:
		if by := h.commit.start().CloseBy; second != 0 && (second+1)*1000+trust.WitnessGrace < by {
			t.fault(h, sideCoDealer, h.closed, CodeDisclosedEarly,
				"the order was closed as expired, with its tape; its close-by is %s, and witnesses saw the close at %s",
				bundle.FormatTime(by), formatSecond(second))
		}
	case !ended && c.Follows != nil && t.beyond(h, sideCoDealer, h.closed, c.Follows.Index+1, CodeDisclosedEarly):
	default:
		t.fault(h, sideCoDealer, h.closed, CodeDisclosedEarly,
			"the order was closed, with its tape, and not behind the close of the shuffle that it is for")
	}
}

// hold counts the shuffle as blind if all of it holds.
func (t *tally) hold(h *hand) {
	if h.faulty || h.illegal != [2]bool{} || h.unsettled || h.table == nil || h.house[0].closed == nil {
		return
	}
	closed := h.house[0].closed
	seen := h.seen[sideHouse][closed.Index]
	if seen == 0 || h.closed == nil && t.sides[sideCoDealer].newest <= seen {
		return // no witness saw the close, or the co-dealer's bundle may end before one more deal
	}
	dealt := len(h.house[0].deals) > 0
	if h.values == nil { // for the values there is only the house's word
		if dealt {
			h.counts.BlindUnchecked++
		}
		return
	}
	h.table.held++
	if closed.Witnessed {
		h.table.raised++
	}
	if dealt {
		h.counts.Blind++
	}
}

func formatSecond(unix int64) string { return bundle.OptionalTime(unix * 1000) }
