package inspect

import (
	"sort"

	"shuffled/internal/audit"
)

// lostEntries are the indexes of entries whose bytes are not known. If a later entry
// seems to break a rule because of them, that is no fault of its own.
type lostEntries []span // ascending

type span struct{ From, To uint64 } // From ≤ index < To

func (l *lostEntries) add(index uint64) {
	if n := len(*l); n > 0 && (*l)[n-1].To == index {
		(*l)[n-1].To++
		return
	}
	*l = append(*l, span{index, index + 1})
}

// has reports whether the entry was lost.
func (l lostEntries) has(index uint64) bool { return l.between(index, index+1) }

// between reports whether an entry of from ≤ index < to was lost.
func (l lostEntries) between(from, to uint64) bool {
	i := sort.Search(len(l), func(i int) bool { return l[i].To > from })
	return i < len(l) && l[i].From < to
}

// explain reports whether a lost entry can be why e seems to break a rule. So many entries of its shuffle are below.
func (f *fold) explain(rule *audit.Illegal, e audit.Entry, index uint64, below int) bool {
	l, id := f.lost, audit.ShuffleOf(e.Body)
	if len(l) == 0 {
		return false
	}
	switch rule.Code {
	case audit.RuleTime:
		return false
	case audit.RuleCredential, audit.RuleRound: // created there, or dealt from a parent
		return true
	case audit.RuleOwner: // taken over there
		return l.between(id, index)
	case audit.RuleEntries: // a lost one is one more
		d, _ := audit.DisclosedBy(e.Body)
		return d.Entries > below && l.between(id, index)
	case audit.RuleEarlier:
		return l.between(f.firstWaiting(id), index)
	case audit.RuleGenesisFirst:
		return l.has(0) && index > 0
	case audit.RulePair:
		_, disclosure := e.Body.(*audit.DisclosureEntry) // its chain may have been linked there
		return l.has(index-1) || disclosure && l.between(id, index)
	}
	switch b := e.Body.(type) {
	case *audit.Commit:
		return l.explainCommit(rule.Code, b, index)
	case *audit.Mix, *audit.Deal, *audit.Reveal:
		switch rule.Code {
		case audit.RuleNotOpen:
			return l.has(id)
		case audit.RuleSetAside, audit.RulePlace, audit.RuleMix, audit.RuleReveal:
			return l.between(id, index)
		}
		return false
	case *audit.Close:
		switch rule.Code {
		case audit.RuleNotOpen:
			return l.has(b.Shuffle)
		case audit.RuleOutcome:
			return l.has(index - 1)
		case audit.RuleCoDealer: // it was dealt from there
			return l.between(b.Shuffle, index)
		case audit.RuleDisclosureKey:
			return l.between(b.Key, index)
		}
		return false
	case *audit.DisclosureEntry:
		return rule.Code == audit.RuleNotOpen && l.between(b.Shuffle, index) ||
			rule.Code == audit.RuleDisclosureKey && l.between(b.Key, index)
	}
	return true // a lost entry may have changed keys, switches, tables or the latch
}

// firstWaiting returns the id of the first open shuffle at the table of this one that is not known to be dealt from.
func (f *fold) firstWaiting(id uint64) uint64 {
	this := f.live[id]
	if this == nil {
		return id
	}
	first := id
	for other, l := range f.live {
		if l.Table == this.Table && !l.Dealt {
			first = min(first, other)
		}
	}
	return first
}

func (l lostEntries) explainCommit(code string, c *audit.Commit, index uint64) bool {
	switch code {
	case audit.RuleInstance:
		return l.has(c.Instance)
	case audit.RuleSerial:
		return l.has(c.Previous)
	case audit.RuleParent:
		return c.Context.Parent != nil && l.between(c.Context.Parent.ID, index)
	case audit.RuleLatch, audit.RuleKill, audit.RuleTable, audit.RuleDisclosureKey, audit.RuleCoDealer:
		return true
	}
	return false
}
