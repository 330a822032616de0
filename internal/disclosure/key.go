package disclosure

import (
	"bytes"
	"crypto/hpke"
	"encoding/binary"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

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
