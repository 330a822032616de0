package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/web"
)

// operator asks the operator's listener.
func operator(t testing.TB, s *stack, path string) answer {
	t.Helper()
	return through(t, s.api.Operator(), ask{method: "GET", path: path})
}

// through makes a request to a handler and holds the answer against the contract.
func through(t testing.TB, h http.Handler, a ask) answer {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, a.request(t, ""))
	body, err := io.ReadAll(w.Result().Body)
	must(t, err)
	got := answer{w.Code, w.Result().Header, body}
	checkContract(t, a, got)
	return got
}

// TestConsole: the operators' listener answers what its page reads, to who may read it on
// the public one, and records who did; and no other operation.
func TestConsole(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	if got := operator(t, s, "/console"); got.status != 200 || !bytes.Equal(got.body, web.Console) {
		t.Errorf("the page: %d", got.status)
	}
	ask := func(method, path, token string) answer {
		return through(t, s.api.Operator(), ask{method: method, path: path, token: token})
	}
	for _, path := range []string{"tables", "switches", "acts"} {
		path = "/v1/main/" + path
		if got := ask("GET", path, s.adminToken); got.status != 200 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		ask("GET", path, "").want(t, CodeUnauthorized, "")
	}
	if got := ask("GET", "/v1/main/shuffles?state=open", s.auditorToken); got.status != 200 {
		t.Errorf("shuffles: %d %s", got.status, got.body)
	}
	for path, method := range map[string]string{"/v1/main/shuffles": "POST", "/v1/main/keys": "GET",
		"/v1/main/shuffles/2": "GET", "/v1/main/credentials": "GET", "/log/main/checkpoint": "GET"} {
		if got := ask(method, path, s.adminToken); got.status != 404 {
			t.Errorf("%s %s: %d", method, path, got.status)
		}
	}
	list := read[AccessList](t, s.get("/v1/main/access", s.adminToken))
	if len(list.Records) != 4 { // three reads, and this one
		t.Errorf("%+v", list)
	}
}

func TestOperator(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	if got := operator(t, s, "/healthz"); got.status != 200 {
		t.Errorf("%d", got.status)
	}
	ready := read[Readiness](t, operator(t, s, "/readyz"))
	if !ready.Ready || len(ready.Ledgers) != 1 || ready.Ledgers[0].Name != "main" || ready.Ledgers[0].Size != s.size ||
		ready.Ledgers[0].Newest == 0 {
		t.Errorf("%+v", ready)
	}
	operator(t, s, "/v1/main/keys").want(t, CodeNoSuchRoute, "")
	operator(t, s, "/healthz/").want(t, CodeNoSuchRoute, "")
	got := through(t, s.api.Operator(), ask{method: "POST", path: "/healthz", body: "{}"})
	if got.want(t, CodeMethodNotAllowed, ""); got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("%v", got.header)
	}
	both := s.api.Combined()
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/v1/main/keys", "/"} {
		if got := through(t, both, ask{method: "GET", path: path}); got.status != 200 {
			t.Errorf("%s on the one listener: %d", path, got.status)
		}
	}
}

// TestOperatorHosts: the operators' listener answers under addresses, localhost and names that are configured, and
// under no name that somebody else can give it.
func TestOperatorHosts(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	s.api.cfg.OperatorHosts = []string{"ops.example.com", "Desk.Example.com"}
	for host, want := range map[string]int{
		"127.0.0.1:9090": 200, "[::1]:9090": 200, "::1": 200, "10.0.0.7": 200, "localhost:9090": 200, "localhost": 200,
		"ops.example.com": 200, "ops.example.com:9090": 200, "": 200, "desk.example.com": 200,
		"DESK.example.com:1": 200, "evil.example.com": 403,
		"evil.example.com:9090": 403, "ops.example.com.evil.example.com": 403,
		"127.0.0.1.evil.example.com": 403, "localhost.evil.example.com:9090": 403,
	} {
		for _, path := range []string{"/readyz", "/metrics", "/console", "/v1/main/tables"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			r.Header.Set("Authorization", "Bearer "+s.adminToken)
			w := httptest.NewRecorder()
			s.api.Operator().ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s of %q: %d %s", path, host, w.Code, cut(w.Body.Bytes()))
			}
		}
	}
}

