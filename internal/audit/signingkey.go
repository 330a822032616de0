package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filippo.io/mldsa"
	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// Signature types of C2SP signed notes: the first byte of a key in an entry and in a verifier key. ML-DSA-44 signs a
// ledger's checkpoints and cosigns those of others in one form (C2SP tlog-cosignature).
const (
	keyEd25519     = 0x01
	keyCosignature = 0x04 // Ed25519, with a time
	keyMLDSA       = 0x06 // ML-DSA-44, with a time
)

// mldsaKeySize is the size of an ML-DSA-44 key in an entry, its type byte included.
const mldsaKeySize = 1 + mldsa.MLDSA44PublicKeySize

// maxKeyName is the longest name of an ML-DSA-44 key and of any witness's key in bytes:
// what ML-DSA-44 signs holds it behind a length of one byte.
const maxKeyName = 255

// VKey returns the verifier key text of a ledger's signing key: what a player pins (C2SP signed-note). key is the type
// byte and the public key, as in a genesis or key entry; a type that this version cannot verify is ErrUnknown.
func VKey(origin string, key []byte) (string, error) {
	if len(key) == mldsaKeySize && key[0] == keyMLDSA {
		return vkeyText(origin, key), nil
	}
	if len(key) == 0 || key[0] != keyEd25519 {
		return "", fmt.Errorf("signing key type: %w", ErrUnknown)
	}
	vkey, err := note.NewEd25519VerifierKey(origin, ed25519.PublicKey(key[1:]))
	if err != nil {
		return "", fmt.Errorf("%w signing key: %w", ErrMalformed, err)
	}
	return vkey, nil
}

// vkeyText returns the one form of a verifier key; key is the type byte and the public key.
func vkeyText(name string, key []byte) string {
	return fmt.Sprintf("%s+%08x+%s", name, noteKeyID(name, key), base64.StdEncoding.EncodeToString(key))
}

// noteKeyID names a key in signature lines (docs/SPEC.md section 7.1).
func noteKeyID(name string, key []byte) uint32 {
	id := sha256.Sum256(slices.Concat([]byte(name+"\n"), key))
	return binary.BigEndian.Uint32(id[:])
}

// Verifier returns the verifier of a ledger's signing key. A weak key is an error: under it a signature proves nothing.
func Verifier(origin string, key []byte) (note.Verifier, error) {
	vkey, err := VKey(origin, key)
	if err != nil {
		return nil, err
	}
	return ParseVKey(vkey)
}

// ParseVKey reads the verifier key of a ledger: origin+hash+key with an Ed25519 or ML-DSA-44 key, in its one encoding
// (C2SP signed-note). Weak keys are refused, see CheckEd25519.
func ParseVKey(vkey string) (note.Verifier, error) {
	key, err := SigningKey(vkey)
	if err == nil && len(key) > 0 && key[0] == keyMLDSA {
		v, err := parseMLDSA(vkey, key)
		if err != nil {
			return nil, fmt.Errorf("reading a verifier key: %w", err)
		}
		if err := checkLogName(v.Name()); err != nil {
			return nil, err
		}
		return v, nil
	}
	v, noteErr := note.NewVerifier(vkey)
	if noteErr != nil {
		return nil, fmt.Errorf("reading a verifier key: %w", noteErr)
	}
	if err := checkLogName(v.Name()); err != nil {
		return nil, err
	}
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != keyEd25519 {
		return nil, errors.New("reading a verifier key: no Ed25519 or ML-DSA-44 key in its one encoding")
	}
	if again, err := note.NewEd25519VerifierKey(v.Name(), key[1:]); err != nil || again != vkey {
		return nil, errors.New("reading a verifier key: not in its one encoding")
	}
	if err := CheckEd25519(key[1:]); err != nil {
		return nil, fmt.Errorf("reading a verifier key: %w", err)
	}
	return strict{v, 0}, nil
}

func checkLogName(name string) error {
	if len(name) > MaxOrigin {
		return fmt.Errorf("reading a verifier key: an origin has 1 to %d bytes", MaxOrigin)
	}
	return nil
}

// parseMLDSA reads the verifier key of a ledger or witness whose type byte is that of ML-DSA-44.
func parseMLDSA(vkey string, key []byte) (note.Verifier, error) {
	v, err := fnote.NewMLDSAVerifier(vkey)
	switch {
	case err != nil:
		return nil, errors.New("no ML-DSA-44 key")
	case vkey != vkeyText(v.Name(), key):
		return nil, errors.New("not in its one encoding")
	case len(v.Name()) > maxKeyName:
		return nil, fmt.Errorf("the name of an ML-DSA-44 key has 1 to %d bytes", maxKeyName)
	}
	return v, nil
}

// IsMLDSA reports whether a verifier that ParseVKey or ParseWitnessVKey returned is of ML-DSA-44.
func IsMLDSA(v note.Verifier) bool {
	_, is := v.(*fnote.SubtreeVerifier)
	return is
}

// SigningKey returns the type byte and public key of a verifier key text, as a genesis or key entry carries them.
func SigningKey(vkey string) ([]byte, error) {
	// name+hash+base64: names have no plus sign, base64 may.
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w verifier key", ErrMalformed)
	}
	return base64.StdEncoding.DecodeString(parts[2])
}
