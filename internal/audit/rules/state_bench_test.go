package rules

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// openBench is how many open shuffles the benchmarks of the state hold, and tablesBench at how many tables.
const (
	openBench   = 100_000
	tablesBench = 256
)

// benchState folds a genesis and an instance.
func benchState(tb testing.TB) *State {
	s := NewState()
	benchApply(tb, s, []audit.Entry{
		{Time: spec.SampleTime, Actor: audit.Operator, Body: sampleGenesisBody()},
		{Time: spec.SampleTime, Actor: audit.Daemon, Body: &audit.Event{Kind: audit.EventInstanceStart, Name: "v1"}},
	})
	s.Commit()
	return s
}

func benchApply(tb testing.TB, s *State, entries []audit.Entry) {
	for _, e := range entries {
		e.Body = s.Counted(e.Body)
		if err := s.Apply(e); err != nil {
			tb.Fatal(err)
		}
	}
}

// benchCommits are commits of 52 cards, one at each table of a name, as they are
// read from a store: nothing of one is shared with another.
func benchCommits(tb testing.TB, s *State, name string) []audit.Entry {
	first, _, _ := spec.BenchCommit(tb)
	entries := make([]audit.Entry, tablesBench)
	for i := range entries {
		c := *first.Body.(*audit.Commit)
		context := *c.Context
		context.Table, context.Genesis = fmt.Sprintf("%s-%d", name, i), s.GenesisHash()
		c.Context = &context
		c.Serial, c.Previous = s.Next(context.Table)
		b, err := audit.Entry{Time: spec.SampleTime, Actor: first.Actor, Body: &c}.Encode()
		if err != nil {
			tb.Fatal(err)
		}
		if entries[i], err = audit.ParseEntry(b); err != nil {
			tb.Fatal(err)
		}
	}
	return entries
}

// benchPlays are what follows on the newest commits at those tables.
func benchPlays(s *State, commits []audit.Entry, body func(id uint64) audit.Body) []audit.Entry {
	entries := make([]audit.Entry, len(commits))
	for i, e := range commits {
		_, id := s.Next(e.Body.(*audit.Commit).Context.Table)
		entries[i] = audit.Entry{Time: spec.SampleTime, Actor: e.Actor, Body: body(id)}
	}
	return entries
}

// crowded is a state with openBench open shuffles.
func crowded(tb testing.TB) *State {
	s := benchState(tb)
	for s.OpenCount() < openBench {
		benchApply(tb, s, benchCommits(tb, s, "held"))
		s.Commit()
	}
	return s
}

// collected returns what is reachable, and the processor time of the collection that found out.
func collected() (bytes, objects uint64, seconds float64) {
	runtime.GC()
	before := collecting()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, m.HeapObjects, collecting() - before
}

// collecting returns the processor time that collections took so far.
func collecting() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

// mostOfOpen bounds the bytes that the state keeps of an open shuffle of 52 cards.
const mostOfOpen = 400

// TestOpenShuffleIsSmall: a shuffle that shows all that was dealt costs a slot, and so does
// one with hidden places, whose pattern many have in common.
func TestOpenShuffleIsSmall(t *testing.T) {
	hand := []audit.Run{{Count: 18, Purpose: audit.PurposeSeat}, {Count: 1, Purpose: audit.PurposeBurn},
		{Count: 3, Purpose: audit.PurposeBoard, Public: true}}
	for name, runs := range map[string][]audit.Run{"undealt": nil, "all public": hand[2:], "a hand of poker": hand} {
		before, _, _ := collected()
		s := benchState(t)
		for s.OpenCount() < openBench/4 {
			commits := benchCommits(t, s, "held")
			benchApply(t, s, commits)
			if runs != nil {
				benchApply(t, s, benchPlays(s, commits, func(id uint64) audit.Body {
					return &audit.Deal{Shuffle: id, Checkpoint: id + 1, Runs: runs}
				}))
			}
			s.Commit()
		}
		after, _, _ := collected()
		if each := (after - before) / uint64(s.OpenCount()); each > mostOfOpen {
			t.Errorf("%s: %d bytes for each open shuffle, at most %d", name, each, mostOfOpen)
		} else {
			t.Logf("%s: %d bytes", name, each)
		}
		if len(s.open.shown.numbers) > 2 { // one is of those that show all
			t.Errorf("%s: %d patterns for one", name, len(s.open.shown.numbers)-1)
		}
	}
}

// BenchmarkOpenShuffles is what an open shuffle of 52 cards costs while it waits:
// memory, and time of each collection.
func BenchmarkOpenShuffles(b *testing.B) {
	for b.Loop() {
		bytes, objects, idle := collected()
		s := crowded(b)
		moreBytes, moreObjects, busy := collected()
		n := float64(s.OpenCount())
		b.ReportMetric(float64(moreBytes-bytes)/n, "B/shuffle")
		b.ReportMetric(float64(moreObjects-objects)/n, "objects/shuffle")
		b.ReportMetric((busy-idle)*1000, "ms/collection")
	}
}
