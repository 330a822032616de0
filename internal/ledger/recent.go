package ledger

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
)

const (
	// keptTags is how many key tags are remembered, in about 10 MiB: at 10,000
	// commits a second those of the last 26 seconds.
	keptTags = 1 << 18
	// keySkew is how far the clock of whoever makes keys may be off ours.
	keySkew = 2 * time.Second
)

// recent remembers the newest key tags of the ledger, so that a key which is
// younger than all that it forgot needs no question to the store. What it says of a
// key spares a look-up and decides nothing: the store refuses a tag that it has.
type recent struct {
	alone atomic.Bool // nobody else writes, as far as the sequencer knows

	mu    sync.Mutex
	tags  map[uint64]struct{} // by their first bytes
	order []remembered        // a ring once it is full; the oldest is at next
	next  int
	since int64 // UTC milliseconds: the tags of all later entries are here
}

type remembered struct {
	tag  uint64
	time int64 // of its entry
}

// begin remembers entries after this time, that of the newest one.
func (r *recent) begin(since int64) { r.tags, r.since = make(map[uint64]struct{}), since }

// add remembers the tag of an entry, if it has one.
func (r *recent) add(e audit.Entry) {
	c, ok := e.Body.(*audit.Commit)
	if !ok {
		return
	}
	one := remembered{short(c.KeyTag), e.Time}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tags == nil {
		return // an entry from before begin
	}
	if len(r.order) < keptTags {
		r.order = append(r.order, one)
	} else {
		oldest := &r.order[r.next]
		delete(r.tags, oldest.tag)
		r.since = oldest.time
		*oldest = one
		r.next = (r.next + 1) % keptTags
	}
	r.tags[one.tag] = struct{}{}
}

func short(tag [32]byte) uint64 { return binary.BigEndian.Uint64(tag[:]) }

// NewKey reports that a key is not in the ledger, going by the time at which it was
// made and by what this daemon has seen. It is false whenever a look-up could find
// anything: for a key that is old, or from the future, or while other daemons write.
// A key whose maker's clock lies may be there all the same; its append is then a
// *DuplicateError.
func (l *Ledger) NewKey(tag [32]byte, made time.Time) bool {
	r := &l.recent
	now, _ := l.cfg.Clock()
	if !r.alone.Load() || made.After(now.Add(keySkew)) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, seen := r.tags[short(tag)]
	return !seen && made.UnixMilli() > r.since+keySkew.Milliseconds()
}
