package disclosure

import (
	"bytes"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

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
	if err := audit.CheckSealingKey(k.Public); err != nil {
		return nil, err
	}
	id := a.ID()
	for _, w := range k.Wraps {
		if w.Auditor == id {
			return a.unwrap(origin, k.Public, w.Sealed)
		}
	}
	return nil, ErrNoWrap
}

func (a *Auditor) unwrap(origin string, public, sealed []byte) (*Opener, error) {
	if public[0] != a.kem.Type {
		return nil, fmt.Errorf("unwrapping a disclosure key: %w: its type is %d, the auditor key's is %d", ErrOpen,
			public[0], a.kem.Type)
	}
	private, err := a.open(labelWrap, origin, public, sealed)
	if err != nil {
		return nil, fmt.Errorf("unwrapping a disclosure key: %w", err)
	}
	defer clear(private)
	typed := append([]byte{a.kem.Type}, private...)
	defer clear(typed)
	k, err := newKey(typed)
	if err != nil || !bytes.Equal(k.public, public) {
		return nil, fmt.Errorf("unwrapping a disclosure key: %w: the wrapped key is not its private half", ErrOpen)
	}
	return &Opener{k}, nil
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
