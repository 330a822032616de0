package operate

import (
	"errors"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"shuffled/client"
	"shuffled/internal/term"
)

func TestParseRanges(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]uint32{"37": {37}, "6,6": {6, 6}, "6x3": {6, 6, 6}, "6x2,20": {6, 6, 20},
		"0": {0}, "4294967295": {1<<32 - 1}} {
		if got, err := parseRanges(in); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	if got, err := parseRanges("6x4096"); err != nil || len(got) != maxRanges {
		t.Errorf("%d ranges, %v", len(got), err)
	}
	for _, in := range []string{"", ",", "6,", "six", "-6", "6x", "6x0", "6x-1", "x6", "6x4097", "6x4096,6",
		"4294967296", "6x2x2"} {
		var wrong *term.UsageError
		if got, err := parseRanges(in); !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestParseWheel(t *testing.T) {
	t.Parallel()
	got, err := parseWheel("1:24,10:1:3,joker:2")
	if want := []client.Stop{{Label: "1", Weight: 24}, {Label: "10:1", Weight: 3},
		{Label: "joker", Weight: 2}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, in := range []string{"", "red", ":3", "red:", "red:x", "red:1,", "red:1.5"} {
		var wrong *term.UsageError
		if got, err := parseWheel(in); !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestParsePositions(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]int{"0": {0}, "3,1": {3, 1}, "0,5,9-11": {0, 5, 9, 10, 11},
		"4095-4095": {4095}} {
		if got, err := parsePlaces([]string{in}); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", ",", "1,", "-1", "5-2", "1-", "4096", "0-4096", "a", "1-2-3"} {
		var wrong *term.UsageError
		if got, err := parsePlaces([]string{in}); !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

// TestRoundFlag: --beacon stands alone or has a round, and takes no other word with it.
func TestRoundFlag(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]roundFlag{
		"--table t --deck d":                {},
		"--table t --deck d --beacon":       {asked: true},
		"--table t --beacon --deck d":       {asked: true},
		"--table t --deck d --beacon=12345": {true, 12345},
	} {
		var c ShuffleCmd
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(line)); err != nil || c.Beacon != want || c.Deck != "d" {
			t.Errorf("%s: %+v, deck %q, %v", line, c.Beacon, c.Deck, err)
		}
	}
}
