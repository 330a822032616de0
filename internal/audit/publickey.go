package audit

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"errors"
	"fmt"
)

// keyPoint is the type of keys for DHKEM(P-256, HKDF-SHA256), the first byte of
// an auditor or disclosure key in an entry.
const keyPoint = 0x01

// uncompressed is the first byte of a point with both coordinates (SEC 1,
// section 2.3.3), the one form that HPKE uses (RFC 9180 section 7.1.1).
const uncompressed = 0x04

// Sizes in bytes: of public keys in entries, the type byte included, of what HPKE with
// DHKEM(P-256) and AES-256-GCM adds, the encapsulated key and the tag, and of a wrapped
// private key.
const (
	signingKeySize = 1 + ed25519.PublicKeySize
	pointKeySize   = 1 + 65
	SealOverhead   = 65 + 16
	WrapSize       = SealOverhead + 32
)

// publicKey is a type byte and a public key. Every key of this version is of
// type 1 and has one size; other types are those of later versions (docs/SPEC.md
// section 5.7). Whether it is a key at all is a question of legality.
func (k *coder) publicKey(field string, v *[]byte, size int) {
	k.blob(field, v)
	switch b := *v; {
	case k.err != nil || k.writing:
	case len(b) < 2 || len(b) > 2048:
		k.fail(field, "a type byte and a key, 2 to 2,048 bytes")
	case b[0] != keyEd25519 && size == signingKeySize, b[0] != keyPoint && size == pointKeySize:
		k.unknown(field+" type", uint64(b[0]))
	case len(b) != size:
		k.fail(field, fmt.Sprintf("type 1 has %d bytes", size))
	case size == pointKeySize && b[1] != uncompressed:
		k.fail(field, "the point is uncompressed")
	}
}

// checkPoint refuses what is no P-256 public key. NewPublicKey takes a point of
// the curve other than infinity, and uncompressed: one encoding each.
func checkPoint(public []byte) error {
	if _, err := ecdh.P256().NewPublicKey(public); err != nil {
		return errors.New("no point of P-256")
	}
	return nil
}
