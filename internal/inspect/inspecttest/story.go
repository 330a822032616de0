package inspecttest

import (
	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// Honest writes an honest ledger with about n shuffles of all kinds: cards, shoes and draws, with mixes, children, all
// outcomes, tapes for everybody and for auditors, witnesses, rotations, a change of policy, tables that close and open.
// It returns the ledger, to be finished.
func Honest(dir string, n int) *Ledger {
	g := Plain()
	g.Policy = Policy(false, 2, "w1", "w2", "w3")
	g.Deals = audit.DealsCosigned
	g.AuditorKeys = [][]byte{Auditor().Public()}
	l := New(dir, "honest", g)
	l.Disclosure()
	l.Cosigned("w1", "w2")
	for i := range n {
		l.Now += 1000
		l.round(i)
		switch {
		case i%97 == 96:
			l.Rotate()
		case i%53 == 52:
			l.Append(&audit.Event{Kind: audit.EventTableClose, Name: "t3"})
			l.Append(&audit.Event{Kind: audit.EventTableOpen, Name: "t3"})
		case i%71 == 70:
			l.Start()
			l.Disclosure()
		case i == n/2:
			l.Append(&audit.Key{Subject: audit.SubjectPolicy, Policy: Policy(false, 2, "w2", "w3", "w4")})
			l.Cosigned("w2", "w3") // of the old quorum and of the new one
		}
	}
	l.Cosigned("w2", "w3")
	open := l.Commit("t9")
	l.Cosigned("w2", "w3")
	open.Deal(3, l.Size)
	l.Now += 7_200_000
	l.Commit("t9") // overdue is the one before, this one is open
	l.Cosigned("w2", "w3")
	return l
}

// Wheel is a wheel of ten values.
func Wheel() *terms.Document {
	d, err := terms.NewWheel([]terms.Label{{Label: "nothing", Weight: 9}, {Label: "a car", Weight: 1}})
	must(err)
	return d
}

// PayTable is a pay table.
func PayTable() *terms.Document {
	d, err := terms.NewPayTable("four of a kind: 25\nfull house: 9\n")
	must(err)
	return d
}

// round is shuffle i of an honest ledger.
func (l *Ledger) round(i int) {
	tables := []string{"t1", "t2", "t3", "t4"}
	table := tables[i%len(tables)]
	shoe, _ := shuffle.Named("shoe-2")
	var wishes []Wish
	switch i % 11 {
	case 1:
		wishes = append(wishes, Draws(37, 6, 6, 1_000_000))
	case 2:
		wishes = append(wishes, Of(shoe, 60))
	case 3:
		wishes = append(wishes, Mixed(2, 0, true))
	case 4:
		wishes = append(wishes, Draws(10, 10), Bound(l.Terms(Wheel())), Mixed(1, uint64(i+1), false))
	case 5:
		wishes = append(wishes, Mixed(0, uint64(i+1), true))
	case 6, 7:
		wishes = append(wishes, ForAuditors)
	case 8:
		wishes = append(wishes, Numbers(1000, 3), Bound(&audit.Terms{Kind: audit.TermsTicketList, Count: 1000}))
	case 9:
		wishes = append(wishes, Bound(l.Terms(PayTable())))
	}
	s := l.Commit(table, wishes...)
	size := l.Cosigned("w2", "w3")
	if i%13 == 12 {
		s.Close(audit.OutcomeVoid, audit.ReasonMisdeal) // never dealt
		return
	}
	if len(s.Commit.Context.Plan) > 0 {
		s.Mix(size)
	}
	s.Deal(2, size)
	switch i % 17 {
	case 3:
		s.Close(audit.OutcomeVoid, audit.ReasonPlayerDispute)
	case 5:
		s.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	case 7:
		l.Now = s.Commit.CloseBy
		s.Close(audit.OutcomeExpired, audit.ReasonNone)
	case 8, 9, 10:
		if !s.Commit.Context.IsDraw() {
			l.family(s, table)
			return
		}
		s.Close(audit.OutcomeCompleted, audit.ReasonNone)
	default:
		if m := s.Commit.Context.Recipe.Positions(); m > 4 {
			s.Deal(2, size)
			s.Last(m-4, size)
			return
		}
		s.Close(audit.OutcomeCompleted, audit.ReasonNone)
	}
}

// family shuffles the stub of s again, and a part of that once more.
func (l *Ledger) family(s *Shuffle, table string) {
	same := []Wish{Bound(s.Commit.Context.Terms)}
	if s.Commit.Context.Disclosure == audit.DisclosureAuditor {
		same = append(same, ForAuditors)
	}
	child := l.Commit(table, append(same, ChildOf(s, 9, 3, 30, 12, 5, 40))...)
	s.Close(audit.OutcomeContinued, audit.ReasonNone)
	size := l.Cosigned("w2", "w3")
	child.Deal(1, size)
	grandchild := l.Commit(table, append(same, ChildOf(child, 5, 1, 2))...)
	child.Close(audit.OutcomeContinued, audit.ReasonNone)
	size = l.Cosigned("w2", "w3")
	grandchild.Last(3, size)
	s.Disclose()
	child.Disclose()
}

// Fast writes n shuffles of 52 cards, each with a commit, four deals and a close, fifty at a time on as many tables,
// and returns the finished ledger: what a busy house writes, for benchmarks.
func Fast(dir string, n int) *Ledger {
	l := New(dir, "fast", Plain())
	const tables = 50
	names := make([]string, tables)
	for i := range names {
		names[i] = "table-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
	}
	for done := 0; done < n; done += tables {
		l.Now += 1000
		shuffles := make([]*Shuffle, 0, tables)
		for _, name := range names[:min(tables, n-done)] {
			shuffles = append(shuffles, l.Commit(name))
		}
		for _, cards := range []int{2, 2, 3, 1} {
			for _, s := range shuffles {
				s.Deal(cards, 0)
			}
		}
		for _, s := range shuffles {
			s.Close(audit.OutcomeCompleted, audit.ReasonNone)
		}
	}
	l.Finish()
	return l
}
