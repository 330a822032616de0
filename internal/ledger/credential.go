package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
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

// Access is one request of a regulator or an administrator. It is stored before the request is answered.
type Access struct {
	Time    int64  // UTC milliseconds
	Request string // request id, unique among those of its time
	Token   string // public id of the token or certificate
	Method  string // of HTTP
	Path    string // with its query, at most MaxAccessPath bytes
}

// MaxAccessPath is the length of the longest path that an Access keeps.
const MaxAccessPath = 500

// AccessHead is the end of a ledger's chain of accesses: how many there ever were, and the hash
// of the newest. The zero value is the head of an empty chain.
type AccessHead struct {
	Count uint64
	Hash  [32]byte
}

// labelAccess keeps the hashes of accesses apart from all others.
const labelAccess = "shuffled/v1/access\x00"

// Next returns the head after one more access. Its hash is SHA-256 of label ‖ hash of the access before ‖ u64 number,
// from 1 ‖ u64 time ‖ request, token, method and path, each behind its length in two bytes.
func (h AccessHead) Next(a Access) AccessHead {
	b := append([]byte(labelAccess), h.Hash[:]...)
	b = binary.BigEndian.AppendUint64(b, h.Count+1)
	b = binary.BigEndian.AppendUint64(b, uint64(a.Time))
	for _, s := range []string{a.Request, a.Token, a.Method, a.Path} {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	return AccessHead{h.Count + 1, sha256.Sum256(b)}
}

// AccessCursor says where an Access stands in its ledger: by time, then by request.
// The zero value is before all accesses.
type AccessCursor struct {
	Time    int64
	Request string
}

// AccessQuery asks for the accesses of a time range behind a place.
type AccessQuery struct {
	From, To int64 // UTC milliseconds: from ≤ time < to; 0 for no bound
	After    AccessCursor
	Limit    int // how many at most, at least 1
}

// AccessStore keeps accesses alongside the evidence, as a chain: each is stored with the hash of the access before it,
// and is never changed. Only the oldest are dropped, after their retention time.
type AccessStore interface {
	// PutAccess adds an access to the end of the chain. It returns nil only if the access is
	// durable, replicas included; ErrExists if there is one of the same time and request;
	// ErrNotFound for an unknown ledger. After any other error it may not be there.
	PutAccess(ctx context.Context, id ID, a Access) error
	// AccessHead returns the stored end of the chain.
	AccessHead(ctx context.Context, id ID) (AccessHead, error)
	// AccessRecords lists accesses by time, then by request.
	AccessRecords(ctx context.Context, id ID, q AccessQuery) ([]Access, error)
	// CountAccess returns how many accesses DropAccess would remove, without a limit.
	CountAccess(ctx context.Context, id ID, before int64) (int, error)
	// DropAccess removes accesses from the beginning of the chain, at most limit, and returns
	// how many. It ends in front of the first access at or after the time before, in UTC
	// milliseconds. It never removes the newest access, because the chain goes on from it. In
	// PostgreSQL only the owner of the tables may do this, and not the daemon's role.
	DropAccess(ctx context.Context, id ID, before int64, limit int) (int, error)
}
