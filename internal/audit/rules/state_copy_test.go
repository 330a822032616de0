package rules

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/shuffle"
)

// copied copies a state n open shuffles at a time, with what happens between the
// pieces, and makes a state of them, through gob as a cache does.
func copied(t interface{ Fatal(...any) }, s *State, n int, between func()) *State {
	from, saved := s.Copy()
	defer from.End()
	var file bytes.Buffer
	w, r := gob.NewEncoder(&file), gob.NewDecoder(&file)
	var read Saved
	if err := errors.Join(w.Encode(saved), r.Decode(&read)); err != nil {
		t.Fatal(err)
	}
	to, err := Restore(&read)
	for err == nil {
		if between != nil {
			between()
		}
		piece, moreErr := from.More(n)
		if moreErr == nil && len(piece) == 0 {
			return to
		}
		var back []SavedShuffle
		err = errors.Join(moreErr, w.Encode(piece), r.Decode(&back))
		for _, o := range back {
			err = errors.Join(err, to.Reopen(o))
		}
	}
	t.Fatal(err)
	return nil
}

// TestCopyStands: a copy is the state of its beginning, whatever becomes of the state until its end: shuffles open, are
// mixed, dealt from, taken over and closed, and all of it may be taken back.
func TestCopyStands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := NewState()
		apply := func(actor audit.Actor, body audit.Body) { s.Apply(audit.Entry{Time: 1, Actor: actor, Body: body}) }
		apply(spec.Someone, sampleGenesisBody())
		apply(spec.Someone, &audit.Event{Kind: audit.EventInstanceStart, Name: "v1"})
		step := func() {
			mark := s.Mark()
			for range rapid.IntRange(1, 8).Draw(rt, "entries") {
				all := s.OpenShuffles()
				act := rapid.IntRange(0, 9).Draw(rt, "act")
				if act < 5 || len(all) == 0 {
					apply(spec.Someone, nextCommit(s, fmt.Sprint("table-", rapid.IntRange(0, 3).Draw(rt, "table"))))
					continue
				}
				id := all[rapid.IntRange(0, len(all)-1).Draw(rt, "shuffle")].ID
				switch o := find(s, id); act {
				case 5, 6:
					apply(spec.Someone, &audit.Deal{Shuffle: id, Checkpoint: id + 1, First: int(o.next),
						Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBurn}}})
				case 7, 8:
					s.applyTakeover(&audit.Takeover{Shuffle: id, Extent: audit.ExtentPlay}, audit.Actor{Identity: "another"})
					s.change(id).mixed = o.planned
				default:
					s.applyClose(&audit.Close{Shuffle: id}, nil, audit.Actor{})
				}
			}
			if rapid.IntRange(0, 3).Draw(rt, "back") == 0 {
				s.Rollback(mark)
			} else {
				s.Commit()
			}
		}
		for range rapid.IntRange(0, 6).Draw(rt, "before") {
			step()
		}
		s.Commit()
		for range 2 { // the second finds the marks of the first
			want := s.Encode()
			back := copied(rt, s, rapid.IntRange(1, 4).Draw(rt, "piece"), step)
			if got := back.Encode(); !bytes.Equal(got, want) {
				rt.Fatalf("%d of %d open shuffles\n%x\nwant\n%x", back.OpenCount(), s.OpenCount(), got, want)
			}
			waiting := 0
			for _, table := range back.tables {
				waiting += len(table.Waiting)
			}
			for id := range back.open.slots {
				if o := find(back, id); o.next == 0 {
					waiting--
					if !slices.Contains(o.table.Waiting, id) {
						rt.Fatalf("shuffle %d does not wait at its table", id)
					}
				}
			}
			if waiting != 0 {
				rt.Fatalf("%d shuffles wait that are not open, or were dealt from", waiting)
			}
		}
	})
}

// TestCopyTwice: a copy that another one follows has no more pieces.
func TestCopyTwice(t *testing.T) {
	t.Parallel()
	s := richState(t)
	s.Commit()
	first, _ := s.Copy()
	second, _ := s.Copy()
	if _, err := first.More(10); err == nil {
		t.Error("two copies at once")
	}
	first.End()
	for range 300 { // more than there are marks
		second, _ = s.Copy()
	}
	if piece, err := second.More(10); err != nil || len(piece) == 0 {
		t.Errorf("the newest: %v", err)
	}
}

// TestRestoreRefuses: a shuffle stands in one piece, at a table that knows it, with a
// commit that a reader takes; and the state is of this version.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	s := richState(t)
	s.Commit()
	from, saved := s.Copy()
	piece, err := from.More(10)
	if err != nil || len(piece) < 2 {
		t.Fatal(len(piece), err)
	}
	to, err := Restore(saved)
	if err == nil {
		err = to.Reopen(piece[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o *SavedShuffle){
		"twice":                  func(o *SavedShuffle) { *o = piece[0] },
		"above the table's last": func(o *SavedShuffle) { o.ID = s.Size() },
		"a part of a commit":     func(o *SavedShuffle) { o.Commit = o.Commit[:len(o.Commit)-1] },
		"at no table": func(o *SavedShuffle) {
			o.Commit = bytes.Clone(o.Commit)
			i := bytes.Index(o.Commit, []byte(spec.SampleOrigin)) + len(spec.SampleOrigin)
			o.Commit[i+32+2] = 'x' // behind the genesis hash, the flag and a length
		},
	} {
		o := piece[1]
		if change(&o); !errors.Is(to.Reopen(o), audit.ErrMalformed) {
			t.Errorf("%s: it was taken", name)
		}
	}
	genesis := *saved
	genesis.Genesis = genesis.Genesis[1:]
	if _, err := Restore(&genesis); err == nil {
		t.Error("a part of a genesis was taken")
	}
	saved.Version++
	if _, err := Restore(saved); !errors.Is(err, audit.ErrUnknown) {
		t.Errorf("a later version: %v", err)
	}
}

// TestManyOpenShuffles: a large state is copied whole.
func TestManyOpenShuffles(t *testing.T) {
	t.Parallel()
	s := crowd(t, 20_000)
	back := copied(t, s, 1024, nil)
	if back.OpenCount() != 20_000 || !bytes.Equal(back.Encode(), s.Encode()) {
		t.Fatalf("%d open shuffles", back.OpenCount())
	}
}

// richState is the state of the story that has everything.
func richState(t testing.TB) *State {
	t.Helper()
	names, stories := stateStories()
	i := slices.Index(names, "everything")
	return fold(t, stories[i].Values())
}

// find returns an open shuffle that there is.
func find(s *State, id uint64) opened {
	o, ok := s.open.find(id)
	if !ok {
		panic("no such shuffle")
	}
	return o
}

// crowd is a state with n tables and an open shuffle at each.
func crowd(t testing.TB, n int) *State {
	t.Helper()
	s := NewState()
	apply := func(body audit.Body) {
		if err := s.Apply(audit.Entry{Time: 1, Actor: spec.Someone, Body: body}); err != nil {
			t.Fatal(err)
		}
		s.Commit()
	}
	apply(sampleGenesisBody())
	apply(&audit.Event{Kind: audit.EventInstanceStart, Name: "v1"})
	for i := range n {
		c := nextCommit(s, fmt.Sprint("table-", i))
		c.Context.Recipe = shuffle.Recipe{Cards: 52, Take: 52}
		apply(c)
	}
	return s
}
