package ledger

import (
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
)

const (
	// keptTags is how many key tags are remembered, in about 12 MiB: at 10,000
	// commits a second those of the last 26 seconds.
	keptTags = 1 << 18
	// keySkew is how far the clock of whoever makes keys may be off ours.
	keySkew = 2 * time.Second
)

// recent remembers the newest key tags of the ledger, so that a key which is
// younger than all that it forgot needs no question to the store, and a repeated
// one fails no batch. Whether a tag stands in the ledger is the store's to say: a
// key whose maker's clock lies is refused there.
type recent struct {
	alone atomic.Bool // nobody else writes, as far as the sequencer knows

	mu    sync.Mutex
	tags  map[shortTag]struct{}
	order []remembered // a ring once it is full; the oldest is at next
	next  int
	since int64 // UTC milliseconds: the tags of all later entries are here
}

type remembered struct {
	tag  shortTag
	time int64 // of its entry, or of the newest one when it was met
}

// shortTag is the beginning of a key tag. No two of a ledger meet: it takes 2^64
// keys of one's own choice to find such a pair.
type shortTag [16]byte

// begin remembers entries after this time, that of the newest one.
func (r *recent) begin(since int64) { r.tags, r.since = make(map[shortTag]struct{}), since }

// see remembers the tag of an entry, if it has one.
func (r *recent) see(e audit.Entry) {
	if c, ok := e.Body.(*audit.Commit); ok {
		r.add(c.KeyTag, e.Time)
	}
}

func (r *recent) add(tag [32]byte, time int64) {
	one := remembered{shortTag(tag[:]), time}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.tags[one.tag]; known || r.tags == nil { // nil: an entry from before begin
		return
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

// repeated returns those key tags of a request that it remembers.
func (r *recent) repeated(bodies []audit.Body) (tags [][32]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range bodies {
		if c, ok := b.(*audit.Commit); ok {
			if _, known := r.tags[shortTag(c.KeyTag[:])]; known {
				tags = append(tags, c.KeyTag)
			}
		}
	}
	return tags
}

// NewKey reports that a key is not in the ledger, going by the time at which it was
// made and by what this daemon has seen: it is false for a key that is old, or from
// the future, and while other daemons write. A key whose maker's clock lies may be
// there all the same; its append is then a *DuplicateError, and what is refused for
// another reason must be looked up before it is told.
func (l *Ledger) NewKey(tag [32]byte, made time.Time) bool {
	r := &l.recent
	now, _ := l.cfg.Clock()
	if !r.alone.Load() || made.After(now.Add(keySkew)) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.tags[shortTag(tag[:])]
	return !known && made.UnixMilli() > r.since+keySkew.Milliseconds()
}
