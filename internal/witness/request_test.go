package witness_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
)

func TestParseRequest(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	for _, r := range []witness.Request{
		{Checkpoint: l.signed(1)},
		{Old: 3, Proof: l.proof(3, 8), Checkpoint: l.signed(8)},
		{Old: 1<<53 - 1, Proof: make([]tlog.Hash, witness.MaxProof), Checkpoint: l.signed(2)},
		{Checkpoint: nil}, // what is in the note is not looked at here
		{Checkpoint: []byte("\n\n\n")},
	} {
		got, err := witness.ParseRequest(r.Encode())
		if err != nil {
			t.Fatalf("%q: %v", r.Encode(), err)
		}
		if got.Old != r.Old || fmt.Sprint(got.Proof) != fmt.Sprint(r.Proof) ||
			!bytes.Equal(got.Checkpoint, r.Checkpoint) {
			t.Errorf("%+v, want %+v", got, r)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	hash := tlog.RecordHash(nil).String()
	rest := "\n\nexample.org/log\n1\n" + hash + "\n\n— example.org/log AAAA\n"
	for name, body := range map[string]string{
		"empty":               "",
		"no empty line":       "old 0\n" + hash + "\n",
		"no old":              "0" + rest,
		"old twice":           "old 0\nold 0" + rest,
		"capital":             "Old 0" + rest,
		"two spaces":          "old  0" + rest,
		"tab":                 "old\t0" + rest,
		"space before":        " old 0" + rest,
		"space after":         "old 0 " + rest,
		"no size":             "old " + rest,
		"sign":                "old +1" + rest,
		"minus":               "old -1" + rest,
		"minus zero":          "old -0" + rest,
		"leading zero":        "old 01" + rest,
		"hex":                 "old 0x1" + rest,
		"underscore":          "old 1_0" + rest,
		"above 2^53-1":        "old 9007199254740992" + rest,
		"above 2^63":          "old 9223372036854775808" + rest,
		"above 2^64":          "old 18446744073709551616" + rest,
		"return":              "old 0\r" + rest,
		"return after a hash": "old 1\n" + hash + "\r" + rest,
		"return in a hash":    "old 1\n" + hash[:4] + "\r" + hash[4:] + rest,
		"short hash":          "old 1\n" + hash[4:] + rest,
		"long hash":           "old 1\n" + hash[:4] + hash + rest,
		"no padding":          "old 1\n" + strings.TrimRight(hash, "=") + rest,
		"URL base64":          "old 1\n" + strings.Repeat("_", 43) + "=" + rest,
		"spare bits":          "old 1\n" + strings.Repeat("A", 42) + "B=" + rest,
		"space after a hash":  "old 1\n" + hash + " " + rest,
		"64 hashes":           "old 1" + strings.Repeat("\n"+hash, 64) + rest,
		"too long":            "old 0" + rest + strings.Repeat("x", witness.MaxRequest),
	} {
		if r, err := witness.ParseRequest([]byte(body)); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
	longest := "old 0\n\n" + strings.Repeat("x", witness.MaxRequest-7)
	if _, err := witness.ParseRequest([]byte(longest)); err != nil {
		t.Errorf("a body of %d bytes: %v", len(longest), err)
	}
}

func FuzzParseRequest(f *testing.F) {
	l := newTestLog(f, "example.org/log", "log")
	f.Add(witness.Request{Checkpoint: l.signed(1)}.Encode())
	f.Add(witness.Request{Old: 3, Proof: l.proof(3, 8), Checkpoint: l.signed(8)}.Encode())
	f.Add([]byte("old 0\n\n"))
	f.Add([]byte("old 1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := witness.ParseRequest(body)
		if err != nil {
			return
		}
		if again := r.Encode(); !bytes.Equal(again, body) {
			t.Errorf("%q encodes as %q", body, again)
		}
		if r.Old < 0 || len(r.Proof) > witness.MaxProof {
			t.Errorf("%q: old %d, %d hashes", body, r.Old, len(r.Proof))
		}
	})
}

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

// TestBusy: bodies that are still being sent hold nobody up, and a submission above the bound is told to come again.
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
	if resp := w.do("GET", "/healthz", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("while bodies are being sent: %+v", resp)
	}
	w.must(l, 0, 1)
	close(release)
	held.Wait()

	leave := w.w.Fill()
	resp := w.do("POST", "/add-checkpoint", []byte("old 1\n"))
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("with all places taken: %+v", resp)
	}
	if resp := w.do("GET", "/healthz", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("with all places taken: %+v", resp)
	}
	leave()
	w.must(l, 1, 2)
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
