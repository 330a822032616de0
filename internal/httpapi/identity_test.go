package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/migrations"
)

// watchedStore counts the looks at the head, and can be away, slow, or back at an older state.
type watchedStore struct {
	ledger.Store
	looks atomic.Int32
	away  atomic.Bool
	older atomic.Pointer[ledger.Head]
	held  atomic.Pointer[chan struct{}]
}

func (w *watchedStore) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	w.looks.Add(1)
	if held := w.held.Load(); held != nil {
		<-*held
	}
	if w.away.Load() {
		return ledger.Head{}, errors.New("connection refused")
	}
	if h := w.older.Load(); h != nil {
		return *h, nil
	}
	return w.Store.Head(ctx, id)
}

// watched is a stack that goes by its clock, with a store that is watched.
func watched(t *testing.T, o stackOptions) (*stack, *watchedStore) {
	t.Helper()
	w := new(watchedStore)
	o.byClock, o.stored = true, func(s ledger.Store) ledger.Store { w.Store = s; return w }
	return newStack(t, o), w
}

// another is a second daemon on the stack's ledger, with a clock and a watch of its own.
func (s *stack) another() (*stack, *watchedStore) {
	s.t.Helper()
	check := func(err error) {
		s.t.Helper()
		must(s.t, err)
	}
	b, w := *s, &watchedStore{Store: s.store}
	b.clock, b.store = &testClock{now: s.clock.Now()}, w
	b.cfg.Store, b.cfg.Mark = w, filepath.Join(s.t.TempDir(), "main.mark")
	mark, err := os.ReadFile(s.cfg.Mark)
	check(err)
	check(os.WriteFile(b.cfg.Mark, mark, 0o600))
	b.clock.opened(&b.cfg)
	b.ledger, err = sequencer.Open(s.t.Context(), b.cfg)
	check(err)
	s.t.Cleanup(func() { b.ledger.Close() })
	b.makeDealer()
	b.serve(stackOptions{})
	return &b, w
}

func (s *stack) status(bearer string) int {
	s.t.Helper()
	return s.get("/v1/main/keys", bearer).status
}

// TestCredentialOfAnotherDaemon: what one daemon creates opens at another at once, for one look at the store. What it
// revokes is refused there at once, and at the other within CredentialLife.
func TestCredentialOfAnotherDaemon(t *testing.T) {
	t.Parallel()
	a, _ := watched(t, stackOptions{})
	b, w := a.another()
	id, bearer := a.putToken(audit.RoleDealer, nil)
	w.looks.Store(0)
	for range 3 {
		if got := b.status(bearer); got != 200 || w.looks.Load() != 1 {
			t.Errorf("%d after %d looks at the store", got, w.looks.Load())
		}
	}
	read[Appended](t, a.admin("/v1/main/credentials",
		fmt.Sprintf(`{"action":"revoke","credential":%q,"reason":"left the house"}`, id)))
	if got := a.status(bearer); got != 401 {
		t.Errorf("where it was revoked: %d", got)
	}
	b.clock.add(ledger.CredentialLife)
	if got := b.status(bearer); got != 401 {
		t.Errorf("elsewhere after %v: %d", ledger.CredentialLife, got)
	}
	if got := b.status(b.dealerToken); got != 200 {
		t.Errorf("one that was not revoked: %d", got)
	}
}

