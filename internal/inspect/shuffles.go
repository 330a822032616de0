package inspect

import (
	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/beacon"
	"shuffled/internal/bundle"
)

// live is what the fold keeps of an open shuffle alongside the state.
type live struct {
	Table     string
	By        string // the identity that committed it
	GameRef   string
	What      string // what is shuffled
	Serial    uint64
	Committed int64
	CloseBy   int64
	Closed    int64 // of one that is closed, or was continued
	Played    bool  // mixed or dealt
	Dealt     bool
	Witnessed bool       // the trusted quorum saw the commit before it was played
	Round     int64      // second at which the round of its beacon comes out, 0 for none
	InTime    bool       // the trusted quorum saw the commit before that
	Beacon    roundCheck // nil: there is none to be checked
	Tickets   bool       // drawn from a list of tickets
	CoDealer  bool       // its places depend on the ledger of a co-dealer
	tempo
	parent *lineage
	self   *lineage    // when a child needs its values
	told   *Recomputed // for Options.Recomputed; nil: nobody asks for it
}

func (f *fold) committed(c *audit.Commit, p *parsed, index uint64) {
	l := &live{Table: c.Context.Table, By: p.e.Actor.Identity, GameRef: c.GameRef, What: named(c.Context),
		Serial: c.Serial, Committed: p.e.Time, CloseBy: c.CloseBy}
	f.live[index] = l
	if f.opts.Recomputed != nil && f.counts(l) {
		l.told = &Recomputed{Statement: openings.Statement{Origin: f.newest.Origin, ID: index, Commit: *p.leaf},
			Context: c.Context}
	}
	if p.noDeck != nil {
		f.absent(*p.noDeck, c.Context.DeckHash, index)
	}
	if p.noTerms != nil {
		f.absent(*p.noTerms, c.Context.Terms.Hash, index)
	}
	f.drawn(l, c.Context.Terms, index)
	f.seen.add(kindCommitment, c.Commitment, index)
	f.seen.add(kindKeyTag, c.KeyTag, index)
	for _, s := range c.Context.Plan {
		if s.Source == audit.SourceSlot {
			f.seen.add(kindSlot, s.Slot, index)
		}
	}
	if of := c.Context.Parent; of != nil {
		if parent := f.live[of.ID]; parent != nil { // otherwise that is a fault, or follows from one
			if parent.self == nil {
				parent.self = &lineage{done: make(chan struct{})}
			}
			l.parent = parent.self
		}
	}
	if p, ok := c.Context.Beacon(); ok && p.Chain == audit.Quicknet {
		l.Round = beacon.TimeOf(p.Round)
	}
	_, l.CoDealer = c.Context.CoDealer()
	if f.counts(l) {
		t := f.table(l.Table)
		t.Shuffles++
		addTo(t.Shuffled, l.What)
		if l.CoDealer {
			t.NeedsCoDealer++
		}
	}
}

// absent names a deck or a document of terms that is missing or wrong, once.
func (f *fold) absent(x Fault, hash [32]byte, index uint64) {
	if x.Where != "" { // it is a fault of the deck, not of this commit
		if f.noDeck[hash] || len(f.noDeck) >= deckMemory {
			return
		}
		f.noDeck[hash] = true
	}
	f.faults.add(x.at(index).of(index))
}

// counts reports whether the report's figures are about this shuffle.
func (f *fold) counts(l *live) bool {
	return (f.opts.From == 0 || l.Committed >= f.opts.From) && (f.opts.To == 0 || l.Committed < f.opts.To)
}

func (f *fold) table(name string) *Counts {
	t := f.tables[name]
	if t == nil {
		t = newCounts()
		f.tables[name] = t
	}
	return t
}

// played takes note of a mix or deal.
func (f *fold) played(id, index, checkpoint uint64, now int64) {
	if f.state.Genesis().Deals == audit.DealsCosigned && checkpoint > id && checkpoint <= index {
		f.cosigned.missing(f, checkpoint, index, id) // any other size breaks a rule, which names it
	}
	l := f.live[id]
	if l == nil || l.Played {
		return
	}
	l.Played = true
	// The sightings so far do not cover more than the entries up to this one, which first mixes or deals from the
	// shuffle. second is the earliest at which the trusted quorum had seen the commit.
	if i := f.covering(id); i < len(f.sightings) {
		second := f.sightings[i].At
		l.Witnessed = trust.SecondsLate(second, now) == 0 // docs/SPEC.md section 10.2
		l.InTime = second < l.Round
	}
}

