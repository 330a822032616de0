package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"shuffled/internal/entropy"
	"shuffled/internal/term"
	"shuffled/lab/alarms"
)

// TestHealthFails gives the command health tests with another cutoff than requested.
func TestHealthFails(t *testing.T) {
	t.Parallel()
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		s := term.Streams{Out: &out, Err: new(bytes.Buffer)}
		c := &labHealthCmd{Bytes: 4_000_000, AlphaExp: []int{12}, JSON: asJSON}
		err := c.measure(context.Background(), s,
			func(alphaExp int) alarms.Health { return entropy.NewHealth(alphaExp + 8) })
		if !errors.Is(err, term.ErrFails) || term.Report(s.Err, err) != term.ExitFails {
			t.Fatalf("%v", err)
		}
		for _, want := range map[bool][]string{false: {"NOT AS EXPECTED"},
			true: {`"passed": false`, `"counts": [`, `"seconds": `}}[asJSON] {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s lacks %q", &out, want)
			}
		}
	}
}
