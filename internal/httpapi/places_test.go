package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/witness/witnesstest"
)

// TestConnectionLimit: one address has half of the connections, whatever it does
// with them. The next ones are closed, and a place that is given back is had again.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Connections: 8}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := NewHTTPServer(s.api, s.api.cfg.Limits, s.api.cfg.Log)
	done := make(chan error, 1)
	go func() { done <- server.Serve(s.api.Limit(l)) }()
	t.Cleanup(func() { server.Close(); <-done })
	dial := func(from string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := d.Dial("tcp", l.Addr().String())
		must(t, err)
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		return conn
	}
	ask := func(conn net.Conn) *http.Response {
		t.Helper()
		fmt.Fprintf(conn, "GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must(t, err)
		return resp
	}
	var held []net.Conn
	for i := range 4 {
		conn := dial("127.0.0.2")
		if resp := ask(conn); resp.StatusCode != http.StatusOK {
			t.Errorf("connection %d: %s", i, resp.Status)
		}
		held = append(held, conn)
	}
	for range 3 {
		if n, err := dial("127.0.0.2").Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("above the limit: %d bytes, %v", n, err)
		}
	}
	if resp := ask(dial("127.0.0.3")); resp.StatusCode != http.StatusOK {
		t.Errorf("another address: %s", resp.Status)
	}
	figures := string(operator(t, s, "/metrics").body)
	for _, want := range []string{"shuffled_http_connections 5", "shuffled_http_refused_connections_total 3"} {
		if !strings.Contains(figures, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	held[0].Close()
	for s.api.connections.inside(8) > 4 {
		time.Sleep(time.Millisecond) // until it is noticed; no test of time
	}
	if resp := ask(dial("127.0.0.2")); resp.StatusCode != http.StatusOK {
		t.Errorf("a place that was given back: %s", resp.Status)
	}
}

// TestStreams: what one address can leave unread over HTTP/2 fits in memory. Each
// answer that cannot be sent took 17.6 KB (a client with a window of 0).
func TestStreams(t *testing.T) {
	t.Parallel()
	l := config.Default().Limits
	streams := NewHTTPServer(nil, config.Limits{}, slog.New(slog.DiscardHandler)).HTTP2.MaxConcurrentStreams
	if stuck := streams * l.Connections / 2 * 17_600; streams < 1 || stuck > 1<<30 {
		t.Errorf("%d streams: %d bytes", streams, stuck)
	}
}

// listen serves the API behind its own listener, and returns its address.
func (s *stack) listen() string {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(s.t, err)
	server := NewHTTPServer(s.api, s.api.cfg.Limits, s.api.cfg.Log)
	done := make(chan error, 1)
	go func() { done <- server.Serve(s.api.Limit(l)) }()
	s.t.Cleanup(func() { server.Close(); <-done })
	return "http://" + l.Addr().String()
}

// TestRatesOfNewConnections: a rate belongs to an address or a token. A caller who opens
// a connection for each request, or several at once, has not one request more.
func TestRatesOfNewConnections(t *testing.T) {
	t.Parallel()
	const burst = 3
	s := newStack(t, stackOptions{limits: config.Limits{ReadRate: 1, ReadBurst: burst, VerifyRate: 1,
		VerifyBurst: burst, TokenRate: 1, TokenBurst: burst, UnknownRate: 1, UnknownBurst: burst}})
	url := s.listen()
	stranger := func() ask {
		_, secret := keys.NewToken()
		return ask{method: http.MethodGet, path: "/v1/main/keys", token: string(secret.Bytes())}
	}
	always := func(a ask) func() ask { return func() ask { return a } }
	for name, c := range map[string]struct {
		request func() ask
		within  int // the status of what is not too much
	}{
		"reads":         {always(ask{method: http.MethodGet, path: "/v1/main/entries/0/receipt"}), http.StatusOK},
		"verifications": {always(ask{method: http.MethodPost, path: "/v1/verify", body: "{}"}), http.StatusOK},
		"a token": {always(ask{method: http.MethodGet, path: "/v1/main/keys", token: s.auditorToken}),
			http.StatusOK},
		"unknown tokens": {stranger, http.StatusUnauthorized},
	} {
		if name == "a token" { // which is no stranger any more
			s.clock.add(time.Minute)
		}
		send := func(client *http.Client) int {
			t.Helper()
			resp, err := client.Do(c.request().request(t, url))
			must(t, err)
			defer resp.Body.Close()
			io.Copy(io.Discard, resp.Body)
			return resp.StatusCode
		}
		kept := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(kept.CloseIdleConnections)
		for i := range burst {
			if got := send(kept); got != c.within {
				t.Errorf("%s, request %d of the burst: %d", name, i, got)
			}
		}
		for i := range 2 * burst {
			once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			if got := send(once); got != http.StatusTooManyRequests {
				t.Errorf("%s, new connection %d: %d", name, i, got)
			}
		}
		if got := send(kept); got != http.StatusTooManyRequests {
			t.Errorf("%s, on the first connection again: %d", name, got)
		}
		s.clock.add(time.Second)
		if got := send(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}); got != c.within {
			t.Errorf("%s, a second later: %d", name, got)
		}
	}
}

