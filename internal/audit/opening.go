package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Opening proves the value of one position against a deck root.
type Opening struct {
	Position int    // committed position, counted from 0
	Value    uint32 // index of the card in the deck, or the drawn value
	Salt     [32]byte
	Proof    []tlog.Hash // RFC 6962 audit path, from the leaf up
}

// ErrOpening reports an opening that does not prove its value.
var ErrOpening = errors.New("the opening does not lead to the deck root")

// leafHash is the RFC 6962 leaf hash of one position (docs/SPEC.md section 6.3):
// 55 bytes with the 0x00 prefix, one block of SHA-256.
func leafHash(position int, value uint32, salt []byte) tlog.Hash {
	var b [55]byte
	copy(b[1:], labelPosition)
	b[17], b[18] = byte(position>>8), byte(position)
	b[19], b[20], b[21], b[22] = byte(value>>24), byte(value>>16), byte(value>>8), byte(value)
	copy(b[23:], salt)
	return sha256.Sum256(b[:])
}

func nodeHash(left, right *tlog.Hash) tlog.Hash {
	var b [65]byte
	b[0] = 0x01
	copy(b[1:33], left[:])
	copy(b[33:65], right[:])
	return sha256.Sum256(b[:])
}

// DeckTree is the Merkle tree over the committed positions of one shuffle.
type DeckTree struct {
	values []uint32
	salts  []byte
	levels [][]tlog.Hash // levels[0] are the leaves, the last is the root
}

// NewDeckTree builds the tree over values with the salts that Salts gave,
// 32 bytes each. There is at least one value.
func NewDeckTree(values []uint32, salts []byte) *DeckTree {
	// One allocation for all nodes: a level of n is followed by one of ⌈n/2⌉.
	nodes := make([]tlog.Hash, 2*len(values)+bits.Len(uint(len(values))))
	level := nodes[:len(values)]
	for p, v := range values {
		level[p] = leafHash(p, v, salts[32*p:32*p+32])
	}
	t := &DeckTree{values: values, salts: salts, levels: make([][]tlog.Hash, 0, 14)}
	t.levels = append(t.levels, level)
	for rest := nodes[len(values):]; len(level) > 1; rest = rest[len(level):] {
		// Neighbours pair up; an odd last node moves up unchanged. This is
		// RFC 6962's tree: its left part is the largest power of two, so only
		// the last node of a level can be without a neighbour.
		next := rest[:(len(level)+1)/2]
		for i := range next {
			if 2*i+1 < len(level) {
				next[i] = nodeHash(&level[2*i], &level[2*i+1])
			} else {
				next[i] = level[2*i]
			}
		}
		level = next
		t.levels = append(t.levels, level)
	}
	return t
}

// Root returns the deck root.
func (t *DeckTree) Root() tlog.Hash { return t.levels[len(t.levels)-1][0] }

// Open returns the opening of position p, which must be one of the tree's.
func (t *DeckTree) Open(p int) Opening {
	o := Opening{Position: p, Value: t.values[p], Salt: [32]byte(t.salts[32*p : 32*p+32])}
	for i, level := p, 0; level < len(t.levels)-1; i, level = i/2, level+1 {
		if sibling := i ^ 1; sibling < len(t.levels[level]) {
			o.Proof = append(o.Proof, t.levels[level][sibling])
		}
	}
	return o
}

// Check reports whether o opens the deck root of m positions (docs/SPEC.md
// section 6.4); errors.Is ErrOpening when it does not.
func (o Opening) Check(root tlog.Hash, m int) error {
	if o.Position < 0 || o.Position >= m {
		return fmt.Errorf("%w: position %d of %d", ErrOpening, o.Position, m)
	}
	leaf := leafHash(o.Position, o.Value, o.Salt[:])
	if err := tlog.CheckRecord(o.Proof, int64(m), root, int64(o.Position), leaf); err != nil {
		return fmt.Errorf("%w: position %d", ErrOpening, o.Position)
	}
	return nil
}
