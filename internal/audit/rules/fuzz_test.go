package rules

import (
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// FuzzApply: whatever parses is as legal to an empty ledger, and to one that has begun, as the model says.
func FuzzApply(f *testing.F) {
	var corpus [][]byte
	for _, e := range spec.GoodEntries() {
		corpus = append(corpus, e.Bytes)
	}
	spec.Seeds(f, 80, corpus)
	begun := spec.NewStory().Entries
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := audit.ParseEntry(b)
		if err != nil {
			return
		}
		m := model{}
		for _, next := range []audit.Entry{begun[0].Value(), begun[1].Value()} {
			if got, want := codeOf(fold(t, m).Apply(e)), m.rule(e); got != want {
				t.Fatalf("after %d entries: %s, want %s: %+v", len(m), got, want, e.Body)
			}
			m = append(m, next)
		}
		if got, want := codeOf(fold(t, m).Apply(e)), m.rule(e); got != want {
			t.Fatalf("after two entries: %s, want %s: %+v", got, want, e.Body)
		}
	})
}

// FuzzCheckShuffle: any entries at any indexes get a verdict.
func FuzzCheckShuffle(f *testing.F) {
	spec.Seeds(f, 200, ledgerSeeds(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		var placed []Placed
		index := uint64(0)
		for i, e := range unframed(b) {
			if e.Body == nil {
				return
			}
			placed = append(placed, Placed{index, e})
			index += 1 + uint64(b[i])%3
		}
		err := CheckShuffle(placed)
		if rule := codeOf(err); rule != holds && !slices.Contains(rules, rule) && spec.FaultOf(err) != spec.Malformed &&
			spec.FaultOf(err) != spec.Unknown {
			t.Fatal(err)
		}
	})
}
