package inspect

import (
	"encoding/base64"

	"shuffled/internal/audit"
	"shuffled/internal/terms"
)

// TicketList is the hash of a list of tickets that the caller has.
type TicketList struct {
	Name string // for the report
	terms.List
}

// Tickets are figures about the shuffles that are drawn from lists of tickets.
type Tickets struct {
	Shuffles uint64     `json:"shuffles"` // of the period, that name a list
	Seen     uint64     `json:"seen"`     // of them, those whose list the caller has
	Mixed    uint64     `json:"mixed"`    // of them, at the level mixed: in others the house could choose the winner
	Lists    []SeenList `json:"lists"`    // that the caller has
}

// SeenList is a list that the caller has.
type SeenList struct {
	Name     string `json:"name"`
	Count    uint64 `json:"count"`
	Root     string `json:"root"`     // base64
	Shuffles uint64 `json:"shuffles"` // of any time, that are drawn from it
}

func newLists(given []TicketList) []SeenList {
	lists := make([]SeenList, len(given))
	for i, g := range given {
		lists[i] = SeenList{Name: audit.Printable(g.Name), Count: g.Count,
			Root: base64.StdEncoding.EncodeToString(g.Root[:])}
	}
	return lists
}

// drawn compares the list of tickets that a commit names with those that were given.
func (f *fold) drawn(l *live, t *audit.Terms, index uint64) {
	if t == nil || t.Kind != audit.TermsTicketList {
		return
	}
	l.Tickets = true
	seen := false
	for i, g := range f.opts.Tickets {
		if g.Root != t.Hash {
			continue
		}
		f.drawnFrom[i] = true
		if g.Count != t.Count { // a root alone does not fix the count
			f.faults.add(fault(CodeTerms, "", "the shuffle is of %d tickets, and the list of this root, %s, has %d",
				t.Count, g.Name, g.Count).at(index).of(index))
			continue
		}
		f.report.Tickets.Lists[i].Shuffles++
		seen = true
	}
	if !f.counts(l) {
		return
	}
	f.report.Tickets.Shuffles++
	if seen {
		f.report.Tickets.Seen++
	}
}

// unnamed reports the lists that were given and that no commit names. If an entry is lost, it may name one.
func (f *fold) unnamed() {
	if len(f.lost) > 0 || f.broken {
		return
	}
	for i, g := range f.report.Tickets.Lists {
		if !f.drawnFrom[i] {
			f.faults.add(fault(CodeTerms, g.Name, "no shuffle of the ledger is drawn from this list of %d tickets with the root %s",
				g.Count, g.Root))
		}
	}
}
