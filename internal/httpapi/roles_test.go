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

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

// A right is one operation and who may call it. The table is written out again
// here, apart from the contract.
type right struct {
	route string // method and path of the contract
	who   string // roles; "readers" where whoever may read may call it
	ask   func(s *stack, of work) ask
}

// work is what a request is about: a table and a shuffle of it.
type work struct{ table, path string }

// narrow: the operation is about the table, so that a token for others may not.
func (r right) narrow() bool {
	return strings.Contains(r.route, "{id}") || slices.Contains([]string{
		"POST /v1/{ledger}/shuffles", "POST /v1/{ledger}/draws", "POST /v1/{ledger}/tables", "GET /v1/{ledger}/shuffles",
	}, r.route)
}

func get(path string) func(*stack, work) ask {
	return func(_ *stack, of work) ask {
		return ask{method: "GET", path: strings.NewReplacer("PATH", of.path, "TABLE", of.table).Replace(path)}
	}
}

func post(path, body string) func(*stack, work) ask {
	return func(s *stack, of work) ask {
		replace := strings.NewReplacer("PATH", of.path, "TABLE", of.table).Replace
		return ask{method: "POST", path: replace(path), body: replace(body), key: fmt.Sprint("key-", s.api.number.Load())}
	}
}

var rights = []right{
	{"POST /v1/{ledger}/shuffles", "dealer", post("/v1/main/shuffles", `{"table":"TABLE","deck":"short-36"}`)},
	{"POST /v1/{ledger}/draws", "dealer", post("/v1/main/draws", `{"table":"TABLE","ranges":[6]}`)},
	{"POST /v1/{ledger}/shuffles/{id}/mix", "dealer", post("PATH/mix", `{"cut":1}`)},
	{"POST /v1/{ledger}/shuffles/{id}/deal", "dealer", post("PATH/deal", twoHands)},
	{"GET /v1/{ledger}/shuffles", "dealer auditor regulator", get("/v1/main/shuffles?table=TABLE")},
	{"GET /v1/{ledger}/shuffles/{id}", "readers", get("PATH")},
	{"GET /v1/{ledger}/shuffles/{id}/transcript", "readers", get("PATH/transcript")},
	{"GET /v1/{ledger}/shuffles/{id}/transcript", "dealer", get("PATH/transcript?recipient=seat-1")},
	{"GET /v1/{ledger}/entries/{index}/receipt", "readers", get("/v1/main/entries/0/receipt")},
	{"GET /v1/{ledger}/keys", "readers", get("/v1/main/keys")},
	{"GET /log/{ledger}/checkpoint", "readers", get("/log/main/checkpoint")},
	{"GET /log/{ledger}/tile/{tile}", "readers", get("/log/main/tile/0/000.p/1")},
	{"GET /v1/{ledger}/access", "regulator admin", get("/v1/main/access")},
	{"POST /v1/{ledger}/shuffles/{id}/close", "dealer", post("PATH/close", `{"outcome":"completed"}`)},
	{"POST /v1/{ledger}/latch", "admin", post("/v1/main/latch", `{"reason":"a test"}`)},
	{"POST /v1/{ledger}/keys", "admin", post("/v1/main/keys", `{"subject":"auditor"}`)},
	{"POST /v1/{ledger}/tables", "dealer admin", post("/v1/main/tables", `{"action":"close","table":"TABLE"}`)},
	{"GET /v1/{ledger}/switches", "admin auditor regulator", get("/v1/main/switches")},
	{"POST /v1/{ledger}/switches", "admin", post("/v1/main/switches", `{"action":"set","scope":"table","table":"TABLE","reason":"a test"}`)},
}

