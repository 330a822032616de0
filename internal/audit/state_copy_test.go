package audit

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// copied copies a state n open shuffles at a time, with what happens between the
// pieces, and makes a state of them.
func copied(t interface{ Fatal(...any) }, s *State, n int, between func()) *State {
	from, first := s.Copy()
	defer from.End()
	to, err := Restore(first)
	for piece := []byte(nil); err == nil; {
		if between != nil {
			between()
		}
		if piece, err = from.More(piece, n); err == nil && len(piece) == 0 {
			return to.Done()
		}
		if err == nil {
			err = to.Add(piece)
		}
	}
	t.Fatal(err)
	return nil
}

// TestCopyStands: a copy is the state of its beginning, whatever becomes of the state
// until its end: shuffles open, are mixed, dealt from, taken over and closed, and all
// of it may be taken back.
func TestCopyStands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := NewState()
		apply := func(actor Actor, body Body) { s.Apply(Entry{Time: 1, Actor: actor, Body: body}) }
		apply(someone, sampleGenesisBody())
		apply(someone, &Event{Kind: EventInstanceStart, Name: "v1"})
		step := func() {
			mark := s.Mark()
			for range rapid.IntRange(1, 8).Draw(rt, "entries") {
				all := s.OpenShuffles()
				act := rapid.IntRange(0, 9).Draw(rt, "act")
				if act < 5 || len(all) == 0 {
					apply(someone, nextCommit(s, fmt.Sprint("table-", rapid.IntRange(0, 3).Draw(rt, "table"))))
					continue
				}
				id := all[rapid.IntRange(0, len(all)-1).Draw(rt, "shuffle")].ID
				switch o := find(s, id); act {
				case 5, 6:
					apply(someone, &Deal{Shuffle: id, First: int(o.next),
						Runs: []Run{{Count: 1, Purpose: PurposeBurn}}})
				case 7, 8:
					s.applyTakeover(&Takeover{Shuffle: id, Extent: ExtentPlay}, Actor{Identity: "another"})
					s.setMixed(id, o.planned)
				default:
					s.applyClose(&Close{Shuffle: id})
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
			for id := range back.open.slots {
				if o := find(back, id); o.next == 0 &&
					!bytes.Contains(fmt.Append(nil, o.table.waiting), fmt.Append(nil, id)) {
					rt.Fatalf("shuffle %d does not wait at its table", id)
				}
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
	if _, err := first.More(nil, 10); err == nil {
		t.Error("two copies at once")
	}
	first.End()
	for range 300 { // more than there are marks
		second, _ = s.Copy()
	}
	if piece, err := second.More(nil, 10); err != nil || len(piece) == 0 {
		t.Errorf("the newest: %v", err)
	}
}

// TestRestoreRefuses: a shuffle stands in one piece.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	s := richState(t)
	s.Commit()
	from, first := s.Copy()
	piece, err := from.More(nil, 10)
	if err != nil {
		t.Fatal(err)
	}
	to, err := Restore(first)
	if err == nil {
		err = to.Add(piece)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Add(piece); !errors.Is(err, ErrMalformed) {
		t.Errorf("a piece twice: %v", err)
	}
	if err := to.Add(piece[:len(piece)-1]); !errors.Is(err, ErrMalformed) {
		t.Errorf("a part of a piece: %v", err)
	}
	if _, err := Restore(first[:len(first)-1]); !errors.Is(err, ErrMalformed) {
		t.Errorf("a part of the first: %v", err)
	}
}

// BenchmarkCopy is how long a copy holds up the state: at its beginning, with as many
// tables as open shuffles, and for each piece.
func BenchmarkCopy(b *testing.B) {
	s := crowd(b, 100_000)
	b.Run("begin", func(b *testing.B) {
		for b.Loop() {
			s.Copy()
		}
	})
	b.Run("piece", func(b *testing.B) {
		from, _ := s.Copy()
		var piece []byte
		for b.Loop() {
			var err error
			if piece, err = from.More(piece, 1024); err != nil {
				b.Fatal(err)
			}
			if len(piece) == 0 {
				from, _ = s.Copy()
			}
		}
	})
}
