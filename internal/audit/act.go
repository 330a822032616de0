package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
)

// ActEntry is an approval that one or two administrators signed (docs/SPEC.md section 5.11). It
// approves the entry for which Approved returns its Digest.
type ActEntry struct {
	Act        Act
	Digest     [32]byte
	Previous   uint64   // index of the newest act below, 0 for none
	HeadSize   uint64   // of a head that the administrators saw
	HeadRoot   [32]byte //
	Expires    int64    // UTC milliseconds
	Signatures []ActSignature
}

// ActSignature is one administrator's, over ActEntry.Signed.
type ActSignature struct {
	Administrator string
	Signature     [ed25519.SignatureSize]byte
}

// Type returns TypeAct.
func (*ActEntry) Type() Type { return TypeAct }

func (a *ActEntry) fields(k *coder) {
	a.signed(k)
	n := k.count8("signatures", len(a.Signatures))
	if n < 1 || n > 2 {
		k.fail("signatures", "one or two")
	}
	list(k, n, &a.Signatures, func(s, before *ActSignature) {
		k.name("administrator", &s.Administrator)
		k.raw("signature", s.Signature[:])
		if before != nil && before.Administrator >= s.Administrator {
			k.fail("signatures", "in ascending order of administrators, each once")
		}
	})
}

// signed are the fields that administrators sign.
func (a *ActEntry) signed(k *coder) {
	code(k, "act", &a.Act, &codesOfAct)
	k.hash("digest", &a.Digest)
	k.u64("previous act", &a.Previous)
	k.u64("size of the head", &a.HeadSize)
	k.hash("root of the head", &a.HeadRoot)
	k.time("expiry", &a.Expires)
}

// Signed returns the bytes that administrators sign: the label, the hash of the genesis entry, and
// the fields in front of the signatures. The hash makes the act valid in this ledger alone.
func (a *ActEntry) Signed(genesis [32]byte) []byte {
	k := coder{writing: true, b: append([]byte(labelAct), genesis[:]...)}
	a.signed(&k)
	return k.b
}

// Approved returns the digest under which an act approves an entry with this identity and body.
func Approved(identity string, b Body) [32]byte {
	k := coder{writing: true, b: str8(append([]byte(labelApproved), uint8(b.Type())), identity)}
	b.fields(&k)
	return sha256.Sum256(k.b)
}

// ActFor returns the act that approves an entry with this body. State.NeedsTwo says whether the
// ledger requires the act. ok is false for a body that no act approves.
func ActFor(b Body) (Act, bool) {
	switch b := b.(type) {
	case *Key:
		act, ok := actOfSubject[b.Subject]
		return act, ok
	case *Event:
		switch b.Kind {
		case EventHeadAdopted:
			return ActAdoptHead, true
		case EventLatchClear:
			return ActLatchClear, true
		case EventKillClear:
			return ActKillClear, true
		}
	case *Credential:
		return ActAdminCredential, b.Kind == CredentialCreated && b.Role == RoleAdmin
	case *Takeover:
		return ActTakeover, b.Extent == ExtentPlay
	}
	return 0, false
}

// actOfSubject has no act for a disclosure key, which the daemon makes by itself.
var actOfSubject = map[Subject]Act{SubjectPolicy: ActPolicy, SubjectAuditor: ActAuditor, SubjectSigning: ActSigning,
	SubjectRetirement: ActRetirement, SubjectAdministrator: ActAdministrator, SubjectTwoPersons: ActTwoPersons,
	SubjectCoDealer: ActCoDealer}

// MayWait reports whether one administrator suffices for the act after the delay. For adopting a
// head two are needed: the entry of an act that waits would move the head that the act names, and a
// ledger takes no entry before its head is adopted.
func (a Act) MayWait() bool { return a == ActLatchClear || a == ActKillClear }
