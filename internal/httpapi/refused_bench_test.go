package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shuffled/internal/config"
)

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
