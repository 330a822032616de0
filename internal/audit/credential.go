package audit

import (
	"crypto/sha256"
	"fmt"
)

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

func (c *Credential) encode(w *writer) {
	w.u8(uint8(c.Kind))
	switch c.Kind {
	case CredentialCreated:
		c.encodeRow(w)
		w.raw(c.Digest[:])
	case CredentialRevoked:
		w.str(c.ID)
		w.str(c.Reason)
	}
}

// encodeRow writes what the digest covers of the entry.
func (c *Credential) encodeRow(w *writer) {
	w.str(c.ID)
	w.u8(uint8(c.Form))
	w.u8(uint8(c.Role))
	w.str(c.Identity)
	w.n16(len(c.Tables))
	for _, t := range c.Tables {
		w.str(t)
	}
	w.u64(uint64(c.Expires))
}

// Opens returns the digest of the credential with the hash of its secret: SHA-256 of a
// token's secret, which has 256 random bits, or of a certificate's public key.
func (c *Credential) Opens(hash [32]byte) [32]byte {
	w := writer{b: []byte(labelCredential)}
	c.encodeRow(&w)
	w.raw(hash[:])
	return sha256.Sum256(w.b)
}

func (c *Credential) parse(r *reader) {
	c.Kind = CredentialKind(r.code("credential", &codesOfCredentialKind))
	if c.Kind == CredentialRevoked {
		c.ID = r.name("credential")
		c.Reason = r.reason()
		return
	}
	c.parseRow(r)
}

// parseRow reads what encodeRow wrote, and the digest.
func (c *Credential) parseRow(r *reader) {
	c.ID = r.name("credential")
	c.Form = CredentialForm(r.code("form", &codesOfCredentialForm))
	c.Role = Role(r.code("role", &codesOfRole))
	c.Identity = r.name("identity")
	n := int(r.u16("tables"))
	if n > MaxTables {
		r.fail("tables", fmt.Sprintf("at most %d", MaxTables))
	}
	for i := 0; i < n && r.err == nil; i++ {
		c.Tables = append(c.Tables, r.name("table"))
		if i > 0 && c.Tables[i-1] >= c.Tables[i] {
			r.fail("tables", "in ascending order, each once")
		}
	}
	c.Expires = int64(r.u64("expiry"))
	c.Digest = r.hash("digest")
}
