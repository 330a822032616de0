package audit

import (
	"crypto/sha256"
	"encoding/binary"
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

// Tag returns the tag of the leaves of c.
func (c *Commit) Tag() Tag { return LeafTag(c.Commitment, c.Context.Encode()) }
