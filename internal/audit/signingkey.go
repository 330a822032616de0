package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
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
	switch {
	case len(key) == mldsaKeySize && key[0] == keyMLDSA, len(key) == 1+ed25519.PublicKeySize && key[0] == keyEd25519:
		return vkeyText(origin, key), nil
	case len(key) > 0 && key[0] == keyEd25519:
		return "", fmt.Errorf("%w signing key: of %d bytes", ErrMalformed, len(key)-1)
	}
	return "", fmt.Errorf("signing key type: %w", ErrUnknown)
}

// vkeyText returns the one form of a verifier key; key is the type byte and the public key.
func vkeyText(name string, key []byte) string {
	id := sha256.Sum256(slices.Concat([]byte(name+"\n"), key)) // docs/SPEC.md section 7.1
	return fmt.Sprintf("%s+%x+%s", name, id[:4], base64.StdEncoding.EncodeToString(key))
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
	var v note.Verifier
	if err == nil && len(key) > 0 && key[0] == keyMLDSA {
		v, err = parseMLDSA(vkey, key)
	} else {
		v, err = parseEd25519(vkey, key)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a verifier key: %w", err)
	case len(v.Name()) > MaxOrigin:
		return nil, fmt.Errorf("reading a verifier key: an origin has 1 to %d bytes", MaxOrigin)
	}
	return v, nil
}

func parseEd25519(vkey string, key []byte) (note.Verifier, error) {
	v, err := note.NewVerifier(vkey)
	switch {
	case err != nil:
		return nil, err
	case len(key) != 1+ed25519.PublicKeySize || key[0] != keyEd25519:
		return nil, errors.New("no Ed25519 or ML-DSA-44 key in its one encoding")
	case vkey != vkeyText(v.Name(), key):
		return nil, errors.New("not in its one encoding")
	}
	return strict{v, 0}, CheckEd25519(key[1:])
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
