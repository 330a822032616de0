package witness_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"filippo.io/torchwood"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"
	_ "modernc.org/sqlite"

	"shuffled/internal/audit"
	"shuffled/internal/testdb"
	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
)

// requireLitewitness makes a missing litewitness a failure.
const requireLitewitness = "SHUFFLED_REQUIRE_LITEWITNESS"

// TestLitewitness sets a witness that is not ours against our client and a log of ours:
// filippo.io/torchwood/cmd/litewitness, built from a module of its own for the sake of its dependencies.
func TestLitewitness(t *testing.T) {
	binary := buildLitewitness(t)
	l := newTestLog(t, "cards.example.org/main", "litewitness")
	w := startLitewitness(t, binary, l)
	ctx := t.Context()

	ask := func(l *testLog, old, size int64) ([]byte, error) {
		return w.AddCheckpoint(ctx, uint64(old), l.proof(old, size), l.signed(size))
	}
	for _, step := range [][2]int64{{0, 7}, {7, 7}, {7, 300}, {300, 1000}} {
		lines, err := ask(l, step[0], step[1])
		if err != nil {
			t.Fatalf("%d to %d: %v", step[0], step[1], err)
		}
		if _, err := note.Open(join(l.signed(step[1]), lines), note.VerifierList(w.Keys[0])); err != nil {
			t.Fatalf("%d to %d: %v", step[0], step[1], err)
		}
	}
	var conflict *gateway.Conflict
	if _, err := ask(l, 300, 1001); !errors.As(err, &conflict) || conflict.Size != 1000 {
		t.Errorf("an old proof: %v", err)
	}
	fork := l.forked(500)
	if _, err := ask(fork, 1000, 1200); !errors.Is(err, gateway.ErrRefused) {
		t.Errorf("a fork that the real key signed: %v", err)
	}
	if _, err := ask(fork, 1000, 1000); !errors.Is(err, gateway.ErrRefused) {
		t.Errorf("a fork of the same size: %v", err)
	}
	if _, err := ask(l, 1000, 999); !errors.Is(err, gateway.ErrRefused) {
		t.Errorf("a smaller tree: %v", err)
	}
	stranger := newTestLog(t, "cards.example.org/other", "stranger")
	if _, err := ask(stranger, 0, 1); !errors.Is(err, gateway.ErrRefused) {
		t.Errorf("an unknown log: %v", err)
	}
	// It has no monitoring address.
	if _, err := w.Latest(ctx, l.origin); !errors.Is(err, gateway.ErrNone) {
		t.Errorf("its newest checkpoint: %v", err)
	}
	if _, err := ask(l, 1000, 1100); err != nil {
		t.Errorf("after all refusals: %v", err)
	}
}

func buildLitewitness(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "litewitness")
	cmd := exec.Command("go", "build", "-o", path, "filippo.io/torchwood/cmd/litewitness")
	cmd.Dir = filepath.Join("..", "..", "tools", "litewitness")
	// As in the Makefile, so that it is built once.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFIPS140=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return path
	}
	if os.Getenv(requireLitewitness) == "1" {
		t.Fatalf("litewitness does not build: %v\n%s", err, out)
	}
	t.Skipf("SKIPPED, the test against a foreign witness: litewitness does not build here: %v\n%s", err, out)
	return ""
}

// startLitewitness runs litewitness for l, its key in an agent of the test's, until the test ends.
func startLitewitness(t *testing.T, binary string, l *testLog) *witness.Client {
	t.Helper()
	// A socket's path has about 100 characters at most.
	dir, err := os.MkdirTemp("", "lw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const name = "foreign.example.org/w"
	key := seeded("litewitness's own")
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cosigner, err := torchwood.NewCosignatureSigner(name, key)
	if err != nil {
		t.Fatal(err)
	}
	serveAgent(t, filepath.Join(dir, "agent"), agent.AddedKey{PrivateKey: &key})
	register(t, filepath.Join(dir, "db"), l)

	addr := testdb.FreeAddress(t)
	cmd := exec.Command(binary, "-name", name, "-listen", addr, "-db", filepath.Join(dir, "db"),
		"-ssh-agent", filepath.Join(dir, "agent"), "-key", ssh.FingerprintSHA256(signer.PublicKey()))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
		if t.Failed() {
			t.Logf("litewitness said:\n%s", log.Bytes())
		}
	})
	waitFor(t, "http://"+addr+"/", done)
	verifier, err := audit.ParseWitnessVKey(cosigner.Verifier().String())
	if err != nil {
		t.Fatal(err)
	}
	return &witness.Client{URL: "http://" + addr, Keys: []note.Verifier{verifier}}
}

// serveAgent serves an agent with one key on a Unix socket.
func serveAgent(t *testing.T, path string, key agent.AddedKey) {
	t.Helper()
	ring := agent.NewKeyring()
	if err := ring.Add(key); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			served.Go(func() { agent.ServeAgent(ring, conn); conn.Close() })
		}
	})
	t.Cleanup(func() { l.Close(); served.Wait() })
}

// register makes the log known to litewitness, in the tables that it makes itself when they are missing.
func register(t *testing.T, path string, l *testLog) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	root := l.root(0).String()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`CREATE TABLE log (origin TEXT PRIMARY KEY, tree_size INTEGER NOT NULL, tree_hash TEXT NOT NULL)`, nil},
		{`CREATE TABLE key (origin TEXT NOT NULL, key TEXT NOT NULL, FOREIGN KEY(origin) REFERENCES log(origin))`, nil},
		{`INSERT INTO log VALUES (?, 0, ?)`, []any{l.origin, root}},
		{`INSERT INTO key VALUES (?, ?)`, []any{l.origin, l.vkey}},
	} {
		if _, err := db.ExecContext(t.Context(), s.sql, s.args...); err != nil {
			t.Fatal(err)
		}
	}
}

// waitFor waits until an address answers, or the process behind it has ended.
func waitFor(t *testing.T, url string, ended <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s: the process ended", url)
		case <-ctx.Done():
			t.Fatalf("%s: %v", url, ctx.Err())
		case <-tick.C:
		}
	}
}
