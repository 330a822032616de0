package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/shuffle"
	"shuffled/internal/term"
)

// TestProveFails gives the command a shuffle that leaves the first card in its place and draws the
// largest value first: it names a case, and ends with the exit code of evidence that fails.
func TestProveFails(t *testing.T) {
	t.Parallel()
	broken := func(r shuffle.Recipe, tape []byte) (shuffle.Outcome, error) {
		out, err := r.Run(tape)
		if i := slices.Index(out.Values, 0); err == nil && r.Ranges == nil && i > 0 {
			out.Values[0], out.Values[i] = out.Values[i], out.Values[0]
		}
		if r.Ranges != nil && err == nil {
			out.Values[0] = r.Ranges[0]
		}
		return out, err
	}
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		s := term.Streams{Out: &out, Err: new(bytes.Buffer)}
		c := &labProveCmd{Only: []string{"lanes", "orders", "decks", "budget"}, JSON: asJSON}
		if err := c.prove(context.Background(), s, broken); !errors.Is(err, term.ErrFails) ||
			term.Report(s.Err, err) != term.ExitFails {
			t.Fatalf("%v", err)
		}
		if !asJSON {
			for _, want := range []string{
				"NOT PROVED  draw 1..2: 1 came from 127 of 256 lanes, not 128\n",
				"NOT PROVED  2 of 2 cards: draws [2 1] give [0 1], as other draws did\n",
				"NOT PROVED  36 cards, lane 1 of draw 1, all others 1: place 0 holds card 0, and\n            the swaps put card 1 there\n",
				"\nNot proved in ",
			} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s lacks %q", &out, want)
				}
			}
			continue
		}
		var r proofs
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Proved || r.Orders.Proved || r.Orders.Fault == "" ||
			!r.Budget.Proved || r.Lanes.Proved || r.Exhaustion != nil {
			t.Errorf("%v: %s", err, &out)
		}
	}
}

// TestProveInterrupted: an unfinished run proves nothing.
func TestProveInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	s := term.Streams{Out: &out, Err: new(bytes.Buffer)}
	if err := new(labProveCmd).Run(ctx, s); err == nil || term.Report(s.Err, err) != term.ExitCannot || out.Len() != 0 {
		t.Errorf("%v: %s", err, &out)
	}
}
