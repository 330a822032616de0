package record

import (
	"crypto/cipher"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// recentBytes is how many bytes the records of a dealer's recent shuffles take at most.
const recentBytes = 32 << 20

// Recent is an LRU cache of the records of open shuffles that this daemon committed. A record has
// the entries that this daemon wrote, in order, and lacks those of other daemons. So an append may
// rest on it, because the ledger judges the append; a refusal or a repeated answer may not. It
// holds no card and no tape in the clear. It is safe for concurrent use. Its records do not change.
type Recent struct {
	mu      sync.Mutex
	bytes   int
	records *simplelru.LRU[uint64, *Record]
	aead    cipher.AEAD // under a key that only this process has, for this ledger
	sealed  uint32      // under this key
}

func newRecent() *Recent {
	k := &Recent{aead: seal.Draw()}
	// Not an error: the size is positive.
	k.records, _ = simplelru.NewLRU(math.MaxInt, func(_ uint64, r *Record) { k.bytes -= r.bytes() })
	return k
}

// get returns the record of a shuffle. It returns none for a shuffle without an order, which another daemon may have
// mixed, and none for a blind one: a co-dealer binds what it opens to the entry before.
func (k *Recent) get(id uint64) (*Record, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.records.Get(id)
	return r, ok && r.Ordered() == nil && !r.Blind()
}

// Hold keeps what opens a shuffle with the record of its commit, so that no operation unseals the tape and draws again.
// It is sealed under a key that only this process has: who reads the memory finds the sealing key, too. What is longer
// than the longest tape is not held.
func (k *Recent) Hold(id uint64, c *audit.Commit, t *Opened) {
	size := 4 + 36*len(t.Values) + tlog.HashSize*len(t.Tree.Nodes) + len(t.Tape)
	plain := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(t.EndAt)) // it never moves, so it can be wiped
	plain, _ = binary.Append(plain, binary.BigEndian, t.Values)                    // no error: numbers of a fixed size
	plain = append(plain, t.Tree.Salts...)
	for _, h := range t.Tree.Nodes {
		plain = append(plain, h[:]...)
	}
	plain = append(plain, t.Tape...)
	defer clear(plain)
	k.mu.Lock()
	defer k.mu.Unlock()
	if r, ok := k.records.Peek(id); ok && len(plain) <= shuffle.MaxTape {
		if k.sealed++; k.sealed == 0 {
			k.aead = seal.Draw() // what is held under the key before does not open any more
		}
		r = r.grown()
		r.held = k.aead.Seal(nil, nil, plain, c.Commitment[:])
		k.put(r)
	}
}

// open returns what is held of a shuffle, which the caller wipes; nil if nothing is, or not what the commit says.
func (k *Recent) open(r *Record) *Opened {
	k.mu.Lock()
	kept, ok := k.records.Peek(r.ID)
	aead := k.aead
	k.mu.Unlock()
	if !ok {
		return nil
	}
	c, n := r.Commit, r.Commit.Context.Recipe.Positions()
	plain, err := aead.Open(nil, nil, kept.held, c.Commitment[:])
	if err != nil {
		return nil
	}
	nodes, tape := 4+36*n, len(plain)-c.Context.Recipe.TapeLen()
	t := &Opened{EndAt: int(binary.BigEndian.Uint32(plain)), Values: make([]uint32, n), Tape: plain[tape:]}
	_, _ = binary.Decode(plain[4:], binary.BigEndian, t.Values) // no error: hold wrote as many
	clear(plain[:4+4*n])
	t.Tree = &openings.DeckTree{Values: t.Values, Salts: plain[4+4*n : nodes],
		Nodes: make([]tlog.Hash, 0, (tape-nodes)/tlog.HashSize)}
	for h := range slices.Chunk(plain[nodes:tape], tlog.HashSize) {
		t.Tree.Nodes = append(t.Tree.Nodes, tlog.Hash(h))
	}
	if t.Tree.Root() != tlog.Hash(c.DeckRoot) {
		t.Wipe()
		return nil
	}
	return t
}

// put keeps a record in place of an older one of its shuffle, and drops those that were used least recently.
func (k *Recent) put(r *Record) {
	k.records.Remove(r.ID)
	k.records.Add(r.ID, r)
	for k.bytes += r.bytes(); k.bytes > recentBytes; {
		k.records.RemoveOldest()
	}
}

// Forget drops a shuffle, and reports whether it was kept.
func (k *Recent) Forget(id uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.records.Remove(id)
}

// Grew adds durable entries that this daemon appended.
func (k *Recent) Grew(p *ledger.Proposal, appended []ledger.Appended) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, a := range appended {
		row := ledger.Row{Index: a.Index, Entry: a.Receipt.Entry}
		if i < len(p.Kept) {
			row.Kept = p.Kept[i]
		}
		row.Columns(a.Entry)
		id, r := row.Shuffle, &Record{}
		if row.Type == audit.TypeCommit {
			id, r.ID = row.Index, row.Index
		} else if old, ok := k.records.Peek(id); ok {
			r = old.grown()
		} else {
			continue
		}
		late := len(r.Rows) > 0 && r.Rows[len(r.Rows)-1].Index > row.Index // of two requests at once
		if r.add(row, a.Entry); late || r.Closed != nil {
			k.records.Remove(id)
		} else {
			k.put(r)
		}
	}
}
