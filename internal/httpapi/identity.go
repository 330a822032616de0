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
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// caller is who makes a request. The zero caller has shown no credential.
type caller struct {
	actor  audit.Actor
	role   audit.Role
	tables []string // that the credential is for; nil for all
}

func (c caller) known() bool { return c.actor.Credential != "" }

type tokenKey struct {
	ledger ledger.ID
	token  string
}

// presents reports whether the request comes with any credential.
func presents(r *http.Request) bool {
	return len(r.Header.Values("Authorization")) > 0 || certificates(r) != nil
}

// identify returns the caller by the token of the request or, if it has none, by the client certificate of the
// connection. Without a credential it returns the zero caller. A credential that is malformed, unknown, wrong, expired
// or revoked is refused. Only a caller that shows the secret is told that the credential expired.
func (s *Server) identify(ctx context.Context, l *served, r *http.Request) (caller, error) {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		id, secret, ok := parseCredential(values)
		if !ok {
			return caller{}, unauthorized("the header Authorization is not one \"Bearer tok_ID.SECRET\"")
		}
		return s.check(ctx, l, remote(r), id, sha256.Sum256([]byte(secret)))
	}
	chains := certificates(r)
	if chains == nil {
		return caller{}, nil
	}
	if !valid(chains, s.cfg.Now()) {
		return caller{}, unauthorized("the client certificate is not valid yet, or has expired")
	}
	id, hash := ledger.CertificateID(chains[0][0].RawSubjectPublicKeyInfo)
	return s.check(ctx, l, remote(r), id, hash)
}

// stillIs reports whether the credential still gives what it gave when the stream began.
func (s *Server) stillIs(ctx context.Context, c *call) bool {
	now, err := s.identify(ctx, c.ledger, c.r)
	return err == nil && now.role == c.caller.role && now.actor == c.caller.actor
}

// certificates returns the chains by which the client's certificate was verified, nil without a certificate.
func certificates(r *http.Request) [][]*x509.Certificate {
	if r.TLS == nil {
		return nil
	}
	return r.TLS.VerifiedChains
}

// valid reports whether in one of the chains all certificates are in their time now: a
// connection may outlive the certificate that it was opened with.
func valid(chains [][]*x509.Certificate, now time.Time) bool {
	return slices.ContainsFunc(chains, func(chain []*x509.Certificate) bool {
		return !slices.ContainsFunc(chain, func(c *x509.Certificate) bool {
			return now.Before(c.NotBefore) || now.After(c.NotAfter)
		})
	})
}

// check returns the caller with the credential id, whose secret has the hash. Another daemon
// may have created an id that memory does not know a moment ago, so the store is asked. That
// counts against the caller's address, as does any credential that does not hold.
func (s *Server) check(ctx context.Context, l *served, from netip.Prefix, id string, hash [32]byte) (caller, error) {
	c, err := l.Log.Credential(ctx, id, false)
	holds := err == nil && opens(c, hash)
	if !holds && !errors.Is(err, ledger.ErrUnavailable) {
		if !s.unknownRates.allow(from, s.cfg.Now()) {
			return caller{}, refuse(CodeRateLimited)
		}
		if errors.Is(err, ledger.ErrNotFound) {
			c, err = l.Log.Credential(ctx, id, true)
			holds = err == nil && opens(c, hash)
		}
	}
	switch {
	case holds && c.Expires != 0 && s.cfg.Now().UnixMilli() >= c.Expires:
		return caller{}, unauthorized("the credential " + id + " expired at " + audit.Instant(c.Expires))
	case holds:
		return caller{audit.Actor{Identity: c.Identity, Credential: c.ID}, c.Role, c.Tables}, nil
	case err == nil || errors.Is(err, ledger.ErrNotFound):
		return caller{}, unauthorized("the credential " + id + " is not known to ledger " + l.Log.Info().Name +
			", was revoked, or has another secret")
	case errors.Is(err, ledger.ErrOverloaded):
		return caller{}, err
	}
	return caller{}, &refusal{code: CodeUnavailable, cause: err} // in doubt the caller is refused
}

func unauthorized(why string) error { return &refusal{code: CodeUnauthorized, detail: why} }

// opens reports whether the hash of what was shown opens the credential (docs/SPEC.md section 5.10).
func opens(c audit.Credential, hash [32]byte) bool {
	digest := c.Opens(hash)
	return subtle.ConstantTimeCompare(digest[:], c.Digest[:]) == 1
}

// parseCredential splits "Bearer tok_<id>.<secret>" into the public id, which is all before the dot, and the secret.
// The id of a certificate is no token: what it hashes is public.
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
