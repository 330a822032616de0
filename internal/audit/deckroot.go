package audit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
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
	block [65]byte // of a leaf or node
	mac   []byte   // key pad and message of an HMAC
	salts []byte
	level []tlog.Hash
}

// NewDeckRoots returns empty buffers.
func NewDeckRoots() *DeckRoots { return &DeckRoots{h: sha256.New()} }

// Root returns the deck root of the values by position, at least one, with the
// salts that commitment and tape give (docs/SPEC.md sections 6.2 and 6.3).
func (d *DeckRoots) Root(commitment [32]byte, tape []byte, values []uint32) tlog.Hash {
	n := len(values)
	d.fillSalts(commitment, tape, n)
	for len(d.level) < n {
		d.level = append(d.level, tlog.Hash{})
	}
	copy(d.block[1:], labelPosition)
	for p, v := range values {
		d.leaf(p, v)
	}
	// Neighbours pair up in place; an odd last one moves up unchanged.
	d.block[0] = 0x01
	for ; n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			copy(d.block[1:33], d.level[2*i][:])
			copy(d.block[33:65], d.level[2*i+1][:])
			d.sum(d.block[:65], &d.level[i])
		}
		if n%2 == 1 {
			d.level[n/2] = d.level[n-1]
		}
	}
	return d.level[0]
}

// leaf puts the leaf hash of a position in its place.
func (d *DeckRoots) leaf(p int, v uint32) {
	b := &d.block
	b[0] = 0x00
	b[17], b[18] = byte(p>>8), byte(p)
	b[19], b[20], b[21], b[22] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
	copy(b[23:55], d.salts[32*p:])
	d.sum(b[:55], &d.level[p])
}

func (d *DeckRoots) sum(b []byte, to *tlog.Hash) {
	d.h.Reset()
	d.h.Write(b)
	d.h.Sum(to[:0])
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
func (d *DeckRoots) hmac(key [32]byte, message []byte) (out tlog.Hash) {
	d.mac = hmacPad(d.mac[:0], key, 0x36)
	d.mac = append(d.mac, message...)
	d.sum(d.mac, &out)
	d.mac = hmacPad(d.mac[:0], key, 0x5c)
	d.mac = append(d.mac, out[:]...)
	d.sum(d.mac, &out)
	return out
}

func hmacPad(b []byte, key [32]byte, pad byte) []byte {
	for _, k := range key {
		b = append(b, k^pad)
	}
	for range sha256.BlockSize - len(key) {
		b = append(b, pad)
	}
	return b
}
