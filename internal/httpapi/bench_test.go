package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shuffled/internal/config"
)

// BenchmarkKeys is what the API adds to any request: limits, route, token,
// answer, metrics and a log line that is not written out.
func BenchmarkKeys(b *testing.B) {
	s := newStack(b, stackOptions{})
	req := ask{method: http.MethodGet, path: "/v1/main/keys", token: s.dealerToken}.request(b, "")
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, req)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}

func BenchmarkDecodeShuffle(b *testing.B) {
	body := []byte(`{"table":"poker-7","deck":"standard-52","game_ref":"hand-20260314-0042"}`)
	b.ReportAllocs()
	for b.Loop() {
		var req ShuffleRequest
		if err := decodeBytes(body, &req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit commits one at a time, without a network.
func BenchmarkCommit(b *testing.B) {
	s := newStack(b, stackOptions{})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		a := ask{method: http.MethodPost, path: "/v1/main/shuffles", token: s.dealerToken, key: fmt.Sprint(n),
			body: `{"table":"t","deck":"standard-52"}`}
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, a.request(b, ""))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}

// BenchmarkRefused is what a request costs that is turned away because too many wait, without reading it from the wire.
func BenchmarkRefused(b *testing.B) {
	s := newStack(b, stackOptions{limits: config.Limits{Concurrency: 1, Waiting: 1}})
	if !s.api.working.enter(b.Context(), queueKey{s.ledger.ID(), false}, never) {
		b.Fatal("no place")
	}
	go s.api.working.enter(b.Context(), queueKey{s.ledger.ID(), false}, never)
	for s.api.working.waiting(queueKey{s.ledger.ID(), false}) == 0 {
	}
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/v1/main/shuffles",
			strings.NewReader(`{"table":"t","deck":"standard-52"}`))
		r.Header.Set("Authorization", "Bearer "+s.dealerToken)
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable {
			b.Fatal(w.Code)
		}
	}
	s.api.working.leave(queueKey{s.ledger.ID(), false})
}
