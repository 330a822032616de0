package dealer

import (
	"math"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// recentBytes is how many bytes the records of a dealer's recent shuffles take at most.
const recentBytes = 16 << 20

// recent is an LRU cache of the records of open shuffles that this daemon committed. A record has
// the entries that this daemon wrote, in order, and lacks those of other daemons. So an append may
// rest on it, because the ledger judges the append; a refusal or a repeated answer may not. It
// holds no card and no tape in the clear. It is safe for concurrent use. Its records do not change.
type recent struct {
	mu      sync.Mutex
	bytes   int
	records *simplelru.LRU[uint64, *record]
}

func newRecent() *recent {
	k := &recent{}
	// Not an error: the size is positive.
	k.records, _ = simplelru.NewLRU(math.MaxInt, func(_ uint64, r *record) { k.bytes -= r.bytes() })
	return k
}

// get returns the record of a shuffle. It returns none for a shuffle without an order, which another daemon may have
// mixed, and none for a blind one: a co-dealer binds what it opens to the entry before.
func (k *recent) get(id uint64) (*record, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.records.Get(id)
	return r, ok && r.ordered() == nil && !r.blind()
}

// forget drops a shuffle, and reports whether it was kept.
func (k *recent) forget(id uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.records.Remove(id)
}

// grew adds durable entries that this daemon appended.
func (k *recent) grew(p *ledger.Proposal, appended []ledger.Appended) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, a := range appended {
		row := ledger.Row{Index: a.Index, Entry: a.Receipt.Entry}
		if i < len(p.Kept) {
			row.Kept = p.Kept[i]
		}
		row.Columns(a.Entry)
		id, r := row.Shuffle, &record{}
		if row.Type == audit.TypeCommit {
			id, r.id = row.Index, row.Index
		} else if old, ok := k.records.Peek(id); ok {
			r = old.grown()
		} else {
			continue
		}
		late := len(r.rows) > 0 && r.rows[len(r.rows)-1].Index > row.Index // of two requests at once
		r.add(row, a.Entry)
		k.records.Remove(id)
		if late || r.closed != nil {
			continue
		}
		k.records.Add(id, r)
		for k.bytes += r.bytes(); k.bytes > recentBytes; {
			k.records.RemoveOldest()
		}
	}
}

// grown is a copy of r. What is added to the copy does not change r.
func (r *record) grown() *record {
	more := *r
	more.rows, more.deals = slices.Clip(r.rows), slices.Clip(r.deals)
	more.taken, more.reveals = slices.Clip(r.taken), slices.Clip(r.reveals)
	return &more
}

// recordOverhead is about how many bytes a record, and each entry in it, take in addition to the bytes of the entry.
const recordOverhead = 512

// bytes is about how many bytes the record takes. It holds each entry encoded and parsed.
func (r *record) bytes() int {
	n := recordOverhead
	for _, row := range r.rows {
		n += recordOverhead + 3*len(row.Entry) + len(row.Kept)
	}
	return n
}
