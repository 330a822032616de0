package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

// TestReaders: of a shuffle that was closed for auditors, auditors and regulators
// see the dealt cards, the dealer what it dealt, and an admin what everybody does.
func TestReaders(t *testing.T) {
	t.Parallel()
	auditor, err := keys.GenerateAuditor()
	if err != nil {
		t.Fatal(err)
	}
	s := newStack(t, stackOptions{auditor: auditor.Public()})
	shuffle := read[Shuffle](t, s.post("/v1/main/shuffles", "k", `{"table":"a","deck":"standard-52","disclosure":"auditor"}`))
	path := fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID)
	read[Deal](t, s.post(path+"/deal", "", twoHands)) // five cards hidden, three public
	cards := func(token string) int {
		t.Helper()
		file, err := audit.ParseTranscript(s.get(path+"/transcript", token).body)
		if err != nil {
			t.Fatal(err)
		}
		return len(file.Cards)
	}
	see := func(when string, want map[string]int) {
		t.Helper()
		for role, n := range want {
			token := map[string]string{"auditor": s.auditorToken, "regulator": s.regulatorToken, "admin": s.adminToken, "dealer": s.dealerToken}[role]
			if got := cards(token); got != n {
				t.Errorf("%s %q sees %d cards, not %d", when, role, got, n)
			}
		}
	}
	see("open:", map[string]int{"": 3, "admin": 3, "auditor": 3, "regulator": 3, "dealer": 8})
	read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	see("closed:", map[string]int{"": 3, "admin": 3, "auditor": 8, "regulator": 8, "dealer": 8})
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
	slow  func() // nil: at once
}

func (c *countingTokens) Token(ctx context.Context, id ledger.ID, token string) (ledger.Token, error) {
	c.asked++
	if c.slow != nil {
		c.slow()
	}
	if c.err != nil {
		return ledger.Token{}, c.err
	}
	return c.Tokens.Token(ctx, id, token)
}

// countedStack counts the look-ups of tokens.
func countedStack(t *testing.T, limits Limits) (*stack, *countingTokens) {
	tokens := new(countingTokens)
	return newStack(t, stackOptions{limits: limits, wrap: func(l Ledger) Ledger {
		tokens.Tokens = l.Tokens
		l.Tokens = tokens
		return l
	}}), tokens
}

// TestUnknownTokens: a credential that does not hold costs a look-up while its
// address has some left, and none while it is remembered. Nothing tells an id that
// is there from one that is not, and nobody who is known is any worse off.
func TestUnknownTokens(t *testing.T) {
	t.Parallel()
	s, tokens := countedStack(t, Limits{UnknownRate: 1, UnknownBurst: 6})
	status := func(token string) int { return s.get("/v1/main/keys", token).status }
	if status(s.dealerToken) != 200 {
		t.Fatal("a token that holds")
	}
	bogus := func() string {
		_, unknown := keys.NewToken()
		return string(unknown.Bytes())
	}
	wrong := func() string { // the secret of another
		_, secret, _ := strings.Cut(bogus(), ".")
		return s.dealerID + "." + secret
	}
	for range 4 {
		if got := [2]int{status(s.unknown), status(s.wrong)}; got != [2]int{401, 401} || tokens.asked != 3 {
			t.Errorf("%v after %d look-ups", got, tokens.asked)
		}
	}
	for range 3 {
		status(bogus())
	}
	for range 10 {
		if got := [2]int{status(bogus()), status(wrong())}; got != [2]int{429, 429} {
			t.Errorf("too many from one address: unknown %d, wrong %d", got[0], got[1])
		}
	}
	if status(s.dealerToken) != 200 || status(s.wrong) != 401 || tokens.asked != 6 {
		t.Errorf("after %d look-ups", tokens.asked)
	}
	s.get("/v1/main/keys", bogus()).want(t, CodeRateLimited, "")
	if !strings.Contains(string(operator(t, s, "/metrics").body), `shuffled_http_refused_total{ledger="main",reason="unknown_token"} 21`) {
		t.Error("refusals are not counted")
	}

	// A token that was seen before does not count, when it is forgotten, either.
	s.clock.add(tokenLife)
	s.api.identities.rates = newRates[netip.Prefix](1e-9, 1)
	if a, b, c := status(s.dealerToken), status(bogus()), status(bogus()); a != 200 || b != 401 || c != 429 {
		t.Errorf("seen %d, unknown %d and %d", a, b, c)
	}
}

