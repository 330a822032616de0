package audit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"

	"golang.org/x/mod/sumdb/tlog"
)

// DeckRoots computes deck roots from tapes, one after another, for audits of
// millions of shuffles. It gives what Salts and NewDeckTree give
// (TestDeckRoots), without keeping the tree and in buffers that it uses again.
//
// A DeckRoots belongs to one goroutine.
type DeckRoots struct {
	h     hash.Hash
	leaf  [64]byte  // a leaf's 55 bytes, padded
	node  [128]byte // a node's 65 bytes, padded
	mac   []byte    // key pad and message of an HMAC
	salts []byte
	level []tlog.Hash

	// Hashing 103 short strings, crypto/sha256 spends as much on padding and
	// copies as on blocks. So the strings are padded once, here, and the hash is
	// read from the state after whole blocks. fast says that the state is where it
	// is expected; otherwise Sum is used.
	inner encoding.BinaryAppender
	state []byte
	fast  bool
}

// NewDeckRoots returns empty buffers.
func NewDeckRoots() *DeckRoots {
	d := &DeckRoots{h: sha256.New()}
	copy(d.leaf[1:], labelPosition)
	pad(d.leaf[:], 55)
	d.node[0] = 0x01
	pad(d.node[:], 65)
	if d.inner, d.fast = d.h.(encoding.BinaryAppender); d.fast {
		var got tlog.Hash
		d.sum(d.node[:], 65, &got)
		d.fast = got == sha256.Sum256(d.node[:65])
	}
	return d
}

// pad ends a message of n bytes as FIPS 180-4 section 5.1.1 says.
func pad(blocks []byte, n int) {
	blocks[n] = 0x80
	binary.BigEndian.PutUint64(blocks[len(blocks)-8:], uint64(8*n))
}

// sum hashes the first n bytes of blocks, which are padded.
func (d *DeckRoots) sum(blocks []byte, n int, to *tlog.Hash) {
	d.h.Reset()
	if !d.fast {
		d.h.Write(blocks[:n])
		d.h.Sum(to[:0])
		return
	}
	d.h.Write(blocks)
	// Four bytes of magic, then the eight words of the state.
	d.state, _ = d.inner.AppendBinary(d.state[:0])
	copy(to[:], d.state[min(4, len(d.state)):])
}

// Root returns the deck root of the values by position, at least one, with the
// salts that commitment and tape give (docs/SPEC.md sections 6.2 and 6.3).
func (d *DeckRoots) Root(commitment [32]byte, tape []byte, values []uint32) tlog.Hash {
	n := len(values)
	d.fillSalts(commitment, tape, n)
	for len(d.level) < n {
		d.level = append(d.level, tlog.Hash{})
	}
	for p, v := range values {
		binary.BigEndian.PutUint16(d.leaf[17:], uint16(p))
		binary.BigEndian.PutUint32(d.leaf[19:], v)
		copy(d.leaf[23:55], d.salts[32*p:])
		d.sum(d.leaf[:], 55, &d.level[p])
	}
	// Neighbours pair up in place; an odd last one moves up unchanged.
	for ; n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			d.Node(&d.level[i], &d.level[2*i], &d.level[2*i+1])
		}
		if n%2 == 1 {
			d.level[n/2] = d.level[n-1]
		}
	}
	return d.level[0]
}

// Node puts the hash of a node of any tree of RFC 6962 into to, as tlog.NodeHash
// returns it. to may be left.
func (d *DeckRoots) Node(to, left, right *tlog.Hash) {
	copy(d.node[1:33], left[:])
	copy(d.node[33:65], right[:])
	d.sum(d.node[:], 65, to)
}

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
