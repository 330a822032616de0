package client

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// TestTimestamp: a time travels in UTC with milliseconds, whatever its zone.
func TestTimestamp(t *testing.T) {
	t.Parallel()
	at := Timestamp{time.Date(2026, 11, 20, 12, 30, 0, 123_456_789, time.FixedZone("", 3600))}
	b, err := json.Marshal(at)
	if err != nil || string(b) != `"2026-11-20T11:30:00.123Z"` {
		t.Fatalf("%s, %v", b, err)
	}
	var back Timestamp
	if err := json.Unmarshal(b, &back); err != nil || !back.Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("%s, %v", back, err)
	}
	for _, bad := range []string{`1`, `"2026-11-20T11:30:00Z"`, `"2026-11-20T11:30:00.123+01:00"`, `""`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
