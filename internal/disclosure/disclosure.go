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
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
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

// Pair is a disclosure key with its private half, on its way into an entry. It
// is kept nowhere.
type Pair struct {
	private hpke.PrivateKey
	public  []byte
}

// NewPair makes a disclosure key.
func NewPair() (*Pair, error) {
	k, err := kem().GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("making a disclosure key: %w", err)
	}
	return &Pair{private: k, public: publicOf(k)}, nil
}

// Public returns the public half, type byte first.
func (p *Pair) Public() []byte { return bytes.Clone(p.public) }

// Wrap seals the private half to an auditor key, for the ledger named origin.
func (p *Pair) Wrap(origin string, auditor []byte) (audit.Wrap, error) {
	private, err := p.private.Bytes()
	if err != nil {
		return audit.Wrap{}, fmt.Errorf("wrapping a disclosure key: %w", err)
	}
	defer clear(private)
	sealed, err := seal(auditor, labelWrap, origin, p.public, private)
	if err != nil {
		return audit.Wrap{}, fmt.Errorf("wrapping a disclosure key to the auditor key %x: %w", audit.KeyID(auditor),
			err)
	}
	return audit.Wrap{Auditor: audit.KeyID(auditor), Sealed: sealed}, nil
}

// Body makes a disclosure key and returns the body of its key entry, wrapped to
// each of the auditor keys. There is no other copy of the private half. A key
// that cannot be wrapped to is an error: no auditor is left out.
func Body(origin string, auditors [][]byte) (*audit.Key, error) {
	if len(auditors) == 0 {
		return nil, fmt.Errorf("making a disclosure key: no auditor key to wrap it to")
	}
	pair, err := NewPair()
	if err != nil {
		return nil, err
	}
	k := &audit.Key{Subject: audit.SubjectDisclosure, Public: pair.Public()}
	for _, auditor := range auditors {
		w, err := pair.Wrap(origin, auditor)
		if err != nil {
			return nil, err
		}
		k.Wraps = append(k.Wraps, w)
	}
	slices.SortFunc(k.Wraps, func(a, b audit.Wrap) int { return bytes.Compare(a.Auditor[:], b.Auditor[:]) })
	return k, nil
}

// Seal seals the tape of a shuffle to a disclosure key, type byte first, as a
// close with disclosure auditor carries it. A tape has 1..shuffle.MaxTape bytes.
func Seal(public []byte, origin string, id uint64, commitment [32]byte, tape []byte) ([]byte, error) {
	if len(tape) < 1 || len(tape) > shuffle.MaxTape {
		return nil, fmt.Errorf("sealing a tape to auditors: it has 1 to %d bytes, not %d", shuffle.MaxTape, len(tape))
	}
	sealed, err := seal(public, labelTape, origin, tapeData(id, commitment), tape)
	if err != nil {
		return nil, fmt.Errorf("sealing a tape to auditors: %w", err)
	}
	return sealed, nil
}

// tapeData is u64 shuffle ‖ commitment: a sealed tape opens only where it belongs.
func tapeData(id uint64, commitment [32]byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, id), commitment[:]...)
}