// TestRevokedElsewhereWritesNothing: a revocation that has not reached a daemon yet
// stops the entries of its holder there.
func TestRevokedElsewhereWritesNothing(t *testing.T) {
	t.Parallel()
	a, _ := watched(t, stackOptions{})
	b, _ := a.another()
	a.write(revoke(a.dealerID))
	size := a.ledger.Live().Size
	got := b.post("/v1/main/shuffles", "k", `{"table":"t","deck":"short-36"}`)
	if got.want(t, CodeCredential, ""); !strings.Contains(value(got.problem(t).Detail), "was revoked") {
		t.Errorf("%s", got.body)
	}
	head, err := a.store.Head(t.Context(), a.ledger.ID())
	for row, err := range a.store.Rows(t.Context(), a.ledger.ID(), size, head.Size) {
		e, bad := audit.ParseEntry(row.Entry)
		if _, commit := e.Body.(*audit.Commit); err != nil || bad != nil || commit {
			t.Errorf("entry %d: %+v (%v, %v)", row.Index, e, err, bad)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// bogus is a token that nobody made.
func bogus() string {
	_, unknown := keys.NewToken()
	return string(unknown.Bytes())
}

// TestUnknownCredentials: a credential that does not hold counts against its address, and an unknown one costs one look
// at the store while the address has some left. Nothing tells an id that is there from one that is not, and nobody who
// is known is any worse off.
func TestUnknownCredentials(t *testing.T) {
	t.Parallel()
	s, w := watched(t, stackOptions{limits: config.Limits{UnknownRate: 1, UnknownBurst: 6}})
	wrong := func() string {
		_, secret, _ := strings.Cut(bogus(), ".")
		return s.dealerID + "." + secret
	}
	w.looks.Store(0)
	looks := func(want int32, when string) {
		t.Helper()
		if got := w.looks.Load(); got != want {
			t.Errorf("%s: %d looks at the store, not %d", when, got, want)
		}
	}
	var bodies []string
	for i := range int32(3) {
		unknown, stranger := s.get("/v1/main/keys", bogus()), s.get("/v1/main/keys", wrong())
		unknown.want(t, CodeUnauthorized, "")
		stranger.want(t, CodeUnauthorized, "")
		for _, got := range []answer{unknown, stranger} { // what it sent, it knows
			bodies = append(bodies, regexp.MustCompile(`tok_\w+ `).ReplaceAllString(string(got.body), ""))
		}
		looks(i+1, "within the burst")
	}
	for range 10 {
		s.get("/v1/main/keys", bogus()).want(t, CodeRateLimited, "")
		s.get("/v1/main/keys", wrong()).want(t, CodeRateLimited, "")
		s.get("/v1/main/keys", s.revoked).want(t, CodeRateLimited, "")
	}
	looks(3, "beyond the burst")
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("%s tells from %s", body, bodies[0])
		}
	}
	if got := [4]int{s.status(s.dealerToken), s.status(s.expired), s.status("nonsense"),
		s.status("")}; got != [4]int{200, 401, 401, 200} {
		t.Errorf("a token that holds, expired, malformed, none: %v", got)
	}
	if !strings.Contains(string(operator(t, s, "/metrics").body),
		`shuffled_http_refused_total{ledger="main",reason="unknown_token"} 30`) {
		t.Error("refusals are not counted")
	}
	elsewhere := httptest.NewRecorder()
	r := ask{method: http.MethodGet, path: "/v1/main/keys", token: bogus()}.request(t, "")
	r.RemoteAddr = "192.0.2.9:1"
	if s.api.ServeHTTP(elsewhere, r); elsewhere.Code != 401 {
		t.Errorf("from another address: %d", elsewhere.Code)
	}
	s.clock.add(time.Second)
	if a, b := s.status(bogus()), s.status(bogus()); a != 401 || b != 429 {
		t.Errorf("a second gives one more: %d, %d", a, b)
	}
}

// TestUnknownCrowd: strangers who come together share looks at the store.
func TestUnknownCrowd(t *testing.T) {
	t.Parallel()
	s, w := watched(t, stackOptions{})
	const crowd = 50
	held := make(chan struct{})
	w.held.Store(&held)
	w.looks.Store(0)
	var all sync.WaitGroup
	var answered atomic.Int32
	for range crowd {
		all.Go(func() {
			defer answered.Add(1)
			if got := s.status(bogus()); got != 401 {
				t.Errorf("%d", got)
			}
		})
	}
	for s.api.inFlight.Load() < crowd && answered.Load() == 0 {
		time.Sleep(time.Millisecond) // until they are in; no test of time
	}
	w.held.Store(nil)
	close(held)
	all.Wait()
	if n := w.looks.Load(); n == 0 || n > crowd/2 {
		t.Errorf("%d looks at the store", n)
	}
}

// TestExpires: a token ends when its entry says, on a ledger that reads nothing anew.
func TestExpires(t *testing.T) {
	t.Parallel()
	s, w := watched(t, stackOptions{})
	_, bearer := s.putToken(audit.RoleDealer,
		func(c *audit.Credential) { c.Expires = s.clock.Now().Add(time.Second).UnixMilli() })
	s.clock.add(999 * time.Millisecond)
	w.looks.Store(0)
	before := s.status(bearer)
	s.clock.add(time.Millisecond)
	if after := s.status(bearer); before != 200 || after != 401 || w.looks.Load() != 0 {
		t.Errorf("%d before and %d at its expiry, after %d looks", before, after, w.looks.Load())
	}
}

// TestStoreAway: without its store a daemon believes what it knows for CredentialLife,
// and then nobody. That it cannot tell counts against no address.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	s, w := watched(t, stackOptions{limits: config.Limits{UnknownRate: 1e-9, UnknownBurst: 3}})
	s.get("/v1/main/acts", s.adminToken) // memory is of now
	w.away.Store(true)
	s.clock.add(ledger.CredentialLife - time.Millisecond)
	if got := [2]int{s.status(s.dealerToken), s.status(s.revoked)}; got != [2]int{200, 503} {
		t.Errorf("within CredentialLife: known %d, revoked %d", got[0], got[1])
	}
	s.clock.add(time.Millisecond)
	for name, token := range map[string]string{"known": s.dealerToken, "unknown": s.unknown, "wrong": s.wrong,
		"revoked": s.revoked} {
		if got := s.get("/v1/main/keys", token); got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v", name, got.header)
		} else {
			got.want(t, CodeUnavailable, "")
		}
	}
	if got := s.status(""); got != 200 {
		t.Errorf("a reader without a token: %d", got)
	}
	w.away.Store(false)
	if got := [3]int{s.status(s.dealerToken), s.status(s.unknown), s.status(s.revoked)}; got != [3]int{200, 401, 401} {
		t.Errorf("with the store back: known %d, unknown %d, revoked %d", got[0], got[1], got[2])
	}
}

