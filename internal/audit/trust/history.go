package trust

import (
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// History is what the entries of a ledger say of keys, taken in their order: the one fold of them, of the daemon and of
// every verifier. Policies is that of witness policies, which also needs checkpoints.
type History struct {
	Records []KeyRecord // oldest first
	Signing []KeyInForce
	Origin  string
}

// KeyInForce is a key that signs the checkpoints of every size above the index of its entry, up to the entry of the
// next key of its algorithm (docs/SPEC.md section 7.1).
type KeyInForce struct {
	Index   uint64        // of its entry
	Public  []byte        // type byte and public key
	Key     note.Verifier // nil: the key cannot be used
	Retired bool
}

// Take takes in the next entry, which may say nothing of keys. A signing key that cannot be used is an error, and taken
// in without a verifier. It signed nothing.
func (h *History) Take(index uint64, e audit.Entry) (err error) {
	for _, r := range KeyRecords(index, e) {
		h.Records = append(h.Records, r)
		switch r.Subject {
		case audit.SubjectSigning:
			if g, first := e.Body.(*audit.Genesis); first && h.Origin == "" {
				h.Origin = g.Origin
			}
			k := KeyInForce{Index: index, Public: r.Public}
			k.Key, err = audit.Verifier(h.Origin, r.Public)
			h.Signing = append(h.Signing, k)
		case audit.SubjectRetirement:
			for i, k := range h.Signing {
				h.Signing[i].Retired = k.Retired || audit.KeyID(k.Public) == r.ID
			}
		}
	}
	return err
}

// At returns the keys that sign the checkpoint of a size of at least 1, that of the genesis and its successors first.
// The history covers the entries below that size.
func (h *History) At(size uint64) (keys []KeyInForce) {
	for i, k := range h.Signing {
		if k.Index >= size && (i > 0 || k.Index > 0) {
			break
		}
		at := slices.IndexFunc(keys, func(o KeyInForce) bool { return o.Public[0] == k.Public[0] })
		if at < 0 {
			keys = append(keys, k)
		} else {
			keys[at] = k
		}
	}
	return keys
}

// InForce returns the newest key of each algorithm.
func (h *History) InForce() []KeyInForce { return h.At(audit.MaxInteger) }

// HandsOn returns an error unless both the keys before the entry of a signing key and those after it signed a
// checkpoint: the key is handed on to by that alone. A history that lacks the genesis may have no key before it.
func (h *History) HandsOn(index uint64, signed []byte) error {
	for _, size := range []uint64{index, index + 1} {
		keys := h.At(size)
		if _, err := audit.OpenCheckpoint(signed, Verifiers(keys)...); err != nil && len(keys) > 0 {
			return err
		}
	}
	return nil
}

// Verifiers returns the verifiers of the keys that can be used.
func Verifiers(all []KeyInForce) (keys []note.Verifier) {
	for _, k := range all {
		if k.Key != nil {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// KeyRecord is what an entry says of one key, or of the witness policy. A reader does not change its slices.
type KeyRecord struct {
	Index   uint64        // of the entry
	Time    int64         // of the entry, UTC milliseconds
	Subject audit.Subject // what it is about
	ID      [32]byte      // KeyID of the key, or of the retired one; zeros for a policy
	Public  []byte        // type byte and public key; nil for a policy and a retirement
	Policy  []byte        // policy: C2SP tlog-policy
	Retired audit.Subject // retirement: the subject of the retired key
	From    int64         // retirement: UTC milliseconds from which the key deserves no trust
	Origin  string        // co_dealer: of its ledger, whose key and policy are Public and Policy; "": none any more
}

// KeyRecords returns what the entry at index says of keys: a genesis of its signing key, then of its auditor keys, then
// of its policy if it has one; a key entry one thing, and any other entry nothing.
func KeyRecords(index uint64, e audit.Entry) (all []KeyRecord) {
	add := func(r KeyRecord) {
		if r.Index, r.Time = index, e.Time; r.Subject != audit.SubjectPolicy && r.Subject != audit.SubjectRetirement {
			r.ID = audit.KeyID(r.Public)
		}
		all = append(all, r)
	}
	switch b := e.Body.(type) {
	case *audit.Genesis:
		add(KeyRecord{Subject: audit.SubjectSigning, Public: b.SigningKey})
		for _, k := range b.AuditorKeys {
			add(KeyRecord{Subject: audit.SubjectAuditor, Public: k})
		}
		if len(b.Policy) > 0 {
			add(KeyRecord{Subject: audit.SubjectPolicy, Policy: b.Policy})
		}
	case *audit.Key:
		add(KeyRecord{Subject: b.Subject, ID: b.ID, Public: b.Public, Policy: b.Policy, Retired: b.Retired,
			From: b.From, Origin: b.Origin})
	}
	return all
}
