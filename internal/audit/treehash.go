package audit

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
)

// treeHasher hashes the leaves of deck trees and the nodes of any tree of RFC
// 6962, as leafHash and tlog.NodeHash do (TestDeckRoots).
//
// Of hashing many short strings, crypto/sha256 spends as much on padding and
// copies as on blocks. So the strings are padded once, here, and the hash is read
// from the state after whole blocks.
//
// A treeHasher belongs to one goroutine.
type treeHasher struct {
	h     hash.Hash
	inner encoding.BinaryAppender // h, to read its state; nil: Sum is used
	state [128]byte
	leaf  [64]byte  // a leaf's 55 bytes, padded
	node  [128]byte // a node's 65 bytes, padded
}

func newTreeHasher() *treeHasher {
	t := plainTreeHasher()
	if stateKnown() {
		t.inner = t.h.(encoding.BinaryAppender)
	}
	return t
}

// stateKnown reports whether the state of crypto/sha256 is where sum expects it.
var stateKnown = sync.OnceValue(func() bool {
	t := plainTreeHasher()
	var ok bool
	if t.inner, ok = t.h.(encoding.BinaryAppender); !ok {
		return false
	}
	var got tlog.Hash
	t.sum(t.node[:], 65, &got)
	return got == sha256.Sum256(t.node[:65])
})

// plainTreeHasher takes no shortcut.
func plainTreeHasher() *treeHasher {
	t := &treeHasher{h: sha256.New()}
	copy(t.leaf[1:], labelPosition)
	pad(t.leaf[:], 55)
	t.node[0] = 0x01
	pad(t.node[:], 65)
	return t
}

// pad ends a message of n bytes as FIPS 180-4 section 5.1.1 says.
func pad(blocks []byte, n int) {
	blocks[n] = 0x80
	binary.BigEndian.PutUint64(blocks[len(blocks)-8:], uint64(8*n))
}

// sum hashes the first n bytes of blocks, which are padded.
func (t *treeHasher) sum(blocks []byte, n int, to *tlog.Hash) {
	t.h.Reset()
	if t.inner == nil {
		t.h.Write(blocks[:n])
		t.h.Sum(to[:0])
		return
	}
	t.h.Write(blocks)
	// Four bytes of magic, then the eight words of the state.
	state, _ := t.inner.AppendBinary(t.state[:0])
	copy(to[:], state[min(4, len(state)):])
}

// leaves puts the hashes of the leaves of a deck tree into to: of the values by
// position, with salts of 32 bytes each, end to end.
func (t *treeHasher) leaves(to []tlog.Hash, values []uint32, salts []byte) {
	for p, v := range values {
		binary.BigEndian.PutUint16(t.leaf[17:], uint16(p))
		binary.BigEndian.PutUint32(t.leaf[19:], v)
		copy(t.leaf[23:55], salts[32*p:])
		t.sum(t.leaf[:], 55, &to[p])
	}
	clear(t.leaf[23:55])
}

// pairs puts the level above into to: neighbours pair up, and an odd last node
// moves up unchanged. This is RFC 6962's tree: its left part is the largest power
// of two, so only the last node of a level can be without a neighbour. to may
// begin where level does.
func (t *treeHasher) pairs(to, level []tlog.Hash) {
	n := len(level)
	for i := range n / 2 {
		t.nodeHash(&to[i], &level[2*i], &level[2*i+1])
	}
	if n%2 == 1 {
		to[n/2] = level[n-1]
	}
}

// nodeHash puts the hash of a node into to, which may be left.
func (t *treeHasher) nodeHash(to, left, right *tlog.Hash) {
	copy(t.node[1:33], left[:])
	copy(t.node[33:65], right[:])
	t.sum(t.node[:], 65, to)
}
