package audit

import (
	"bytes"
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
	Name    string   // administrator, of whom Public is the key that is added or replaces the one before
	Origin  string   // co_dealer: of the ledger, whose key and policy are Public and Policy; empty: commits name none
	Every   bool     // co_dealer: every commit names it
	Acts    []Act    // two_persons: acts that need two administrators, ascending
	Delay   uint32   // two_persons: seconds until an act of one administrator takes effect
	// retirement: UTC milliseconds from which nothing under it counts; the entry itself takes effect at once
	From int64
}

// Wrap is the disclosure key's private key, sealed to one auditor key.
type Wrap struct {
	Auditor [32]byte // KeyID of the auditor key
	Sealed  []byte   // HPKE: encapsulated key ‖ ciphertext
}

// KeyID names a public key: SHA-256(label ‖ type byte and key).
func KeyID(public []byte) [32]byte {
	return sha256.Sum256(append([]byte(labelKeyID), public...))
}

// CompareIDs orders the ids of keys.
func CompareIDs(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }

// Type returns TypeKey.
func (*Key) Type() Type { return TypeKey }

func (e *Key) fields(k *coder) {
	code(k, "subject", &e.Subject, &codesOfSubject)
	switch e.Subject {
	case SubjectSigning:
		k.ledgerKey(&e.Public)
	case SubjectAuditor:
		k.sealingKey("auditor key", &e.Public)
	case SubjectDisclosure:
		k.sealingKey("disclosure key", &e.Public)
		e.wraps(k)
	case SubjectPolicy:
		k.policy(&e.Policy)
	case SubjectRetirement:
		k.known("retired subject", (*uint8)(&e.Retired), uint8(SubjectAuditor))
		k.hash("retired key", &e.ID)
		k.time("retired from", &e.From)
	case SubjectAdministrator:
		code(k, "change", &e.Admin, &codesOfChange)
		if k.name("administrator", &e.Name); e.Admin != ChangeRemove {
			k.signingKey("administrator's key", &e.Public)
		}
	case SubjectTwoPersons:
		k.acts(&e.Acts, &e.Delay)
	case SubjectCoDealer:
		some := e.Origin != ""
		if k.flag("co-dealer", &some); some {
			k.flag("every commit", &e.Every)
			k.text("co-dealer", &e.Origin, CheckOrigin)
			k.signingKey("co-dealer's key", &e.Public)
			k.policy(&e.Policy)
		}
	}
}

func (e *Key) wraps(k *coder) {
	n := k.count8("wraps", len(e.Wraps))
	k.within("wraps", n, 1, MaxAuditors, "1 to %d auditors")
	size := 0
	if kem, ok := KEMOf(e.Public); ok {
		size = kem.Wrap()
	}
	list(k, n, &e.Wraps, func(wrap, before *Wrap) {
		k.hash("auditor", &wrap.Auditor)
		if k.blob("wrapped key", &wrap.Sealed); len(wrap.Sealed) != size {
			k.fail("wrapped key", fmt.Sprintf("%d bytes under a key of this type", size))
		}
		if before != nil && CompareIDs(before.Auditor, wrap.Auditor) >= 0 {
			k.fail("wraps", "in ascending order of auditor, each once")
		}
	})
}

// Credential is a token or client certificate that is created or revoked (docs/SPEC.md
// section 5.10). A row of a database opens nothing: what this entry says does.
type Credential struct {
	Kind     CredentialKind
	ID       string         // public id
	Form     CredentialForm // created
	Role     Role           // created
	Identity string         // created: the service that it is a credential of
	Tables   []string       // created: that it is for, ascending; nil for all
	Expires  int64          // created: UTC milliseconds, 0 for never
	Digest   [32]byte       // created: Opens of the hash of its secret
	Reason   string         // revoked: in an operator's words
}

// Type returns TypeCredential.
func (*Credential) Type() Type { return TypeCredential }

func (c *Credential) fields(k *coder) {
	code(k, "credential", &c.Kind, &codesOfCredentialKind)
	if c.Kind == CredentialRevoked {
		k.name("credential", &c.ID)
		k.reason(&c.Reason)
		return
	}
	c.row(k)
	k.hash("digest", &c.Digest)
}

// row is what the digest covers of the entry.
func (c *Credential) row(k *coder) {
	k.name("credential", &c.ID)
	code(k, "form", &c.Form, &codesOfCredentialForm)
	code(k, "role", &c.Role, &codesOfRole)
	k.name("identity", &c.Identity)
	n := k.count16("tables", len(c.Tables))
	k.within("tables", n, 0, MaxTables, "at most %d")
	list(k, n, &c.Tables, func(table, before *string) {
		k.name("table", table)
		if before != nil && *before >= *table {
			k.fail("tables", "in ascending order, each once")
		}
	})
	k.time("expiry", &c.Expires)
}

// Opens returns the digest of the credential with the hash of its secret: SHA-256 of a
// token's secret, which has 256 random bits, or of a certificate's public key.
func (c *Credential) Opens(hash [32]byte) [32]byte {
	k := coder{writing: true, b: []byte(labelCredential)}
	c.row(&k)
	return sha256.Sum256(append(k.b, hash[:]...))
}

// Takeover makes the identity of its entry the owner of a shuffle (docs/SPEC.md section 5.9).
type Takeover struct {
	Shuffle uint64
	Extent  Extent
	Reason  string // in an operator's words
}

// Type returns TypeTakeover.
func (*Takeover) Type() Type { return TypeTakeover }

func (t *Takeover) fields(k *coder) {
	k.u64("shuffle", &t.Shuffle)
	code(k, "extent", &t.Extent, &codesOfExtent)
	k.reason(&t.Reason)
}
