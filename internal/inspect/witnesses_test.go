package inspect

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/audit/trust"
	"shuffled/internal/inspect/inspecttest"
)

// TestLateQuorum: a quorum that was complete more than 10 s after the first deal
// gives no level, and a larger checkpoint that was complete earlier gives it.
func TestLateQuorum(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	cosigned := func(after int64) {
		now := l.Now
		l.Now += after * 1000
		l.Cosigned("w1", "w2")
		l.Now = now
	}
	for table, after := range map[string]int64{"in-time": 10, "late": 11} {
		s := l.Commit(table)
		cosigned(after)
		s.Deal(1, l.Size)
	}
	s := l.Commit("late-and-then-in-time")
	cosigned(60)
	l.Start()
	cosigned(1)
	s.Deal(1, l.Size)
	l.see()
	l.Finish()
	opts := Options{Policy: inspecttest.Policy(true, 2, "w1", "w2", "w3"),
		Shuffles: filepath.Join(t.TempDir(), "shuffles")}
	r := inspectDir(t, l.Dir, opts)
	wantFaults(t, r, nil)
	levels := levelsOf(t, opts.Shuffles)
	if levels["in-time"] != LevelWitnessed || levels["late"] != LevelRecorded ||
		levels["late-and-then-in-time"] != LevelWitnessed {
		t.Error(levels)
	}
	if r.Witnesses.Overlap != 1 {
		t.Errorf("overlap %d", r.Witnesses.Overlap)
	}
}

// TestQuorumsApart: a policy whose quorums share no witness gives no level, and the report says which two.
func TestQuorumsApart(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.see()
	l.Finish()
	r := inspectDir(t, l.Dir, Options{Policy: inspecttest.Policy(true, 1, "w1", "w2", "w3")})
	wantFaults(t, r, nil)
	if r.Verdict != Proved || r.Totals.Witnessed() != 0 || r.Witnesses.Overlap != 0 ||
		!strings.Contains(strings.Join(r.Notes, "\n"), "the quorum of w1 and the quorum of w2 share no witness") {
		t.Errorf("%s, %v, %d, %q", r.Verdict, r.Totals.Levels, r.Witnesses.Overlap, r.Notes)
	}
}

// TestSightings holds what is kept against all that was seen, over clocks that go back and forth.
func TestSightings(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 10))
	f := &fold{play: play{live: make(map[uint64]*live)}}
	var all []sighting
	size, now := uint64(2), int64(1_700_000_000)
	dropped := false
	for range 6 * sightingsKept {
		id := size
		if r.IntN(8) == 0 {
			f.live[id] = &live{CloseBy: (now + 600) * 1000}
		}
		size += 1 + uint64(r.IntN(3))
		now += int64(r.IntN(4))
		f.times[1] = now * 1000
		x := sighting{size, now + int64(r.IntN(30)) - 15}
		f.saw(x.Size, x.At)
		all = append(all, x)
		dropped = dropped || len(f.sightings) > 0 && f.sightings[0].Size > all[0].Size
		for id, l := range f.live {
			if l.CloseBy <= f.times[1] {
				delete(f.live, id)
				continue
			}
			if r.IntN(200) > 0 {
				continue
			}
			played := now*1000 + int64(r.IntN(40_000)) - 60_000
			want := false
			for i := len(all) - 1; i >= 0 && all[i].Size > id; i-- {
				want = want || all[i].At*1000 <= played+10_000
			}
			i := f.covering(id)
			if got := i < len(f.sightings) && trust.SecondsLate(f.sightings[i].At, played) == 0; got != want {
				t.Fatalf("shuffle %d, played at %d: %t", id, played, got)
			}
		}
	}
	if !dropped || len(f.sightings) > 3*sightingsKept {
		t.Errorf("%d sightings are kept", len(f.sightings))
	}
}
