package gateway_test

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit/trust"
	"shuffled/internal/keys"
	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
)

// noHistory is a log of which no proof is asked.
type noHistory struct{ gateway.Log }

func (noHistory) Prove(context.Context, uint64, gateway.Head) ([]tlog.Hash, error) { return nil, nil }

// TestOneQuestionForTwoKeys: a witness with two keys gets one request for a head, and its answer counts for each of its
// lines. A key that it has no more is missed, and the other line counts.
func TestOneQuestionForTwoKeys(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keys.GenerateMLDSA("witness.example.org/two")
	if err != nil {
		t.Fatal(err)
	}
	c := witness.Config{Name: "witness.example.org/two", Key: key, Second: second, Dir: t.TempDir(),
		Logs: []note.Verifier{b.key}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	open := func() *witness.Witness {
		w, err := witness.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.ServeHTTP(rw, r)
	}))
	defer func() {
		server.Close()
		w.Close()
	}()
	policy, err := trust.ParsePolicy([]byte(w.PolicyLine(server.URL) + "\nquorum witness.example.org/two\n"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	said := make(map[string]error)
	g := gateway.New(t.Context(), noHistory{}, witness.Reach, func(a gateway.Answer) {
		mu.Lock()
		defer mu.Unlock()
		said[a.Witness.Name] = a.Err
	})
	cosign := func(size uint64, lines int) {
		t.Helper()
		before := requests.Load()
		r := g.Cosign(t.Context(), b.head(size), policy.Witnesses, policy)
		<-r.Heard
		if got := strings.Count(string(r.Head.Checkpoint), "\n— witness"); !r.Met || got != lines {
			t.Errorf("size %d: met %v with %d lines, want %d", size, r.Met, got, lines)
		}
		if n := requests.Load() - before; n != 1 {
			t.Errorf("size %d: %d requests", size, n)
		}
	}
	cosign(7, 2)
	w.Close()
	c.Second = nil
	w = open()
	cosign(7, 1)
	mu.Lock()
	defer mu.Unlock()
	if len(said) != 2 || len(policy.Witnesses) != 2 {
		t.Fatalf("answers for %d of %d lines", len(said), len(policy.Witnesses))
	}
	for _, one := range policy.Witnesses {
		if err := said[one.Name]; (err == nil) != (one.VKey == w.VKey()) {
			t.Errorf("line %s: %v", one.Name, err)
		}
	}
}
