package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/terms"
)

// raffle is a list of tickets, hashed.
func raffle(t *testing.T, name string, lines ...string) TicketList {
	t.Helper()
	l, _, err := terms.Walk(strings.NewReader(strings.Join(lines, "\n")), make([]byte, terms.SecretLen), terms.Wanted{})
	must(t, err)
	return TicketList{name, l}
}

func of(l TicketList) *audit.Terms {
	return &audit.Terms{Kind: audit.TermsTicketList, Count: l.Count, Hash: l.Root}
}

// TestTickets: shuffles that are drawn from lists of tickets are counted, and a list that was given is the one that
// they name or a fault.
func TestTickets(t *testing.T) {
	t.Parallel()
	first, second := raffle(t, "first", "a", "b", "c"), raffle(t, "second", "a", "b", "d")
	l := newLedger(t)
	draw := func(table string, list *audit.Terms) {
		l.play(l.commit(table, inspecttest.Numbers(int(list.Count), 2), inspecttest.Bound(list)))
	}
	draw("t1", of(first))
	draw("t1", of(second))
	draw("t1", of(first))
	l.hand("t1")
	l.Now += 1000
	later := l.Now
	l.commit("t2", inspecttest.Numbers(3, 2), inspecttest.Bound(of(first))) // open
	l.Finish()
	other := raffle(t, "other", "a", "b", "e")
	line := func(l TicketList, n uint64) SeenList {
		return SeenList{l.Name, l.Count, l.Root.String(), n}
	}
	for name, c := range map[string]struct {
		given  []TicketList
		from   int64
		want   Tickets
		faults []string
	}{
		"none":       {nil, 0, Tickets{4, 0, 0, []SeenList{}}, nil},
		"one of two": {[]TicketList{first}, 0, Tickets{4, 3, 0, []SeenList{line(first, 3)}}, nil},
		"both": {[]TicketList{second, first}, 0,
			Tickets{4, 4, 0, []SeenList{line(second, 1), line(first, 3)}}, nil},
		"of a period": {[]TicketList{first}, later, Tickets{1, 1, 0, []SeenList{line(first, 3)}}, nil},
		"another":     {[]TicketList{other}, 0, Tickets{4, 0, 0, []SeenList{line(other, 0)}}, []string{"terms"}},
		"one, and another": {[]TicketList{other, second}, 0,
			Tickets{4, 1, 0, []SeenList{line(other, 0), line(second, 1)}}, []string{"terms"}},
	} {
		opts := trusting()
		opts.Tickets, opts.From = c.given, c.from
		r := inspectDir(t, l.Dir, opts)
		wantFaults(t, r, c.faults)
		if diff := cmp.Diff(c.want, r.Tickets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, f := range r.Faults {
			if f.Where != "other" || f.Entry != nil {
				t.Errorf("%s: %s", name, asJSON(t, f))
			}
		}
	}
}

// TestTicketsOfAnotherCount: a commit with the root of a list and another count has numbers that no ticket has.
func TestTicketsOfAnotherCount(t *testing.T) {
	t.Parallel()
	list := raffle(t, "list", "a", "b", "c")
	l := newLedger(t)
	bound := of(list)
	bound.Count = 4
	s := l.commit("t1", inspecttest.Numbers(4, 2), inspecttest.Bound(bound))
	l.Finish()
	opts := trusting()
	wantFaults(t, inspectDir(t, l.Dir, opts), nil)
	opts.Tickets = []TicketList{list}
	r := inspectDir(t, l.Dir, opts)
	wantFaults(t, r, []string{"terms"})
	if f := r.Faults[0]; f.Entry == nil || *f.Entry != s.ID || r.Tickets.Seen != 0 || r.Tickets.Lists[0].Shuffles != 0 {
		t.Errorf("%s\n%s", asJSON(t, f), asJSON(t, r.Tickets))
	}
}

// TestTicketsOfALostEntry: a list that no commit names is no fault if an entry is lost, which may be the commit.
func TestTicketsOfALostEntry(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	b.flip("tile/entries/001", 3000)
	opts := trusting()
	opts.Tickets = []TicketList{raffle(t, "list", "a", "b")}
	wantFaults(t, inspectDir(t, b.dir, opts), []string{"entry"})
}
