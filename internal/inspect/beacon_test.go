package inspect

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/beacon"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/shuffle"
)

// planned is a shuffle with a mix plan, in a ledger around the round's time.
type planned struct {
	level  string
	late   bool // committed after the quorum was there for the last time before the round
	open   bool
	unmix  bool
	wishes []inspecttest.Wish
}

// plans are by table.
func plans() map[string]planned {
	odd, _ := shuffle.NewDeck([]string{"Ace", "King", "Queen", "Jack"})
	quicknet := inspecttest.Wish(inspecttest.Quicknet)
	tickets := []inspecttest.Wish{inspecttest.Numbers(1_000_000, 3), inspecttest.Bound(listed(1_000_000))}
	return map[string]planned{
		"beacon":         {level: LevelMixed, wishes: []inspecttest.Wish{quicknet}},
		"beacon-open":    {level: LevelMixed, open: true, wishes: []inspecttest.Wish{quicknet}},
		"beacon-slots":   {level: LevelMixed, wishes: []inspecttest.Wish{inspecttest.Mixed(2, 0, false), quicknet}},
		"beacon-auditor": {level: LevelMixed, wishes: []inspecttest.Wish{inspecttest.ForAuditors, quicknet}},
		"beacon-draws":   {level: LevelMixed, wishes: []inspecttest.Wish{inspecttest.Draws(6, 37), quicknet}},
		"beacon-numbers": {level: LevelMixed, wishes: append(tickets, quicknet)},
		"raffle-open":    {level: LevelMixed, open: true, wishes: append(tickets, quicknet)},
		"raffle-plain":   {level: LevelWitnessed, unmix: true, wishes: tickets},
		"beacon-cut":     {level: LevelWitnessed, wishes: []inspecttest.Wish{inspecttest.Mixed(0, 0, true), quicknet}},
		"beacon-take":    {level: LevelWitnessed, wishes: []inspecttest.Wish{inspecttest.Of(odd, 3), quicknet}},
		"beacon-late":    {level: LevelWitnessed, late: true, wishes: []inspecttest.Wish{quicknet}},
		"beacon-unmixed": {level: LevelWitnessed, open: true, unmix: true, wishes: []inspecttest.Wish{quicknet}},
		"unknown-chain":  {level: LevelWitnessed, wishes: []inspecttest.Wish{inspecttest.Mixed(0, 7, false)}},
		"slots":          {level: LevelWitnessed, wishes: []inspecttest.Wish{inspecttest.Mixed(2, 0, false)}},
		"no-plan":        {level: LevelWitnessed},
		"blind":          {level: LevelRecorded, wishes: []inspecttest.Wish{quicknet, inspecttest.Blind}},
		"blind-open":     {level: LevelRecorded, open: true, wishes: []inspecttest.Wish{quicknet, inspecttest.Blind}},
	}
}

// withBeacons writes a ledger of all plans, each at its own table, in several
// chunks. forged changes what is mixed at the table beacon.
func withBeacons(dir string, forged func(*inspecttest.Shuffle)) *inspecttest.Ledger {
	out := beacon.TimeOf(inspecttest.Round.Round) * 1000
	g := inspecttest.Plain()
	g.Policy = inspecttest.Policy(false, 2, "w1", "w2", "w3")
	g.AuditorKeys, g.MixModes = [][]byte{inspecttest.Auditor().Public()}, 15
	l := inspecttest.NewAt(dir, "beacons", g, out-60_000)
	l.Disclosure()
	l.PinCoDealer()
	all := make(map[string]*inspecttest.Shuffle)
	commit := func(late bool) {
		for _, table := range sortedKeys(plans()) {
			if p := plans()[table]; p.late == late {
				all[table] = l.Commit(table, p.wishes...)
			}
		}
	}
	chunk := func() {
		for range Width {
			l.Append(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses, Reason: "nothing"})
		}
	}
	commit(false)
	chunk()
	l.Now = out - 1000
	l.Cosigned("w1", "w3")
	chunk()
	commit(true)
	l.Now = out
	l.Cosigned("w1", "w2")
	chunk()
	if forged != nil {
		forged(all["beacon"])
	}
	for _, table := range sortedKeys(plans()) {
		if p := plans()[table]; p.wishes != nil && !p.unmix {
			all[table].Mix(0)
		}
	}
	chunk()
	for _, table := range sortedKeys(plans()) {
		if p := plans()[table]; !p.open {
			all[table].Deal(1, 0)
			all[table].Close(audit.OutcomeEndedEarly, audit.ReasonNone)
		}
	}
	chunk()
	l.Cosigned("w2", "w3")
	l.Finish()
	return l
}

// levelsOf reads the level of each table's shuffle from the file of shuffles.
func levelsOf(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	levels := make(map[string]string)
	for s := bufio.NewScanner(f); s.Scan(); {
		var line ShuffleLine
		must(t, json.Unmarshal(s.Bytes(), &line))
		levels[line.Table] = line.Level
	}
	return levels
}