// TestNotReady wants not_ready until the ledger is there and again when the daemon stops, and pages all the time.
func TestNotReady(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{notYet: true})
	pages := func() {
		t.Helper()
		for _, path := range []string{"/", "/openapi.yaml"} {
			if got := s.get(path, ""); got.status != 200 || len(got.body) < 500 {
				t.Errorf("%s: %d", path, got.status)
			}
		}
		if got := s.do(ask{method: "POST", path: "/v1/verify", body: "{}"}); got.status != 200 {
			t.Errorf("verify: %d", got.status)
		}
	}
	for _, path := range []string{"/v1/main/keys", "/log/main/checkpoint", "/v1/other/keys"} {
		s.get(path, "").want(t, CodeNotReady, "")
	}
	s.post("/v1/main/shuffles", "k", `{}`).want(t, CodeNotReady, "")
	pages()
	loading := operator(t, s, "/readyz")
	if loading.status != 503 || !strings.Contains(string(loading.body), `"reason":"loading"`) {
		t.Errorf("%d %s", loading.status, loading.body)
	}
	s.add(stackOptions{})
	if got := s.get("/v1/main/keys", ""); got.status != 200 {
		t.Errorf("%d", got.status)
	}
	s.get("/v1/other/keys", "").want(t, CodeNoSuchLedger, "")
	if s.api.Add(Ledger{Dealer: s.dealer, Log: s.ledger}) == nil {
		t.Error("a name was served twice")
	}
	s.api.Drain()
	s.get("/v1/main/keys", "").want(t, CodeNotReady, "")
	if got := operator(t, s, "/readyz"); got.status != 503 || operator(t, s, "/healthz").status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	pages()
}

// TestStopped wants reads to go on when the ledger takes no more entries.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("t", "k")
	must(t, s.ledger.Close())
	s.post("/v1/main/shuffles", "k2", `{"table":"t","deck":"short-36"}`).want(t, CodeNotReady, "")
	s.post(path+"/deal", "", twoHands).want(t, CodeNotReady, "")
	for _, read := range []string{path, path + "/transcript", fmt.Sprintf("/v1/main/entries/%d/receipt", s.size),
		"/log/main/checkpoint", "/log/main/tile/0/000.p/2"} {
		if got := s.get(read, ""); got.status != 200 {
			t.Errorf("%s: %d %s", read, got.status, cut(got.body))
		}
	}
	if got := s.post("/v1/main/shuffles", "k", `{"table":"t","deck":"standard-52"}`); got.status != 200 {
		t.Errorf("a repeated commit: %d", got.status) // it only reads
	}
}

// brokenRecall fails in ways that a real one fails in only when something is broken.
type brokenRecall struct {
	noRecall
	err   error
	panic any
}

func (b *brokenRecall) Find(context.Context, ledger.RecallQuery) (ledger.RecallPage, error) {
	if b.panic != nil {
		panic(b.panic)
	}
	return ledger.RecallPage{}, b.err
}

