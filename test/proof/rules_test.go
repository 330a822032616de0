package proof

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/shuffle"
)

// TestRules: internal/audit/rules and the extracted step reach the same verdicts on random
// sequences of commits, deals, reveals and closes, whose entries are often wrong by one.
// The model lacks the rule that an earlier serial of a table must begin first. That rule
// only refuses more, so the entries that it refuses are left out.
func TestRules(t *testing.T) {
	l := inspecttest.New(t.TempDir(), "rules", inspecttest.Plain())
	g := generator{rand.New(rand.NewPCG(*seed, 9))}
	counts := map[string]int{}
	var questions []question
	for range 2000 {
		mark, base := l.State.Mark(), l.State.Size()
		var lines, verdicts []string
		for range 1 + g.IntN(24) {
			line, body := g.entry(l, base)
			verdict, rule := judged(l, body)
			counts[fmt.Sprintf("%s %s %s", body.Type(), verdict, rule)]++
			if rule != audit.RuleEarlier {
				lines, verdicts = append(lines, line), append(verdicts, verdict)
			}
		}
		l.State.Rollback(mark)
		if len(lines) > 0 {
			questions = append(questions, question{"rules", "rules " + join(lines, ";"), join(verdicts, " ")})
		}
	}
	for _, kind := range []string{"commit yes ", "commit no " + audit.RuleSerial, "deal yes ", "deal no malformed",
		"deal no " + audit.RuleNotOpen, "deal no " + audit.RulePlace, "deal no " + audit.RulePlaces, "reveal yes ",
		"reveal no malformed", "reveal no " + audit.RuleNotOpen, "reveal no " + audit.RuleReveal, "close yes ",
		"close no " + audit.RuleNotOpen} {
		if counts[kind] < 10 {
			t.Errorf("only %d of %q in %v", counts[kind], kind, counts)
		}
	}
	t.Logf("seed %d: %v", *seed, counts)
	ask(t, questions)
}

// judged applies an entry, and returns "yes". If the entry cannot be written or is illegal, it
// returns "no" and the rule.
func judged(l *inspecttest.Ledger, body audit.Body) (verdict, rule string) {
	e := audit.Entry{Time: l.Now, Actor: inspecttest.Dealer, Body: body}
	if _, err := e.Encode(); err != nil {
		return "no", "malformed"
	}
	var illegal *audit.Illegal
	if errors.As(l.State.Apply(e), &illegal) {
		return "no", illegal.Code
	}
	return "yes", ""
}

// entry returns a random entry for both: a line for the extracted program and a body. base is
// the index of the first entry of the sequence in the ledger.
func (g generator) entry(l *inspecttest.Ledger, base uint64) (line string, body audit.Body) {
	next := l.State.Size()
	if next == base || g.IntN(8) == 0 {
		table, places := g.IntN(2), 1+g.IntN(8)
		name := fmt.Sprintf("table-%d", table)
		serial, previous := l.State.Next(name)
		if g.IntN(4) == 0 {
			serial += uint64(g.IntN(3))
		}
		ctx := &audit.Context{Origin: inspecttest.Origin, Genesis: l.State.GenesisHash(), Production: true, Table: name,
			DeckHash: [32]byte{1}, Recipe: shuffle.Recipe{Cards: 8, Take: places},
			Disclosure: audit.DisclosurePublic}
		c := &audit.Commit{Context: ctx, Serial: serial, Previous: previous, CloseBy: l.Now + 3_600_000, Instance: 1}
		return fmt.Sprintf("commit,%d,%d,%d", table, serial, places), c
	}
	id := g.IntN(int(next - base))
	of := base + uint64(id)
	o, _ := l.State.Shuffle(of)
	switch g.IntN(8) {
	case 0:
		tape := make([]byte, shuffle.Recipe{Cards: 8, Take: max(o.Places, 1)}.TapeLen())
		return fmt.Sprintf("close,%d", id), l.State.Counted(&audit.Close{Shuffle: of, Outcome: audit.OutcomeCompleted,
			Form: audit.FormTape, Tape: tape})
	case 1, 2, 3:
		var places []uint16
		for range 1 + g.IntN(3) {
			places = append(places, uint16(g.IntN(o.Next+1)))
		}
		slices.Sort(places)
		return fmt.Sprintf("reveal,%d,%s", id, join(places, ",")), &audit.Reveal{Shuffle: of, Places: places}
	}
	first, count := o.Next, g.IntN(4)
	if g.IntN(4) == 0 {
		first = g.IntN(8)
	}
	return fmt.Sprintf("deal,%d,%d,%d", id, first, count), &audit.Deal{Shuffle: of, First: first, Checkpoint: next,
		Runs: []audit.Run{{Count: count, Purpose: audit.PurposeSeat, Recipient: "seat-1"}}}
}
