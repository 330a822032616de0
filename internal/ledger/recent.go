package ledger

import (
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
)

const (
	// keptTags is how many key tags a generation has. Two of them take up to 10 MiB,
	// and at 10,000 commits a second hold those of the last 6 seconds at least.
	keptTags = 1 << 16
	// keySkew is how far the clock of whoever makes keys may be off ours.
	keySkew = 2 * time.Second
	// doubtTime is how long no key is taken for new after one that was not: keys whose
	// times are wrong cost a batch now and then, not every batch.
	doubtTime = 10 * time.Second
)

// recent remembers the newest key tags of the ledger, so that a key which is
// younger than all that it forgot needs no question to the store, and one that it
// knows is refused before it fails a batch. What stands in the ledger is the
// store's to say: a key whose maker's clock lies is refused there.
type recent struct {
	alone  atomic.Bool  // no other daemon commits, as far as the sequencer knows
	staged []remembered // of entries that are folded and not yet checked; the sequencer's

	mu         sync.Mutex
	newest     generation
	older      generation
	since      int64         // UTC milliseconds: the tags of all later entries are here
	distrusted time.Duration // by the clock's elapsed time: nothing is taken for new until then
}

// generation holds up to keptTags tags.
type generation struct {
	tags map[[32]byte]struct{}
	last int64 // time of the entry of the newest one
}

type remembered struct {
	tag  [32]byte
	time int64 // of its entry, or of the newest one when it was met
}

func newGeneration() generation { return generation{tags: make(map[[32]byte]struct{}, keptTags)} }

// begin remembers entries after this time, that of the newest one.
func (r *recent) begin(since int64) { r.newest, r.since = newGeneration(), since }

// stage notes the tag of an entry that is yet to be checked, if it has one.
func (r *recent) stage(e audit.Entry) {
	if c, ok := e.Body.(*audit.Commit); ok && r.newest.tags != nil {
		r.staged = append(r.staged, remembered{c.KeyTag, e.Time})
	}
}

// drop forgets what was staged.
func (r *recent) drop() { r.staged = nil }

// keep remembers what was staged.
func (r *recent) keep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.staged {
		r.add(one)
	}
	r.staged = nil
}

// add needs the lock.
func (r *recent) add(one remembered) {
	if r.has(one.tag) {
		return
	}
	if len(r.newest.tags) == keptTags {
		if r.older.tags != nil {
			r.since = r.older.last
		}
		r.older, r.newest = r.newest, newGeneration()
	}
	r.newest.tags[one.tag], r.newest.last = struct{}{}, one.time
}

// has needs the lock.
func (r *recent) has(tag [32]byte) bool {
	_, newest := r.newest.tags[tag]
	_, older := r.older.tags[tag]
	return newest || older
}

// met remembers tags that the store says it has and this daemon did not know of,
// and takes no other for new for a while.
func (r *recent) met(tags [][32]byte, time int64, elapsed time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, tag := range tags {
		r.add(remembered{tag, time})
	}
	r.distrusted = elapsed + doubtTime
}

// repeated returns those key tags of a request that it remembers.
func (r *recent) repeated(bodies []audit.Body) (tags [][32]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range bodies {
		if c, ok := b.(*audit.Commit); ok && r.has(c.KeyTag) {
			tags = append(tags, c.KeyTag)
		}
	}
	return tags
}

// NewKey reports that a key is not in the ledger, going by the time in its tag
// (docs/SPEC.md section 5.3) and by what this daemon has seen: it is false for a key
// without a time, for one that is old or from the future, while other daemons
// commit, and while nothing can be written. A key whose maker's clock lies may be
// there all the same; its append is then a *DuplicateError, and what is refused for
// another reason must be looked up before it is told.
func (l *Ledger) NewKey(tag [32]byte) bool {
	made := madeAt(tag)
	now, elapsed := l.cfg.Clock()
	r := &l.recent
	if made == 0 || made > now.Add(keySkew).UnixMilli() || !r.alone.Load() || l.Ready() != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return elapsed >= r.distrusted && made > r.since+keySkew.Milliseconds() && !r.has(tag)
}

// madeAt returns the time in a key tag, UTC milliseconds; 0 for none.
func madeAt(tag [32]byte) (ms int64) {
	for _, b := range tag[:6] {
		ms = ms<<8 | int64(b)
	}
	return ms
}

// ForgetKeys forgets tags that the ledger turned out not to have, so that the store
// is asked again: a failover may have lost what was seen of them.
func (l *Ledger) ForgetKeys(tags ...[32]byte) {
	r := &l.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, tag := range tags {
		delete(r.newest.tags, tag)
		delete(r.older.tags, tag)
	}
}
