package audit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"shuffled/internal/shuffle"
)

// TestThousandsOfOpenShuffles opens them at one table, among those of another, and then deals, closes and rolls back in
// any order. Here the only question is which shuffle may be dealt: the first of its table that waits.
func TestThousandsOfOpenShuffles(t *testing.T) {
	t.Parallel()
	const n = 3000
	r := rand.New(rand.NewPCG(7, 7))
	s := NewState()
	apply := func(want string, body Body) {
		t.Helper()
		if got := codeOf(s.Apply(Entry{Time: 1, Actor: someone, Body: s.Counted(body)})); got != want {
			t.Fatalf("entry %d, %s %+v: %s, want %s", s.Size(), body.Type(), body, got, want)
		}
	}
	apply(holds, sampleGenesisBody())
	apply(holds, &Event{Kind: EventInstanceStart, Name: "v1"})
	var waiting []uint64
	for i := range n {
		waiting = append(waiting, s.Size())
		apply(holds, nextCommit(s, "busy"))
		if i%50 == 0 {
			apply(holds, nextCommit(s, "calm"))
		}
	}
	s.Commit()
	burn := func(id uint64) *Deal {
		return &Deal{Shuffle: id, Checkpoint: id + 1, Runs: []Run{{Count: 2, Purpose: PurposeBurn}}}
	}
	for len(waiting) > 0 {
		i := r.IntN(len(waiting))
		mark, before, back := s.Mark(), slices.Clone(waiting), r.IntN(20) == 0
		switch {
		case r.IntN(3) == 0:
			i = 0
			apply(holds, burn(waiting[0]))
			waiting = waiting[1:]
		case i > 0 && r.IntN(2) == 0:
			apply("earlier_serial", burn(waiting[i]))
		default:
			apply(holds, &Close{Shuffle: waiting[i], Outcome: OutcomeVoid, Reason: ReasonMisdeal, Form: FormTape,
				Tape: make([]byte, 54)})
			apply("not_open", burn(waiting[i]))
			waiting = slices.Delete(waiting, i, i+1)
		}
		if back {
			s.Rollback(mark)
			waiting = before
		} else if r.IntN(5) == 0 {
			s.Commit()
		}
		if got := s.tables["busy"].waiting; !slices.Equal(got, waiting) {
			t.Fatalf("after %d entries %d shuffles wait, want %d", s.Size(), len(got), len(waiting))
		}
	}
	// What was closed before it was dealt is gone; what was dealt can go on.
	if s.OpenCount() == 0 || s.OpenCount() >= n {
		t.Errorf("%d shuffles are open", s.OpenCount())
	}
	for _, o := range s.OpenShuffles() {
		if o.Commit().Context.Table == "busy" {
			apply("places", &Deal{Shuffle: o.ID, Checkpoint: o.ID + 1, First: 2,
				Runs: []Run{{Count: 1, Purpose: PurposeBurn}}})
		}
	}
}

func sampleGenesisBody() *Genesis {
	g := sampleGenesis()
	return g.body()
}

// nextCommit is a commit of two cards that may come next at a table.
func nextCommit(s *State, table string) *Commit {
	serial, previous := s.Next(table)
	return &Commit{Context: &Context{Origin: sampleOrigin, Genesis: s.GenesisHash(), Table: table,
		Recipe:     shuffle.Recipe{Cards: 2, Take: 2},
		Disclosure: DisclosurePublic},
		Serial: serial, Previous: previous, CloseBy: 1000, Instance: 1}
}
