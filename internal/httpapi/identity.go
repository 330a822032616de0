package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"net/http"
	"net/netip"
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
	now   func() time.Time
	rates *rates[netip.Prefix] // of look-ups that are not of a token known to be right

	mu      sync.Mutex
	cache   map[tokenKey]*cachedToken     // only tokens that exist, so a bounded number
	refused memory[credential, time.Time] // that do not hold, and since when that is known
	asking  map[tokenKey]chan struct{}    // somebody asks the store; closed and gone when it has answered
}

type tokenKey struct {
	ledger ledger.ID
	token  string
}

// credential is what a caller shows: the public id, and what the secret hashes to.
type credential struct {
	tokenKey
	hash [32]byte
}

type cachedToken struct {
	token      ledger.Token
	read       time.Time // before the store was asked
	refreshing bool      // somebody asks the store again, or did in vain
}

func newIdentities(now func() time.Time, rates *rates[netip.Prefix]) *identities {
	return &identities{now: now, rates: rates, cache: make(map[tokenKey]*cachedToken), asking: make(map[tokenKey]chan struct{})}
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
		return i.check(ctx, l, remote(r), id, sha256.Sum256([]byte(secret)))
	}
	chains := certificates(r)
	if chains == nil {
		return caller{}, nil
	}
	if !valid(chains, i.now()) {
		return caller{}, refuse(CodeUnauthorized)
	}
	id, hash := ledger.CertificateID(chains[0][0].RawSubjectPublicKeyInfo)
	return i.check(ctx, l, remote(r), id, hash)
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

// check returns who has the public id and shows what gives the hash. A credential
// that does not hold costs the same whether its id is known or not: one look-up,
// which counts against the caller's address, and none while it is remembered.
func (i *identities) check(ctx context.Context, l *served, from netip.Prefix, id string, hash [32]byte) (caller, error) {
	shown := credential{tokenKey{l.id, id}, hash}
	token, standing, err := i.remembered(ctx, shown)
	switch {
	case err != nil:
	case standing == unknown:
		token, err = i.lookup(ctx, l, from, shown)
	case standing == aging:
		token, err = i.refresh(ctx, l, shown)
	}
	if err == nil && !inForce(token, i.now()) {
		err = refuse(CodeUnauthorized)
	}
	if err != nil {
		return caller{}, err
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

// shows reports whether what was shown is of the token. An unknown token is the
// zero Token: the work is the same, and nothing has a hash of zeros.
func (c credential) shows(t ledger.Token) bool {
	return subtle.ConstantTimeCompare(c.hash[:], t.Hash[:]) == 1
}

// What is remembered of a credential.
const (
	unknown = iota // nothing that still counts: the caller must look it up, and nobody else does meanwhile
	known          // that it holds
	aging          // the same, and the caller must look again, so that it never runs out under load
)

// remembered returns the token that was shown, or CodeUnauthorized for what does
// not hold, if that was read at most tokenLife ago.
func (i *identities) remembered(ctx context.Context, shown credential) (t ledger.Token, standing int, err error) {
	patience, cancel := ctx, func() {}
	defer func() { cancel() }()
	for {
		t, standing, ahead, err := i.recall(shown)
		if err != nil || ahead == nil {
			return t, standing, err
		}
		if patience == ctx {
			patience, cancel = ledger.Patience(ctx)
		}
		select {
		case <-ahead:
		case <-patience.Done():
			return t, unknown, &refusal{code: CodeUnavailable, cause: errors.New("waiting for the look-up of a token")}
		}
	}
}

// recall is remembered without its wait: for ahead, if somebody looks the id up.
func (i *identities) recall(shown credential) (t ledger.Token, standing int, ahead <-chan struct{}, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	if c := i.cache[shown.tokenKey]; c != nil && recent(c.read, now) && shown.shows(c.token) {
		if c.refreshing || now.Sub(c.read) < tokenLife/2 {
			return c.token, known, nil, nil
		}
		c.refreshing = true
		return c.token, aging, nil, nil
	}
	if since, ok := i.refused.get(shown); ok && recent(since, now) {
		return t, unknown, nil, refuse(CodeUnauthorized)
	}
	if ahead, ok := i.asking[shown.tokenKey]; ok {
		return t, unknown, ahead, nil
	}
	i.asking[shown.tokenKey] = make(chan struct{})
	return t, unknown, nil, nil
}

// lookup asks the store for what is not remembered. That counts against the
// address that it came from, but for a token that this daemon has seen.
func (i *identities) lookup(ctx context.Context, l *served, from netip.Prefix, shown credential) (ledger.Token, error) {
	defer func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		close(i.asking[shown.tokenKey])
		delete(i.asking, shown.tokenKey)
	}()
	if !i.seen(shown) && !i.rates.allow(from, i.now()) {
		return ledger.Token{}, refuse(CodeRateLimited)
	}
	return i.ask(ctx, l, shown)
}

// seen reports whether the credential held when its token was read last.
func (i *identities) seen(shown credential) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.cache[shown.tokenKey]
	return c != nil && shown.shows(c.token)
}

// counting returns the token that was shown, if it was read at most tokenLife ago.
func (i *identities) counting(shown credential) (t ledger.Token, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.cache[shown.tokenKey]
	if c == nil || !shown.shows(c.token) || !recent(c.read, i.now()) {
		return t, false
	}
	return c.token, true
}

// recent reports whether what was read then may be believed now. A clock that went
// back makes nothing last longer.
func recent(read, now time.Time) bool {
	age := now.Sub(read)
	return age >= 0 && age < tokenLife
}

// refresh asks the store again for a token that still counts. Where the store is
// away, it goes on counting until it runs out, which may have been meanwhile.
func (i *identities) refresh(ctx context.Context, l *served, shown credential) (ledger.Token, error) {
	token, err := i.ask(ctx, l, shown)
	var r *refusal
	if errors.As(err, &r) && r.code == CodeUnavailable {
		if old, ok := i.counting(shown); ok {
			return old, nil
		}
	}
	return token, err
}

// ask asks the store for the token that was shown, and remembers what it said. In
// doubt about a token, nobody gets in.
func (i *identities) ask(ctx context.Context, l *served, shown credential) (ledger.Token, error) {
	now := i.now()
	token, err := l.Tokens.Token(ctx, l.id, shown.token)
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case err == nil:
		i.cache[shown.tokenKey] = &cachedToken{token: token, read: now}
	case errors.Is(err, ledger.ErrNotFound):
		delete(i.cache, shown.tokenKey)
	default:
		return ledger.Token{}, &refusal{code: CodeUnavailable, cause: err}
	}
	if !shown.shows(token) || err != nil {
		i.refused.put(shown, now)
		return ledger.Token{}, refuse(CodeUnauthorized)
	}
	return token, nil
}
