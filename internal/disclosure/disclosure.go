// Package disclosure seals the tapes of closed shuffles to auditors (docs/SPEC.md section 12). A ledger has disclosure
// keys, one after another. A daemon makes a key, seals its private half to every auditor key in force, writes both into
// a key entry with the public half, and forgets the private half. From then on the house can seal to the key and not
// open, and each auditor can open every tape with the ledger alone.
//
// Both steps are HPKE in base mode (RFC 9180) with HKDF-SHA256 and AES-256-GCM, with one message for each encapsulated
// key. New keys are hybrid, ML-KEM-768 with P-256: a tape in a ledger stays sealed if one of the two is broken. Keys of
// P-256 alone are read. A sandbox whose auditors have such keys also seals to them.
package disclosure

import (
	"bytes"
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// PrivateSize is the length of a private key: its type byte and what audit.PrivateSize says.
const PrivateSize = 1 + audit.PrivateSize

// The labels start the info of HPKE and separate its two uses (docs/SPEC.md section 1.3).
const (
	labelWrap = "shuffled/v1/wrap\x00"
	labelTape = "shuffled/v1/disclosure\x00"
)

// ErrOpen reports a sealed tape or a wrapped key that does not open: it was
// altered, belongs elsewhere, or was never sealed to this key.
var ErrOpen = errors.New("it does not open")

// key is a private key of one type.
type key struct {
	hpke.PrivateKey
	kem    *audit.KEM
	public []byte // type byte first
}

// newKey returns the key with this private half, type byte first.
func newKey(private []byte) (*key, error) {
	kem, ok := audit.KEMOf(private)
	if !ok || len(private) != PrivateSize {
		return nil, errors.New("no private key of a known type and its length") // nothing of the key
	}
	k, err := kem.NewPrivateKey(private[1:])
	if err != nil {
		return nil, fmt.Errorf("no private key of %s", kem.Name)
	}
	return &key{k, kem, append([]byte{kem.Type}, k.PublicKey().Bytes()...)}, nil
}

// recipient is a public key that was read.
type recipient struct {
	public []byte // type byte first
	kem    *audit.KEM
	key    hpke.PublicKey
}

// newest is the recipient that was sealed to last. A house seals many tapes to one disclosure key,
// and to parse a hybrid key takes a third of the time of a seal.
var newest atomic.Pointer[recipient]

func recipientOf(public []byte) (*recipient, error) {
	if r := newest.Load(); r != nil && bytes.Equal(r.public, public) {
		return r, nil
	}
	kem, key, err := audit.ParseSealingKey(public)
	if err != nil {
		return nil, err
	}
	r := &recipient{bytes.Clone(public), kem, key}
	newest.Store(r)
	return r, nil
}

// seal returns the encapsulated key and the ciphertext together.
func seal(public []byte, label, origin string, data, plain []byte) ([]byte, error) {
	to, err := recipientOf(public)
	if err != nil {
		return nil, err
	}
	info, err := infoOf(to.kem, label, origin)
	if err != nil {
		return nil, err
	}
	enc, sender, err := hpke.NewSender(to.key, hpke.HKDFSHA256(), hpke.AES256GCM(), info)
	if err != nil {
		return nil, err
	}
	sealed, err := sender.Seal(data, plain)
	if err != nil {
		return nil, err
	}
	return append(enc, sealed...), nil
}

// open reverses seal. It has one error for all reasons, because each means only that the bytes are
// not those that were sealed.
func (k *key) open(label, origin string, data, sealed []byte) ([]byte, error) {
	info, err := infoOf(k.kem, label, origin)
	if err != nil {
		return nil, err
	}
	return k.openInfo(info, data, sealed)
}

func (k *key) openInfo(info, data, sealed []byte) ([]byte, error) {
	if len(sealed) <= k.kem.Overhead() {
		return nil, fmt.Errorf("%w: %d bytes", ErrOpen, len(sealed))
	}
	recipient, err := hpke.NewRecipient(sealed[:k.kem.Encaps], k, hpke.HKDFSHA256(), hpke.AES256GCM(), info)
	if err != nil {
		return nil, ErrOpen
	}
	plain, err := recipient.Open(data, sealed[k.kem.Encaps:])
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}

// infoOf is label ‖ str8 origin, and from type 2 on ‖ u8 type. So two key types with the same KEM
// identifier in HPKE cannot open what was sealed for the other.
func infoOf(kem *audit.KEM, label, origin string) ([]byte, error) {
	if err := audit.CheckOrigin(origin); err != nil {
		return nil, fmt.Errorf("the origin: %w", err)
	}
	info := append(append([]byte(label), byte(len(origin))), origin...)
	if kem.Type != audit.KeyP256 {
		info = append(info, kem.Type)
	}
	return info, nil
}

// Public returns the public half, type byte first.
func (k *key) Public() []byte { return bytes.Clone(k.public) }

// Body makes a disclosure key and returns the body of its key entry, with a wrap to each of the auditor keys. There is
// no other copy of the private half. No auditor is left out: a key that cannot be wrapped to is an error. The
// disclosure key has the type of the auditor keys, which all have the same.
func Body(origin string, auditors [][]byte) (*audit.Key, error) {
	if len(auditors) == 0 {
		return nil, errors.New("making a disclosure key: no auditor key to wrap it to")
	}
	kem, ok := audit.KEMOf(auditors[0])
	if !ok {
		return nil, fmt.Errorf("making a disclosure key of type %d: %w", auditors[0][0], audit.ErrUnknown)
	}
	made, err := kem.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("making a disclosure key: %w", err)
	}
	private, err := made.Bytes()
	if err != nil {
		return nil, fmt.Errorf("making a disclosure key: %w", err)
	}
	private = bytes.Clone(private) // a hybrid key gives its own seed
	defer clear(private)
	k := &audit.Key{Subject: audit.SubjectDisclosure, Public: append([]byte{kem.Type}, made.PublicKey().Bytes()...)}
	for _, auditor := range auditors {
		if other, known := audit.KEMOf(auditor); known && other != kem {
			return nil, fmt.Errorf("wrapping a disclosure key of type %d to an auditor key of type %d: a tape is as safe as "+
				"the weakest key that opens it, so all have one type", kem.Type, other.Type)
		}
		id := audit.KeyID(auditor)
		sealed, err := seal(auditor, labelWrap, origin, k.Public, private)
		if err != nil {
			return nil, fmt.Errorf("wrapping a disclosure key to the auditor key %x: %w", id, err)
		}
		k.Wraps = append(k.Wraps, audit.Wrap{Auditor: id, Sealed: sealed})
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

// tapeData is u64 shuffle ‖ commitment, so that a sealed tape opens only for its shuffle.
func tapeData(id uint64, commitment [32]byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, id), commitment[:]...)
}