// ended counts a shuffle and sends it to be recomputed.
func (f *fold) ended(b audit.Body, outcome audit.Outcome, reason audit.Reason, p *parsed, index uint64,
	o rules.Opened, legal bool) {
	l := f.live[o.ID]
	if _, open := f.state.Shuffle(o.ID); open || l == nil || o.ID == 0 {
		return // continued; or it was not open or not due, and the rule named that
	}
	delete(f.live, o.ID)
	level := f.level(l, o.ID)
	if f.counts(l) {
		t, as, why := f.table(l.Table), outcome, reason.String()
		switch void := outcome == audit.OutcomeVoid || outcome == audit.OutcomeExpired; {
		case o.Aside:
			as, why = audit.OutcomeVoid, "set_aside"
			t.setAside(l)
		case !l.Dealt && !void && !f.lost.between(o.ID, index):
			// Else a house could look at an order, and draw another, and no figure would show it.
			as, why = audit.OutcomeVoid, "not_dealt"
		}
		t.ended(as, why, level)
	}
	d, _ := audit.DisclosedBy(b)
	x := closing{live: l, id: o.ID, index: index, disclosed: d, opened: o, legal: legal,
		mixed: level == LevelWitnessed && l.mixedForAll(o)}
	if f.opts.Shuffles != "" && f.counts(l) {
		x.line = l.line(o, "closed", level)
		x.line.Closed, x.line.Entry = bundle.FormatTime(l.Closed), index
		x.line.Outcome, x.line.Reason = outcome.String(), reason.String()
	}
	if x.told != nil {
		x.told.Disclosed = *p.leaf
	}
	if x.self != nil {
		x.self.sent = true
	}
	if d.Form == audit.FormSealed {
		x.opener = f.openers[d.Key]
	}
	_, isClose := b.(*audit.Close)
	if d.Form == audit.FormNone && (!isClose || reason == audit.ReasonTapeLost) {
		f.faults.add(fault(CodeTapeLost, "", "shuffle %d discloses no tape: the operator lost it",
			o.ID).at(index).of(o.ID))
	}
	if isClose && x.parent != nil && !x.parent.sent && o.Depth > 1 {
		f.held = &x // its values come from ancestors, whose tapes the next entries disclose
		return
	}
	f.queue(x)
	if f.held != nil && f.held.parent == x.self {
		f.release()
	}
}

// release sends the last shuffle of a chain, even if its ancestors were not disclosed.
func (f *fold) release() {
	if f.held != nil {
		f.queue(*f.held)
		f.held = nil
	}
}

func (f *fold) queue(x closing) {
	if x.parent != nil && !x.parent.sent {
		x.parent = nil // the parent's tape was not disclosed before: that is a fault of its own
	}
	f.batch.closings = append(f.batch.closings, x)
}

func (f *fold) level(l *live, id uint64) string {
	switch {
	case len(f.trust.Keys) == 0:
		return LevelKeyNotPinned
	// For what a co-dealer gave, this ledger has only the house's word.
	case f.noLevel == "" && !l.CoDealer && f.witnessed(l, id):
		return LevelWitnessed
	}
	return LevelRecorded
}

// witnessed reports whether the trusted quorum saw the commit before the shuffle was played, if it ever was.
func (f *fold) witnessed(l *live, id uint64) bool {
	return l.Played && l.Witnessed || !l.Played && f.cosigned.everPinned > id
}

func newCounts() *Counts {
	return &Counts{Shuffled: make(map[string]uint64), VoidBy: make(map[string]uint64), Levels: make(map[string]uint64),
		Tapes: make(map[string]uint64), SetAside: make(map[string]uint64)}
}

// addTo counts a name. From MaxListed names on, the others are one.
func addTo(by map[string]uint64, name string) {
	if len(by) >= MaxListed && by[name] == 0 {
		name = "others"
	}
	by[name]++
}

// setAside counts a shuffle that a close of its table set aside.
func (t *Counts) setAside(l *live) {
	addTo(t.SetAside, l.By)
	if l.Played { // without a deal
		t.SetAsideMixed++
	}
}

// raise counts n shuffles at another level.
func (c *Counts) raise(n uint64, from, to string) {
	if n == 0 {
		return
	}
	c.Levels[to] += n
	if c.Levels[from] -= n; c.Levels[from] == 0 {
		delete(c.Levels, from)
	}
}

func (t *Counts) ended(outcome audit.Outcome, why, level string) {
	switch outcome {
	case audit.OutcomeCompleted:
		t.Completed++
	case audit.OutcomeEndedEarly:
		t.EndedEarly++
	case audit.OutcomeContinued:
		t.Continued++
	case audit.OutcomeVoid:
		t.Void++
		t.VoidBy[why]++
	case audit.OutcomeExpired:
		t.Expired++
	}
	t.Levels[level]++
}
