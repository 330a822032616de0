package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/config"
)

// TestConcurrencyLimit holds requests open until all places are taken and one request waits. It wants the next of that
// ledger to be refused at once, and what needs no ledger, and the operator's listener, to go on.
func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	const most, waiting = 3, 1
	s := newStack(t, stackOptions{limits: config.Limits{Concurrency: 2 * most, Waiting: waiting}})
	release := make(chan struct{})
	done := make(chan int, most+waiting)
	for range most + waiting {
		body, hold := io.Pipe()
		go func() {
			io.WriteString(hold, `{"outcome"`)
			<-release
			io.WriteString(hold, `:"completed"}`)
			hold.Close()
		}()
		go func() {
			a := ask{method: "POST", path: "/v1/main/shuffles/99/close", token: s.dealerToken, body: body}
			resp, err := http.DefaultClient.Do(a.request(t, s.url))
			if err != nil {
				t.Error(err)
				done <- 0
				return
			}
			resp.Body.Close()
			done <- resp.StatusCode
		}()
	}
	for s.api.working.waiting(queueKey{s.ledger.ID(), false}) < waiting {
		if len(done) > 0 {
			t.Fatal("a request was not held")
		}
		time.Sleep(time.Millisecond) // until they are in; no test of time
	}
	s.get("/v1/main/keys", s.auditorToken).want(t, CodeOverloaded, "")
	s.get("/v1/main/keys", s.adminToken).want(t, CodeOverloaded, "")
	s.get("/v1/other/keys", "").want(t, CodeNoSuchLedger, "")
	if got := s.get("/", ""); got.status != 200 {
		t.Errorf("a page while full: %d", got.status)
	}
	if got := operator(t, s, "/readyz"); got.status != 200 {
		t.Errorf("readiness while full: %d", got.status)
	}
	// A request that was answered a moment ago may still be counted.
	waitForFigures(t, s, `shuffled_ledger_waiting{ledger="main"} 1`,
		`shuffled_http_refused_total{ledger="main",reason="queue"} 2`,
		"shuffled_http_requests_in_flight 4")
	close(release)
	for range most + waiting {
		if status := <-done; status != http.StatusNotFound {
			t.Errorf("a request that was held: %d", status)
		}
	}
	if got := s.get("/v1/main/keys", ""); got.status != 200 {
		t.Errorf("after that: %d", got.status)
	}
}

// TestReadRate: anonymous reads that cost are counted under their address; keys,
// the log and anyone who is known are not.
func TestReadRate(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{ReadRate: 1, ReadBurst: 4}})
	_, path := s.commit("t", "k")
	costly := []string{path, path + "/transcript", "/v1/main/entries/0/receipt"}
	for _, p := range append(costly, "/v1/main/shuffles/999") {
		if got := s.get(p, ""); got.status == 429 {
			t.Errorf("%s within the burst: %d", p, got.status)
		}
	}
	for _, p := range costly {
		s.get(p, "").want(t, CodeRateLimited, "")
		if got := s.get(p, s.dealerToken); got.status != 200 {
			t.Errorf("%s with a token: %d", p, got.status)
		}
	}
	for _, p := range []string{"/v1/main/keys", "/log/main/checkpoint", "/log/main/tile/0/000.p/2", "/",
		"/openapi.yaml"} {
		if got := s.get(p, ""); got.status != 200 {
			t.Errorf("%s: %d", p, got.status)
		}
	}
	if figures := string(operator(t, s, "/metrics").body); !strings.Contains(figures,
		`shuffled_http_refused_total{ledger="main",reason="address_rate"} 3`) {
		t.Error("refusals are not counted")
	}
	s.clock.add(time.Second)
	if a, b := s.get(path, "").status, s.get(path, "").status; a != 200 || b != 429 {
		t.Errorf("a second gives one more read: %d, %d", a, b)
	}
}

func TestTokenRate(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{TokenRate: 1, TokenBurst: 3}})
	status := func(token string) int { return s.get("/v1/main/keys", token).status }
	for range 3 {
		if got := status(s.dealerToken); got != 200 {
			t.Errorf("within the burst: %d", got)
		}
	}
	s.get("/v1/main/keys", s.dealerToken).want(t, CodeRateLimited, "")
	if status(s.auditorToken) != 200 || status("") != 200 {
		t.Error("one token's rate counts for others")
	}
	s.clock.add(time.Second)
	if status(s.dealerToken) != 200 || status(s.dealerToken) != 429 {
		t.Error("a second gives one more request")
	}
}

func TestVerifyRate(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{VerifyRate: 1, VerifyBurst: 2, MaxVerifyBody: 1000}})
	verify := func(body string) answer { return s.do(ask{method: "POST", path: "/v1/verify", body: body}) }
	verify(strings.Repeat(" ", 1001)).want(t, CodeBodyTooLarge, "") // not counted
	for range 2 {
		if got := verify("{}"); got.status != 200 {
			t.Errorf("within the burst: %d", got.status)
		}
	}
	verify("{}").want(t, CodeRateLimited, "")
	s.clock.add(time.Second)
	if verify("{}").status != 200 {
		t.Error("a second gives one more")
	}
}