// TestMixedForEverybody: what has the level mixed for everybody is counted, under a policy
// that asks for witnesses and no other trust, however often the check is cut.
func TestMixedForEverybody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if l := withBeacons(dir, nil); len(l.Illegal) > 0 {
		t.Fatalf("the generator broke rules: %v", l.Illegal)
	}
	policy := inspecttest.Policy(true, 2, "w1", "w2", "w3")
	want := make(map[string]string)
	totals := make(map[string]uint64)
	for table, p := range plans() {
		want[table] = p.level
		totals[p.level]++
	}
	shuffles := filepath.Join(t.TempDir(), "shuffles")
	r := inspectDir(t, dir, Options{Policy: policy, Shuffles: shuffles})
	if r.Verdict != Proved {
		t.Fatalf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
	if diff := cmp.Diff(want, levelsOf(t, shuffles)); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if n := r.Totals.NeedsCoDealer; n != 2 {
		t.Errorf("%d shuffles need a co-dealer", n)
	}
	if diff := cmp.Diff(totals, r.Totals.Levels); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	if got, want := r.Tickets, (Tickets{3, 0, 2, []SeenList{}}); !cmp.Equal(got, want) {
		t.Errorf("the house could choose the winner: %+v, want %+v", got, want)
	}
	for _, table := range r.Tables {
		if got := table.Levels; len(got) != 1 || got[want[table.Table]] != 1 {
			t.Errorf("%s: %v, want one %s", table.Table, got, want[table.Table])
		}
	}

	r = inspectDir(t, dir, Options{VKey: inspecttest.VKey()})
	if n := r.Totals.Levels[LevelRecorded]; r.Verdict != Proved || n != r.Totals.Shuffles {
		t.Errorf("under a key alone: %s, levels %v", r.Verdict, r.Totals.Levels)
	}
	r = inspectDir(t, dir, Options{Policy: inspecttest.Policy(true, 3, "w1", "w2", "w3")})
	if n := r.Totals.Levels[LevelMixed]; n != 0 {
		t.Errorf("without the quorum that was asked for: %v", r.Totals.Levels)
	}
}

// TestForgedBeacon: another value than the beacon's is a fault of the mix, and gives nobody the level mixed.
func TestForgedBeacon(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(*inspecttest.Shuffle){
		"another round": func(s *inspecttest.Shuffle) { s.Light = beacontest.Signature(inspecttest.Round.Round - 1) },
		"one bit":       func(s *inspecttest.Shuffle) { s.Light[20] ^= 1 },
		"infinity":      func(s *inspecttest.Shuffle) { s.Light = [48]byte{0xc0} },
	} {
		dir := t.TempDir()
		var id uint64
		withBeacons(dir, func(s *inspecttest.Shuffle) { forge(s); id = s.ID })
		shuffles := filepath.Join(t.TempDir(), "shuffles")
		r := inspectDir(t, dir, Options{Policy: inspecttest.Policy(true, 2, "w1", "w2", "w3"), Shuffles: shuffles})
		if r.Verdict != Failed || r.FaultCount != 1 || r.Faults[0].Code != CodeBeacon || *r.Faults[0].Shuffle != id ||
			*r.Faults[0].Entry <= id {
			t.Errorf("%s: verdict %s\n%s", name, r.Verdict, asJSON(t, r.Faults))
		}
		if got := levelsOf(t, shuffles); got["beacon"] != LevelWitnessed || got["beacon-slots"] != LevelMixed {
			t.Errorf("%s: levels %v", name, got)
		}
		if r = inspectDir(t, dir, Options{}); r.Verdict != Failed || r.FaultCount != 1 {
			t.Errorf("%s: with nothing trusted: %s, %d faults", name, r.Verdict, r.FaultCount)
		}
	}
}

// TestForgedTwice: a value that many mixes share is checked once, and each of them is at fault, also with a co-dealer.
func TestForgedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := inspecttest.Plain()
	g.MixModes = 15
	l := inspecttest.NewAt(dir, "twice", g, beacon.TimeOf(inspecttest.Round.Round)*1000-60_000)
	l.PinCoDealer()
	for i := range 5 {
		s := l.Commit("t1", []inspecttest.Wish{inspecttest.Quicknet, inspecttest.Blind}[:1+i/3]...)
		if i%2 == 0 {
			s.Light = beacontest.Signature(1)
		}
		s.Mix(0)
		s.Deal(1, 0)
	}
	l.Finish()
	r := inspectDir(t, dir, Options{VKey: inspecttest.VKey()})
	if r.Verdict != Failed || r.FaultCount != 3 || r.FaultCodes[CodeBeacon] != 3 {
		t.Errorf("verdict %s\n%s", r.Verdict, asJSON(t, r.Faults))
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
