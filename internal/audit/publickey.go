package audit

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hpke"
	"fmt"
	"iter"
	"maps"
)

// Types of the keys that tapes and disclosure keys are sealed to: the first byte of an
// auditor or disclosure key in an entry (docs/SPEC.md section 5.7). A type names the text
// that defines its KEM: a later text that differs gets a type of its own.
const (
	KeyP256   = 0x01 // DHKEM(P-256, HKDF-SHA256) of RFC 9180; in sandboxes alone
	KeyHybrid = 0x02 // MLKEM768-P256 of draft-ietf-hpke-pq-03
)

// KEM is how a secret reaches the holder of a key of one type (docs/SPEC.md section 12.1).
type KEM struct {
	hpke.KEM
	Type    byte
	Public  int // bytes of a public key in an entry, the type byte included
	Encaps  int // bytes of an encapsulated key
	Name    string
	Problem string // of bytes that are no public key
}

// kems are those of this version, by type.
var kems = map[byte]*KEM{
	KeyP256: {KEM: hpke.DHKEM(ecdh.P256()), Type: KeyP256, Public: 1 + pointSize, Encaps: pointSize,
		Name: "P-256", Problem: "no point of P-256"},
	KeyHybrid: {KEM: hpke.MLKEM768P256(), Type: KeyHybrid, Public: 1 + 1184 + pointSize, Encaps: 1088 + pointSize,
		Name: "ML-KEM-768 with P-256", Problem: "no key of ML-KEM-768 with a point of P-256"},
}

// KEMOf returns the KEM of a key in an entry, or of its type byte alone; false for a type
// that this version does not know.
func KEMOf(key []byte) (*KEM, bool) {
	if len(key) == 0 {
		return nil, false
	}
	kem, ok := kems[key[0]]
	return kem, ok
}

// KEMs yields those of this version, in no order.
func KEMs() iter.Seq[*KEM] { return maps.Values(kems) }

// Overhead is how many bytes what is sealed has more than what it holds: the encapsulated key and the tag.
func (k *KEM) Overhead() int { return k.Encaps + 16 }

// Wrap is how many bytes the private half of a disclosure key has when it is sealed.
func (k *KEM) Wrap() int { return k.Overhead() + PrivateSize }

// MaxOverhead is the largest Overhead of this version.
const MaxOverhead = 1088 + pointSize + 16

// PrivateSize is the length of a private key of any KEM: a scalar of P-256, or the seed of both halves of a hybrid key.
const PrivateSize = 32

// pointSize is the length of a point with both coordinates, behind the byte uncompressed
// (SEC 1, section 2.3.3): the one form that HPKE uses (RFC 9180 section 7.1.1).
const (
	pointSize    = 65
	uncompressed = 0x04
)

// signingKeySize is the length of a signing key in an entry, the type byte included.
const signingKeySize = 1 + ed25519.PublicKeySize

// signingKey is a type byte and the public key of a ledger or an administrator. Other types are those of later versions
// (docs/SPEC.md section 5.7). Whether it is a key at all is a question of legality.
func (k *coder) signingKey(field string, v *[]byte) {
	if k.publicKey(field, v); k.err != nil || k.writing {
		return
	}
	if b := *v; b[0] != KeyEd25519 {
		k.unknown(field+" type", uint64(b[0]))
	} else if len(b) != signingKeySize {
		k.fail(field, fmt.Sprintf("type %d has %d bytes", b[0], signingKeySize))
	}
}

// sealingKey is a type byte and the public key of an auditor, or one for disclosure; its last bytes are a point.
func (k *coder) sealingKey(field string, v *[]byte) {
	if k.publicKey(field, v); k.err != nil || k.writing {
		return
	}
	b := *v
	switch kem, ok := KEMOf(b); {
	case !ok:
		k.unknown(field+" type", uint64(b[0]))
	case len(b) != kem.Public:
		k.fail(field, fmt.Sprintf("type %d has %d bytes", b[0], kem.Public))
	case b[len(b)-pointSize] != uncompressed:
		k.fail(field, "the point is uncompressed")
	}
}

// ledgerKey is a signing key of the ledger in a key entry: of Ed25519 or ML-DSA-44.
func (k *coder) ledgerKey(v *[]byte) {
	if !k.writing && len(k.b) > 2 && k.b[2] == KeyMLDSA { // behind the length
		if k.publicKey("signing key", v); len(*v) != mldsaKeySize {
			k.fail("signing key", fmt.Sprintf("type 6 has %d bytes", mldsaKeySize))
		}
		return
	}
	k.signingKey("signing key", v)
}

func (k *coder) publicKey(field string, v *[]byte) {
	if k.blob(field, v); !k.writing && (len(*v) < 2 || len(*v) > 2048) {
		k.fail(field, "a type byte and a key, 2 to 2,048 bytes")
	}
}

// ParseSealingKey reads a public key that can be sealed to, type byte first: a point of P-256
// other than infinity, behind which a hybrid key has one of ML-KEM-768 in its canonical
// encoding. A type that this version does not know is ErrUnknown.
func ParseSealingKey(public []byte) (*KEM, hpke.PublicKey, error) {
	kem, ok := KEMOf(public)
	switch {
	case len(public) == 0:
		return nil, nil, fmt.Errorf("%w key: empty", ErrMalformed)
	case !ok:
		return nil, nil, fmt.Errorf("key type %d: %w", public[0], ErrUnknown)
	}
	k, err := kem.NewPublicKey(public[1:])
	if err != nil {
		return nil, nil, fmt.Errorf("%w key: %s", ErrMalformed, kem.Problem)
	}
	return kem, k, nil
}
