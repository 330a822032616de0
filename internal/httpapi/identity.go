package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// tokenLife is how long a looked-up token is believed: a revocation reaches
// every daemon within it.
const tokenLife = 5 * time.Second

// caller is who makes a request. The zero caller has shown no token.
type caller struct {
	actor string // public id of the token
	role  ledger.Role
}

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

// identify returns who makes the request. No credential is the zero caller; a
// credential that is malformed, unknown, wrong, expired or revoked is refused,
// all of them alike.
func (i *identities) identify(ctx context.Context, l *served, h http.Header) (caller, error) {
	values := h.Values("Authorization")
	if len(values) == 0 {
		return caller{}, nil
	}
	id, secret, ok := parseCredential(values)
	if !ok {
		return caller{}, refuse(CodeUnauthorized)
	}
	token, err := i.lookup(ctx, l, id)
	known := err == nil
	if !known && !errors.Is(err, ledger.ErrNotFound) {
		// In doubt about a token, nobody gets in.
		return caller{}, &refusal{code: CodeUnavailable, cause: err}
	}
	if !matches(token, secret) || !known || !inForce(token, i.now()) {
		return caller{}, refuse(CodeUnauthorized)
	}
	return caller{actor: token.ID, role: token.Role}, nil
}

// parseCredential splits "Bearer tok_<id>.<secret>" into the public id, which
// is all before the dot, and the secret.
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

// matches compares the secret with the token's in constant time. An unknown
// token is the zero Token: the work is the same, and no secret has a hash of
// zeros.
func matches(t ledger.Token, secret string) bool {
	h := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(h[:], t.Hash[:]) == 1
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
