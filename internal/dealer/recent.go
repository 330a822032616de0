package dealer

import (
	"math"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// recentBytes bounds what the records of a dealer's recent shuffles take.
const recentBytes = 16 << 20

// recent keeps the records of the open shuffles that this daemon committed last: an LRU
// cache. Each holds what this daemon wrote of it, in order, and lacks what another one
// wrote. So an append, which the ledger judges, may rest on it, and nothing else: no
// refusal and no repeated answer. It holds no card and no tape in the clear. Safe for
// concurrent use; nobody changes a record.
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

// get returns what is kept of a shuffle, unless its order may be known to another daemon only,
// and unless a co-dealer is asked for each deal, which binds what it opens to the entry before.
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

// grew notes entries that this daemon appended, which are durable.
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

// grown is a record that more can be added to, while r stays as it is.
func (r *record) grown() *record {
	more := *r
	more.rows, more.deals = slices.Clip(r.rows), slices.Clip(r.deals)
	more.taken, more.reveals = slices.Clip(r.taken), slices.Clip(r.reveals)
	return &more
}

// recordOverhead is about what a record and an entry take alongside their bytes.
const recordOverhead = 512

// bytes is about what the record takes: each entry is there as it was written and as it
// was read.
func (r *record) bytes() int {
	n := recordOverhead
	for _, row := range r.rows {
		n += recordOverhead + 3*len(row.Entry) + len(row.Kept)
	}
	return n
}
