package operate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"shuffled/client"
	"shuffled/internal/term"
)

func TestParseRun(t *testing.T) {
	t.Parallel()
	text, yes := func(s string) *string { return &s }, true
	good := map[string]client.Run{
		"2:seat:seat-1":        {Count: 2, Purpose: "seat", Recipient: text("seat-1")},
		"3:board::public":      {Count: 3, Purpose: "board", Public: &yes},
		"1:burn":               {Count: 1, Purpose: "burn"},
		"1:burn:":              {Count: 1, Purpose: "burn"},
		"4:seat:seat-2:public": {Count: 4, Purpose: "seat", Recipient: text("seat-2"), Public: &yes},
	}
	for in, want := range good {
		got, err := parseRun(in)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", in, err, diff)
		}
	}
	for _, in := range []string{"", "2", "0:seat", "-1:seat", "x:seat", "2:", "2:chair", "2:seat:two words",
		"2:seat:a:private", "2:seat:a:", "2:seat:a:public:b", "2:seat:\x1b[2J",
		"2:seat", "2:seat:", "2:seat::public"} {
		var wrong *term.UsageError
		if got, err := parseRun(in); !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestParseEndAt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]client.EndAt{"380": {Lo: 380, Hi: 380}, "380-400": {Lo: 380, Hi: 400}} {
		if got, err := parseEndAt(in); got != want || err != nil {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0", "-5", "5-", "-", "9-8", "a-b", "1-2-3"} {
		if got, err := parseEndAt(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestParseCloseBy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 535, time.UTC)
	for in, want := range map[string]time.Time{
		"45m":                       time.Date(2026, 3, 14, 15, 54, 26, 0, time.UTC),
		"2026-03-15T00:00:00Z":      time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC),
		"2026-03-15T01:00:00+01:00": time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := parseCloseBy(in, now); !got.Equal(want) || got.Location() != time.UTC || err != nil {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "-45m", "0s", "tomorrow", "2026-03-15"} {
		if got, err := parseCloseBy(in, now); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestParseDay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-11-22":                  "2026-11-22T00:00:00Z",
		"2026-11-22T18:30:00Z":        "2026-11-22T18:30:00Z",
		"2026-11-22T18:30:00.5+01:00": "2026-11-22T17:30:00.5Z",
	} {
		if got, err := parseDay("--from", in); err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"yesterday", "2026-13-01", "22.11.2026", "18:30", "2026-11-22 18:30"} {
		var wrong *term.UsageError
		if got, err := parseDay("--from", in); !errors.As(err, &wrong) {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
}

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
