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
	if n > MaxTables {
		k.fail("tables", fmt.Sprintf("at most %d", MaxTables))
	}
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
