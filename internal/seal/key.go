package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// KeySize is the size of a sealing key in bytes.
const KeySize = 32

const idSize = 16

// labelKeyID starts the hash that names a sealing key (docs/SPEC.md section 1.3).
const labelKeyID = "shuffled/v1/sealing-key-id\x00"

// KeyID names a sealing key in public: the first 16 bytes of SHA-256(label ‖ key). It says nothing of a random key.
type KeyID [idSize]byte

// String returns the id in hexadecimal.
func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

// Key is a sealing key: anyone who has it opens every tape sealed under it. It
// prints and logs as its id, in any format, and marshals to nothing.
type Key struct {
	id KeyID
	// A function, so that fmt prints an address where it cannot call Format, in an unexported field of another struct.
	// It would follow a pointer there, under a verb that does not fit.
	secret func() []byte
}

// NewKey returns the key with the given KeySize secret bytes, which it copies.
// All bytes equal is refused as the mark of a file that was never filled.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) != KeySize {
		return nil, fmt.Errorf("a sealing key must have %d bytes, not %d", KeySize, len(secret))
	}
	if bytes.Count(secret, secret[:1]) == KeySize {
		return nil, errors.New("a sealing key must be random, and all bytes of this key are equal")
	}
	own := bytes.Clone(secret)
	k := &Key{secret: func() []byte { return own }}
	h := sha256.New()
	h.Write([]byte(labelKeyID))
	h.Write(secret)
	copy(k.id[:], h.Sum(nil))
	return k, nil
}

// ID returns the key's public id.
func (k *Key) ID() KeyID { return k.id }

// Format implements fmt.Formatter: every verb prints the id only.
func (k Key) Format(s fmt.State, _ rune) { io.WriteString(s, "sealing key "+k.id.String()) }

// LogValue implements slog.LogValuer.
func (k Key) LogValue() slog.Value { return slog.StringValue("sealing key " + k.id.String()) }

// What is sealed is a tape and, for a child, the cards that it shuffles: no ancestor is needed to open a child.

// Join returns the plaintext to seal: the tape, and two bytes for each input.
// Inputs are card indexes, below 2^16; none for anything but a child.
func Join(tape []byte, inputs []uint32) []byte {
	b := make([]byte, 0, len(tape)+2*len(inputs))
	b = append(b, tape...)
	for _, v := range inputs {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

// Split takes a plaintext apart again: a tape of the length, which is a part of b, and
// n inputs. Of another length it is an error.
func Split(b []byte, tapeLen, n int) (tape []byte, inputs []uint32, err error) {
	if len(b) != tapeLen+2*n {
		return nil, nil, errors.New("what was sealed is of another length than the tape and its inputs")
	}
	inputs = make([]uint32, n) // growing would leave copies behind
	for i := range inputs {
		inputs[i] = uint32(binary.BigEndian.Uint16(b[tapeLen+2*i:]))
	}
	return b[:tapeLen:tapeLen], inputs, nil
}
