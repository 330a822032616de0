package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/ledger"
)

// TestRoles calls every route as everybody. The table of who may is written out
// again here, apart from the contract.
func TestRoles(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		t.Run(fmt.Sprintf("private=%t", private), func(t *testing.T) {
			t.Parallel()
			s := newStack(t, stackOptions{private: private})
			tryRoles(t, s, private)
		})
	}
}

func tryRoles(t *testing.T, s *stack, private bool) {
	_, path := s.commit("t", "k")
	dealers := []ask{
		{method: "POST", path: "/v1/main/shuffles", key: "other", body: `{"table":"t2","deck":"short-36"}`},
		{method: "POST", path: path + "/deal", body: twoHands},
		{method: "POST", path: path + "/mix", body: `{}`},
		{method: "POST", path: "/v1/main/draws", key: "d", body: `{}`},
		{method: "GET", path: path + "/transcript?recipient=seat-1"},
		{method: "POST", path: path + "/close", body: `{"outcome":"completed"}`}, // last, for it ends the shuffle
	}
	readers := []ask{
		{method: "GET", path: path}, {method: "GET", path: path + "/transcript"}, {method: "GET", path: "/v1/main/entries/0/receipt"},
		{method: "GET", path: "/v1/main/keys"}, {method: "GET", path: "/log/main/checkpoint"}, {method: "GET", path: "/log/main/tile/0/000.p/1"},
		{method: "HEAD", path: path},
	}
	anybody := []ask{{method: "GET", path: "/"}, {method: "GET", path: "/openapi.yaml"}, {method: "POST", path: "/v1/verify", body: "{}"}}
	bad := map[string]string{
		"unknown": s.unknown, "wrong secret": s.wrong, "expired": s.expired, "revoked": s.revoked, "no dot": "tok_abc",
		"not ours": "abc.def", "empty secret": s.dealerID + ".", "of another ledger": otherToken(t),
	}
	good := map[string]string{"auditor": s.auditorToken, "admin": s.adminToken}

	size := s.ledger.Live().Size
	for _, a := range slices.Concat(dealers, readers) {
		for name, token := range bad {
			a.token = token
			if got := s.do(a); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %s with a token that is %s: %d", a.method, a.path, name, got.status)
			}
		}
	}
	for _, a := range dealers {
		if got := s.do(a); got.status != http.StatusUnauthorized {
			t.Errorf("%s %s as nobody: %d", a.method, a.path, got.status)
		}
		for name, token := range good {
			a.token = token
			if got := s.do(a); got.status != http.StatusForbidden {
				t.Errorf("%s %s as %s: %d", a.method, a.path, name, got.status)
			}
		}
	}
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written by those who may not", got-size)
	}
	for _, a := range readers {
		want := http.StatusOK
		if private {
			want = http.StatusUnauthorized
		}
		if got := s.do(a); got.status != want {
			t.Errorf("%s %s as nobody: %d", a.method, a.path, got.status)
		}
		for name, token := range map[string]string{"auditor": s.auditorToken, "admin": s.adminToken, "dealer": s.dealerToken} {
			a.token = token
			got := s.do(a)
			if got.status != http.StatusOK || private && strings.HasPrefix(got.header.Get("Cache-Control"), "public") {
				t.Errorf("%s %s as %s: %d %v", a.method, a.path, name, got.status, got.header)
			}
		}
	}
	for _, a := range anybody {
		if got := s.do(a); got.status != http.StatusOK {
			t.Errorf("%s %s: %d", a.method, a.path, got.status)
		}
	}
	for _, a := range dealers {
		a.token = s.dealerToken
		got := s.do(a)
		if got.status != http.StatusOK && got.status != http.StatusNotImplemented {
			t.Errorf("%s %s as dealer: %d %s", a.method, a.path, got.status, cut(got.body))
		}
	}
}

