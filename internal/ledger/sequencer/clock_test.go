package sequencer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"shuffled/internal/ledger"
)

func TestClock(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_800_000_000_000)
	type reading struct {
		wall, elapsed time.Duration // since start
		newest        int64         // of the ledger, relative to start in ms
		want          int64         // ms since start, −1 for ErrClock
	}
	for name, readings := range map[string][]reading{
		"runs":                    {{0, 0, 0, 0}, {time.Second, time.Second, 0, 1000}},
		"drifts within the limit": {{0, 0, 0, 0}, {5 * time.Second, time.Second, 0, 5000}},
		"steps forward":           {{0, 0, 0, 0}, {time.Hour, time.Second, 0, -1}},
		"steps back":              {{0, 0, 0, 0}, {-time.Hour, time.Second, 0, -1}},
		"stands still for long":   {{0, 0, 0, 0}, {0, time.Minute, 0, -1}},
		"comes back": {{0, 0, 0, 0}, {time.Hour, time.Second, 0, -1},
			{3 * time.Second, 3 * time.Second, 0, 3000}},
		"goes back a little":     {{0, 0, 0, 0}, {-time.Second, 0, 700, 700}},
		"is behind the ledger":   {{0, 0, 5001, -1}},
		"is at the limit behind": {{0, 0, 5000, 5000}},
		"small steps add up":     {{0, 0, 0, 0}, {4 * time.Second, 0, 0, 4000}, {8 * time.Second, 0, 0, -1}},
		"steps far apart add up": {{0, 0, 0, 0}, {29*time.Minute + 4*time.Second, 29 * time.Minute, 0, 1_744_000},
			{58*time.Minute + 8*time.Second, 58 * time.Minute, 0, -1}},
		"steps back add up": {{0, 0, 0, 0}, {29*time.Minute - 4*time.Second, 29 * time.Minute, 0, 1_736_000},
			{58*time.Minute - 8*time.Second, 58 * time.Minute, 0, -1}},
		"many small steps add up": {{0, 0, 0, 0}, {11 * time.Second, 10 * time.Second, 0, 11_000},
			{22 * time.Second, 20 * time.Second, 0, 22_000},
			{33 * time.Second, 30 * time.Second, 0, 33_000}, {44 * time.Second, 40 * time.Second, 0, 44_000},
			{55 * time.Second, 50 * time.Second, 0, 55_000}, {66 * time.Second, 60 * time.Second, 0, -1}},
		"slews for hours": {{0, 0, 0, 0}, {time.Hour + 4*time.Second, time.Hour, 0, 3_604_000},
			{2*time.Hour + 8*time.Second, 2 * time.Hour, 0, 7_208_000}},
		"far in the future": {{0, 0, 1 << 50, -1}},
	} {
		var now reading
		c := clock{limit: 5 * time.Second,
			read: func() (time.Time, time.Duration) { return start.Add(now.wall), now.elapsed }}
		for i, r := range readings {
			now = r
			got, err := c.now(start.UnixMilli() + r.newest)
			switch {
			case r.want < 0 && !errors.Is(err, ledger.ErrClock):
				t.Errorf("%s, reading %d: %d, %v; want ErrClock", name, i, got-start.UnixMilli(), err)
			case r.want >= 0 && (err != nil || got != start.UnixMilli()+r.want):
				t.Errorf("%s, reading %d: %d, %v; want %d", name, i, got-start.UnixMilli(), err, r.want)
			}
		}
	}
}

// TestAccessVectors holds the chain of records against the vectors of docs/SPEC.md section 5.8.
func TestAccessVectors(t *testing.T) {
	file, err := os.ReadFile("../../audit/testdata/hashes.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Records []struct {
			Time       int64  `json:"time"`
			Request    string `json:"request_id"`
			Credential string `json:"credential"`
			Method     string `json:"method"`
			Path       string `json:"path"`
			Hash       string `json:"hash"`
		} `json:"records"`
	}
	if err := json.Unmarshal(file, &vectors); err != nil || len(vectors.Records) < 2 {
		t.Fatalf("%d records: %v", len(vectors.Records), err)
	}
	var head ledger.AccessHead
	for _, r := range vectors.Records {
		head = head.Next(ledger.Access{Time: r.Time, Request: r.Request, Token: r.Credential, Method: r.Method,
			Path: r.Path})
		if got := hex.EncodeToString(head.Hash[:]); got != r.Hash {
			t.Errorf("record %d is %s, want %s", head.Count, got, r.Hash)
		}
	}
}
