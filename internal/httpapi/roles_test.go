package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit/openings"
	"shuffled/internal/config"
	"shuffled/internal/keys"
)

// TestReaders: of a shuffle that was closed for auditors, auditors and regulators
// see the dealt cards, the dealer what it dealt, and an admin what everybody does.
func TestReaders(t *testing.T) {
	t.Parallel()
	auditor, err := keys.GenerateAuditor()
	must(t, err)
	s := newStack(t, stackOptions{auditor: auditor.Public()})
	shuffle := read[Shuffle](t, s.post("/v1/main/shuffles", "k",
		`{"table":"a","deck":"standard-52","disclosure":"auditor"}`))
	path := fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID)
	read[Deal](t, s.post(path+"/deal", "", twoHands)) // four cards hidden, a burn, three public
	cards := func(token string) int {
		t.Helper()
		file, err := openings.ParseTranscript(s.get(path+"/transcript", token).body)
		must(t, err)
		return len(file.Cards)
	}
	see := func(when string, want map[string]int) {
		t.Helper()
		for role, n := range want {
			token := map[string]string{"auditor": s.auditorToken, "regulator": s.regulatorToken, "admin": s.adminToken,
				"dealer": s.dealerToken}[role]
			if got := cards(token); got != n {
				t.Errorf("%s %q sees %d cards, not %d", when, role, got, n)
			}
		}
	}
	see("open:", map[string]int{"": 3, "admin": 3, "auditor": 3, "regulator": 3, "dealer": 7})
	read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	see("closed:", map[string]int{"": 3, "admin": 3, "auditor": 8, "regulator": 8, "dealer": 7})
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

// TestPrices: each route of the contract has one price, and no other route has any. A route without one is not served.
func TestPrices(t *testing.T) {
	t.Parallel()
	priced := map[string]int{}
	for _, p := range prices {
		for _, name := range p.routes {
			priced[name]++
			if of := strings.Contains(name, "/{ledger}/"); of != (p.place != noPlace) {
				t.Errorf("%s has the place %d", name, p.place)
			}
			if reads := strings.HasPrefix(name, "GET "); !reads && p.place > workPlace {
				t.Errorf("%s writes, and takes a place of readers", name)
			}
		}
	}
	doc := loadContract(t)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			if want := !slices.Contains(op.Tags, "operator"); want && priced[name] != 1 {
				t.Errorf("%s has %d prices", name, priced[name])
			} else if want {
				delete(priced, name)
			}
		}
	}
	if len(priced) > 0 {
		t.Errorf("no routes of the contract: %v", slices.Sorted(maps.Keys(priced)))
	}
}

// TestStrangersPay: each request of a stranger that reads the store, even if it is refused, counts against the rate of
// its address.
func TestStrangersPay(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{ReadRate: 1, ReadBurst: 1}})
	tried := 0
	for _, p := range prices {
		for _, name := range p.routes {
			method, path, _ := strings.Cut(name, " ")
			path = strings.NewReplacer("{ledger}", "main", "{id}", "1", "{index}", "0", "{hash}", "00").Replace(path)
			if p.rate != readRate || method != http.MethodGet {
				continue
			}
			tried++
			s.clock.add(time.Minute)
			s.get(path, "")
			s.get(path, "").want(t, CodeRateLimited, "")
		}
	}
	if tried < 10 {
		t.Fatalf("%d routes were tried", tried)
	}
}
