package verify

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// TestBothImplementations has the second implementation judge random files:
// honest, damaged, edited, and signed by a house that cheats, under trust of
// every kind. Half of them are the same in every run. SHUFFLED_SEED repeats a
// run that failed; SHUFFLED_FILES makes it longer.
func TestBothImplementations(t *testing.T) {
	t.Parallel()
	fresh := setting(t, "SHUFFLED_SEED", rand.Uint64()>>1)
	each := int(setting(t, "SHUFFLED_FILES", 1000))
	for name, seed := range map[string]uint64{"fixed": 1, "fresh": fresh} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := openJavaScript(t)
			p := newPlayer(t, seed)
			seen, differing := map[string]int{}, 0
			for i := range each {
				kind, file := p.file()
				trust := p.trust()
				v, diff := js.differ(file, trust)
				seen[v.Verdict+" "+v.Failed+string(v.Level)]++
				if diff == "" {
					continue
				}
				t.Errorf("SHUFFLED_SEED=%d, file %d, %s (-Go +JavaScript):\n%s\nGo: %+v\ntrust: %s %s\n%.6000q", seed,
					i, kind, diff, v.Steps, trust.VKey, trust.Policy, file)
				if differing++; differing == 5 {
					t.FailNow()
				}
			}
			t.Logf("SHUFFLED_SEED=%d: %d files, %v", seed, each, seen)
			var missing []string
			for _, want := range []string{"proved recorded", "proved witnessed", "consistent key not pinned",
				"cannot judge ", "failed format", "failed entries",
				"failed signature", "failed inclusion", "failed witnesses", "failed origin", "failed legality",
				"failed deck", "failed openings", "failed tape", "failed order"} {
				if seen[want] == 0 {
					missing = append(missing, want)
				}
			}
			// Any one of them is rare enough to be missed by chance.
			if len(missing) > 1 {
				t.Errorf("no file is any of %q", missing)
			}
		})
	}
}

// TestPoliciesInBoth has both read random policies: what one can read the other
// can, and the quorum that is met for one is met for the other.
func TestPoliciesInBoth(t *testing.T) {
	t.Parallel()
	js, seed := openJavaScript(t), setting(t, "SHUFFLED_SEED", rand.Uint64()>>1)
	p := newPlayer(t, seed)
	g := witnessedGame(t, p.trio).played() // cosigned by a and c
	file, seen := g.file(""), map[string]int{}
	for i := range 2 * int(setting(t, "SHUFFLED_FILES", 1000)) {
		policy := p.randomPolicy()
		v, diff := js.differ(file, Trust{Policy: policy})
		seen[v.Verdict+" "+v.Failed+string(v.Level)]++
		if diff != "" {
			t.Fatalf("SHUFFLED_SEED=%d, policy %d (-Go +JavaScript):\n%s\nGo: %s %+v\n%.3000q", seed, i, diff,
				v.Unknown, v.Steps, policy)
		}
	}
	t.Logf("SHUFFLED_SEED=%d: %v", seed, seen)
	for _, want := range []string{"proved recorded", "proved witnessed", "consistent key not pinned", "cannot judge ",
		"failed signature", "failed witnesses"} {
		if seen[want] == 0 {
			t.Errorf("no policy makes it %s", want)
		}
	}
}

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(s, 10, 64)
	must(t, err)
	return n
}
