package operate

import (
	"errors"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/term"
)

func TestMisplaced(t *testing.T) {
	t.Parallel()
	at := func(n int64) client.Timestamp { return client.Timestamp{Time: time.UnixMilli(n)} }
	after := []historyStep{{ID: 9, Serial: 4, Committed: at(90), Previous: 7}}
	c := &audit.Commit{Context: &audit.Context{Table: "t"}}
	for _, test := range []struct {
		step historyStep
		want string
	}{
		{historyStep{7, 3, at(90), 5}, ""},
		{historyStep{7, 3, at(91), 5}, "entry 7 is later than entry 9, which follows it"},
		{historyStep{7, 2, at(90), 5}, "entry 7 has serial 2, and serial 3 should come before entry 9"},
		{historyStep{7, 4, at(90), 5}, "entry 7 has serial 4, and serial 3 should come before entry 9"},
		{historyStep{7, 3, at(90), 7}, "entry 7 names entry 7 as the commit before it, and that entry does not come before it"},
	} {
		if got := misplaced("t", c, test.step, after); got != test.want {
			t.Errorf("%+v: %q, want %q", test.step, got, test.want)
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
