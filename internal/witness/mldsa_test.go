package witness_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/witness"
)

// TestSecondKey: a witness that gets a key of ML-DSA-44 goes on from the state that it
// has, gives a line of each key, and the same ones after a restart; policies count them
// as one witness.
func TestSecondKey(t *testing.T) {
	t.Parallel()
	log := newTestLog(t, "example.com/log", "log")
	log.grow(3)
	key, err := audit.ParseVKey(log.vkey)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keys.GenerateMLDSA("witness.example/w")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_790_000_000, 0)
	c := witness.Config{Name: "witness.example/w", Key: seeded("w"), Dir: t.TempDir(), Logs: []note.Verifier{key},
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
	ask := func(old, size int64, want int) string {
		t.Helper()
		w, err := witness.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		policy, err := audit.ParsePolicy([]byte(w.PolicyLine("http://127.0.0.1") + "\nquorum witness.example/w\n"))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(w)
		defer server.Close()
		signed := log.signed(size)
		all := string(signed)
		for _, one := range policy.Witnesses {
			client := witness.Client{URL: server.URL, Keys: []note.Verifier{one.Key}}
			lines, err := client.AddCheckpoint(t.Context(), uint64(old), log.proof(old, size), signed)
			if err != nil {
				t.Fatal(err)
			}
			old, all = size, all+string(lines)
		}
		got := policy.Cosignatures([]byte(all))
		if len(got) != want || policy.Overlap() != 1 {
			t.Errorf("size %d: %d lines count, want %d; overlap %d", size, len(got), want, policy.Overlap())
		}
		return all
	}
	ask(0, 1, 1)
	c.Second = second
	ask(1, 2, 2)
	again := ask(2, 2, 2)
	if ask(2, 2, 2) != again {
		t.Error("another answer after a restart, at the same second")
	}
	other, err := keys.GenerateMLDSA("witness.example/other")
	if err != nil {
		t.Fatal(err)
	}
	c.Second = other
	if _, err := witness.Open(c); err == nil {
		t.Error("keys of two names")
	}
}
