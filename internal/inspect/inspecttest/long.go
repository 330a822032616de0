package inspecttest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"filippo.io/mldsa"

	"shuffled/internal/audit"
)

// LongKey is a ledger's signing key of ML-DSA-44.
type LongKey struct {
	origin  string
	private *mldsa.PrivateKey
}

// NewLongKey makes one of a ledger, the same for the same seed.
func NewLongKey(origin, seed string) *LongKey {
	h := sha256.Sum256([]byte("inspecttest " + seed))
	private, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), h[:])
	must(err)
	return &LongKey{origin, private}
}

// Public returns the key as entries carry it.
func (k *LongKey) Public() []byte { return append([]byte{6}, k.private.PublicKey().Bytes()...) }

func (k *LongKey) id() []byte {
	h := sha256.Sum256(append([]byte(k.origin+"\n"), k.Public()...))
	return h[:4]
}

// VKey is its verifier key.
func (k *LongKey) VKey() string {
	return fmt.Sprintf("%s+%x+%s", k.origin, k.id(), base64.StdEncoding.EncodeToString(k.Public()))
}

// Sign adds the key's line to a checkpoint of this text, by C2SP tlog-cosignature at the time 0; nil adds nothing.
func (k *LongKey) Sign(signed []byte, text string) []byte {
	if k == nil {
		return signed
	}
	c, err := audit.ParseCheckpoint(text)
	must(err)
	m := append([]byte("subtree/v1\n\x00"), byte(len(k.origin)))
	m = binary.BigEndian.AppendUint64(append(m, k.origin...), 0)
	m = append(append(m, byte(len(c.Origin))), c.Origin...)
	m = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(m, 0), c.Size)
	sig, err := k.private.SignDeterministic(append(m, c.Root[:]...), nil)
	must(err)
	b := append(binary.BigEndian.AppendUint64(k.id(), 0), sig...)
	return fmt.Appendf(signed, "— %s %s\n", k.origin, base64.StdEncoding.EncodeToString(b))
}

// RotateLong brings in a key of ML-DSA-44. The checkpoint of its entry is signed by it and, where old says so, by the
// one before it.
func (l *Ledger) RotateLong(k *LongKey, old bool) {
	before := l.long
	l.long = k
	l.Append(&audit.Key{Subject: audit.SubjectSigning, Public: k.Public()})
	if signed := l.Signed(); old {
		l.signed = append(l.signed, before.Sign(signed, l.Text()))
	} else {
		l.signed = append(l.signed, signed)
	}
}
