package rules

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/shuffle"
)

// TestOpenShufflesOwnTheirBytes: what is open does not change with the entry that
// opened it, nor with what was asked of it, nor with the next commit.
func TestOpenShufflesOwnTheirBytes(t *testing.T) {
	t.Parallel()
	s := benchState(t)
	var commits []*audit.Commit
	for _, table := range []string{"a", "b", "a"} {
		c := nextCommit(s, table)
		c.GameRef, c.CloseBy, c.Context.Recipe = strings.Repeat(table, 64), spec.SampleTime+1000,
			shuffle.Recipe{Ranges: []uint32{6, 6}}
		benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: c}})
		commits = append(commits, c)
	}
	want := s.Encode()
	for _, o := range s.OpenShuffles() {
		commits = append(commits, o.Commit())
	}
	for i, c := range commits {
		c.Context.Recipe.Ranges[0] = 37
		*c.Context = audit.Context{}
		*c = audit.Commit{}
		if !bytes.Equal(s.Encode(), want) {
			t.Fatalf("commit %d of %d is held by the state", i, len(commits))
		}
	}
}

// TestEntriesSaturate: a close counts no more entries than its two bytes hold (docs/SPEC.md section 9.2).
func TestEntriesSaturate(t *testing.T) {
	t.Parallel()
	s := benchState(t)
	c := nextCommit(s, "t")
	c.CloseBy = spec.SampleTime + 1000
	benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: c}})
	id := s.OpenShuffles()[0].ID
	o, _ := s.open.find(id)
	o.entries = 0xfffe
	for place := range 2 {
		benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: &audit.Deal{Shuffle: id,
			Checkpoint: id + 1, First: place, Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBurn}}}}})
		if got := s.Counted(&audit.Close{Shuffle: id}).(*audit.Close).Entries; got != 0xffff {
			t.Errorf("%d entries after %d more", got, place+1)
		}
	}
}

// TestOpenShufflesKeepNoCommit: the memory of an entry can go once it is folded.
func TestOpenShufflesKeepNoCommit(t *testing.T) {
	t.Parallel()
	s := benchState(t)
	apply := func() (weak.Pointer[audit.Commit], weak.Pointer[audit.Context]) {
		c := nextCommit(s, "t")
		c.CloseBy = spec.SampleTime + 1000
		benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: c}})
		return weak.Make(c), weak.Make(c.Context)
	}
	commit, context := apply()
	runtime.GC()
	if commit.Value() != nil || context.Value() != nil {
		t.Error("a commit is kept")
	}
	runtime.KeepAlive(s)
}

// TestOpenIsOfItsCommit: what stands next to the body is what the body says, however the state came about.
func TestOpenIsOfItsCommit(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	look := func(name string, s *State) {
		t.Helper()
		for _, o := range s.OpenShuffles() {
			held, c := find(s, o.ID), o.Commit()
			recipe := c.Context.Recipe
			if held.closeBy != c.CloseBy || o.CloseBy != c.CloseBy || o.Table != c.Context.Table ||
				held.m != recipe.Positions() || o.Places != held.m || held.tapeLen != recipe.TapeLen() ||
				held.disclosure != c.Context.Disclosure || held.planned != (len(c.Context.Plan) > 0) ||
				held.numbers != c.Context.IsNumbers() {
				t.Errorf("%s: shuffle %d is %+v, and its commit %+v", name, o.ID, held, c)
			}
			seen["draw"] = seen["draw"] || c.Context.IsDraw()
			seen["numbers"] = seen["numbers"] || held.numbers
			seen["child"] = seen["child"] || c.Context.Parent != nil
			seen["planned"] = seen["planned"] || held.planned && !held.mixed
			seen["mixed"] = seen["mixed"] || held.mixed
			seen["for auditors"] = seen["for auditors"] || held.disclosure == audit.DisclosureAuditor
		}
	}
	names, stories := stateStories()
	for i, name := range names {
		s := NewState()
		for _, e := range stories[i].Values() {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
			look(name, s)
		}
		if s.Complete() && s.Genesis() != nil {
			s.Commit()
			look(name+", copied", copied(t, s, 3, nil))
		}
	}
	for _, what := range []string{"draw", "numbers", "child", "planned", "mixed", "for auditors"} {
		if !seen[what] {
			t.Errorf("no open shuffle is %s", what)
		}
	}
}