func TestVerifyingLimit(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Verifications: 1}})
	s.api.verifying.TryAcquire(1)
	s.do(ask{method: "POST", path: "/v1/verify", body: "{}"}).want(t, CodeOverloaded, "")
	s.api.verifying.Release(1)
	s.do(ask{method: "POST", path: "/v1/verify", body: "{}",
		header: http.Header{"Content-Type": {"text/html"}}}).want(t, CodeUnsupportedMediaType, "Content-Type")
	if got := s.do(ask{method: "POST", path: "/v1/verify", body: "{}"}); got.status != 200 {
		t.Errorf("%d", got.status)
	}
}

// TestSlowEvidence: anyone who begins to send evidence as often as it can, and goes on
// with none of it, keeps nobody else from a verdict.
func TestSlowEvidence(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Verifications: 1}})
	var slow sync.WaitGroup
	var stop []func() error
	refused := 0
	for refused == 0 {
		body, hold := io.Pipe()
		r := httptest.NewRequest(http.MethodPost, "/v1/verify", body)
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = "192.0.2.1:1"
		w, over := httptest.NewRecorder(), make(chan struct{})
		slow.Go(func() { defer close(over); s.api.ServeHTTP(w, r) })
		sent := make(chan struct{})
		go func() { defer close(sent); io.WriteString(hold, "{") }()
		select {
		case <-sent: // it is being read
			stop = append(stop, hold.Close)
		case <-over:
			body.Close()
			<-sent
			refused = w.Code
		}
	}
	if got := s.do(ask{method: "POST", path: "/v1/verify", body: "{}"}); refused != http.StatusServiceUnavailable ||
		got.status != http.StatusOK {
		t.Errorf("after %d and %d: %d", len(stop), refused, got.status)
	}
	for _, end := range stop {
		end()
	}
	slow.Wait()
}

func TestRatesForget(t *testing.T) {
	t.Parallel()
	r := newRates[int](1, 1)
	now := time.Now()
	for key := range 5 * maxRemembered {
		if !r.allow(key, now) {
			t.Fatalf("key %d has no burst", key)
		}
		if n := r.buckets.Len(); n > maxRemembered {
			t.Fatalf("%d keys are kept", n)
		}
	}
	last := 5*maxRemembered - 1
	if r.allow(last, now) {
		t.Error("the newest key is forgotten")
	}
	if !(*rates[int])(nil).allow(1, now) || newRates[int](0, 5) != nil {
		t.Error("no rate is no limit")
	}
}

// TestRatesOfNewKeys: requests that come together with a new key have one bucket.
func TestRatesOfNewKeys(t *testing.T) {
	t.Parallel()
	r := newRates[int](1, 1)
	now := time.Now()
	for key := range 2000 {
		var allowed atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if r.allow(key, now) {
					allowed.Add(1)
				}
			})
		}
		all.Wait()
		if n := allowed.Load(); n != 1 {
			t.Fatalf("key %d: %d requests of a burst of 1", key, n)
		}
	}
}

func TestRemote(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"192.0.2.7:80":              "192.0.2.7/32",
		"[::ffff:192.0.2.7]:80":     "192.0.2.7/32",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":         "fe80::/64",
	} {
		if got := remote(&http.Request{RemoteAddr: addr}); got.String() != want {
			t.Errorf("%s counts as %s", addr, got)
		}
	}
	if got := remote(&http.Request{RemoteAddr: "@"}); got != (netip.Prefix{}) {
		t.Errorf("no address counts as %s", got)
	}
}

// TestServerLimits talks HTTP by hand.
func TestServerLimits(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{ReadHeaderTimeout: config.Duration(100 * time.Millisecond),
		ReadTimeout: config.Duration(300 * time.Millisecond)}})
	say := func(text string) string {
		t.Helper()
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		must(t, err)
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		io.WriteString(conn, text)
		// net/http waits for us to close, or closes by itself; a reset loses nothing that was read before.
		answer, _ := io.ReadAll(bufio.NewReader(conn))
		return string(answer)
	}
	head := "POST /v1/main/shuffles/99/close HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + s.dealerToken + "\r\n"
	for name, c := range map[string]struct{ text, want string }{
		"slow header": {"GET / HTTP/1.1\r\nHost: x\r\n", ""},
		"slow body":   {head + "Content-Length: 30\r\n\r\n{", `"code":"request_timeout"`},
		"slow chunks": {head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", `"code":"request_timeout"`},
		"header flood": {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
			"HTTP/1.1 431 "},
		"many headers": {"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 10_000) + "\r\n",
			"HTTP/1.1 431 "},
		"body said too large": {head + "Content-Length: 99999999\r\n\r\n", `"code":"body_too_large"`},
		"two lengths":         {head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "HTTP/1.1 400 "},
		"length and chunks":   {head + "Content-Length: 2\r\nTransfer-Encoding: gzip\r\n\r\n{}", "HTTP/1.1 501 "},
		"unknown expectation": {head + "Expect: miracle\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 417 "},
		"not HTTP":            {"\x16\x03\x01\x00\x00\r\n\r\n", "HTTP/1.1 400 "},
	} {
		got := say(c.text)
		if c.want == "" && got != "" && !strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.300q", name, got)
		}
	}
	server := NewHTTPServer(s.api, s.api.cfg.Limits, s.api.cfg.Log)
	for name, d := range map[string]time.Duration{"header": server.ReadHeaderTimeout, "read": server.ReadTimeout,
		"write": server.WriteTimeout, "idle": server.IdleTimeout} {
		if d <= 0 {
			t.Errorf("no time limit: %s", name)
		}
	}
}

