// Package witnesstest starts witnesses for tests of other packages.
package witnesstest

import (
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/witness"
)

// Witness is a running witness with state of its own.
type Witness struct {
	VKey       string        // verifier key text, as a policy lists it
	Key        note.Verifier // of its cosignatures
	URL        string        // submission and monitoring prefix
	PolicyLine string        // "witness NAME VKEY URL"; NAME is w1, w2 … in order of Start
	Name       string        // NAME in PolicyLine

	down  atomic.Bool
	ahead atomic.Int64
}

var count atomic.Int64

// Start runs a witness of the logs with these verifier keys until the test ends.
// Keys of the same origin are of one log.
func Start(t testing.TB, logVKeys ...string) *Witness {
	t.Helper()
	var logs []note.Verifier
	for _, vkey := range logVKeys {
		key, err := audit.ParseVKey(vkey)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, key)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("w%d", count.Add(1))
	started := &Witness{Name: name}
	w, err := witness.Open(witness.Config{
		Name: "witness.example.org/" + name, Key: key, Dir: t.TempDir(), Logs: logs,
		Now: func() time.Time { return time.Now().Add(time.Duration(started.ahead.Load())) },
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := audit.ParseWitnessVKey(w.VKey())
	if err != nil {
		t.Fatal(err)
	}
	started.VKey, started.Key = w.VKey(), verifier
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if started.down.Load() {
			http.Error(rw, "down", http.StatusServiceUnavailable)
			return
		}
		w.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() {
		server.Close()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	started.URL = server.URL
	started.PolicyLine = strings.Join([]string{"witness", name, w.VKey(), server.URL}, " ")
	return started
}

// Client returns a client of the witness.
func (w *Witness) Client() *witness.Client {
	return &witness.Client{URL: w.URL, Keys: []note.Verifier{w.Key}}
}

// Down makes the witness answer 503 to everything, or ends that.
func (w *Witness) Down(down bool) { w.down.Store(down) }

// Ahead puts the clock of the witness so far ahead.
func (w *Witness) Ahead(by time.Duration) { w.ahead.Store(int64(by)) }
