package ledger

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// KeyRecord is what one entry says of keys; a genesis says several things. What
// stands in it is not changed.
type KeyRecord struct {
	Index   uint64        // of the entry
	Time    int64         // of the entry, UTC milliseconds
	Subject audit.Subject // what it is about
	ID      [32]byte      // KeyID of the key, or of the retired one; zero for a policy
	Public  []byte        // signing, disclosure, auditor: type byte and public key
	Policy  []byte        // policy: C2SP tlog-policy
	Retired audit.Subject // retirement: the subject of the retired key
	From    int64         // retirement: UTC milliseconds from which the key deserves no trust
}

// signingKey is a key that signs the checkpoints of every size above its entry's
// index, until the next one.
type signingKey struct {
	index   uint64
	id      [32]byte
	vkey    string
	key     note.Verifier
	retired bool
}

// keyHistory is what the entries say of keys, in their order. A published one
// never changes: the sequencer makes the next one out of it.
type keyHistory struct {
	records []KeyRecord
	signing []signingKey // at least the genesis's
}

// with returns the history after the entry at index, and whether it brought a
// signing key. h is not changed.
func (h keyHistory) with(e audit.Entry, index uint64) (next keyHistory, signs bool, err error) {
	switch b := e.Body.(type) {
	case *audit.Genesis:
		h.records = append(h.records, KeyRecord{Subject: audit.SubjectSigning, ID: audit.KeyID(b.SigningKey),
			Public: b.SigningKey, Time: e.Time})
		for _, k := range b.AuditorKeys {
			h.records = append(h.records,
				KeyRecord{Subject: audit.SubjectAuditor, ID: audit.KeyID(k), Public: k, Time: e.Time})
		}
		if len(b.Policy) > 0 {
			h.records = append(h.records, KeyRecord{Subject: audit.SubjectPolicy, Policy: b.Policy, Time: e.Time})
		}
		next, err = h.sign(b.Origin, b.SigningKey, index)
		return next, true, err
	case *audit.Key:
		r := KeyRecord{Index: index, Time: e.Time, Subject: b.Subject, Public: b.Public, Policy: b.Policy,
			Retired: b.Retired, From: b.From}
		switch b.Subject {
		case audit.SubjectRetirement:
			r.ID = b.ID
			h.signing = slices.Clone(h.signing)
			for i := range h.signing {
				h.signing[i].retired = h.signing[i].retired || h.signing[i].id == b.ID
			}
		case audit.SubjectPolicy:
		default:
			r.ID = audit.KeyID(b.Public)
		}
		h.records = append(h.records, r)
		if b.Subject == audit.SubjectSigning {
			next, err = h.sign(h.signing[0].key.Name(), b.Public, index)
			return next, true, err
		}
	}
	return h, false, nil
}

func (h keyHistory) sign(origin string, public []byte, index uint64) (keyHistory, error) {
	vkey, err := audit.VKey(origin, public)
	if err != nil {
		return h, fmt.Errorf("the signing key of entry %d: %w", index, err)
	}
	key, err := audit.ParseVKey(vkey)
	if err != nil {
		return h, fmt.Errorf("the signing key of entry %d: %w", index, err)
	}
	h.signing = append(h.signing, signingKey{index: index, id: audit.KeyID(public), vkey: vkey, key: key})
	return h, nil
}

// inForce returns the newest signing key.
func (h keyHistory) inForce() signingKey { return h.signing[len(h.signing)-1] }

// at returns the key that signs the checkpoint of a size, which is at least 1
// and of entries that the history is of.
func (h keyHistory) at(size uint64) note.Verifier {
	i := len(h.signing) - 1
	for i > 0 && h.signing[i].index >= size {
		i--
	}
	return h.signing[i].key
}

// verifiers returns every signing key that the ledger had, or only those that
// were not retired, oldest first.
func (h keyHistory) verifiers(retired bool) (keys []note.Verifier) {
	for _, k := range h.signing {
		if retired || !k.retired {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// KeyHistory returns what the newest entries known here say of keys, oldest
// first. The caller does not change it.
func (l *Ledger) KeyHistory() []KeyRecord {
	h := l.keys.Load()
	return h.records[:len(h.records):len(h.records)]
}

// maxHandovers is how many signing keys a transcript has room for (docs/SPEC.md
// section 8).
const maxHandovers = 1024

// Handovers returns, for each signing key after the genesis's that stands below
// size, the receipt of its entry under the checkpoint that both keys signed: with
// them a verifier that trusts an older key follows to the one in force. None are
// returned when there are more than a transcript has room for.
func (l *Ledger) Handovers(ctx context.Context, size uint64) (receipts []string, err error) {
	signing := l.keys.Load().signing[1:]
	if len(signing) > maxHandovers {
		return nil, nil
	}
	for _, k := range signing {
		if k.index >= size {
			break
		}
		text, known := l.handovers.Load(k.index)
		if !known {
			if text, err = l.handoverReceipt(ctx, k.index); err != nil {
				return nil, err
			}
			l.handovers.Store(k.index, text)
		}
		receipts = append(receipts, text.(string))
	}
	return receipts, nil
}

func (l *Ledger) handoverReceipt(ctx context.Context, index uint64) (string, error) {
	row, err := l.row(ctx, index)
	if err != nil {
		return "", err
	}
	return l.FirstReceipt(ctx, row)
}

// VKey returns the verifier key of the signing key in force, as text.
func (l *Ledger) VKey() string { return l.keys.Load().inForce().vkey }