// TestNewToken: a token that was made after it was refused holds within tokenLife.
func TestNewToken(t *testing.T) {
	t.Parallel()
	s, _ := countedStack(t, Limits{})
	_, secret, _ := keys.SplitToken(s.unknown)
	id, _, _ := strings.Cut(s.unknown, ".")
	if got := s.get("/v1/main/keys", s.unknown); got.status != 401 {
		t.Fatalf("%d", got.status)
	}
	if err := s.store.PutToken(t.Context(), s.ledger.ID(), ledger.Token{ID: id, Role: audit.RoleDealer, Hash: keys.HashToken(secret), Created: 1}); err != nil {
		t.Fatal(err)
	}
	s.clock.add(tokenLife)
	if got := s.get("/v1/main/keys", s.unknown); got.status != 200 {
		t.Errorf("%d", got.status)
	}
}

// slowTokens answers when it is told to.
type slowTokens struct {
	Tokens
	asked  atomic.Int32
	answer chan struct{}
}

func (s *slowTokens) Token(ctx context.Context, id ledger.ID, token string) (ledger.Token, error) {
	s.asked.Add(1)
	<-s.answer
	return s.Tokens.Token(ctx, id, token)
}

// TestTokenLookups: a crowd that comes with one token is one look-up.
func TestTokenLookups(t *testing.T) {
	t.Parallel()
	slow := &slowTokens{answer: make(chan struct{})}
	s := newStack(t, stackOptions{limits: Limits{UnknownRate: 1e-9, UnknownBurst: 1}, wrap: func(l Ledger) Ledger {
		slow.Tokens = l.Tokens
		l.Tokens = slow
		return l
	}})
	const crowd = 50
	done := make(chan int, crowd)
	for range crowd {
		go func() { done <- s.get("/v1/main/keys", s.dealerToken).status }()
	}
	for s.api.inFlight.Load() < crowd {
		time.Sleep(time.Millisecond) // until they are in; no test of time
	}
	close(slow.answer)
	for range crowd {
		if status := <-done; status != 200 {
			t.Errorf("%d", status)
		}
	}
	if n := slow.asked.Load(); n != 1 {
		t.Errorf("%d look-ups", n)
	}
}

// TestHangingStore: a store that says nothing for a while, and then that it is away,
// makes no token last longer.
func TestHangingStore(t *testing.T) {
	t.Parallel()
	s, tokens := countedStack(t, Limits{})
	status := func() int { return s.get("/v1/main/keys", s.dealerToken).status }
	if got := status(); got != 200 {
		t.Fatalf("%d", got)
	}
	s.clock.add(tokenLife / 2)
	tokens.err, tokens.slow = errors.New("connection reset"), func() { s.clock.add(tokenLife / 2) }
	if got := status(); got != 503 {
		t.Errorf("by what was read %v before: %d", tokenLife, got)
	}
}

func TestTokenCache(t *testing.T) {
	t.Parallel()
	s, tokens := countedStack(t, Limits{})
	ask := func(token string, wantStatus, wantAsked int) {
		t.Helper()
		if got := s.get("/v1/main/keys", token); got.status != wantStatus || tokens.asked != wantAsked {
			t.Errorf("%d after %d look-ups, not %d after %d", got.status, tokens.asked, wantStatus, wantAsked)
		}
	}
	ask(s.dealerToken, 200, 1)
	ask(s.dealerToken, 200, 1) // remembered
	ask(s.wrong, 401, 2)       // the same token with another secret
	ask(s.wrong, 401, 2)       // remembered, too
	s.clock.add(tokenLife / 2)
	ask(s.dealerToken, 200, 3) // asked for again before it runs out
	ask(s.dealerToken, 200, 3)
	s.clock.add(tokenLife/2 - 1)
	ask(s.dealerToken, 200, 3)

	// With the store gone, what is remembered counts until it runs out; after
	// that nobody gets in.
	tokens.err = errors.New("connection refused")
	s.clock.add(1)
	ask(s.dealerToken, 200, 4) // the one that is sent to look
	s.clock.add(tokenLife/2 - 1)
	ask(s.dealerToken, 200, 4)
	s.clock.add(1)
	ask(s.dealerToken, 503, 5)
	ask(s.unknown, 503, 6)
	tokens.err = nil
	ask(s.dealerToken, 200, 7)
	ask(s.unknown, 401, 8)
	s.clock.add(-time.Hour) // a clock that goes back makes nothing last longer
	ask(s.dealerToken, 200, 9)
}