// TestWitnessWait: deals that wait for witnesses keep nobody from work, however
// many of them there are, and are not more than their limit.
func TestWitnessWait(t *testing.T) {
	t.Parallel()
	var w *witnesstest.Witness
	s := newStack(t, stackOptions{limits: config.Limits{Concurrency: 2, Waiting: 1, Witnessed: 10},
		genesis: func(g *audit.Genesis) {
			vkey, err := audit.VKey(g.Origin, g.SigningKey)
			must(t, err)
			w = witnesstest.Start(t, vkey)
			g.Deals, g.Policy = audit.DealsCosigned, []byte(w.PolicyLine+"\nquorum "+w.Name+"\n")
		}})
	w.Down(true)
	const most = 5 // half of ten
	var paths []string
	for _, key := range []string{"0", "1", "2", "3", "4", "5"} {
		_, path := s.commit("t"+key, key)
		paths = append(paths, path)
	}
	deal := func(path string) answer {
		return s.do(ask{method: http.MethodPost, path: path + "/deal", token: s.dealerToken, body: twoHands})
	}
	done := make(chan answer, most)
	for i, path := range paths[:most] {
		go func() { done <- deal(path) }()
		for s.api.witnessed.inside(10) <= i { // one after the other: there are few places on the way
			runtime.Gosched()
		}
	}
	s.commit("t", "waiting")
	deal("/v1/main/shuffles/999").want(t, CodeNotFound, "")
	if got := deal(paths[most]); got.header.Get("Retry-After") == "" {
		t.Errorf("%v", got.header)
	} else {
		got.want(t, CodeOverloaded, "")
	}
	if !strings.Contains(string(operator(t, s, "/metrics").body),
		`shuffled_http_refused_total{ledger="main",reason="witnesses"} 1`) {
		t.Error("the refusal is not counted")
	}
	// Their places are few: who gets one after the other has it for a moment.
	s.api.cfg.Limits.Patience = config.Duration(time.Minute)
	s.api.working.most = most
	w.Down(false)
	for range most {
		if got := <-done; got.status != http.StatusOK {
			t.Errorf("%d: %s", got.status, got.body)
		}
	}
	if free := s.api.witnessed.free; free != 10 || s.api.working.free != 2 {
		t.Errorf("%d and %d places are free", free, s.api.working.free)
	}
}

// stuck is a caller who does not read what it asked for: that is not written before it does.
type stuck struct {
	*httptest.ResponseRecorder
	writing chan<- struct{}
	reads   <-chan struct{}
}

func (s stuck) Write(b []byte) (int, error) {
	if s.Code == http.StatusOK {
		s.writing <- struct{}{}
		<-s.reads
	}
	return s.ResponseRecorder.Write(b)
}

// TestStrangersDoNotRead: strangers who take every place that they can get, and do not read their answers, keep nobody
// who is known from work. Those of one address leave places to other strangers.
func TestStrangersDoNotRead(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Concurrency: 16,
		Patience: config.Duration(200 * time.Millisecond)}})
	writing, reads := make(chan struct{}), make(chan struct{})
	var strangers sync.WaitGroup
	// takes reports whether a stranger got a place.
	takes := func(from string) bool {
		w, refused := httptest.NewRecorder(), make(chan struct{})
		strangers.Go(func() {
			r := httptest.NewRequest(http.MethodGet, "/log/main/checkpoint", nil)
			r.RemoteAddr = from + ":1234"
			s.api.ServeHTTP(stuck{w, writing, reads}, r)
			if w.Code != http.StatusOK {
				close(refused)
			}
		})
		select {
		case <-writing:
			return true
		case <-refused:
			return false
		}
	}
	for from, want := range []int{4, 2, 1, 1, 0} { // of the half of all places that strangers may have
		got := 0
		for takes(fmt.Sprintf("10.0.0.%d", from+1)) {
			got++
		}
		if got != want {
			t.Errorf("the address %d has %d places, not %d", from+1, got, want)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if s.api.working.enter(over, queueKey{s.ledger.ID(), true}, time.Now()) {
		t.Error("strangers have another place")
	}
	s.commit("t", "k")
	close(reads)
	strangers.Wait()
	if free := s.api.working.free; free != 16 {
		t.Errorf("%d places are free", free)
	}
}

// TestBatchWaits: a hand in a batch waits for the witnesses of its commit. If there is no place to wait, nothing of the
// hand is done behind the deal; if the witnesses take longer than the patience of a request, the hand goes on.
func TestBatchWaits(t *testing.T) {
	t.Parallel()
	const hand = `{"operations":[{"op":"shuffle","key":"w","body":{"table":"w","deck":"standard-52"}},
{"op":"deal","shuffle":{"op":0},"body":{"first":0,"runs":[{"count":2,"purpose":"board","public":true}]}},
{"op":"close","shuffle":{"op":0},"body":{"outcome":"completed"}}]}`
	for what, want := range map[string][3]int{"no place": {200, 503, 503}, "slow": {200, 200, 200}} {
		var w *witnesstest.Witness
		patience := 200 * time.Millisecond
		s := newStack(t, stackOptions{limits: config.Limits{Witnessed: 2, Patience: config.Duration(patience)},
			genesis: func(g *audit.Genesis) {
				vkey, err := audit.VKey(g.Origin, g.SigningKey)
				must(t, err)
				w = witnesstest.Start(t, vkey)
				g.Deals, g.Policy = audit.DealsCosigned, []byte(w.PolicyLine+"\nquorum "+w.Name+"\n")
			}})
		w.Down(true)
		if what == "slow" {
			time.AfterFunc(2*patience, func() { w.Down(false) })
		} else {
			for s.api.witnessed.try(s.ledger.ID(), 1) { // others wait
			}
		}
		for i, r := range read[Batch](t, s.post("/v1/main/batch", "", hand)).Results {
			if int(r.Status) != want[i] {
				t.Errorf("%s: operation %d has %d, not %v: %s", what, i, r.Status, want, r.Body)
			}
		}
	}
}
