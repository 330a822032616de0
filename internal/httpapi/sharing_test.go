package httpapi

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSharing: pages of other servers may read what anyone may read of a ledger, and nothing else.
func TestSharing(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, shuffle := s.commit("t1", "hand-1")
	shared := func(method, path, token string, more http.Header) string {
		header := more.Clone()
		if header == nil {
			header = http.Header{}
		}
		header.Set("Origin", "https://regulator.example")
		return s.do(ask{method: method, path: path, token: token, header: header}).header.Get("Access-Control-Allow-Origin")
	}
	var open []string
	for _, rt := range routes(nil) {
		if rt.open() {
			open = append(open, rt.path)
		}
	}
	slices.Sort(open)
	want := []string{"/log/{ledger}/checkpoint", "/log/{ledger}/tile/entries/{tile}", "/log/{ledger}/tile/{tile}",
		"/v1/{ledger}/decks", "/v1/{ledger}/entries/{index}/receipt", "/v1/{ledger}/keys", "/v1/{ledger}/shuffles/{id}",
		"/v1/{ledger}/shuffles/{id}/transcript", "/v1/{ledger}/terms/{hash}"}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Errorf("what is shared (-want +got):\n%s", diff)
	}
	for _, path := range []string{shuffle + "/transcript", "/v1/main/shuffles/999/transcript", "/v1/main/keys",
		"/log/main/checkpoint"} {
		if got := shared("GET", path, "", nil); got != "*" {
			t.Errorf("GET %s: shared with %q", path, got)
		}
		if got := shared("GET", path, s.dealerToken, nil); got != "" {
			t.Errorf("GET %s with a token: shared with %q", path, got)
		}
		asked := http.Header{"Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"authorization"}}
		if got := shared("OPTIONS", path, "", asked); got != "" {
			t.Errorf("%s may be asked with a token, from %q", path, got)
		}
	}
	for _, path := range []string{"/", "/openapi.yaml", "/v1/main/shuffles", "/v1/main/access", "/v1/main/events",
		"/v1/main/credentials"} {
		if got := shared("GET", path, "", nil); got != "" {
			t.Errorf("GET %s: shared with %q", path, got)
		}
	}
	for _, path := range []string{"/v1/main/shuffles", "/v1/verify"} {
		if got := shared("POST", path, "", nil); got != "" {
			t.Errorf("POST %s: shared with %q", path, got)
		}
	}
}
