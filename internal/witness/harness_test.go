package witness_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/witness"
)

// seeded returns the key of a seed: the same in every run.
func seeded(seed string) ed25519.PrivateKey {
	h := sha256.Sum256([]byte(seed))
	return ed25519.NewKeyFromSeed(h[:])
}

// testLog is a log in memory. Its entries are fork, then their index.
type testLog struct {
	t      testing.TB
	origin string
	signer note.Signer
	vkey   string
	fork   string
	from   int64 // the first index whose entry is the fork's
	hashes []tlog.Hash
	size   int64
}

func newTestLog(t testing.TB, origin, seed string) *testLog {
	t.Helper()
	key := seeded(seed)
	vkey, err := note.NewEd25519VerifierKey(origin, key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return &testLog{t: t, origin: origin, vkey: vkey, signer: logSigner{origin, vkey, key, t}}
}

// forked is a log of the same origin and key whose entries differ from index on.
func (l *testLog) forked(index int64) *testLog {
	return &testLog{t: l.t, origin: l.origin, signer: l.signer, vkey: l.vkey, fork: "fork ", from: index}
}

// logSigner signs as sumdb/note does, without the text of a private key.
type logSigner struct {
	name, vkey string
	key        ed25519.PrivateKey
	t          testing.TB
}

func (s logSigner) Name() string                    { return s.name }
func (s logSigner) KeyHash() uint32                 { return mustVerifier(s.t, s.vkey).KeyHash() }
func (s logSigner) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.key, msg), nil }

func mustVerifier(t testing.TB, vkey string) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (l *testLog) grow(n int64) {
	for ; l.size < n; l.size++ {
		entry := fmt.Sprintf("entry %d", l.size)
		if l.size >= l.from {
			entry = l.fork + entry
		}
		more, err := tlog.StoredHashes(l.size, []byte(entry), tlog.HashReaderFunc(l.read))
		if err != nil {
			l.t.Fatal(err)
		}
		l.hashes = append(l.hashes, more...)
	}
}

func (l *testLog) read(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		out = append(out, l.hashes[i])
	}
	return out, nil
}

func (l *testLog) root(n int64) tlog.Hash {
	l.t.Helper()
	l.grow(n)
	h, err := tlog.TreeHash(n, tlog.HashReaderFunc(l.read))
	if err != nil {
		l.t.Fatal(err)
	}
	return h
}

// text returns the checkpoint of size n, unsigned.
func (l *testLog) text(n int64) string {
	l.t.Helper()
	return audit.Checkpoint{Origin: l.origin, Size: uint64(n), Root: l.root(n)}.Text()
}

// signed returns the checkpoint of size n.
func (l *testLog) signed(n int64) []byte {
	l.t.Helper()
	return sign(l.t, l.text(n), l.signer)
}

func sign(t testing.TB, text string, signers ...note.Signer) []byte {
	t.Helper()
	b, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// proof returns the proof that n extends old; none where nothing is to be proved.
func (l *testLog) proof(old, n int64) []tlog.Hash {
	l.t.Helper()
	l.grow(n)
	if old == 0 || old >= n {
		return nil
	}
	p, err := tlog.ProveTree(n, old, tlog.HashReaderFunc(l.read))
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

// join puts signature lines under a signed note.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// testWitness is a witness over its handler alone.
type testWitness struct {
	t   testing.TB
	w   *witness.Witness
	log *bytes.Buffer // JSON lines
	key note.Verifier
	dir string
}

const witnessName = "witness.example.org/w"

// openWitness opens a witness on a directory; clock may be nil.
func openWitness(t testing.TB, dir string, clock func() time.Time, vkeys ...string) *testWitness {
	t.Helper()
	w, err := tryWitness(t, dir, clock, vkeys...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func tryWitness(t testing.TB, dir string, clock func() time.Time, vkeys ...string) (*testWitness, error) {
	t.Helper()
	if clock == nil {
		clock = time.Now
	}
	var logs []note.Verifier
	for _, vkey := range vkeys {
		v, err := audit.ParseVKey(vkey)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, v)
	}
	out := new(bytes.Buffer)
	w, err := witness.Open(witness.Config{
		Name: witnessName, Key: seeded("witness"), Dir: dir, Logs: logs, Now: clock,
		Log: slog.New(slog.NewJSONHandler(&lockedWriter{w: out}, nil)),
	})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { w.Close() })
	key, err := audit.ParseWitnessVKey(w.VKey())
	if err != nil {
		t.Fatal(err)
	}
	return &testWitness{t: t, w: w, log: out, key: key, dir: dir}, nil
}

// lockedWriter lets concurrent requests log to one buffer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// do sends one request.
func (w *testWitness) do(method, path string, body []byte) *http.Response {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.w.ServeHTTP(rec, httptest.NewRequest(method, path, bytes.NewReader(body)))
	return rec.Result()
}

// got is an answer as the specification describes it.
type got struct {
	status            int
	contentType, body string
}

func (w *testWitness) ask(method, path string, body []byte) got {
	w.t.Helper()
	resp := w.do(method, path, body)
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return got{resp.StatusCode, resp.Header.Get("Content-Type"), string(b)}
}

func (w *testWitness) add(r witness.Request) got {
	w.t.Helper()
	return w.ask(http.MethodPost, "/add-checkpoint", r.Encode())
}

// must advances the witness and returns its lines.
func (w *testWitness) must(l *testLog, old, size int64) []byte {
	w.t.Helper()
	a := w.add(witness.Request{Old: old, Proof: l.proof(old, size), Checkpoint: l.signed(size)})
	if a.status != http.StatusOK {
		w.t.Fatalf("%d to %d: %+v", old, size, a)
	}
	w.cosigned(l.text(size), []byte(a.body))
	return []byte(a.body)
}

// cosigned checks lines under a text and returns the time they state.
func (w *testWitness) cosigned(text string, lines []byte) int64 {
	w.t.Helper()
	n, err := note.Open([]byte(text+"\n"+string(lines)), note.VerifierList(w.key))
	if err != nil {
		w.t.Fatalf("%q: %v", lines, err)
	}
	if len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 || n.Text != text {
		w.t.Fatalf("%q: %+v", lines, n)
	}
	unix, err := torchwood.CosignatureTimestamp(n.Sigs[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return unix
}

// latest returns what the monitoring address shows of a log; "" for 404.
func (w *testWitness) latest(origin string) string {
	w.t.Helper()
	switch a := w.ask(http.MethodGet, monitoring(origin), nil); a.status {
	case http.StatusOK:
		return a.body
	case http.StatusNotFound:
		return ""
	default:
		w.t.Fatalf("monitoring: %+v", a)
		return ""
	}
}

func monitoring(origin string) string {
	h := sha256.Sum256([]byte(origin))
	return "/" + hex.EncodeToString(h[:]) + "/checkpoint"
}

func stateFile(dir, origin string) string {
	h := sha256.Sum256([]byte(origin))
	return filepath.Join(dir, hex.EncodeToString(h[:])+".checkpoint")
}