// TestRoles calls every route as everybody, for a table that the token may be
// for and for one that it is not for.
func TestRoles(t *testing.T) {
	t.Parallel()
	named := make(map[string]bool)
	for _, r := range rights {
		named[r.route] = true
	}
	for _, r := range routes(nil) {
		if route := r.method + " " + r.path; strings.Contains(r.path, "{ledger}") != named[route] {
			t.Errorf("%s is not in the table of rights, or needs none", route)
		}
	}
	for _, private := range []bool{false, true} {
		t.Run(fmt.Sprintf("private=%t", private), func(t *testing.T) {
			t.Parallel()
			s := newStack(t, stackOptions{private: private})
			tryRights(t, s, private)
			tryBadTokens(t, s)
		})
	}
}

func tryRights(t *testing.T, s *stack, private bool) {
	var works []work
	for _, table := range []string{"a", "z"} {
		_, path := s.commit(table, "k-"+table)
		works = append(works, work{table, path})
	}
	type party struct{ role, token, tables string }
	parties := []party{{role: "nobody"}}
	for _, role := range []ledger.Role{ledger.RoleDealer, ledger.RoleAuditor, ledger.RoleRegulator, ledger.RoleAdmin} {
		for _, tables := range [][]string{nil, {"a", "b"}} {
			_, bearer := s.putToken(role, func(t *ledger.Token) { t.Tables = tables })
			parties = append(parties, party{role.String(), bearer, strings.Join(tables, " ")})
		}
	}
	// Those who may come last: until then nothing is written.
	size := s.ledger.Live().Size
	for _, may := range []bool{false, true} {
		for _, r := range rights {
			for _, of := range works {
				for _, p := range parties {
					want, why := http.StatusOK, ""
					switch {
					case p.role == "nobody" && (private || r.who != "readers"):
						want = http.StatusUnauthorized
					case p.role == "nobody":
					case r.who != "readers" && !slices.Contains(strings.Fields(r.who), p.role):
						if want = http.StatusForbidden; p.tables == "" {
							why = "role"
						}
					case p.role == "admin" && p.tables != "":
						want, why = http.StatusForbidden, "for all tables"
					case p.tables != "" && of.table == "z" && r.narrow():
						want, why = http.StatusForbidden, "these tables only: a, b"
					}
					if (want == http.StatusOK) != may {
						continue
					}
					a := r.ask(s, of)
					a.token = p.token
					got := s.do(a)
					refused := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden
					if refused == may || !may && got.status != want || a.method == "GET" && may && got.status != http.StatusOK {
						t.Errorf("%s %s as %s for tables %q: %d %s", a.method, a.path, p.role, p.tables, got.status, cut(got.body))
					} else if why != "" && p.role != "admin" && !strings.Contains(value(got.problem(t).Detail), why) {
						t.Errorf("%s %s as %s for tables %q does not say %q: %s", a.method, a.path, p.role, p.tables, why, cut(got.body))
					}
					if public := strings.HasPrefix(got.header.Get("Cache-Control"), "public"); private && public {
						t.Errorf("%s %s as %s may be kept by everybody", a.method, a.path, p.role)
					}
				}
			}
		}
		if got := s.ledger.Live().Size; !may && got != size {
			t.Errorf("%d entries were written by those who may not", got-size)
		}
	}
	for _, a := range []ask{{method: "GET", path: "/"}, {method: "GET", path: "/openapi.yaml"}, {method: "POST", path: "/v1/verify", body: "{}"}} {
		if got := s.do(a); got.status != http.StatusOK {
			t.Errorf("%s %s: %d", a.method, a.path, got.status)
		}
	}
}

// tryBadTokens wants every credential that is sent to be checked, also where none
// is needed.
func tryBadTokens(t *testing.T, s *stack) {
	bad := map[string]string{
		"unknown": s.unknown, "wrong secret": s.wrong, "expired": s.expired, "revoked": s.revoked, "no dot": "tok_abc",
		"not ours": "abc.def", "empty secret": s.dealerID + ".", "of another ledger": otherToken(t),
	}
	for _, r := range rights {
		for name, token := range bad {
			a := r.ask(s, work{"a", "/v1/main/shuffles/2"})
			a.token = token
			if got := s.do(a); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %s with a token that is %s: %d", a.method, a.path, name, got.status)
			}
		}
	}
}

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
