package audit_test

import (
	"testing"
	"time"

	"shuffled/internal/audit"
)

// TestInstant: every day of 400 years and more, as package time has it.
func TestInstant(t *testing.T) {
	t.Parallel()
	for day := range int64(150_000) {
		ms := day*86_400_000 + day*7919%86_400_000
		if want := time.UnixMilli(ms).UTC().Format(time.RFC3339); audit.Instant(ms) != want {
			t.Fatalf("%d: %s, want %s", ms, audit.Instant(ms), want)
		}
	}
}
