package witness_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
)

// TestParallel has 100 clients of two histories of one log race. Whatever the order, all that was cosigned is one
// chain: of one history, and no size cosigned after a larger one.
func TestParallel(t *testing.T) {
	const clients, limit = 100, 64
	l := newTestLog(t, "example.org/log", "log")
	fork := l.forked(0)
	type move struct {
		proof  []tlog.Hash
		signed []byte
	}
	moves := map[string]move{}
	for name, log := range map[string]*testLog{"l": l, "fork": fork} {
		for old := range int64(limit) {
			for size := old + 1; size <= min(old+4, limit); size++ {
				moves[fmt.Sprint(name, old, size)] = move{log.proof(old, size), log.signed(size)}
			}
		}
	}
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	server := httptest.NewServer(w.w)
	defer server.Close()
	transport := &http.Transport{MaxConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &witness.Client{URL: server.URL, Keys: []note.Verifier{w.key}, HTTP: &http.Client{Transport: transport}}

	var mu sync.Mutex
	var done []string // moves that were cosigned
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			name := []string{"l", "fork"}[i%2]
			old := int64(0)
			for old < limit {
				size := min(old+1+int64(i%4), limit)
				m := moves[fmt.Sprint(name, old, size)]
				_, err := client.AddCheckpoint(t.Context(), uint64(old), m.proof, m.signed)
				var conflict *gateway.Conflict
				switch {
				case err == nil:
					mu.Lock()
					done = append(done, fmt.Sprintf("%s %02d %02d", name, old, size))
					mu.Unlock()
					old = size
				case errors.As(err, &conflict):
					if int64(conflict.Size) <= old {
						t.Errorf("a conflict at %d says %d", old, conflict.Size)
						return
					}
					old = int64(conflict.Size)
				case errors.Is(err, gateway.ErrRefused):
					return // of the history that lost
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	slices.Sort(done)
	var name string
	var at int
	for i, m := range done {
		var of string
		var old, size int
		if _, err := fmt.Sscanf(m, "%s %d %d", &of, &old, &size); err != nil {
			t.Fatal(err)
		}
		if i > 0 && of != name || old != at {
			t.Fatalf("no chain: %q", done)
		}
		name, at = of, size
	}
	if at != limit {
		t.Errorf("it ends at %d: %q", at, done)
	}
}

// TestBusy fills the witness: the request that is too many is told so at once.
func TestBusy(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	release, entered := make(chan struct{}), make(chan struct{}, 1000)
	var held sync.WaitGroup
	for range 256 {
		held.Go(func() {
			w.w.ServeHTTP(httptest.NewRecorder(),
				httptest.NewRequest("POST", "/add-checkpoint", &heldBody{entered, release}))
		})
	}
	for range 256 {
		<-entered
	}
	resp := w.do("GET", "/healthz", nil)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%+v", resp)
	}
	close(release)
	held.Wait()
	w.must(l, 0, 1)
}

// heldBody is a body that does not end until it is released.
type heldBody struct {
	entered chan<- struct{}
	release <-chan struct{}
}

func (b *heldBody) Read([]byte) (int, error) {
	b.entered <- struct{}{}
	<-b.release
	return 0, errors.New("gone")
}
