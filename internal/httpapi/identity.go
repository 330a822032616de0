package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// tokenLife is how long a looked-up token is believed: a revocation reaches
// every daemon within it.
const tokenLife = 5 * time.Second

// caller is who makes a request. The zero caller has shown nothing.
type caller struct {
	actor  string // public id of the token or certificate
	role   ledger.Role
	tables []string // that it is for; nil for all
}

func (c caller) known() bool { return c.actor != "" }

// identities checks tokens. Safe for concurrent use.
type identities struct {
	now func() time.Time

	mu    sync.Mutex
	cache map[tokenKey]*cachedToken // only tokens that exist, so a bounded number
}

type tokenKey struct {
	ledger ledger.ID
	token  string
}

type cachedToken struct {
	token      ledger.Token
	read       time.Time // before the store was asked
	refreshing bool      // somebody asks the store again, or did in vain
}

func newIdentities(now func() time.Time) *identities {
	return &identities{now: now, cache: make(map[tokenKey]*cachedToken)}
}

// presents reports whether the request comes with any credential.
func presents(r *http.Request) bool {
	return len(r.Header.Values("Authorization")) > 0 || certificates(r) != nil
}

// identify returns who makes the request: by its token, or where it sends none
// by the client certificate of its connection. No credential is the zero caller;
// one that is malformed, unknown, wrong, expired or revoked is refused, all of
// them alike.
func (i *identities) identify(ctx context.Context, l *served, r *http.Request) (caller, error) {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		id, secret, ok := parseCredential(values)
		if !ok {
			return caller{}, refuse(CodeUnauthorized)
		}
		return i.check(ctx, l, id, sha256.Sum256([]byte(secret)))
	}
	chains := certificates(r)
	if chains == nil {
		return caller{}, nil
	}
	if !valid(chains, i.now()) {
		return caller{}, refuse(CodeUnauthorized)
	}
	id, hash := ledger.CertificateID(chains[0][0].RawSubjectPublicKeyInfo)
	return i.check(ctx, l, id, hash)
}

// certificates returns the chains that the client's certificate was verified by,
// nil where it has shown none.
func certificates(r *http.Request) [][]*x509.Certificate {
	if r.TLS == nil {
		return nil
	}
	return r.TLS.VerifiedChains
}

// valid reports whether all certificates of a chain are in their time now: a
// connection may outlive what it was opened with.
func valid(chains [][]*x509.Certificate, now time.Time) bool {
	return slices.ContainsFunc(chains, func(chain []*x509.Certificate) bool {
		return !slices.ContainsFunc(chain, func(c *x509.Certificate) bool {
			return now.Before(c.NotBefore) || now.After(c.NotAfter)
		})
	})
}

// check returns who has the public id and shows what gives the hash.
func (i *identities) check(ctx context.Context, l *served, id string, hash [32]byte) (caller, error) {
	token, err := i.lookup(ctx, l, id)
	known := err == nil
	if !known && !errors.Is(err, ledger.ErrNotFound) {
		// In doubt about a token, nobody gets in.
		return caller{}, &refusal{code: CodeUnavailable, cause: err}
	}
	// An unknown token is the zero Token: the work is the same, and nothing has a
	// hash of zeros.
	same := subtle.ConstantTimeCompare(hash[:], token.Hash[:]) == 1
	if !same || !known || !inForce(token, i.now()) {
		return caller{}, refuse(CodeUnauthorized)
	}
	return caller{actor: token.ID, role: token.Role, tables: token.Tables}, nil
}

// parseCredential splits "Bearer tok_<id>.<secret>" into the public id, which
// is all before the dot, and the secret. The id of a certificate is no token:
// what it hashes is public.
func parseCredential(values []string) (id, secret string, ok bool) {
	if len(values) != 1 {
		return "", "", false
	}
	scheme, credential, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", "", false
	}
	id, secret, ok = strings.Cut(credential, ".")
	return id, secret, ok && strings.HasPrefix(id, "tok_") && audit.CheckName(id) == nil
}

func inForce(t ledger.Token, now time.Time) bool {
	return t.Revoked == 0 && (t.Expires == 0 || now.UnixMilli() < t.Expires)
}

// lookup returns the token with the public id, read at most tokenLife ago.
func (i *identities) lookup(ctx context.Context, l *served, id string) (ledger.Token, error) {
	key := tokenKey{l.id, id}
	now := i.now()
	cached, known, refresh := i.recent(key, now)
	if known && !refresh {
		return cached, nil
	}
	token, err := l.Tokens.Token(ctx, l.id, id)
	err = ledger.Unavailable(err)
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case err == nil:
		i.cache[key] = &cachedToken{token: token, read: now}
	case errors.Is(err, ledger.ErrNotFound):
		delete(i.cache, key)
	case known:
		return cached, nil // the store is away; what was read still counts for a while
	}
	return token, err
}

// recent returns a cached token that still counts. Past half its life one caller
// is sent to refresh it while the others go on, so that it never runs out under
// load.
func (i *identities) recent(key tokenKey, now time.Time) (t ledger.Token, known, refresh bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.cache[key]
	if c == nil {
		return ledger.Token{}, false, true
	}
	age := now.Sub(c.read)
	if age < 0 || age >= tokenLife {
		return ledger.Token{}, false, true
	}
	refresh = age >= tokenLife/2 && !c.refreshing
	c.refreshing = c.refreshing || refresh
	return c.token, true, refresh
}