// ErrNoWrap reports a disclosure key that has no wrap to an auditor's key, most often because the
// auditor was not in force when it was made.
var ErrNoWrap = errors.New("the disclosure key is not wrapped to this auditor key")

// Auditor is the private key of an auditor. It is safe for concurrent use.
type Auditor struct{ *key }

// NewAuditor returns the auditor with this private key of PrivateSize bytes, type byte first.
func NewAuditor(private []byte) (*Auditor, error) {
	k, err := newKey(private)
	if err != nil {
		return nil, err
	}
	return &Auditor{k}, nil
}

// ID returns the KeyID of the auditor key.
func (a *Auditor) ID() [32]byte { return audit.KeyID(a.public) }

// Unwrap opens a disclosure key from its key entry, in the ledger named origin. The error matches ErrNoWrap if the
// entry has no wrap to this auditor, and audit.ErrUnknown for a key of an unknown type. It matches ErrOpen if the wrap
// does not open: the entry was altered, or its writer kept the auditor from opening tapes.
func (a *Auditor) Unwrap(origin string, k *audit.Key) (*Opener, error) {
	if k.Subject != audit.SubjectDisclosure {
		return nil, fmt.Errorf("%w: a key entry of subject %s", ErrNoWrap, k.Subject)
	}
	if _, _, err := audit.ParseSealingKey(k.Public); err != nil {
		return nil, err
	}
	id := a.ID()
	i := slices.IndexFunc(k.Wraps, func(w audit.Wrap) bool { return w.Auditor == id })
	switch {
	case i < 0:
		return nil, ErrNoWrap
	case k.Public[0] != a.kem.Type:
		return nil, fmt.Errorf("unwrapping a disclosure key: %w: its type is %d, the auditor key's is %d", ErrOpen,
			k.Public[0], a.kem.Type)
	}
	private, err := a.open(labelWrap, origin, k.Public, k.Wraps[i].Sealed)
	if err != nil {
		return nil, fmt.Errorf("unwrapping a disclosure key: %w", err)
	}
	defer clear(private)
	typed := append([]byte{a.kem.Type}, private...)
	defer clear(typed)
	opener, err := newKey(typed)
	if err != nil || !bytes.Equal(opener.public, k.Public) {
		return nil, fmt.Errorf("unwrapping a disclosure key: %w: the wrapped key is not its private half", ErrOpen)
	}
	return &Opener{opener}, nil
}

// Opener opens the tapes that were sealed to one disclosure key. It is safe for concurrent use.
type Opener struct{ *key }

// Open returns the tape that was sealed for a shuffle of the ledger named origin. The error matches ErrOpen. Whether
// the tape opens the commitment is for the caller to check.
func (o *Opener) Open(origin string, id uint64, commitment [32]byte, sealed []byte) ([]byte, error) {
	if len(sealed) > shuffle.MaxTape+o.kem.Overhead() {
		return nil, fmt.Errorf("opening the tape of shuffle %d: %w: %d bytes", id, ErrOpen, len(sealed))
	}
	tape, err := o.open(labelTape, origin, tapeData(id, commitment), sealed)
	if err != nil {
		return nil, fmt.Errorf("opening the tape of shuffle %d: %w", id, err)
	}
	return tape, nil
}
