package ledger

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"shuffled/internal/audit"
)

// TestRecent: of more tags than it keeps it forgets the oldest, and says so.
func TestRecent(t *testing.T) {
	start := time.UnixMilli(1_800_000_000_000)
	var elapsed time.Duration
	l := &Ledger{}
	l.cfg.Clock = func() (time.Time, time.Duration) { return start.Add(time.Hour), elapsed }
	at := func(n int) int64 { return start.UnixMilli() + int64(n) }
	tag := func(n int, made int64) (h [32]byte) { // entry n's, by a key of this time
		binary.BigEndian.PutUint64(h[:], uint64(made)<<16)
		binary.BigEndian.PutUint64(h[24:], uint64(n))
		return h
	}
	own := func(n int) [32]byte { return tag(n, at(n)) }
	see := func(n int) {
		l.recent.stage(audit.Entry{Time: at(n), Body: &audit.Commit{KeyTag: own(n)}})
		l.recent.keep()
	}
	see(-1) // before it began: not remembered, and no harm
	l.recent.begin(at(0))
	l.recent.alone.Store(true)
	l.recent.stage(audit.Entry{Time: at(0), Body: &audit.Deal{}})
	const newest = 3*keptTags - 1 // of which the first generation is forgotten
	for n := range newest + 1 {
		see(n)
	}
	see(keptTags) // again
	l.recent.stage(audit.Entry{Time: at(newest), Body: &audit.Commit{KeyTag: tag(-2, at(newest))}})
	l.recent.drop() // did not hold
	if n, m := len(l.recent.newest.tags), len(l.recent.older.tags); n != keptTags || m != keptTags {
		t.Errorf("%d and %d tags are remembered", n, m)
	}
	all := []audit.Body{&audit.Deal{}, &audit.Commit{KeyTag: own(keptTags - 1)}, &audit.Commit{KeyTag: own(keptTags)},
		&audit.Commit{KeyTag: own(newest)}, &audit.Commit{KeyTag: own(-1)}}
	if tags := l.recent.repeated(all); len(tags) != 2 || tags[0] != own(keptTags) || tags[1] != own(newest) {
		t.Errorf("repeated: %x", tags)
	}
	near := own(newest)
	near[31]++
	skew := int(keySkew.Milliseconds())
	now := 3_600_000
	check := func(name string, tag [32]byte, want bool) {
		t.Helper()
		if got := l.NewKey(tag); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	check("the newest", own(newest), false)
	check("the oldest that is kept", own(keptTags), false)
	check("one that was never there", tag(-2, at(newest)), true)
	check("all but the last bit of one that was", near, true)
	check("without a time", tag(-2, 0), false)
	check("made when tags were forgotten", tag(-2, at(keptTags-1)), false)
	check("made too close to that", tag(-2, at(keptTags-1+skew)), false)
	check("made after that", tag(-2, at(keptTags+skew)), true)
	check("as far ahead as clocks are", tag(-2, at(now+skew)), true)
	check("farther", tag(-2, at(now+skew+1)), false)

	fresh := tag(-2, at(newest))
	l.recent.alone.Store(false)
	check("while others commit", fresh, false)
	l.recent.alone.Store(true)
	l.setStatus(errors.New("down"))
	check("while nothing can be written", fresh, false)
	l.setStatus(nil)
	elapsed = time.Minute
	l.recent.met([][32]byte{tag(-3, at(newest))}, at(newest), elapsed)
	elapsed += doubtTime - 1
	check("shortly after one that was not new", fresh, false)
	elapsed++
	check("a while after it", fresh, true)
	check("the one that was not new", tag(-3, at(newest)), false)
	l.ForgetKeys(tag(-3, at(newest)), own(newest)) // one of each generation
	check("the one that was, forgotten", tag(-3, at(newest)), true)
	check("the newest, forgotten", own(newest), true)
}
