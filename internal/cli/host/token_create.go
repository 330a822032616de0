package host

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
)

type tokenCreateCmd struct {
	tokenFlags
	credentialFlags
	Role  string   `required:"" enum:"dealer,auditor,regulator,blind" help:"dealer, auditor, regulator or blind. blind is for the house of another ledger, which deals with orders of this one. The token of an admin is made by an act: shuffled act do admin_credential."`
	Table []string `placeholder:"NAME" sep:"none" help:"Only for this table. Repeat it for each table (default: all tables)."`
	JSON  bool     `name:"json" help:"Print JSON: the id, and the token."`
}

// credentialFlags say which credential is made, for the commands that make one.
type credentialFlags struct {
	Identity    string        `placeholder:"NAME" help:"The service that has the token, such as poker-backend. It owns the shuffles that it commits, with any of its tokens. Needed for a dealer; for another role the default is the role."`
	Expires     time.Duration `placeholder:"DURATION" help:"How long the token is valid, such as 720h (default: until it is revoked)."`
	Certificate string        `type:"existingfile" placeholder:"FILE" help:"Make no token: the client certificate in FILE (PEM) stands for one, also after it is renewed with the same key."`
}

func (tokenCreateCmd) Help() string {
	return `Examples:

    (umask 077; shuffled token create --role dealer --identity poker-backend > dealer.token)
    (umask 077; shuffled token create --role dealer --identity room-2 --table poker-7 --table poker-8 --expires 720h > room.token)
    shuffled token create --role regulator --certificate inspector.pem`
}

func (c tokenCreateCmd) Run(ctx context.Context, s term.Streams) error {
	body, bearer, hash, err := c.credential(audit.ParseRole(c.Role), c.Table, time.Now())
	if err != nil {
		return err
	}
	err = c.change(ctx, s, body, hash)
	illegal, ok := errors.AsType[*audit.Illegal](err)
	if ok && illegal.Code == audit.RuleCredential && c.Certificate != "" {
		return term.WithHint(fmt.Errorf("ledger %s knows the key of this certificate as %s", c.Ledger, body.ID),
			"a ledger accepts each key once, also if its credential was revoked: make a new key")
	}
	if err != nil {
		return fmt.Errorf("creating the token: %w", err)
	}
	token := string(bearer.Bytes())
	return s.Answer(c.JSON, struct {
		ID    string `json:"id"`
		Token string `json:"token,omitempty"` // none for a certificate
	}{body.ID, token}, "%s\n", cmp.Or(token, body.ID))
}

// credential makes the credential that was asked for. bearer is empty for a certificate.
func (c credentialFlags) credential(role audit.Role, tables []string, now time.Time) (b *audit.Credential,
	bearer keys.Secret, hash [32]byte, err error) {
	if b, err = c.body(role, tables, now); err != nil {
		return nil, bearer, hash, err
	}
	if c.Certificate == "" {
		bearer, hash, err = newToken(b)
	} else {
		hash, err = readCertificate(b, c.Certificate)
	}
	return b, bearer, hash, err
}

// body is the credential that was asked for. newToken or readCertificate completes it.
func (c credentialFlags) body(role audit.Role, tables []string, now time.Time) (*audit.Credential, error) {
	b := &audit.Credential{Role: role, Identity: c.Identity}
	switch {
	case c.Expires < 0:
		return nil, term.Usage("--expires must be a duration from now, such as 720h, not %s", c.Expires)
	case b.Role == audit.RoleDealer && b.Identity == "":
		return nil, term.Usage("--identity is missing: a dealer needs the name of the service that owns its shuffles, such as poker-backend")
	case b.Identity == "":
		b.Identity = role.String()
	}
	if err := audit.CheckName(b.Identity); err != nil {
		return nil, term.Usage("--identity: %q %s", term.Visible(b.Identity), err)
	}
	if c.Expires > 0 {
		b.Expires = now.Add(c.Expires).UnixMilli()
	}
	for _, table := range tables {
		if err := audit.CheckName(table); err != nil {
			return nil, term.Usage("--table: %q %s", term.Visible(table), err)
		}
		if slices.Contains(b.Tables, table) {
			return nil, term.Usage("--table must name each table once, and names %s twice", table)
		}
		b.Tables = append(b.Tables, table)
	}
	slices.Sort(b.Tables)
	return b, nil
}

// newToken completes the credential with a new token. b must have its role, identity, tables and expiry.
// newToken returns the token and the hash of its secret. The token opens nothing before b is in the ledger.
func newToken(b *audit.Credential) (bearer keys.Secret, hash [32]byte, err error) {
	b.Kind, b.Form = audit.CredentialCreated, audit.FormToken
	b.ID, bearer = keys.NewToken()
	_, secret, ok := keys.SplitToken(string(bearer.Bytes()))
	if !ok {
		return bearer, hash, errors.New("a new token does not read back")
	}
	hash = keys.HashToken(secret)
	b.Digest = b.Opens(hash)
	return bearer, hash, nil
}

// readCertificate completes the credential with the only certificate in a PEM file. It returns the hash of the
// certificate's public key.
func readCertificate(b *audit.Credential, path string) (hash [32]byte, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return hash, fmt.Errorf("reading the certificate: %w", err)
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return hash, term.Usage("--certificate: %s must begin with a certificate in PEM", term.Visible(path))
	}
	if more, _ := pem.Decode(rest); more != nil {
		return hash, term.Usage("--certificate: %s holds more than one certificate: give only the client's",
			term.Visible(path))
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return hash, term.Usage("--certificate: %s: %s", term.Visible(path), err)
	}
	if cert.IsCA {
		return hash, term.Usage("--certificate: %s is the certificate of an authority: give the client's", term.Visible(path))
	}
	b.Kind, b.Form = audit.CredentialCreated, audit.FormCertificate
	b.ID, hash = ledger.CertificateID(cert.RawSubjectPublicKeyInfo)
	b.Digest = b.Opens(hash)
	return hash, nil
}