// otherToken is a dealer's token of another ledger.
func otherToken(t *testing.T) string { return newStack(t, stackOptions{}).dealerToken }

func TestAuthorizationHeader(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	for value, want := range map[string]int{
		"Bearer " + s.dealerToken:        200,
		"bearer " + s.dealerToken:        200, // RFC 9110 section 11.1: schemes in any case
		"Bearer  " + s.dealerToken:       401,
		"Bearer " + s.dealerToken + " x": 401,
		"Basic " + s.dealerToken:         401,
		s.dealerToken:                    401,
		"Bearer":                         401,
		"":                               401,
	} {
		got := s.do(ask{method: "GET", path: "/v1/main/keys", header: http.Header{"Authorization": {value}}})
		if got.status != want {
			t.Errorf("%q: %d", strings.ReplaceAll(value, s.dealerToken, "…"), got.status)
		}
	}
	twice := http.Header{"Authorization": {"Bearer " + s.dealerToken, "Bearer " + s.dealerToken}}
	if got := s.do(ask{method: "GET", path: "/v1/main/keys", header: twice}); got.status != 401 {
		t.Errorf("two headers: %d", got.status)
	}
}

// TestRevocation wants a token to be refused five seconds after it was revoked,
// whatever was remembered, and an expired one at once.
func TestRevocation(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	status := func(token string) int { return s.get("/v1/main/keys", token).status }
	if got := status(s.dealerToken); got != 200 {
		t.Fatalf("%d", got)
	}
	if err := s.store.RevokeToken(t.Context(), s.ledger.ID(), s.dealerID, 3); err != nil {
		t.Fatal(err)
	}
	s.clock.add(tokenLife)
	if got := status(s.dealerToken); got != 401 {
		t.Errorf("a revoked token: %d", got)
	}
}

// countingTokens counts look-ups and can be told to fail.
type countingTokens struct {
	Tokens
	asked int
	err   error
}

func (c *countingTokens) Token(ctx context.Context, id ledger.ID, token string) (ledger.Token, error) {
	c.asked++
	if c.err != nil {
		return ledger.Token{}, c.err
	}
	return c.Tokens.Token(ctx, id, token)
}

func TestTokenCache(t *testing.T) {
	t.Parallel()
	tokens := new(countingTokens)
	s := newStack(t, stackOptions{wrap: func(l Ledger) Ledger {
		tokens.Tokens = l.Tokens
		l.Tokens = tokens
		return l
	}})
	ask := func(token string, wantStatus, wantAsked int) {
		t.Helper()
		if got := s.get("/v1/main/keys", token); got.status != wantStatus || tokens.asked != wantAsked {
			t.Errorf("%d after %d look-ups, not %d after %d", got.status, tokens.asked, wantStatus, wantAsked)
		}
	}
	ask(s.dealerToken, 200, 1)
	ask(s.dealerToken, 200, 1) // remembered
	ask(s.wrong, 401, 1)       // the same token with another secret
	s.clock.add(tokenLife / 2)
	ask(s.dealerToken, 200, 2) // asked for again before it runs out
	ask(s.dealerToken, 200, 2)
	s.clock.add(tokenLife/2 - 1)
	ask(s.dealerToken, 200, 2)

	// With the store gone, what is remembered counts until it runs out; after
	// that nobody gets in.
	tokens.err = errors.New("connection refused")
	s.clock.add(1)
	ask(s.dealerToken, 200, 3) // the one that is sent to look
	s.clock.add(tokenLife/2 - 1)
	ask(s.dealerToken, 200, 3)
	s.clock.add(1)
	ask(s.dealerToken, 503, 4)
	ask(s.unknown, 503, 5)
	tokens.err = nil
	ask(s.dealerToken, 200, 6)
	ask(s.unknown, 401, 7)
	s.clock.add(-time.Hour) // a clock that goes back makes nothing last longer
	ask(s.dealerToken, 200, 8)
}
