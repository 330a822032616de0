package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// keyEd25519 is the signature type of C2SP signed notes for Ed25519, the first
// byte of a signing key in an entry.
const keyEd25519 = 0x01

// VKey returns the verifier key text of a ledger's signing key: what a player
// pins (C2SP signed-note). key is the type byte and the public key, as in a
// genesis or key entry; a type that this version cannot verify is ErrUnknown.
func VKey(origin string, key []byte) (string, error) {
	if len(key) == 0 || key[0] != keyEd25519 {
		return "", fmt.Errorf("signing key type: %w", ErrUnknown)
	}
	vkey, err := note.NewEd25519VerifierKey(origin, ed25519.PublicKey(key[1:]))
	if err != nil {
		return "", fmt.Errorf("%w signing key: %w", ErrMalformed, err)
	}
	return vkey, nil
}

// Verifier returns the verifier of a ledger's signing key. A weak key is an
// error: under it a signature proves nothing.
func Verifier(origin string, key []byte) (note.Verifier, error) {
	vkey, err := VKey(origin, key)
	if err != nil {
		return nil, err
	}
	return ParseVKey(vkey)
}

// ParseVKey reads the verifier key of a ledger: origin+hash+key with an Ed25519
// key, in its one encoding (C2SP signed-note). Weak keys are refused, see
// CheckEd25519.
func ParseVKey(vkey string) (note.Verifier, error) {
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, fmt.Errorf("reading a verifier key: %w", err)
	}
	if len(v.Name()) > MaxOrigin {
		return nil, fmt.Errorf("reading a verifier key: an origin has 1 to %d bytes", MaxOrigin)
	}
	key, err := SigningKey(vkey)
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != keyEd25519 {
		return nil, errors.New("reading a verifier key: no Ed25519 key in its one encoding")
	}
	if again, err := note.NewEd25519VerifierKey(v.Name(), key[1:]); err != nil || again != vkey {
		return nil, errors.New("reading a verifier key: not in its one encoding")
	}
	if err := CheckEd25519(key[1:]); err != nil {
		return nil, fmt.Errorf("reading a verifier key: %w", err)
	}
	return strict{v, 0}, nil
}

// SigningKey returns the type byte and public key of a verifier key text, as a
// genesis or key entry carries them.
func SigningKey(vkey string) ([]byte, error) {
	// name+hash+base64: names have no plus sign, base64 may.
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w verifier key", ErrMalformed)
	}
	return base64.StdEncoding.DecodeString(parts[2])
}
