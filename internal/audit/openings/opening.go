// Package openings is the evidence of one shuffle: what its commit fixes, the salts and the tree over its positions,
// the order of its places, what opens a card, and the file that holds it all. It is as pure as package audit.
package openings

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// The labels of these hashes, as those of package audit.
const (
	labelCommitment = "shuffled/v1/commitment\x00"
	labelPosition   = "shuffled/v1/pos\x00"
	labelSalt       = "shuffled/v1/salt\x00"
	labelMix        = "shuffled/v1/mix\x00"
)

// Commitment returns SHA-256(label ‖ u16-prefixed context ‖ u32-prefixed tape) (docs/SPEC.md section 6.1). The tape is
// at least 52 bytes of full entropy, so the hash hides it as well as it binds it.
func Commitment(context, tape []byte) [32]byte {
	b := append(make([]byte, 0, 512), labelCommitment...) // on the stack, for a deck of 52
	b = binary.BigEndian.AppendUint16(b, uint16(len(context)))
	b = append(b, context...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(tape)))
	b = append(b, tape...)
	defer clear(b) // of a copy of the tape
	return sha256.Sum256(b)
}

// Tag names a shuffle in each of its leaves.
type Tag [16]byte

// LeafTag returns the first half of SHA-256(label ‖ commitment ‖ context) (docs/SPEC.md section 6.3). A leaf with it is
// in the tree of one shuffle of one ledger: commitment and context together say which. A tag of the commitment alone
// would let another context claim the leaves.
func LeafTag(commitment [32]byte, context []byte) Tag {
	b := append(make([]byte, 0, 512), labelPosition...) // on the stack, for a deck of 52
	b = append(b, commitment[:]...)
	h := sha256.Sum256(append(b, context...))
	return Tag(h[:16])
}

// TagOf returns the tag of the leaves of c.
func TagOf(c *audit.Commit) Tag { return LeafTag(c.Commitment, c.Context.Encode()) }

// Opening proves the value of one position against a deck root.
type Opening struct {
	Position int    // committed position, counted from 0
	Value    uint32 // index of the card in the deck, or the drawn value
	Salt     [32]byte
	Proof    []tlog.Hash // RFC 6962 audit path, from the leaf up
}

// ErrOpening reports an opening that does not prove its value.
var ErrOpening = errors.New("the opening does not lead to the deck root")

// Salts returns n salts of 32 bytes, end to end: the AES-256-CTR keystream with a zero initial counter block under
// HKDF-Expand(HKDF-Extract(salt = commitment, ikm = tape), label, 32) (docs/SPEC.md section 6.2). Each hides its card
// behind 256 bits, though a card has only a few dozen values.
func Salts(commitment [32]byte, tape []byte, n int) []byte {
	key, err := hkdf.Key(sha256.New, tape, commitment[:], labelSalt, 32)
	if err != nil {
		panic("audit: HKDF-SHA-256 refused a 32-byte output: " + err.Error())
	}
	defer clear(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("audit: AES-256 refused a 32-byte key: " + err.Error())
	}
	salts := make([]byte, 32*n)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(salts, salts)
	return salts
}

// leafHash is the RFC 6962 leaf hash of one position (docs/SPEC.md section 6.3):
// 55 bytes with the 0x00 prefix, one block of SHA-256.
func leafHash(tag Tag, position int, value uint32, salt []byte) tlog.Hash {
	var b [55]byte
	copy(b[1:], tag[:])
	binary.BigEndian.PutUint16(b[17:], uint16(position))
	binary.BigEndian.PutUint32(b[19:], value)
	copy(b[23:], salt)
	return sha256.Sum256(b[:])
}

// DeckTree is the Merkle tree over the committed positions of one shuffle. Values and salts are secret.
type DeckTree struct {
	Values []uint32    // by position
	Salts  []byte      // 32 bytes each, by position
	Nodes  []tlog.Hash // level after level: the leaves first, the root last; salted, so that they tell nothing
}

// NewDeckTree builds the tree over values with the tag of LeafTag and the salts that
// Salts gave, 32 bytes each. There is at least one value.
func NewDeckTree(tag Tag, values []uint32, salts []byte) *DeckTree {
	n := len(values)
	// A level of n is followed by one of ⌈n/2⌉: together at most this many.
	nodes := make([]tlog.Hash, 0, 2*n+bits.Len(uint(n)))
	for p, v := range values {
		nodes = append(nodes, leafHash(tag, p, v, salts[32*p:32*p+32]))
	}
	// Neighbours pair up, and an odd last node moves up unchanged. This is RFC 6962's tree: its left part is the
	// largest power of two, so only the last node of a level can be without a neighbour.
	for level := nodes; len(level) > 1; level = nodes[len(nodes)-(len(level)+1)/2:] {
		for pair := range slices.Chunk(level, 2) {
			if len(pair) == 2 {
				nodes = append(nodes, tlog.NodeHash(pair[0], pair[1]))
			} else {
				nodes = append(nodes, pair[0])
			}
		}
	}
	return &DeckTree{values, salts, nodes}
}

// DeckOf builds the tree over the values by position, at least one, with the tag of a context, as
// it is encoded, and the salts that tape gives.
func DeckOf(commitment [32]byte, context, tape []byte, values []uint32) *DeckTree {
	return NewDeckTree(LeafTag(commitment, context), values, Salts(commitment, tape, len(values)))
}

// DeckRoot returns the root of the tree of DeckOf. It leaves no salt in memory.
func DeckRoot(commitment [32]byte, context, tape []byte, values []uint32) tlog.Hash {
	t := DeckOf(commitment, context, tape, values)
	defer clear(t.Salts)
	return t.Root()
}

// Wipe clears the values and salts: those of cards that were not dealt are secret. Afterwards the tree opens nothing.
func (t *DeckTree) Wipe() {
	if t != nil {
		clear(t.Values)
		clear(t.Salts)
	}
}

// Root returns the deck root.
func (t *DeckTree) Root() tlog.Hash { return t.Nodes[len(t.Nodes)-1] }

// Open returns the opening of position p, which must be one of the tree's.
func (t *DeckTree) Open(p int) Opening {
	o := Opening{Position: p, Value: t.Values[p], Salt: [32]byte(t.Salts[32*p : 32*p+32])}
	n, level := len(t.Values), t.Nodes
	for o.Proof = slices.Grow(o.Proof, bits.Len(uint(n-1))); n > 1; p, n = p/2, (n+1)/2 {
		if sibling := p ^ 1; sibling < n {
			o.Proof = append(o.Proof, level[sibling])
		}
		level = level[n:]
	}
	return o
}

// Check returns nil if o opens the deck root of m positions under a tag (docs/SPEC.md section 6.4),
// and an ErrOpening otherwise.
func (o Opening) Check(tag Tag, root tlog.Hash, m int) error {
	if o.Position < 0 || o.Position >= m {
		return fmt.Errorf("%w: position %d of %d", ErrOpening, o.Position, m)
	}
	leaf := leafHash(tag, o.Position, o.Value, o.Salt[:])
	if err := tlog.CheckRecord(o.Proof, int64(m), root, int64(o.Position), leaf); err != nil {
		return fmt.Errorf("%w: position %d", ErrOpening, o.Position)
	}
	return nil
}
