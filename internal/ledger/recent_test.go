package ledger

import (
	"encoding/binary"
	"testing"
	"time"

	"shuffled/internal/audit"
)

// TestRecent: of more tags than it keeps it forgets the oldest, and says so.
func TestRecent(t *testing.T) {
	start := time.Now()
	l := &Ledger{}
	l.cfg.Clock = func() (time.Time, time.Duration) { return start.Add(time.Hour), 0 }
	tag := func(n int) (h [32]byte) {
		binary.BigEndian.PutUint64(h[:], uint64(n)*0x9e3779b97f4a7c15)
		return h
	}
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	add := func(n int) {
		l.recent.see(audit.Entry{Time: at(n).UnixMilli(), Body: &audit.Commit{KeyTag: tag(n)}})
	}
	add(-1) // before it began: not remembered, and no harm
	l.recent.begin(start.UnixMilli())
	l.recent.alone.Store(true)
	l.recent.see(audit.Entry{Time: start.UnixMilli(), Body: &audit.Deal{}})
	const more = 1000
	for n := range keptTags + more {
		add(n)
	}
	if n := len(l.recent.tags); n != keptTags {
		t.Errorf("%d tags are remembered", n)
	}
	l.recent.see(audit.Entry{Time: at(keptTags + more).UnixMilli(), Body: &audit.Commit{KeyTag: tag(more)}})
	if n := len(l.recent.order); n != keptTags || len(l.recent.tags) != keptTags {
		t.Errorf("a tag that is met again makes them %d and %d", n, len(l.recent.tags))
	}
	old := []audit.Body{&audit.Deal{}, &audit.Commit{KeyTag: tag(more - 1)}, &audit.Commit{KeyTag: tag(more)}}
	if tags := l.recent.repeated(old); len(tags) != 1 || tags[0] != tag(more) {
		t.Errorf("repeated: %x", tags)
	}
	for _, test := range []struct {
		name string
		tag  int
		made time.Time
		want bool
	}{
		{"the newest", keptTags + more - 1, at(keptTags + more), false},
		{"the oldest that is kept", more, at(keptTags), false},
		{"one that was never there", keptTags + more, at(keptTags + more), true},
		{"made when tags were forgotten", keptTags + more, at(more - 1), false},
		{"made too close to that", keptTags + more, at(more - 1).Add(keySkew), false},
		{"made after that", keptTags + more, at(more).Add(keySkew), true},
		{"forgotten, and its time untrue", more - 1, at(keptTags), true},
	} {
		if got := l.NewKey(tag(test.tag), test.made); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
