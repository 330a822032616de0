package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
)

// CredentialLife is how long memory is believed about credentials without asking the store. A
// revocation by another daemon reaches this daemon within that time.
const CredentialLife = 5 * time.Second

// Credential returns a credential that was created and not revoked, as its entry made it, whatever a row of the
// database says. The caller checks whether it has expired. It returns ErrNotFound for any other id, and ErrUnavailable
// if the store could not be read for CredentialLife. With anew it asks the store in any case, because another daemon
// may have just created the credential. A frozen ledger reads no entries, and answers from memory.
func (l *Core) Credential(ctx context.Context, id string, anew bool) (audit.Credential, error) {
	if err := l.known(ctx, anew); err != nil && !errors.Is(err, ErrFrozen) {
		return audit.Credential{}, err
	}
	h, ok := (*l.shown.Holders.Load())[id]
	if !ok || h.Revoked != 0 {
		return audit.Credential{}, ErrNotFound
	}
	return h.Credential, nil
}

// Credentials returns every credential that was created, in the order of their entries, as of
// the store's newest entry; if the ledger is frozen, as of the newest entry known here.
func (l *Core) Credentials(ctx context.Context) (all []rules.Holder, err error) {
	if err := l.known(ctx, true); err != nil && !errors.Is(err, ErrFrozen) {
		return nil, err
	}
	err = l.Ask(ctx, func() { all = l.memory.State.Holders() })
	return all, err
}

// known has memory cover what the store held at most CredentialLife ago. In the second half of
// that time it starts a refresh for which the caller does not wait.
func (l *Core) known(ctx context.Context, anew bool) error {
	age := l.Elapsed() - time.Duration(l.shown.Folded.Load())
	switch {
	case anew || age >= CredentialLife:
		return l.refreshTogether(ctx)
	case age >= CredentialLife/2:
		l.startRefresh()
	}
	return nil
}

// certificatePrefix starts the public ids of client certificates, as tok_ starts those of tokens.
const certificatePrefix = "crt_"

var certificateEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// CertificateID returns the public id and the hash of the credential for client certificates
// with this public key, a SubjectPublicKeyInfo in DER (RFC 5280 section 4.1.2.7). A
// certificate that is renewed with the same key is the same credential.
func CertificateID(spki []byte) (id string, hash [32]byte) {
	hash = sha256.Sum256(spki)
	return certificatePrefix + certificateEncoding.EncodeToString(hash[:10]), hash
}

// IsCertificate reports whether the public id is of a client certificate.
func IsCertificate(id string) bool { return strings.HasPrefix(id, certificatePrefix) }
