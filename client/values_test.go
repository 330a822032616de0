package client

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
)

func TestHash(t *testing.T) {
	t.Parallel()
	good := "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	var h Hash
	if err := h.UnmarshalText([]byte(good)); err != nil || h.String() != good || h[31] != 31 {
		t.Errorf("%s, %v", h, err)
	}
	for _, bad := range []string{
		"", "AA==", good[:43], good[:42] + "9=", good[:43] + "A", good + "\n", "\n" + good, good[:20] + "\r\n" +
			good[20:],
		"-" + good[1:], good[:42] + "==", good + good,
	} {
		if h.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	at := Timestamp{time.Date(2026, 3, 14, 16, 9, 26, 535_999_999, time.FixedZone("", 3600))}
	text, err := at.MarshalText()
	if err != nil || string(text) != "2026-03-14T15:09:26.535Z" {
		t.Errorf("%s, %v", text, err)
	}
	var back Timestamp
	if err := back.UnmarshalText(text); err != nil || back.UnixMilli() != at.UnixMilli() {
		t.Errorf("%v, %v", back, err)
	}
	if back.UnmarshalText([]byte("2026-03-14T15:09:26Z")) == nil || back.UnmarshalText([]byte("yesterday")) == nil {
		t.Error("a time that the daemon does not write is taken")
	}
}

func TestRequestsAsJSON(t *testing.T) {
	t.Parallel()
	deck, end := "short-36", EndAt{Lo: 3, Hi: 3}
	for want, req := range map[string]any{
		`{"deck":"short-36","end_at":3,"table":"t"}`: ShuffleRequest{Table: "t", Deck: &deck,
			EndAt: &end},
		`{"cards":["a","b"],"end_at":{"lo":1,"hi":2},"table":"t"}`: ShuffleRequest{Table: "t",
			Cards: []string{"a", "b"}, EndAt: &EndAt{Lo: 1, Hi: 2}},
		`{"first":0,"runs":[{"count":1,"purpose":"burn"}]}`: DealRequest{Runs: []Run{{Count: 1,
			Purpose: PurposeBurn}}},
		`{"outcome":"completed"}`: CloseRequest{Outcome: OutcomeCompleted},
	} {
		if got, err := json.Marshal(req); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	c := &Client{cfg: Config{Pause: 100 * time.Millisecond, MaxPause: 5 * time.Second}}
	for attempt := 1; attempt < 100; attempt++ {
		most := c.cfg.MaxPause
		if attempt < 7 {
			most = min(most, c.cfg.Pause<<(attempt-1))
		}
		if p := c.pause(attempt); p < most/2 || p > most {
			t.Errorf("after attempt %d: %s", attempt, p)
		}
	}
	seen := make(map[time.Duration]bool)
	for range 10 {
		seen[c.pause(1)] = true
	}
	if len(seen) < 5 { // of 50 million
		t.Errorf("%d different pauses of 10", len(seen))
	}
}

func TestSlot(t *testing.T) {
	t.Parallel()
	a, b := NewSlot("example.com/test", "t"), NewSlot("example.com/test", "t")
	if a.Value == b.Value || a.Hash == b.Hash || a.Hash != Hash(audit.SlotHash("example.com/test", "t", a.Value)) {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	salt := []byte("sixteen bytes of")
	one, err := Reference(salt, "player 1")
	if again, _ := Reference(salt, "player 1"); err != nil || again != one || audit.CheckName(one) != nil {
		t.Errorf("%q, %v", one, err)
	}
	if two, _ := Reference(salt, "player 2"); two == one {
		t.Error("two players have one reference")
	}
	if _, err := Reference(salt[1:], "player 1"); err == nil {
		t.Error("a short salt is taken")
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	s := newHouse(t).rig(fiveCards, nil).committed()
	for _, c := range []struct{ without, want []int }{
		{nil, []int{0, 1, 2, 3, 4}},
		{[]int{0, 3, 3}, []int{1, 2, 4}},
		{[]int{4, 3, 2, 1, 0}, []int{}},
	} {
		if got, err := s.Positions(c.without...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v, %v", c.without, got, err)
		}
	}
	for _, place := range []int{-1, 5} {
		if _, err := s.Positions(place); err == nil {
			t.Errorf("place %d is taken", place)
		}
	}
	mixed := fiveCards
	mixed.Plan = []audit.Planned{{Source: audit.SourceCut}}
	s = newHouse(t).rig(mixed, nil).committed()
	if _, err := s.Positions(0); err == nil {
		t.Error("a place before the mix is taken")
	}
}

// TestPast tells answers of the past from new ones.
func TestPast(t *testing.T) {
	t.Parallel()
	tried := new(atomic.Bool)
	for _, c := range []struct {
		when        asked
		index, size uint64
		past        bool
	}{
		{asked{since: 5, open: tried}, 5, 6, false},
		{asked{since: 5, open: tried}, 4, 5, true},
		{asked{since: 5, open: tried}, 3, 9, true}, // an old entry under a new checkpoint
		{asked{since: 5}, 3, 9, false},
		{asked{since: 5}, 3, 5, false},
		{asked{since: 5}, 3, 4, true},
		{asked{}, 0, 1, false},
	} {
		if got := c.when.before(c.index, c.size); got != c.past {
			t.Errorf("%+v: entry %d under %d entries: %t", c.when, c.index, c.size, got)
		}
	}
}

// TestFinePeriod: a query has milliseconds, and what a finer period begins and ends with is compared so.
func TestFinePeriod(t *testing.T) {
	t.Parallel()
	fine := func(ms int64) *Timestamp { return &Timestamp{time.UnixMilli(ms).Add(999 * time.Microsecond)} }
	one := &ShuffleSummary{CommittedAt: timestamp(7), State: ShuffleSummaryStateOpen}
	for _, c := range []struct {
		p    ListShufflesParams
		fits bool
	}{{ListShufflesParams{From: fine(7)}, true}, {ListShufflesParams{From: fine(8)}, false},
		{ListShufflesParams{To: fine(7)}, false}, {ListShufflesParams{To: fine(8)}, true}} {
		if c.p.fits(one) != c.fits {
			t.Errorf("from %v to %v: not %v", c.p.From, c.p.To, c.fits)
		}
	}
}
