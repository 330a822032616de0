package disclosure

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// ErrNoWrap reports a disclosure key that is not wrapped to an auditor's key:
// most often one from before the auditor came or after the auditor left.
var ErrNoWrap = errors.New("the disclosure key is not wrapped to this auditor key")

// Auditor is the private key of an auditor. It is safe for concurrent use.
type Auditor struct {
	private hpke.PrivateKey
	public  []byte
}

// NewAuditor returns the auditor with this private key of PrivateSize bytes, a
// P-256 scalar.
func NewAuditor(private []byte) (*Auditor, error) {
	k, err := kem().NewPrivateKey(private)
	if err != nil {
		return nil, errors.New("no private key of P-256") // nothing of the key
	}
	return &Auditor{private: k, public: publicOf(k)}, nil
}

// Public returns the public half, type byte first.
func (a *Auditor) Public() []byte { return bytes.Clone(a.public) }

// ID returns the KeyID of the auditor key.
func (a *Auditor) ID() [32]byte { return audit.KeyID(a.public) }

// Unwrap opens a disclosure key from its key entry, in the ledger named origin.
// The error matches ErrNoWrap when the entry has none for this auditor;
// audit.ErrUnknown for a key of another type; else ErrOpen: the writer of the
// entry kept the auditor from opening tapes, or the entry was altered.
func (a *Auditor) Unwrap(origin string, k *audit.Key) (*Opener, error) {
	if k.Subject != audit.SubjectDisclosure {
		return nil, fmt.Errorf("%w: a key entry of subject %s", ErrNoWrap, k.Subject)
	}
	if err := CheckPublic(k.Public); err != nil {
		return nil, err
	}
	id := a.ID()
	for _, w := range k.Wraps {
		if w.Auditor != id {
			continue
		}
		return a.unwrap(origin, k.Public, w.Sealed)
	}
	return nil, ErrNoWrap
}

func (a *Auditor) unwrap(origin string, public, sealed []byte) (*Opener, error) {
	private, err := open(a.private, labelWrap, origin, public, sealed)
	if err != nil {
		return nil, fmt.Errorf("unwrapping a disclosure key: %w", err)
	}
	defer clear(private)
	k, err := kem().NewPrivateKey(private)
	if err != nil || !bytes.Equal(publicOf(k), public) {
		return nil, fmt.Errorf("unwrapping a disclosure key: %w: what is wrapped is not its private half", ErrOpen)
	}
	return &Opener{k}, nil
}

// Opener opens the tapes that were sealed to one disclosure key. It is safe for
// concurrent use.
type Opener struct {
	private hpke.PrivateKey
}

// Open returns the tape that was sealed for a shuffle of the ledger named
// origin. The error matches ErrOpen. Whether the tape opens the commitment is
// for the caller to check.
func (o *Opener) Open(origin string, id uint64, commitment [32]byte, sealed []byte) ([]byte, error) {
	if len(sealed) > shuffle.MaxTape+audit.SealOverhead {
		return nil, fmt.Errorf("opening the tape of shuffle %d: %w: %d bytes", id, ErrOpen, len(sealed))
	}
	tape, err := open(o.private, labelTape, origin, tapeData(id, commitment), sealed)
	if err != nil {
		return nil, fmt.Errorf("opening the tape of shuffle %d: %w", id, err)
	}
	return tape, nil
}
