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
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

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
