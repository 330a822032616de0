package inspect

import (
	"maps"
	"math/bits"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
)

// Dealing says by table who dealt, and at what pace. None of it is a fault: a reader asks
// the house about it (docs/SPEC.md section 14.2).
type Dealing struct {
	Totals DealingCounts  `json:"totals"`
	Tables []TableDealing `json:"tables"`         // those with more than deals and reveals, by name, at most MaxListed
	Rest   *RestDealing   `json:"rest,omitempty"` // the sum of such tables that are not listed
}

// DealingCounts are figures about shuffles and draws committed in the period.
type DealingCounts struct {
	Owners      uint64 `json:"owner_changed"`       // shuffles with entries of more than one identity
	Credentials uint64 `json:"more_credentials"`    // shuffles that more than one credential dealt from
	ToClose     uint64 `json:"taken_over_to_close"` // takeovers
	ToPlay      uint64 `json:"taken_over_to_play"`
	Deals       uint64 `json:"deals"`
	// of the deals: those that came after the deal before in much less than the table's median gap
	InOneGo uint64 `json:"in_one_go"`
	// of the deals: those after which the shuffle's next entry came in much more than the median gap
	LongBefore uint64 `json:"long_before"`
	Reveals    uint64 `json:"reveals"`
	Exposed    uint64 `json:"exposed"` // of the reveals: those of a card that was seen by mistake
}

// TableDealing are the figures of one table.
type TableDealing struct {
	Table string `json:"table"`
	DealingCounts
	// Median bounds the median gap between deals of one shuffle, in milliseconds: it is at
	// least the first and below the second. nil: there is no gap.
	Median *[2]uint64 `json:"median_gap_ms,omitempty"`
}

// RestDealing sums tables.
type RestDealing struct {
	Count uint64 `json:"count"` // of tables
	DealingCounts
}

// pace is what the fold keeps of a table. It counts gaps by class, since the median is known only at the end.
type pace struct {
	DealingCounts
	Between gaps // from a deal to the next deal of its shuffle
	After   gaps // from a deal to the next entry of its shuffle
}

// tempo is what the fold keeps of an open shuffle for its table's pace.
type tempo struct {
	OwnerChanged bool
	Dealer       string // credential of the first deal
	MoreDealers  bool
	AfterDeal    bool  // its newest entry is a deal
	DealtAt      int64 // time of the newest deal
}

// gaps counts gaps by class. Class 0 is less than a millisecond, class n ≥ 1 is 2^(n−1) to
// 2^n − 1 milliseconds. The slice ends with the largest class counted; it has at most 65.
type gaps []uint64

// farGap is by how many classes a gap differs at least from the median if it is counted.
const farGap = 2

func (g *gaps) add(from, to int64) {
	class := bits.Len64(uint64(max(0, to-from)))
	for len(*g) <= class {
		*g = append(*g, 0)
	}
	(*g)[class]++
}

// median returns the class of the lower median, false for no gap.
func (g gaps) median() (class int, ok bool) {
	var total, below uint64
	for _, n := range g {
		total += n
	}
	for class, n := range g {
		if below += n; below > 0 && below >= (total+1)/2 {
			return class, true
		}
	}
	return 0, false
}

// between sums the classes from ≤ class < to.
func (g gaps) between(from, to int) (n uint64) {
	for class := max(0, from); class < min(to, len(g)); class++ {
		n += g[class]
	}
	return n
}

// deal counts what entry e says of who dealt from its shuffle, and when. It is called before
// follow, which may end the shuffle.
func (f *fold) deal(e audit.Entry, opened rules.Opened) {
	l := f.live[audit.ShuffleOf(e.Body)]
	if l == nil || !f.counts(l) {
		return
	}
	p := f.paces[l.Table]
	if p == nil {
		p = &pace{}
		f.paces[l.Table] = p
	}
	if !l.OwnerChanged && !e.Actor.Reserved() && e.Actor.Identity != opened.Owner {
		l.OwnerChanged = true
		p.Owners++
	}
	if l.AfterDeal {
		p.After.add(l.DealtAt, e.Time)
	}
	l.AfterDeal = false
	switch b := e.Body.(type) {
	case *audit.Takeover:
		if b.Extent == audit.ExtentPlay {
			p.ToPlay++
		} else {
			p.ToClose++
		}
	case *audit.Deal:
		p.dealt(l, e)
	case *audit.Reveal:
		p.Reveals++
		if b.Exposed {
			p.Exposed++
		}
	}
}

func (p *pace) dealt(l *live, e audit.Entry) {
	p.Deals++
	if l.Dealer == "" {
		l.Dealer = e.Actor.Credential
	} else {
		p.Between.add(l.DealtAt, e.Time)
	}
	if l.Dealer != e.Actor.Credential && !l.MoreDealers {
		l.MoreDealers = true
		p.Credentials++
	}
	l.AfterDeal, l.DealtAt = true, e.Time
}

// bounds returns the bounds of a class, in milliseconds: its gaps are at least the first and below the second.
func bounds(class int) *[2]uint64 { return &[2]uint64{(uint64(1) << class) >> 1, uint64(1) << class} }

// dealings reports on all tables. The median of each is known now.
func (f *fold) dealings() Dealing {
	d := Dealing{Tables: []TableDealing{}}
	for _, name := range slices.Sorted(maps.Keys(f.paces)) {
		p := f.paces[name]
		t := TableDealing{Table: name, DealingCounts: p.DealingCounts}
		if m, ok := p.Between.median(); ok {
			t.InOneGo = p.Between.between(0, m-farGap+1)
			t.LongBefore = p.After.between(m+farGap, len(p.After))
			t.Median = bounds(m)
		}
		sum(&d.Totals, &t.DealingCounts)
		switch {
		case t.DealingCounts == DealingCounts{Deals: t.Deals, Reveals: t.Reveals}:
		case len(d.Tables) < MaxListed:
			d.Tables = append(d.Tables, t)
		default:
			if d.Rest == nil {
				d.Rest = &RestDealing{}
			}
			d.Rest.Count++
			sum(&d.Rest.DealingCounts, &t.DealingCounts)
		}
	}
	return d
}
