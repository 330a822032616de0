// Package disclosure gives the tapes of closed shuffles to auditors, and to
// nobody else (docs/SPEC.md section 12). A ledger has disclosure keys one after
// another. The private half of each is made by a daemon, sealed to every auditor
// key in force in the key entry that names the public half, and forgotten: from
// then on the house can seal to it and not open, and each auditor opens every
// tape from the ledger alone.
//
// Both steps are HPKE in base mode (RFC 9180) with DHKEM(P-256, HKDF-SHA256),
// HKDF-SHA256 and AES-256-GCM: one message to a key, an encapsulated key of its
// own each. All of it is in Go's FIPS 140-3 module and in WebCrypto's reach.
package disclosure

import (
	"crypto/ecdh"
	"crypto/hpke"
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// Sizes in bytes.
const (
	PrivateSize = 32 // of a private key
	encSize     = 65 // of an uncompressed P-256 point, the encapsulated key
)

// keyP256 is the type byte of a P-256 key (docs/SPEC.md section 5.1).
const keyP256 = 0x01

// Labels start the info of HPKE and keep its two uses apart (docs/SPEC.md
// section 1.3).
const (
	labelWrap = "shuffled/v1/wrap\x00"
	labelTape = "shuffled/v1/disclosure\x00"
)

// ErrOpen reports a sealed tape or a wrapped key that does not open: it was
// altered, belongs elsewhere, or was never sealed to this key.
var ErrOpen = errors.New("it does not open")

// CheckPublic reports whether public, type byte first, is a key that can be
// sealed to. A type that this version does not know is audit.ErrUnknown.
func CheckPublic(public []byte) error {
	_, err := parsePublic(public)
	return err
}

func parsePublic(public []byte) (hpke.PublicKey, error) {
	if len(public) == 0 {
		return nil, fmt.Errorf("%w key: empty", audit.ErrMalformed)
	}
	if public[0] != keyP256 {
		return nil, fmt.Errorf("key type %d: %w", public[0], audit.ErrUnknown)
	}
	k, err := kem().NewPublicKey(public[1:])
	if err != nil {
		return nil, fmt.Errorf("%w key: no uncompressed point of P-256", audit.ErrMalformed)
	}
	return k, nil
}

func kem() hpke.KEM { return hpke.DHKEM(ecdh.P256()) }

// publicOf returns the public half of a key as entries carry it.
func publicOf(k hpke.PrivateKey) []byte {
	return append([]byte{keyP256}, k.PublicKey().Bytes()...)
}

// seal returns the encapsulated key and the ciphertext together.
func seal(public []byte, label, origin string, data, plain []byte) ([]byte, error) {
	k, err := parsePublic(public)
	if err != nil {
		return nil, err
	}
	info, err := infoOf(label, origin)
	if err != nil {
		return nil, err
	}
	enc, sender, err := hpke.NewSender(k, hpke.HKDFSHA256(), hpke.AES256GCM(), info)
	if err != nil {
		return nil, err
	}
	sealed, err := sender.Seal(data, plain)
	if err != nil {
		return nil, err
	}
	return append(enc, sealed...), nil
}

// open reverses seal. Why it fails is not told apart: there is nothing to learn
// from it but that the bytes are not what was sealed.
func open(k hpke.PrivateKey, label, origin string, data, sealed []byte) ([]byte, error) {
	info, err := infoOf(label, origin)
	if err != nil {
		return nil, err
	}
	return openInfo(k, info, data, sealed)
}

func openInfo(k hpke.PrivateKey, info, data, sealed []byte) ([]byte, error) {
	if len(sealed) <= audit.SealOverhead {
		return nil, fmt.Errorf("%w: %d bytes", ErrOpen, len(sealed))
	}
	recipient, err := hpke.NewRecipient(sealed[:encSize], k, hpke.HKDFSHA256(), hpke.AES256GCM(), info)
	if err != nil {
		return nil, ErrOpen
	}
	plain, err := recipient.Open(data, sealed[encSize:])
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}

// infoOf is label ‖ str8 origin.
func infoOf(label, origin string) ([]byte, error) {
	if err := audit.CheckOrigin(origin); err != nil {
		return nil, fmt.Errorf("the origin: %w", err)
	}
	return append(append([]byte(label), byte(len(origin))), origin...), nil
}
