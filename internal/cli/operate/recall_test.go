package operate

import (
	"errors"
	"testing"
	"time"

	"shuffled/internal/term"
)

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
