package httpapi

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/keys"
)

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