func TestFailures(t *testing.T) {
	t.Parallel()
	broken := new(brokenRecall)
	s := newStack(t, stackOptions{wrap: func(l Ledger) Ledger { l.Recall = broken; return l }})
	for _, c := range []struct {
		err  error
		code Code
	}{
		{errors.New("PLANTED in an error"), CodeInternal},
		{fmt.Errorf("PLANTED: %w", ledger.ErrFrozen), CodeFrozen},
		{fmt.Errorf("PLANTED: %w", ledger.ErrClock), CodeClock},
		{fmt.Errorf("PLANTED: %w", ledger.ErrOverloaded), CodeOverloaded},
		{fmt.Errorf("PLANTED: %w", ledger.ErrUnknownOutcome), CodeOutcomeUnknown},
		{fmt.Errorf("PLANTED: %w", ledger.ErrUnavailable), CodeUnavailable},
		{fmt.Errorf("PLANTED: %w", api.ErrEntropy), CodeLatch},
		{fmt.Errorf("PLANTED: %w", api.ErrSealed), CodeSealed},
	} {
		broken.err = c.err
		got := s.get("/v1/main/shuffles", s.auditorToken)
		if got.want(t, c.code, ""); strings.Contains(string(got.body), "PLANTED") {
			t.Errorf("%s shows its cause", c.code)
		}
		id := got.header.Get("Request-Id")
		if !strings.Contains(s.log.String(),
			fmt.Sprintf(`"request":%q,"route":"GET /v1/{ledger}/shuffles","code":%q,"error":"PLANTED`, id,
				c.code)) {
			t.Errorf("the cause of %s is not in the log under %s", c.code, id)
		}
	}
	broken.panic = "SECRET in a panic"
	got := s.get("/v1/main/shuffles", s.auditorToken)
	if got.want(t, CodeInternal, ""); strings.Contains(string(got.body)+s.log.String(), "SECRET") ||
		!strings.Contains(s.log.String(), "request panicked") {
		t.Error("a panic shows its value, or is not logged")
	}
	if n := s.api.inFlight.Load(); n != 0 || s.api.working.free != s.api.cfg.Limits.Concurrency {
		t.Errorf("%d requests are still counted, %d places are free", n, s.api.working.free)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	home := s.get("/", "")
	if h := home.header; string(home.body) != string(web.Page) || h.Get("Content-Type") != "text/html; charset=utf-8" ||
		h.Get("Vary") != "Accept-Encoding" || h.Get("Content-Security-Policy") != web.Policy ||
		h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("%v\n%.200s", home.header, home.body)
	}
	if h := home.header; h.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
		!strings.HasPrefix(h.Get("Permissions-Policy"), "camera=(self), display-capture=()") ||
		h.Get("Cross-Origin-Opener-Policy") != "same-origin" || h.Get("Strict-Transport-Security") != "" {
		t.Errorf("the page over plain HTTP: %v", h)
	}
	for _, path := range []string{"/", "/errors", "/openapi.yaml"} {
		plain, tags := s.get(path, ""), []string{}
		for _, c := range []struct{ accept, coding string }{{"", ""}, {"br, gzip; q=0", ""},
			{"deflate, gzip", "gzip"}} {
			got := s.do(ask{method: "GET", path: path, header: http.Header{"Accept-Encoding": {c.accept}}})
			body := got.body
			if c.coding != "" {
				z, err := gzip.NewReader(bytes.NewReader(got.body))
				if err == nil {
					body, err = io.ReadAll(z)
				}
				if err != nil || len(got.body) >= len(body) {
					t.Errorf("%s, for %q: %d bytes, %v", path, c.accept, len(got.body), err)
				}
			}
			if got.header.Get("Content-Encoding") != c.coding || !bytes.Equal(body, plain.body) {
				t.Errorf("%s, for %q: %v", path, c.accept, got.header)
			}
			tags = append(tags, got.header.Get("ETag"))
			same := s.do(ask{method: "GET", path: path, header: http.Header{"If-None-Match": {tags[len(tags)-1]},
				"Accept-Encoding": {c.accept}}})
			if same.status != 304 || len(same.body) != 0 || same.header.Get("ETag") != tags[len(tags)-1] {
				t.Errorf("%s, which the browser has: %d, %v", path, same.status, same.header)
			}
		}
		if tags[0] != tags[1] || tags[0] == tags[2] || len(tags[0]) < 20 {
			t.Errorf("%s: the tags are %q", path, tags)
		}
	}
	hand := read[Shuffle](t, s.post("/v1/main/shuffles", "k", `{"table":"t","deck":"standard-52"}`))
	for token, packed := range map[string]bool{"": true, s.dealerToken: false} { // gzip is always asked for
		a := ask{method: "GET", path: fmt.Sprintf("/v1/main/shuffles/%d/transcript", hand.ID), token: token}
		got, err := http.DefaultClient.Do(a.request(t, s.url))
		must(t, err)
		if got.Body.Close(); got.StatusCode != http.StatusOK || got.Uncompressed != packed {
			t.Errorf("a transcript for %q: %d, compressed %t", token, got.StatusCode, got.Uncompressed)
		}
	}
	if got := s.get("/openapi.yaml", ""); string(got.body) != string(contract) ||
		got.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%v", got.header)
	}
	if _, err := New(Config{}); err == nil {
		t.Error("an API without a log")
	}
}
