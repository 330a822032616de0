package httpapi

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
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

// readShuffles counts the shuffles that are read.
type readShuffles struct {
	ledger.Store
	visible, durable atomic.Int32
}

func (r *readShuffles) ByShuffles(ctx context.Context, id ledger.ID, s ledger.Standing,
	shuffles ...uint64) ([][]ledger.Row, error) {
	of := map[ledger.Standing]*atomic.Int32{ledger.Visible: &r.visible, ledger.Durable: &r.durable}[s]
	of.Add(int32(len(shuffles)))
	return r.Store.ByShuffles(ctx, id, s, shuffles...)
}

// TestNarrowToken: a token for tables costs one small read for each shuffle, and none of its state, which nobody may be
// able to tell.
func TestNarrowToken(t *testing.T) {
	t.Parallel()
	reads := new(readShuffles)
	s := newStack(t, stackOptions{stored: func(of ledger.Store) ledger.Store { reads.Store = of; return reads }})
	_, ours := s.commit("a", "k1")
	_, theirs := s.commit("z", "k2")
	call := func(path, body string) answer {
		return s.do(ask{method: http.MethodPost, path: path, token: s.tableToken, body: body})
	}
	for range 3 {
		call(theirs+"/deal", twoHands).want(t, CodeForbidden, "")
		call("/v1/main/shuffles/999/deal", twoHands).want(t, CodeNotFound, "")
		call("/v1/main/shuffles/1/deal", twoHands).want(t, CodeNotFound, "") // an entry, but no commit
	}
	if n := reads.visible.Load(); n != 1+3+3 {
		t.Errorf("%d reads", n)
	}
	reads.durable.Store(0)
	read[Deal](t, call(ours+"/deal", twoHands)) // this daemon remembers the shuffle itself
	read[Close](t, call(ours+"/close", `{"outcome":"void","reason":"misdeal"}`))
	if n, m := reads.visible.Load(), reads.durable.Load(); n != 8 || m != 0 {
		t.Errorf("%d reads, and %d behind the barrier", n, m)
	}
}

// TestScopedRecipient: a recipient's file is a dealer's to ask for, and of another
// table a token for some tables is no dealer's.
func TestScopedRecipient(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	for table, want := range map[string]int{"a": http.StatusOK, "z": http.StatusForbidden} {
		_, path := s.commit(table, "k-"+table)
		read[Deal](t, s.post(path+"/deal", "", twoHands))
		if got := s.get(path+"/transcript?recipient=seat-1", s.tableToken); got.status != want {
			t.Errorf("table %s: %d: %s", table, got.status, cut(got.body))
		}
	}
}
