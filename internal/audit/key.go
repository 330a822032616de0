package audit

import (
	"crypto/sha256"
	"fmt"
)

// Key changes one key or the witness policy (docs/SPEC.md section 5.7).
type Key struct {
	Subject Subject
	Public  []byte   // signing, disclosure, auditor: type byte and public key
	Wraps   []Wrap   // disclosure: the private key for each auditor, in order of KeyID
	Policy  []byte   // policy: C2SP tlog-policy
	Retired Subject  // retirement: SubjectSigning, SubjectDisclosure or SubjectAuditor
	ID      [32]byte // retirement: KeyID of the retired key
	Admin   Change   // administrator: what happens to Name
	Name    string   // administrator; Public is the key that is added or replaces the one before
	Acts    []Act    // two_persons: acts that need two administrators, ascending
	Delay   uint32   // two_persons: seconds until an act of one administrator takes effect
	From    int64    // retirement: UTC milliseconds from which nothing under it counts; the entry itself takes effect at once
}

// Wrap is the disclosure key's private key, sealed to one auditor key.
type Wrap struct {
	Auditor [32]byte // KeyID of the auditor key
	Sealed  []byte   // HPKE: encapsulated key ‖ ciphertext, 113 bytes
}

// KeyID names a public key: SHA-256(label ‖ type byte and key).
func KeyID(public []byte) [32]byte {
	return sha256.Sum256(append([]byte(labelKeyID), public...))
}

// Type returns TypeKey.
func (*Key) Type() Type { return TypeKey }

func (k *Key) encode(w *writer) {
	k.encodeBare(w)
	if k.Subject == SubjectDisclosure {
		w.n8(len(k.Wraps))
		for _, wrap := range k.Wraps {
			w.raw(wrap.Auditor[:])
			w.blob(wrap.Sealed)
		}
	}
}

// encodeBare leaves out the wraps, which stand at the end.
func (k *Key) encodeBare(w *writer) {
	w.u8(uint8(k.Subject))
	switch k.Subject {
	case SubjectSigning, SubjectDisclosure, SubjectAuditor:
		w.blob(k.Public)
	case SubjectPolicy:
		w.blob(k.Policy)
	case SubjectRetirement:
		w.u8(uint8(k.Retired))
		w.raw(k.ID[:])
		w.u64(uint64(k.From))
	case SubjectAdministrator:
		w.u8(uint8(k.Admin))
		w.str(k.Name)
		if k.Admin != ChangeRemove {
			w.blob(k.Public)
		}
	case SubjectTwoPersons:
		w.acts(k.Acts, k.Delay)
	}
}

func (k *Key) parse(r *reader) {
	k.parseBare(r)
	if k.Subject == SubjectDisclosure {
		k.parseWraps(r)
	}
}

func (k *Key) parseBare(r *reader) {
	k.Subject = Subject(r.code("subject", &codesOfSubject))
	switch k.Subject {
	case SubjectSigning:
		k.Public = r.publicKey("signing key", signingKeySize)
	case SubjectAuditor:
		k.Public = r.publicKey("auditor key", pointKeySize)
	case SubjectDisclosure:
		k.Public = r.publicKey("disclosure key", pointKeySize)
	case SubjectPolicy:
		k.Policy = r.policy()
	case SubjectRetirement:
		k.Retired = Subject(r.known("retired subject", uint8(SubjectAuditor)))
		k.ID = r.hash("retired key")
		k.From = int64(r.u64("retired from"))
	case SubjectAdministrator:
		k.Admin = Change(r.code("change", &codesOfChange))
		if k.Name = r.name("administrator"); k.Admin != ChangeRemove {
			k.Public = r.publicKey("administrator's key", signingKeySize)
		}
	case SubjectTwoPersons:
		k.Acts, k.Delay = r.acts()
	}
}

func (k *Key) parseWraps(r *reader) {
	n := int(r.u8("wraps"))
	if n < 1 || n > MaxAuditors {
		r.fail("wraps", fmt.Sprintf("1 to %d auditors", MaxAuditors))
	}
	for i := 0; i < n && r.err == nil; i++ {
		wrap := Wrap{Auditor: r.hash("auditor"), Sealed: r.blob("wrapped key")}
		if len(wrap.Sealed) != wrapSize {
			r.fail("wrapped key", fmt.Sprintf("%d bytes", wrapSize))
		}
		if i > 0 && string(k.Wraps[i-1].Auditor[:]) >= string(wrap.Auditor[:]) {
			r.fail("wraps", "in ascending order of auditor, each once")
		}
		k.Wraps = append(k.Wraps, wrap)
	}
}
