package audit

import (
	"crypto/sha256"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
)

// DeckRoots computes deck roots from tapes, one after another, for audits of
// millions of shuffles. It gives what Salts and NewDeckTree give
// (TestDeckRoots), without keeping the tree and in buffers that it uses again.
//
// A DeckRoots belongs to one goroutine.
type DeckRoots struct {
	tree  *treeHasher
	mac   []byte // key pad and message of an HMAC
	salts []byte
	level []tlog.Hash
}

// NewDeckRoots returns empty buffers.
func NewDeckRoots() *DeckRoots { return &DeckRoots{tree: newTreeHasher()} }

// Root returns the deck root of the values by position, at least one, with the
// salts that commitment and tape give (docs/SPEC.md sections 6.2 and 6.3).
func (d *DeckRoots) Root(commitment [32]byte, tape []byte, values []uint32) tlog.Hash {
	// HKDF of one block is two HMACs (RFC 5869 sections 2.2 and 2.3).
	key := d.hmac(d.hmac(commitment, tape), []byte(labelSalt+"\x01"))
	return d.root(key[:], values)
}

// root is Root under the key of the salts.
func (d *DeckRoots) root(key []byte, values []uint32) tlog.Hash {
	n := len(values)
	d.salts = slices.Grow(d.salts[:0], 32*n)[:32*n]
	fillSalts(d.salts, key)
	d.level = slices.Grow(d.level[:0], n)[:n]
	level := d.level
	for d.tree.leaves(level, values, d.salts); len(level) > 1; {
		next := level[:(len(level)+1)/2]
		d.tree.pairs(next, level)
		level = next
	}
	return level[0]
}

// deckRoots are those of DeckRoot.
var deckRoots = sync.Pool{New: func() any { return NewDeckRoots() }}

// DeckRoot is NewDeckTree(values, Salts(commitment, tape, len(values))).Root(),
// for a commit, which opens nothing: in buffers that are used again.
func DeckRoot(commitment [32]byte, tape []byte, values []uint32) tlog.Hash {
	d := deckRoots.Get().(*DeckRoots)
	defer deckRoots.Put(d)
	key := saltKey(commitment, tape)
	defer clear(key)
	root := d.root(key, values)
	clear(d.salts) // they open undealt cards, and a buffer may wait for long
	return root
}

// Node puts the hash of a node of any tree of RFC 6962 into to, as tlog.NodeHash
// returns it. to may be left.
func (d *DeckRoots) Node(to, left, right *tlog.Hash) { d.tree.nodeHash(to, left, right) }

// hmac is HMAC-SHA-256 (RFC 2104) under a key shorter than a block.
func (d *DeckRoots) hmac(key [32]byte, message []byte) tlog.Hash {
	d.mac = append(hmacKey(d.mac[:0], key, 0x36), message...)
	inner := sha256.Sum256(d.mac)
	d.mac = append(hmacKey(d.mac[:0], key, 0x5c), inner[:]...)
	return sha256.Sum256(d.mac)
}

// hmacKey is the first block of an HMAC's hash.
func hmacKey(b []byte, key [32]byte, pad byte) []byte {
	for _, k := range key {
		b = append(b, k^pad)
	}
	for range sha256.BlockSize - len(key) {
		b = append(b, pad)
	}
	return b
}
