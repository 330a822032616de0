package inspecttest

import (
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Made is a shuffle with what its mix hangs on.
type Made struct {
	*Shuffle
	Leaf tlog.Hash // of its commit
}

// Kinds writes n closed shuffles of each kind of outcome, with tapes for everybody, and one that is open. The kinds
// have the names of files of shuffled audit outcomes; of those that end with mixed, the shuffles are also in another.
// It returns the finished ledger.
func Kinds(dir string, n int) (l *Ledger, kinds map[string][]Made) {
	l, kinds = New(dir, "kinds", Plain()), make(map[string][]Made)
	shoe, _ := shuffle.Named("shoe-8") // two bytes a card
	own, err := shuffle.NewDeck([]string{"red", "red", "green", "blue", "blue", "blue"})
	must(err)
	for range n {
		for _, kind := range []struct {
			name   string
			mixed  string
			wishes []Wish
		}{
			{"standard-52.bin", "", nil},
			{"standard-52.bin", "standard-52.mixed.bin", []Wish{Mixed(1, 0, false)}},
			{"shoe-8-first-60.bin", "", []Wish{Of(shoe, 60)}},
			{"deck.bin", "", []Wish{Of(own, 6)}},
			{"draws-2-of-37.bin", "draws-2-of-37.mixed.bin", []Wish{Draws(37, 37), Mixed(1, 0, false)}},
			{"draws-1-of-70000.bin", "", []Wish{Draws(70_000)}},
			{"draws.bin", "", []Wish{Draws(6, 10)}},
			{"numbers-6-of-49.bin", "", []Wish{Numbers(49, 6)}},
		} {
			l.Now += 1000
			s := l.Commit("t1", kind.wishes...)
			kinds[kind.name] = append(kinds[kind.name], Made{s, l.Leaf})
			if kind.mixed != "" {
				kinds[kind.mixed] = append(kinds[kind.mixed], Made{s, l.Leaf})
				s.Mix(0)
			}
			s.Close(audit.OutcomeVoid, audit.ReasonMisdeal)
		}
		parent := l.Commit("t2")
		kinds["standard-52.bin"] = append(kinds["standard-52.bin"], Made{parent, l.Leaf})
		parent.Deal(10, 0)
		child := l.Commit("t2", ChildOf(parent, 10, 12, 15, 20, 51))
		kinds["children-5.bin"] = append(kinds["children-5.bin"], Made{child, l.Leaf})
		parent.Close(audit.OutcomeContinued, audit.ReasonNone)
		child.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
		parent.Disclose()
	}
	l.Commit("t3")
	l.Finish()
	return l, kinds
}
