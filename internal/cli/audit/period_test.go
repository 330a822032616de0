package audit

import (
	"testing"
	"time"
)

func TestParsePeriod(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, to, begin, end string }{
		{"2026-11", "2026-11", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"2026-12-31", "2026-12-31", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"2024-02", "2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"2026-11-07T12:00:00+01:00", "2026-11-07T12:00:00.5Z", "2026-11-07T11:00:00Z", "2026-11-07T12:00:00.5Z"},
		{"2026-11", "", "2026-11-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{"", "", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
	} {
		begin, end, err := parsePeriod(test.from, test.to)
		if err != nil || time.UnixMilli(begin).UTC().Format(time.RFC3339Nano) != test.begin ||
			time.UnixMilli(end).UTC().Format(time.RFC3339Nano) != test.end {
			t.Errorf("%q to %q: %v to %v, %v", test.from, test.to, begin, end, err)
		}
	}
	for _, test := range [][2]string{{"2026-11", "2026-10"}, {"2026-11-07", "2026-11-06"},
		{"2026-11-07T00:00:00Z", "2026-11-07T00:00:00Z"},
		{"yesterday", ""}, {"", "2026-13"}, {"2026-02-30", ""}, {"1969-12", ""}, {"2026-11-07 12:00", ""},
		{"", "11/2026"}} {
		if begin, end, err := parsePeriod(test[0], test[1]); err == nil {
			t.Errorf("%q to %q: %v to %v", test[0], test[1], begin, end)
		}
	}
}
