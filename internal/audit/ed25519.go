package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"filippo.io/edwards25519"
	"golang.org/x/mod/sumdb/note"
)

// ErrWeakKey is matched by a public key that is no proper Ed25519 key.
var ErrWeakKey = errors.New("weak Ed25519 public key")

// smallOrder are the y coordinates of the eight points whose order divides 8, little-endian, the sign of x left out.
// Under such a public key one signature fits many messages: with the identity as key, S·B = R for every message (RFC
// 8032 section 5.1.7 does not exclude it, and Go's verification accepts it).
var smallOrder = [][32]byte{
	{}, // y = 0, order 4
	{0: 1},
	coordinate("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), // order 8
	coordinate("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), // order 8
	coordinate("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // y = −1, order 2
}

// isSmallOrder reports whether the point of 32 bytes is one of them.
func isSmallOrder(point []byte) bool {
	y := [32]byte(point)
	y[31] &= 0x7f // the top bit is the sign of x
	return slices.Contains(smallOrder, y)
}

func coordinate(s string) [32]byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return [32]byte(b)
}

// CheckEd25519 refuses public keys under which a signature proves nothing or cannot exist: of small order, not in their
// one encoding (y ≥ p), or no point of the curve. It does not look for a small-order part in a larger key, which only
// the key's owner can plant.
func CheckEd25519(public []byte) error {
	p, err := new(edwards25519.Point).SetBytes(public) // also takes encodings with y ≥ p
	switch {
	case err != nil:
		return fmt.Errorf("%w: %d bytes that are no point of the curve", ErrWeakKey, len(public))
	case !bytes.Equal(p.Bytes(), public):
		return fmt.Errorf("%w: not in its one encoding", ErrWeakKey)
	case isSmallOrder(public):
		return fmt.Errorf("%w: a point of small order", ErrWeakKey)
	}
	return nil
}

// verifyEd25519 reports whether the signature is valid under the rules of docs/SPEC.md section 7.1.
// The caller has checked the key (CheckEd25519).
func verifyEd25519(public, message, signature []byte) bool {
	return !isSmallOrder(signature[:32]) && ed25519.Verify(public, message, signature)
}

// strict is a verifier of Ed25519 signatures that refuses those whose R is of small order, which nobody makes by
// accident. Go takes them and browsers need not (Web Cryptography, Ed25519, verify), so that one file could have two
// verdicts. Go's verification does the rest: S below the group's order, R in its one encoding, the equation without the
// cofactor (docs/SPEC.md section 7.1).
type strict struct {
	note.Verifier
	prefix int // bytes of the note's signature in front of R
}

func (v strict) Verify(msg, sig []byte) bool {
	if len(sig) != v.prefix+ed25519.SignatureSize {
		return false
	}
	return !isSmallOrder(sig[v.prefix:v.prefix+32]) && v.Verifier.Verify(msg, sig)
}