// TestUnparsableCommit: a commit that no reader would accept stops who asks for it.
func TestUnparsableCommit(t *testing.T) {
	t.Parallel()
	s := benchState(t)
	c := nextCommit(s, "t")
	c.CloseBy, c.Context.Recipe = spec.SampleTime+1000, shuffle.Recipe{Cards: 1, Take: 1}
	id := s.Size()
	benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: c}})
	defer func() {
		if recover() == nil {
			t.Error("it was parsed")
		}
	}()
	o, _ := s.Shuffle(id)
	o.Commit()
}

// TestOpenSlots: slots, contexts and the ends of long commits are put back as they were,
// whatever was opened and closed in between, and used again by the next shuffles.
func TestOpenSlots(t *testing.T) {
	t.Parallel()
	s := benchState(t)
	step := func(body audit.Body) {
		benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: body}})
	}
	open := func(table, ref string) uint64 {
		c := nextCommit(s, table)
		c.GameRef, c.CloseBy = ref, spec.SampleTime+1000
		step(c)
		return s.Size() - 1
	}
	end := func(id uint64) {
		step(&audit.Close{Shuffle: id, Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape, Tape: make([]byte,
			find(s, id).tapeLen)})
	}
	long := strings.Repeat("r", 64)
	var ids []uint64
	for i := range chunkSlots + 10 {
		ids = append(ids, open("t"+string(rune('a'+i%3)), long[:i%65]))
	}
	s.Commit()
	want, held := s.Encode(), heldOf(s.open)
	mark := s.Mark()
	for _, id := range ids {
		end(id)
	}
	if len(s.open.slots) != 0 || len(s.open.chunks) > 1 || len(s.open.contexts.numbers)+len(s.open.long) != 0 {
		t.Error("the memory of shuffles that are closed is kept")
	}
	for range 2 * chunkSlots {
		open("other", long)
	}
	s.Rollback(mark)
	got, terms := heldOf(s.open), len(s.open.contexts.numbers)
	if !bytes.Equal(s.Encode(), want) || len(got) != len(held) || terms != 3 {
		t.Errorf("after a rollback: %d shuffles of %d, %d contexts", len(got), len(held), terms)
	}
	for _, id := range ids[1:] {
		end(id)
	}
	if len(s.open.contexts.numbers) != 1 || len(s.open.long) != 0 {
		t.Errorf("one shuffle is open, and %d contexts and %d long commits are held", len(s.open.contexts.numbers),
			len(s.open.long))
	}
	if got := find(s, ids[0]).commit().GameRef; got != "" {
		t.Errorf("game reference %q", got)
	}
}

// TestOverdue: what is overdue is found again, whatever was found, added, closed and put back before.
func TestOverdue(t *testing.T) {
	t.Parallel()
	s := benchState(t)
	for _, life := range []int64{3000, 1000, 2000} {
		c := nextCommit(s, "t")
		c.CloseBy = spec.SampleTime + life
		benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: c}})
	}
	s.Commit()
	holds := func(life int64, want ...uint64) {
		t.Helper()
		if got := s.Overdue(spec.SampleTime + life); !slices.Equal(got, want) {
			t.Errorf("after %d ms %d are overdue, want %d", life, got, want)
		}
	}
	holds(999)
	holds(1000, 3)
	holds(2500, 3, 4)
	mark := s.Mark()
	benchApply(t, s, []audit.Entry{{Time: spec.SampleTime + 1000, Actor: spec.Someone,
		Body: &audit.Close{Shuffle: 3, Outcome: audit.OutcomeExpired, Form: audit.FormTape, Tape: make([]byte, find(s,
			3).tapeLen)}}})
	holds(1500)
	holds(3000, 2, 4)
	s.Rollback(mark)
	holds(1000, 3)
}

