package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filippo.io/edwards25519"
	"filippo.io/mldsa"
	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// Signature types of C2SP signed notes: the first byte of a key in an entry and in a verifier key. ML-DSA-44 signs a
// ledger's checkpoints and cosigns those of others in one form (C2SP tlog-cosignature).
const (
	KeyEd25519     = 0x01
	KeyCosignature = 0x04 // Ed25519, with a time
	KeyMLDSA       = 0x06 // ML-DSA-44, with a time
)

// mldsaKeySize is the size of an ML-DSA-44 key in an entry, its type byte included.
const mldsaKeySize = 1 + mldsa.MLDSA44PublicKeySize

// MaxKeyName is the longest name of an ML-DSA-44 key and of any witness's key in bytes:
// what ML-DSA-44 signs holds it behind a length of one byte.
const MaxKeyName = 255

// VKey returns the verifier key text of a ledger's signing key: what a player pins (C2SP signed-note). key is the type
// byte and the public key, as in a genesis or key entry; a type that this version cannot verify is ErrUnknown.
func VKey(origin string, key []byte) (string, error) {
	switch {
	case len(key) == mldsaKeySize && key[0] == KeyMLDSA, len(key) == 1+ed25519.PublicKeySize && key[0] == KeyEd25519:
		return vkeyText(origin, key), nil
	case len(key) > 0 && key[0] == KeyEd25519:
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
	if err == nil && len(key) > 0 && key[0] == KeyMLDSA {
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
	case len(key) != 1+ed25519.PublicKeySize || key[0] != KeyEd25519:
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
	case len(v.Name()) > MaxKeyName:
		return nil, fmt.Errorf("the name of an ML-DSA-44 key has 1 to %d bytes", MaxKeyName)
	}
	return v, nil
}

// WitnessVKey returns the verifier key text of a witness's Ed25519 public key,
// with the signature type of cosignatures (C2SP tlog-cosignature).
func WitnessVKey(name string, public ed25519.PublicKey) (string, error) {
	vkey, err := note.NewEd25519VerifierKey(name, public)
	if err != nil {
		return "", fmt.Errorf("%w witness key: %w", ErrMalformed, err)
	}
	return fnote.VKeyToCosignatureV1(vkey)
}

// ParseWitnessVKey reads the verifier key of a witness, as a policy lists it: name+id+key with an Ed25519 key for
// cosignature/v1 or an ML-DSA-44 key, in its one encoding. A key of another type is ErrUnknown; a weak key is an error.
func ParseWitnessVKey(vkey string) (note.Verifier, error) {
	key, err := SigningKey(vkey)
	if err != nil || len(key) == 0 {
		return nil, errors.New("a witness key is name+id+base64")
	}
	switch key[0] {
	case KeyCosignature:
	case KeyMLDSA:
		v, err := parseMLDSA(vkey, key)
		if err != nil {
			return nil, fmt.Errorf("reading a witness key: %w", err)
		}
		return v, nil
	default:
		return nil, fmt.Errorf("witness key of type %d: %w", key[0], ErrUnknown)
	}
	if err := CheckEd25519(key[1:]); err != nil {
		return nil, fmt.Errorf("reading a witness key: %w", err)
	}
	v, err := fnote.NewVerifierForCosignatureV1(vkey)
	if err != nil {
		return nil, fmt.Errorf("reading a witness key: %s", Short(err.Error()))
	}
	if vkey != vkeyText(v.Name(), key) {
		return nil, errors.New("reading a witness key: not in its one encoding")
	}
	return strict{v, 8}, nil // behind the time
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

// VerifyEd25519 reports whether the signature is valid under the rules of docs/SPEC.md section 7.1.
// The caller has checked the key (CheckEd25519).
func VerifyEd25519(public, message, signature []byte) bool {
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
