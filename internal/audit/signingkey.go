package audit

import (
	"crypto/ed25519"
	"encoding/base64"
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

// Verifier returns the verifier of a ledger's signing key.
func Verifier(origin string, key []byte) (note.Verifier, error) {
	vkey, err := VKey(origin, key)
	if err != nil {
		return nil, err
	}
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, fmt.Errorf("%w signing key: %w", ErrMalformed, err)
	}
	return v, nil
}

// ParseVKey returns the type byte and public key of a verifier key text, as a
// genesis or key entry carries them.
func ParseVKey(vkey string) ([]byte, error) {
	if _, err := note.NewVerifier(vkey); err != nil {
		return nil, fmt.Errorf("%w verifier key: %w", ErrMalformed, err)
	}
	// name+hash+base64: names have no plus sign, base64 may.
	return base64.StdEncoding.DecodeString(strings.SplitN(vkey, "+", 3)[2])
}
