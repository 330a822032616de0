// Package seal encrypts undisclosed tapes before they reach a store, so that anyone who holds the database, its log or
// its backups cannot compute a card that was not dealt.
//
// A tape is sealed with AES-256-GCM and a random nonce under a key of its own, derived with HKDF-SHA256 from the
// sealing key and the tape's commitment. The ledger's origin and the commitment are associated data: a sealed tape
// opens only where it belongs. Layout of a sealed tape, Overhead bytes more than the tape:
//
//	version (1) ‖ id of the sealing key (16) ‖ nonce (12) ‖ ciphertext ‖ tag (16)
//
// Sealing keys live in files of the house and never in the database. Everything here is in Go's FIPS 140-3 module.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"shuffled/internal/shuffle"
)

// Sizes in bytes.
const (
	Overhead = 1 + idSize + nonceSize + tagSize // of a sealed tape over its tape

	nonceSize = 12
	tagSize   = 16
	header    = 1 + idSize
	version   = 1
)

// labelSeal keeps the keys and the associated data of sealed tapes apart from all other uses of a key.
const labelSeal = "shuffled/v1/seal\x00"

var (
	// ErrUnknownKey reports a tape sealed under a key that is not in the ring.
	ErrUnknownKey = errors.New("the sealing key of this tape is not loaded")
	// ErrOpen reports a sealed tape that was altered, or belongs to another commitment or ledger.
	ErrOpen = errors.New("the sealed tape does not open")
)

// Keyring seals under its current key and opens under all its keys. It does not change and is safe for concurrent use.
type Keyring struct {
	current *Key
	keys    map[KeyID]*Key
}

// NewKeyring returns a ring. older holds the keys that tapes of shuffles still
// open may be sealed under; a key listed twice is refused.
func NewKeyring(current *Key, older ...*Key) (*Keyring, error) {
	r := &Keyring{current: current, keys: map[KeyID]*Key{}}
	for _, k := range append([]*Key{current}, older...) {
		if k == nil {
			return nil, errors.New("a keyring must not have a nil key")
		}
		if r.keys[k.id] != nil {
			return nil, fmt.Errorf("sealing key %s is listed twice", k.id)
		}
		r.keys[k.id] = k
	}
	return r, nil
}

// Draw returns a cipher for what only this process opens: at most 2^32 messages (SP 800-38D section 8.3).
func Draw() cipher.AEAD {
	secret := make([]byte, KeySize)
	rand.Read(secret) // never fails (crypto/rand)
	return cipherOf(secret)
}

// cipherOf returns the AEAD under a key of KeySize bytes.
func cipherOf(key []byte) cipher.AEAD {
	block, _ := aes.NewCipher(key)                 // no error: KeySize is a size of keys
	aead, _ := cipher.NewGCMWithRandomNonce(block) // no error: the block is of AES
	return aead
}

// Current returns the id of the key that new tapes are sealed under.
func (r *Keyring) Current() KeyID { return r.current.id }

// Seal encrypts a tape of 1..shuffle.MaxTape bytes for the ledger named origin, 1..255
// bytes, and the tape's commitment.
func (r *Keyring) Seal(origin string, commitment [32]byte, tape []byte) ([]byte, error) {
	if len(tape) < 1 || len(tape) > shuffle.MaxTape {
		return nil, fmt.Errorf("sealing: a tape has 1 to %d bytes, not %d", shuffle.MaxTape, len(tape))
	}
	aead, data, err := r.current.cipher(origin, commitment)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	sealed := make([]byte, 0, len(tape)+Overhead)
	sealed = append(sealed, version)
	sealed = append(sealed, r.current.id[:]...)
	return aead.Seal(sealed, nil, tape, data), nil
}

// Open returns the tape that was sealed for origin and commitment. The caller clears it
// after use. The error matches ErrUnknownKey or ErrOpen and holds nothing of the tape.
func (r *Keyring) Open(origin string, commitment [32]byte, sealed []byte) ([]byte, error) {
	if len(sealed) <= Overhead || len(sealed) > shuffle.MaxTape+Overhead {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrOpen, len(sealed))
	}
	if sealed[0] != version {
		return nil, fmt.Errorf("%w: unknown version %d", ErrOpen, sealed[0])
	}
	id := KeyID(sealed[1:header])
	k := r.keys[id]
	if k == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownKey, id)
	}
	aead, data, err := k.cipher(origin, commitment)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	tape, err := aead.Open(nil, nil, sealed[header:], data)
	if err != nil {
		return nil, ErrOpen
	}
	return tape, nil
}

// cipher returns the AEAD of one commitment and the associated data of its tape. A key per commitment seals one tape,
// far below the 2^32 messages that random nonces allow (SP 800-38D section 8.3).
func (k *Key) cipher(origin string, commitment [32]byte) (cipher.AEAD, []byte, error) {
	if len(origin) < 1 || len(origin) > 255 {
		return nil, nil, fmt.Errorf("an origin has 1 to 255 bytes, not %d", len(origin))
	}
	key, err := hkdf.Key(sha256.New, k.secret(), commitment[:], labelSeal, KeySize)
	if err != nil {
		return nil, nil, fmt.Errorf("deriving the key: %w", err)
	}
	defer clear(key)
	data := append(append(append([]byte(labelSeal), byte(len(origin))), origin...), commitment[:]...)
	return cipherOf(key), data, nil
}

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
