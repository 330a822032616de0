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

// cacheBytes is how many bytes the records of a cache take at most.
const cacheBytes = 32 << 20

// Cache is an LRU cache of the records of open shuffles that this daemon committed, for the dealers
// of all its ledgers. It holds no card and no tape in the clear. It is safe for concurrent use. Its
// records do not change.
type Cache struct {
	mu      sync.Mutex
	bytes   int
	records *simplelru.LRU[cacheKey, *Record]
	aead    cipher.AEAD // under a key that only this process has
	sealed  uint32      // under this key
}

type cacheKey struct {
	of ledger.ID
	id uint64
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	c := &Cache{aead: seal.Draw()}
	// Not an error: the size is positive.
	c.records, _ = simplelru.NewLRU(math.MaxInt, func(_ cacheKey, r *Record) { c.bytes -= r.bytes() })
	return c
}

// Recent is what a cache has of one ledger. A record has the entries that this daemon wrote, in order,
// and lacks those of other daemons. So an append may rest on it, because the ledger judges the append;
// a refusal or a repeated answer may not.
type Recent struct {
	*Cache
	of ledger.ID
}

func (k *Recent) key(id uint64) cacheKey { return cacheKey{k.of, id} }

// get returns the record of a shuffle. It returns none for a shuffle without an order, which another daemon may have
// mixed, and none for a blind one: a co-dealer binds what it opens to the entry before.
func (k *Recent) get(id uint64) (*Record, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.records.Get(k.key(id))
	return r, ok && r.Ordered() == nil && !r.Blind()
}

// Hold keeps what opens a shuffle, if it is no longer than the longest tape, with the record of its commit, so that
// none unseals the tape and draws again. The key is of this process: who reads the memory has the sealing key, too.
func (k *Recent) Hold(id uint64, c *audit.Commit, t *Opened) {
	size := 4 + 36*len(t.Values) + tlog.HashSize*len(t.Tree.Nodes) + len(t.Tape)
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.records.Peek(k.key(id))
	if !ok || size > shuffle.MaxTape {
		return
	}
	if k.sealed++; k.sealed == 0 {
		k.aead = seal.Draw() // what is held under the key before does not open any more
	}
	b := make([]byte, 0, size+k.aead.Overhead()) // never moves: sealed in its place, nothing is left in the clear
	b = binary.BigEndian.AppendUint32(b, uint32(t.EndAt))
	b, _ = binary.Append(b, binary.BigEndian, t.Values) // no error: numbers of a fixed size
	b = append(b, t.Tree.Salts...)
	for i := range t.Tree.Nodes {
		b = append(b, t.Tree.Nodes[i][:]...)
	}
	b = append(b, t.Tape...)
	r = r.grown()
	r.held = k.aead.Seal(b[:0], nil, b, c.Commitment[:])
	k.put(r)
}

// open returns what is held of a shuffle, which the caller wipes; nil if nothing is, or not what the commit says.
func (k *Recent) open(r *Record) *Opened {
	k.mu.Lock()
	kept, ok := k.records.Peek(k.key(r.ID))
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
	if old, ok := k.records.Peek(k.key(r.ID)); ok {
		k.bytes -= old.bytes() // the LRU list tells of no record that it replaces
	}
	k.records.Add(k.key(r.ID), r)
	for k.bytes += r.bytes(); k.bytes > cacheBytes; {
		k.records.RemoveOldest()
	}
}

// Forget drops a shuffle, and reports whether it was kept.
func (k *Recent) Forget(id uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.records.Remove(k.key(id))
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
		} else if old, ok := k.records.Peek(k.key(id)); ok {
			r = old.grown()
		} else {
			continue
		}
		late := len(r.Rows) > 0 && r.Rows[len(r.Rows)-1].Index > row.Index // of two requests at once
		if r.add(row, a.Entry); late || r.Closed != nil {
			k.records.Remove(k.key(id))
		} else {
			k.put(r)
		}
	}
}

// Opened is a shuffle whose tape was opened, with every value, salt and proof. It holds undealt cards. It belongs to
// the function that opened it, which wipes it. No answer shares memory with it.
type Opened struct {
	Tape   []byte
	Values []uint32 // by position
	Shows  []uint32 // of draws, by position: values moved by the mix
	EndAt  int      // place of the cut card, 0 for none
	Tree   *openings.DeckTree
	Order  openings.Order

	by map[int]*openings.By // openings of the co-dealer by place; nil without one
}

// Wipe clears the tape and the cards, so that they do not stay in memory that is not used. A nil t has none.
func (t *Opened) Wipe() {
	if t == nil {
		return
	}
	clear(t.Tape)
	clear(t.Values)
	clear(t.Shows)
	t.Tree.Wipe()
}

// Card returns the opening of a place. names are the card names of the deck, nil for a draw list.
func (t *Opened) Card(names []string, place int) openings.Card {
	o, name := t.Tree.Open(t.Order.Position(place)), ""
	if names != nil {
		name = names[o.Value]
	}
	card := openings.NewCard(place, o, name)
	card.By = t.by[place]
	return card
}

// Give adds what a co-dealer gave for a deal to the order, and its openings.
func (t *Opened) Give(deal *audit.Deal, cards []openings.Card) {
	t.Order.Give(deal)
	if t.by == nil {
		t.by = make(map[int]*openings.By)
	}
	for _, c := range cards {
		t.by[c.Place] = &openings.By{Value: c.Value, Salt: c.Salt, Proof: c.Proof}
	}
}