// TestSlowCallers keeps 500 connections half said and wants the others served.
func TestSlowCallers(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	for range 500 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		must(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/main/shuffles HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	}
	for i := range 20 {
		s.commit("t", fmt.Sprint(i))
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{RequestTimeout: config.Duration(time.Nanosecond)}})
	s.post("/v1/main/shuffles", "k", `{"table":"t","deck":"short-36"}`).want(t, CodeUnavailable,
		"") // the token could not be read
	s.get("/v1/main/shuffles/1", "").want(t, CodeUnavailable, "")
	if s.ledger.Live().Size != s.size {
		t.Error("an entry was written")
	}
	for method, want := range map[string]Code{"POST": CodeOutcomeUnknown, "GET": CodeUnavailable} {
		for _, err := range []error{context.Canceled, context.DeadlineExceeded} {
			if got := translate(method, fmt.Errorf("appending: %w", err)); got.code != want {
				t.Errorf("%s: %v becomes %s", method, err, got.code)
			}
		}
	}
}

// TestLogAndMetrics plants secrets in requests and looks for them where they must not be.
func TestLogAndMetrics(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("table-planted", "key-planted")
	deal := s.post(path+"/deal", "", twoHands)
	s.get(path+"/transcript?recipient=seat-1", s.dealerToken)
	s.get("/v1/main/shuffles/77777", s.wrong)
	s.get("/planted-path", "")
	s.do(ask{method: "PLANTED", path: "/v1/main/keys"})
	closed := read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))

	log, figures := s.log.String(), string(operator(t, s, "/metrics").body)
	_, secret, _ := strings.Cut(s.dealerToken, ".")
	_, wrong, _ := strings.Cut(s.wrong, ".")
	var tape bytes.Buffer
	fmt.Fprintf(&tape, "%x", closed.Tape[:16])
	for name, planted := range map[string]string{"secret": secret, "wrong secret": wrong, "key": "key-planted",
		"table": "table-planted",
		"path":  "planted-path", "method": "PLANTED", "recipient": "seat-1", "tape": tape.String(),
		"card salt": read[Deal](t, deal).Cards[0].Salt, "id": "77777"} {
		if strings.Contains(log, planted) || strings.Contains(figures, planted) {
			t.Errorf("the %s is in the log or the metrics", name)
		}
	}
	for _, want := range []string{`"msg":"request"`, `"route":"POST /v1/{ledger}/shuffles/{id}/deal"`, `"status":200`,
		s.dealerID, `"status":401`, `"route":""`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in the log", want)
		}
	}
	for _, want := range []string{
		`shuffled_http_requests_total{route="POST /v1/{ledger}/shuffles",status="200"} 1`,
		`shuffled_http_requests_total{route="none",status="404"} 1`,
		`shuffled_http_request_seconds_count{route="GET /v1/{ledger}/shuffles/{id}"} 1`,
		fmt.Sprintf(`shuffled_ledger_entries{ledger="main"} %d`, s.size+3),
		`shuffled_ledger_open_shuffles{ledger="main"} 0`,
		`shuffled_ledger_writable{ledger="main"} 1`,
		`shuffled_ledger_entropy_latched{ledger="main"} 0`,
		`shuffled_http_refused_total{ledger="main",reason="access_record"} 0`,
		`shuffled_ledger_queue{ledger="main"} 0`,
		`shuffled_ledger_newest_entry_timestamp_seconds{ledger="main"} 1`,
		`shuffled_build_info{go="go`, "go_goroutines", "process_open_fds",
	} {
		if !strings.Contains(figures, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}

// waitForFigures waits until the metrics hold all of these.
func waitForFigures(t *testing.T, s *stack, wanted ...string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		figures := string(operator(t, s, "/metrics").body)
		missing := slices.IndexFunc(wanted, func(want string) bool { return !strings.Contains(figures, want) })
		if missing < 0 {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("no %s in the metrics", wanted[missing])
		}
	}
}
