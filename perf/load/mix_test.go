package load

import (
	"strings"
	"testing"
)

func TestParseMix(t *testing.T) {
	m, err := ParseMix("commit=1,deal=4,close=1,verify=0")
	if err != nil || m != (Mix{Commit: 1, Deal: 4, Close: 1}) || m.String() != "commit=1,deal=4,close=1" {
		t.Errorf("%v, %v", m, err)
	}
	for text, rule := range map[string]string{
		"":                   "must be one of",
		"commit":             "commit must have a weight",
		"commit=":            "commit must have a weight",
		"commit=-1":          "commit must have a weight",
		"commit=1001":        "commit must have a weight",
		"commit=1,commit=2":  "commit must not be given twice",
		"shuffle=1":          "must be one of",
		"commit=0,verify=0":  "above 0",
		"commit=1,deal = 2":  "must be one of",
		"commit=1;deal=2":    "commit must have a weight",
		"commit=1,":          "must be one of",
		"Commit=1":           "must be one of",
		"commit=1.5,close=1": "commit must have a weight",
	} {
		if m, err := ParseMix(text); err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%q is %v, %v; want %q", text, m, err, rule)
		}
	}
}

// TestRound returns kinds as often as their weights say, evenly distributed.
func TestRound(t *testing.T) {
	for _, mix := range []Mix{{Commit: 1}, {Hand: 3}, {Commit: 1, Deal: 4, Close: 1}, {Deal: 1000, Hand: 1},
		{Commit: 2, Close: 2, Verify: 3}} {
		total := 0
		for _, w := range mix {
			total += w
		}
		r := round{mix: mix}
		for range 3 {
			var seen Mix
			for n := range total {
				k := r.next()
				seen[k]++
				// Never more than one away from its share.
				if off := float64(seen[k]) - float64(mix[k]*(n+1))/float64(total); off > 1 {
					t.Errorf("%v: %d of %s after %d", mix, seen[k], k, n+1)
				}
			}
			if seen != mix {
				t.Errorf("a round of %v is %v", mix, seen)
			}
		}
	}
}
