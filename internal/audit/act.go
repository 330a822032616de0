package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
)

// Administrator is a person, or a role of the house, who approves acts.
type Administrator struct {
	Name string
	Key  []byte // type byte and Ed25519 public key
}

// ActEntry is an approval that one or two administrators signed (docs/SPEC.md section
// 5.11). It approves the entry whose Approved is its Digest.
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

func (a *ActEntry) encode(w *writer) {
	a.encodeSigned(w)
	w.n8(len(a.Signatures))
	for _, s := range a.Signatures {
		w.str(s.Administrator)
		w.raw(s.Signature[:])
	}
}

func (a *ActEntry) encodeSigned(w *writer) {
	w.u8(uint8(a.Act))
	w.raw(a.Digest[:])
	w.u64(a.Previous)
	w.u64(a.HeadSize)
	w.raw(a.HeadRoot[:])
	w.u64(uint64(a.Expires))
}

// Signed returns the bytes that administrators sign: label, hash of the genesis entry, so
// that the act is good for this ledger alone, and the fields.
func (a *ActEntry) Signed(genesis [32]byte) []byte {
	w := writer{b: []byte(labelAct)}
	w.raw(genesis[:])
	a.encodeSigned(&w)
	return w.b
}

func (a *ActEntry) parse(r *reader) {
	a.Act = Act(r.code("act", &codesOfAct))
	a.Digest = r.hash("digest")
	a.Previous = r.u64("previous act")
	a.HeadSize = r.u64("size of the head")
	a.HeadRoot = r.hash("root of the head")
	a.Expires = int64(r.u64("expiry"))
	n := int(r.u8("signatures"))
	if n < 1 || n > 2 {
		r.fail("signatures", "one or two")
	}
	for i := 0; i < n && r.err == nil; i++ {
		s := ActSignature{Administrator: r.name("administrator")}
		copy(s.Signature[:], r.take("signature", len(s.Signature)))
		if i > 0 && a.Signatures[0].Administrator >= s.Administrator {
			r.fail("signatures", "in ascending order of administrators, each once")
		}
		a.Signatures = append(a.Signatures, s)
	}
}

// Approved returns the digest under which an act approves an entry with this identity
// and body.
func Approved(identity string, b Body) [32]byte {
	w := writer{b: []byte(labelApproved)}
	w.u8(uint8(b.Type()))
	w.str(identity)
	b.encode(&w)
	return sha256.Sum256(w.b)
}

// ActFor returns the act that an entry with this body needs, if two persons are asked
// for it; ok is false for a body that no act approves.
func ActFor(b Body) (Act, bool) {
	switch b := b.(type) {
	case *Key:
		return actForKey(b.Subject)
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

func actForKey(s Subject) (Act, bool) {
	switch s {
	case SubjectPolicy:
		return ActPolicy, true
	case SubjectAuditor:
		return ActAuditor, true
	case SubjectSigning:
		return ActSigning, true
	case SubjectRetirement:
		return ActRetirement, true
	case SubjectAdministrator:
		return ActAdministrator, true
	case SubjectTwoPersons:
		return ActTwoPersons, true
	}
	return 0, false // a disclosure key is the daemon's own
}

func (r *reader) administrators() (all []Administrator) {
	n := int(r.u8("administrators"))
	if n > MaxAdmins {
		r.fail("administrators", fmt.Sprintf("at most %d", MaxAdmins))
	}
	keys := make(map[string]bool)
	for i := 0; i < n && r.err == nil; i++ {
		a := Administrator{Name: r.name("administrator"), Key: r.publicKey("administrator's key", signingKeySize)}
		if i > 0 && all[i-1].Name >= a.Name {
			r.fail("administrators", "in ascending order of names, each once")
		}
		if keys[string(a.Key)] {
			r.fail("administrators", "the same key twice")
		}
		keys[string(a.Key)] = true
		all = append(all, a)
	}
	return all
}

func (w *writer) acts(acts []Act, delay uint32) {
	w.n8(len(acts))
	for _, a := range acts {
		w.u8(uint8(a))
	}
	w.u32(delay)
}

func (r *reader) acts() (acts []Act, delay uint32) {
	n := int(r.u8("acts"))
	for i := 0; i < n && r.err == nil; i++ {
		acts = append(acts, Act(r.code("act", &codesOfAct)))
		if i > 0 && acts[i-1] >= acts[i] {
			r.fail("acts", "in ascending order, each once")
		}
	}
	return acts, r.u32("delay")
}

// EncodeBody returns the body of an entry, as files and requests of acts carry it.
func EncodeBody(b Body) []byte {
	var w writer
	b.encode(&w)
	return w.b
}

// ParseBody reads what EncodeBody wrote. It returns an ErrMalformed or ErrUnknown for
// anything else, and for a type that this version does not know.
func ParseBody(t Type, b []byte) (Body, error) {
	body, r := newBody(t), &reader{s: b}
	if o, passed := body.(*Opaque); passed {
		r.unknown("type", uint64(o.Code))
	}
	body.parse(r)
	if err := r.end(t.String()); err != nil {
		return nil, err
	}
	return body, nil
}
