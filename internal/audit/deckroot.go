package audit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"slices"

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
	n := len(values)
	d.fillSalts(commitment, tape, n)
	d.level = slices.Grow(d.level[:0], n)[:n]
	level := d.level
	for d.tree.leaves(level, values, d.salts); len(level) > 1; {
		next := level[:(len(level)+1)/2]
		d.tree.pairs(next, level)
		level = next
	}
	return level[0]
}

// Node puts the hash of a node of any tree of RFC 6962 into to, as tlog.NodeHash
// returns it. to may be left.
func (d *DeckRoots) Node(to, left, right *tlog.Hash) { d.tree.nodeHash(to, left, right) }

// fillSalts is Salts.
func (d *DeckRoots) fillSalts(commitment [32]byte, tape []byte, n int) {
	if cap(d.salts) < 32*n {
		d.salts = make([]byte, 32*n)
	}
	d.salts = d.salts[:32*n]
	clear(d.salts)
	// HKDF of one block is two HMACs (RFC 5869 sections 2.2 and 2.3).
	prk := d.hmac(commitment, tape)
	key := d.hmac(prk, []byte(labelSalt+"\x01"))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("audit: AES-256 refused a 32-byte key: " + err.Error())
	}
	var zero [aes.BlockSize]byte
	cipher.NewCTR(block, zero[:]).XORKeyStream(d.salts, d.salts)
}

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
