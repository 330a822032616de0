package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/config"
)

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