// TestFrozen: a ledger that stopped signing, for its store went back, is read with the credentials that it knew. None
// that was revoked opens anything, though the store's state is of before.
func TestFrozen(t *testing.T) {
	t.Parallel()
	s, w := watched(t, stackOptions{private: true})
	_, path := s.commit("t", "k")
	id, bearer := s.putToken(audit.RoleDealer, nil)
	old, err := w.Store.Head(t.Context(), s.ledger.ID())
	must(t, err)
	s.write(revoke(id))
	w.older.Store(&old)
	s.post("/v1/main/shuffles", "new", `{"table":"t","deck":"short-36"}`)
	if err := s.ledger.Refresh(t.Context()); !errors.Is(err, ledger.ErrFrozen) {
		t.Fatalf("the ledger is not frozen: %v", err)
	}
	for range 2 {
		if got := s.get(path, s.dealerToken); got.status != 200 {
			t.Errorf("a read: %d %s", got.status, got.body)
		}
		if got := [3]int{s.status(bearer), s.status(s.unknown), s.status("")}; got != [3]int{401, 401, 401} {
			t.Errorf("revoked %d, unknown %d, none %d", got[0], got[1], got[2])
		}
		s.post("/v1/main/shuffles", "k2", `{"table":"t","deck":"short-36"}`).want(t, CodeFrozen, "")
		read[CredentialList](t, s.get("/v1/main/credentials", s.adminToken))
		s.clock.add(10 * ledger.CredentialLife)
	}
}

// TestNoRowOpens: no table of either database holds what a caller shows, so that a row
// that somebody writes there makes nobody.
func TestNoRowOpens(t *testing.T) {
	t.Parallel()
	for _, text := range []string{migrations.Above("postgres", 0), migrations.Above("sqlite", 0)} {
		for _, word := range []string{"credential", "role", "secret", "identity", "certificate", "tokens"} {
			if regexp.MustCompile(`(?im)^[^-]*\b` + word + `\b`).MatchString(text) {
				t.Errorf("a migration speaks of %s", word)
			}
		}
		if !strings.Contains(text, "CREATE TABLE") {
			t.Errorf("no migration: %q", text)
		}
	}
}
