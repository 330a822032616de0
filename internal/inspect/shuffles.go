package inspect

import (
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// live is what the fold keeps of an open shuffle alongside the state.
type live struct {
	Table     string
	Serial    uint64
	Committed int64
	CloseBy   int64
	Played    bool // mixed or dealt
	Dealt     bool
	Witnessed bool // by then, or now
	InTime    bool // by the trusted quorum before the round of its beacon came out
	Beacon    *roundCheck
	tempo
	parent *lineage
	self   *lineage   // when a child needs its values
	leaf   *tlog.Hash // of its commit; nil: nobody asks for it
}

func (f *fold) committed(c *audit.Commit, p *parsed, index uint64) {
	l := &live{Table: c.Context.Table, Serial: c.Serial, Committed: p.e.Time, CloseBy: c.CloseBy,
		leaf: p.leaf}
	f.live[index] = l
	if p.noDeck != nil {
		f.absent(*p.noDeck, c.Context.DeckHash, index)
	}
	if p.noTerms != nil {
		f.absent(*p.noTerms, c.Context.Terms.Hash, index)
	}
	f.seen.add(kindCommitment, c.Commitment, index)
	f.seen.add(kindKeyTag, c.KeyTag, index)
	for _, s := range c.Context.Plan {
		if s.Source == audit.SourceSlot {
			f.seen.add(kindSlot, s.Slot, index)
		}
	}
	if id := parentOf(c); id != nil {
		parent := f.live[*id]
		if parent == nil {
			return // of no parent that is known: a fault, or follows from one
		}
		if parent.self == nil {
			parent.self = newLineage()
		}
		l.parent = parent.self
	}
	f.planned(c.Context, index)
	if f.counts(l) {
		f.table(l.Table).Shuffles++
	}
}

func parentOf(c *audit.Commit) *uint64 {
	if c.Context.Parent == nil {
		return nil
	}
	return &c.Context.Parent.ID
}

// absent names a deck or a document of terms that is missing or wrong, once.
func (f *fold) absent(x Fault, hash [32]byte, index uint64) {
	if x.Where != "" { // of the deck, not of this commit
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
	if f.state.Genesis().Deals == audit.DealsCosigned && checkpoint > id && checkpoint <= index &&
		!f.cosigned.has(checkpoint) {
		f.cosigned.missing(f, checkpoint, index, id) // with another size the rule is broken, and says so
	}
	l := f.live[id]
	if l == nil {
		return
	}
	if !l.Played {
		l.Played, l.Witnessed = true, f.sawBefore(id, now)
		delete(f.rounds, id)
	}
}

// closed counts a shuffle and sends it to be recomputed.
func (f *fold) closed(c *audit.Close, p *parsed, index uint64, o audit.Opened, legal bool) {
	l := f.live[c.Shuffle]
	if l == nil || o.ID == 0 {
		return // not open: named by the rule
	}
	delete(f.live, c.Shuffle)
	delete(f.rounds, c.Shuffle)
	level := f.level(l, c.Shuffle)
	if f.counts(l) {
		f.countClose(f.table(l.Table), c, level)
	}
	x := closing{id: c.Shuffle, index: index, close: c, opened: o, parent: l.parent, self: l.self,
		counted: f.counts(l), table: l.Table}
	if level == LevelWitnessed && l.mixedForAll(o) {
		x.beacon = l.Beacon
	}
	if f.opts.Shuffles != "" {
		x.line = f.line(l, c, p.e.Time, index, o, level)
	}
	if x.counted && l.leaf != nil && p.leaf != nil {
		x.stated = &audit.Statement{Origin: f.newest.Origin, ID: c.Shuffle, Commit: *l.leaf, Disclosed: *p.leaf}
	}
	if x.parent != nil && !x.parent.sent {
		x.parent = nil // a parent that was not closed before: a fault of its own
	}
	if x.self != nil {
		x.self.sent = true
	}
	if c.Form == audit.FormSealed {
		x.opener = f.openers[c.Key]
	}
	if c.Form == audit.FormNone {
		f.faults.add(fault(CodeTapeLost, "", "the close of shuffle %d discloses no tape: the operator lost it",
			c.Shuffle).at(index).of(c.Shuffle))
	}
	x.legal = legal
	f.batch.closings = append(f.batch.closings, x)
}

func (f *fold) level(l *live, id uint64) string {
	switch {
	case len(f.trust.Keys) == 0:
		return LevelKeyNotPinned
	case f.levelless != "":
		return LevelRecorded
	case l.Played && l.Witnessed, !l.Played && f.cosigned.everPinned > id:
		return LevelWitnessed
	}
	return LevelRecorded
}

func newCounts() *Counts {
	return &Counts{VoidBy: make(map[string]uint64), Levels: make(map[string]uint64), Tapes: make(map[string]uint64)}
}

func (f *fold) countClose(t *Counts, c *audit.Close, level string) {
	switch c.Outcome {
	case audit.OutcomeCompleted:
		t.Completed++
	case audit.OutcomeEndedEarly:
		t.EndedEarly++
	case audit.OutcomeContinued:
		t.Continued++
	case audit.OutcomeVoid:
		t.Void++
		t.VoidBy[c.Reason.String()]++
	case audit.OutcomeExpired:
		t.Expired++
	}
	t.Levels[level]++
}
