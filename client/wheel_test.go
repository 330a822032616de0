package client_test

import (
	"testing"

	"shuffled/client"
)

// TestRoulette: each pocket of a wheel once, the zeros by their own names, and none that is 37.
func TestRoulette(t *testing.T) {
	t.Parallel()
	for _, zeros := range [][]string{{"0"}, {"0", "00"}} {
		stops, at := client.Roulette(zeros...), map[string]int{}
		for i, s := range stops {
			if at[s.Label] = i; s.Weight != 1 {
				t.Errorf("%q has the weight %d", s.Label, s.Weight)
			}
		}
		if n := 36 + len(zeros); len(stops) != n || len(at) != n {
			t.Errorf("%v: %d stops with %d labels, want %d", zeros, len(stops), len(at), n)
		}
		for label, want := range map[string]int{"0": 0, "1": len(zeros), "36": len(stops) - 1, "37": 0, "": 0} {
			if at[label] != want {
				t.Errorf("%v: %q is stop %d, want %d", zeros, label, at[label], want)
			}
		}
	}
}