// OpenShuffles returns all open shuffles, by id.
func (s *State) OpenShuffles() []Opened {
	all := make([]Opened, 0, len(s.open.slots))
	for o := range s.open.all() {
		all = append(all, s.view(o))
	}
	slices.SortFunc(all, func(a, b Opened) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// TestAtTable: what a table has open is what is open there, in whichever order shuffles
// are opened, closed and taken back.
func TestAtTable(t *testing.T) {
	t.Parallel()
	s := benchState(t)
	tables := []string{"a", "b", "c"}
	check := func(step int) {
		t.Helper()
		for _, table := range append(tables, "none") {
			var want []uint64
			for _, o := range s.OpenShuffles() {
				if o.Table == table {
					want = append(want, o.ID)
				}
			}
			slices.Sort(want)
			ref, ok := s.AtTable(table, 1000)
			serial, newest := s.Next(table)
			if !slices.Equal(ref.Open, want) || ref.More || ok != slices.Contains(s.Tables(), table) ||
				ok && (ref.Serial != serial-1 || ref.Newest != newest) {
				t.Fatalf("step %d: table %s: %+v, %t; want %v", step, table, ref, ok, want)
			}
			if n := len(want); n > 1 {
				if ref, _ = s.AtTable(table, n-1); len(ref.Open) != n-1 || !ref.More {
					t.Fatalf("step %d: table %s: %+v of %d", step, table, ref, n)
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	mark := s.Mark()
	for step := range 3000 {
		open := s.OpenShuffles()
		switch n := rng.IntN(10); {
		case n < 5:
			c := nextCommit(s, tables[rng.IntN(len(tables))])
			c.CloseBy = spec.SampleTime + 1000
			benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone, Body: c}})
		case n < 8 && len(open) > 0:
			o := open[rng.IntN(len(open))]
			benchApply(t, s, []audit.Entry{{Time: spec.SampleTime, Actor: spec.Someone,
				Body: &audit.Close{Shuffle: o.ID,
					Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape,
					Tape: make([]byte, find(s, o.ID).tapeLen)}}})
		case n < 9:
			s.Rollback(mark)
		default:
			s.Commit()
			mark = s.Mark()
		}
		check(step)
	}
}

// TestThousandsOfOpenShuffles opens them at one table, among those of another, and then deals, closes and rolls back in
// any order. Here the only question is which shuffle may be dealt: the first of its table that waits.
func TestThousandsOfOpenShuffles(t *testing.T) {
	t.Parallel()
	const n = 3000
	r := rand.New(rand.NewPCG(7, 7))
	s := NewState()
	apply := func(want string, body audit.Body) {
		t.Helper()
		if got := codeOf(s.Apply(audit.Entry{Time: 1, Actor: spec.Someone, Body: s.Counted(body)})); got != want {
			t.Fatalf("entry %d, %s %+v: %s, want %s", s.Size(), body.Type(), body, got, want)
		}
	}
	apply(holds, sampleGenesisBody())
	apply(holds, &audit.Event{Kind: audit.EventInstanceStart, Name: "v1"})
	var waiting []uint64
	for i := range n {
		waiting = append(waiting, s.Size())
		apply(holds, nextCommit(s, "busy"))
		if i%50 == 0 {
			apply(holds, nextCommit(s, "calm"))
		}
	}
	s.Commit()
	burn := func(id uint64) *audit.Deal {
		return &audit.Deal{Shuffle: id, Checkpoint: id + 1, Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeBurn}}}
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
			apply(holds, &audit.Close{Shuffle: waiting[i], Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal,
				Form: audit.FormTape, Tape: make([]byte, 54)})
			apply("not_open", burn(waiting[i]))
			waiting = slices.Delete(waiting, i, i+1)
		}
		if back {
			s.Rollback(mark)
			waiting = before
		} else if r.IntN(5) == 0 {
			s.Commit()
		}
		if got := s.tables["busy"].Waiting; !slices.Equal(got, waiting) {
			t.Fatalf("after %d entries %d shuffles wait, want %d", s.Size(), len(got), len(waiting))
		}
	}
	// What was closed before it was dealt is gone; what was dealt can go on.
	if s.OpenCount() == 0 || s.OpenCount() >= n {
		t.Errorf("%d shuffles are open", s.OpenCount())
	}
	for _, o := range s.OpenShuffles() {
		if o.Commit().Context.Table == "busy" {
			apply("places", &audit.Deal{Shuffle: o.ID, Checkpoint: o.ID + 1, First: 2,
				Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBurn}}})
		}
	}
}

func sampleGenesisBody() *audit.Genesis {
	g := spec.SampleGenesis()
	return g.Body()
}

// nextCommit is a commit of two cards that may come next at a table.
func nextCommit(s *State, table string) *audit.Commit {
	serial, previous := s.Next(table)
	return &audit.Commit{Context: &audit.Context{Origin: spec.SampleOrigin, Genesis: s.GenesisHash(), Table: table,
		Recipe:     shuffle.Recipe{Cards: 2, Take: 2},
		Disclosure: audit.DisclosurePublic},
		Serial: serial, Previous: previous, CloseBy: 1000, Instance: 1}
}
