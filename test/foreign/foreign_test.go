// Package foreign lets programs and libraries of other projects cosign and read a ledger of
// ours. They need a newer Go than the product, so this is a module of its own. No part of it
// is in the product.
package foreign

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	_ "modernc.org/sqlite"

	"shuffled/internal/testdb"
)

const (
	origin      = "cards.example.com/main"
	witnessName = "foreign.example.org/w"
	commits     = 280 // more than a full tile of 256 entries
)

// TestForeign: litewitness cosigns a ledger that signs with Ed25519 and with ML-DSA-44. Then
// torchwood, Tessera and transparency-dev/merkle accept its checkpoints, receipts, tiles and
// entries. torchwood reads the same policy text that the ledger has.
func TestForeign(t *testing.T) {
	h := newHouse(t)
	h.run("key", "generate", "signing", "--origin", origin, "--out", h.path("main.key"))
	h.run("key", "generate", "ml-dsa", "--name", origin, "--out", h.path("pq.key"))
	w := startLitewitness(t, h.read("main.vkey"))
	policy := fmt.Sprintf("witness w %s http://%s\nquorum w\n", w.verifier, w.addr)
	h.write("ledger.policy", policy)
	h.run("key", "generate", "sealing", "--out", h.path("sealing.key"))
	h.run("migrate", "up", "--data", h.dir)
	h.run("ledger", "create", "--data", h.dir, "--name", "main", "--origin", origin, "--house", "casino",
		"--policy", h.path("ledger.policy"), "--deals", "cosigned")
	h.write("dealer.token", h.run("token", "create", "--data", h.dir, "--role", "dealer", "--identity", "dealer"))
	do := []string{"act", "do", "--yes", "--sign", h.path("admin.key")}
	h.run(append(do, "admin_credential", "--data", h.dir, "--new-token-file", h.path("admin.token"))...)
	h.serve()
	h.run(append(do, "signing", "--public", h.path("pq.vkey"), "--url", h.url, "--token-file", h.path("admin.token"),
		"--key", h.path("main.vkey"))...)

	var receipts []string
	for i := range commits {
		var answer struct{ Receipt string }
		h.decode(h.post("dealer", "/v1/main/shuffles",
			map[string]any{"table": fmt.Sprint("t", i%4), "deck": "short-36"}), &answer)
		receipts = append(receipts, answer.Receipt)
	}
	var dealt struct{ Receipt string }
	h.decode(h.post("dealer", fmt.Sprintf("/v1/main/shuffles/%d/deal", indexOf(t, receipts[0])),
		map[string]any{"first": 0, "runs": []any{
			map[string]any{"count": 2, "purpose": "seat", "recipient": "seat-1"}}}), &dealt)

	logs := "log " + h.read("main.vkey") + "\nlog " + h.read("pq.vkey") + "\n"
	signed, err := torchwood.ParsePolicy([]byte(logs + "quorum none\n"))
	must(t, err)
	cosigned, err := torchwood.ParsePolicy([]byte(logs + policy))
	must(t, err)
	ed25519Only, err := note.NewVerifier(h.read("main.vkey"))
	must(t, err)

	var checkpoint []byte
	var c torchwood.Checkpoint
	h.until("a checkpoint that litewitness cosigned and both keys signed", func() bool {
		checkpoint = h.get("/log/main/checkpoint")
		var err error
		c, _, err = torchwood.VerifyCheckpoint(checkpoint, cosigned)
		return err == nil && c.N > commits
	})
	root, err := url.Parse(h.url + "/log/main/")
	must(t, err)
	t.Run("torchwood", func(t *testing.T) { readTorchwood(t, root, c) })
	t.Run("tessera", func(t *testing.T) { readTessera(t, root, c, ed25519Only) })
	t.Run("receipts", func(t *testing.T) {
		for _, r := range receipts[len(receipts)-3:] {
			readReceipt(t, root, r, signed, true)
			readReceipt(t, root, r[:len(r)-200]+r[len(r)-100:], signed, false) // cuts the last signature
		}
		readReceipt(t, root, dealt.Receipt, signed, true)
		i := indexOf(t, receipts[0])
		readReceipt(t, root, string(h.get(fmt.Sprintf("/v1/main/entries/%d/receipt", i))), cosigned, true)
	})
	t.Run("other policies", func(t *testing.T) {
		_, vkey, err := note.GenerateKey(nil, origin)
		must(t, err)
		_, key, err := ed25519.GenerateKey(nil)
		must(t, err)
		alien, err := torchwood.NewCosignatureSigner(witnessName, key)
		must(t, err)
		for name, text := range map[string]string{
			"key":     "log " + vkey + "\nquorum none\n",
			"witness": logs + "witness w " + alien.Verifier().String() + "\nquorum w\n",
		} {
			p, err := torchwood.ParsePolicy([]byte(text))
			must(t, err)
			if _, _, err := torchwood.VerifyCheckpoint(checkpoint, p); err == nil {
				t.Errorf("a policy of another %s takes the checkpoint", name)
			}
		}
	})
}

// indexOf returns the index of the entry in a receipt, which is a C2SP tlog-proof.
func indexOf(t *testing.T, receipt string) (i int64) {
	t.Helper()
	for line := range strings.Lines(receipt) {
		if _, err := fmt.Sscanf(line, "index %d", &i); err == nil {
			return i
		}
	}
	t.Fatalf("no index in %q", receipt)
	return 0
}

func readTorchwood(t *testing.T, root *url.URL, c torchwood.Checkpoint) {
	fetcher, err := torchwood.NewTileFetcher(strings.TrimSuffix(root.String(), "/"))
	must(t, err)
	reader, err := torchwood.NewClient(fetcher)
	must(t, err)
	n := int64(0)
	for i := range reader.AllEntries(t.Context(), c.Tree, 0) {
		if i != n {
			t.Fatalf("entry %d is %d", n, i)
		}
		n++
	}
	if err := reader.Err(); err != nil || n != c.N {
		t.Errorf("%d of %d entries: %v", n, c.N, err)
	}
}

func readTessera(t *testing.T, root *url.URL, c torchwood.Checkpoint, key note.Verifier) {
	fetcher, err := client.NewHTTPFetcher(root, nil)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := fsck.New(origin, key, fetcher, bundleHashes, fsck.Opts{N: 32}).Check(ctx); err != nil {
		t.Errorf("fsck: %v", err)
	}
	prover, err := client.NewProofBuilder(ctx, uint64(c.N), fetcher.ReadTile)
	must(t, err)
	consistency, err := prover.ConsistencyProof(ctx, 200, uint64(c.N))
	must(t, err)
	if len(consistency) == 0 {
		t.Error("no proof of consistency")
	}
	for _, i := range []uint64{0, 255, 256, uint64(c.N) - 1} {
		bundle, err := client.GetEntryBundle(ctx, fetcher.ReadEntryBundle, i/256, uint64(c.N))
		must(t, err)
		hashes, err := prover.InclusionProof(ctx, i)
		must(t, err)
		leaf := rfc6962.DefaultHasher.HashLeaf(bundle.Entries[i%256])
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, i, uint64(c.N), leaf, hashes, c.Hash[:]); err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
}

func bundleHashes(raw []byte) (hashes [][]byte, err error) {
	var bundle api.EntryBundle
	if err := bundle.UnmarshalText(raw); err != nil {
		return nil, err
	}
	for _, e := range bundle.Entries {
		hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(e))
	}
	return hashes, nil
}

// readReceipt verifies a receipt with torchwood, for the entry that Tessera's client reads. good
// says whether the receipt must be accepted.
func readReceipt(t *testing.T, root *url.URL, receipt string, policy torchwood.Policy, good bool) {
	t.Helper()
	fetcher, err := client.NewHTTPFetcher(root, nil)
	must(t, err)
	i := uint64(indexOf(t, receipt))
	bundle, err := client.GetEntryBundle(t.Context(), fetcher.ReadEntryBundle, i/256, (i/256)*256+i%256+1)
	must(t, err)
	err = torchwood.VerifyProof(policy, tlog.RecordHash(bundle.Entries[i%256]), []byte(receipt))
	if (err == nil) != good {
		t.Errorf("the receipt of entry %d: %v", i, err)
	}
}

// A litewitness is a running litewitness.
type litewitness struct{ addr, verifier string }

// startLitewitness runs litewitness for one log, with its key in an ssh-agent.
func startLitewitness(t *testing.T, vkey string) litewitness {
	t.Helper()
	dir, err := os.MkdirTemp("", "lw") // short, because a socket's path may have about 100 characters
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := filepath.Join(dir, "litewitness")
	build(t, ".", binary, "filippo.io/torchwood/cmd/litewitness", "GOTOOLCHAIN=auto")
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	signer, err := ssh.NewSignerFromKey(key)
	must(t, err)
	cosigner, err := torchwood.NewCosignatureSigner(witnessName, key)
	must(t, err)
	ring := agent.NewKeyring()
	must(t, ring.Add(agent.AddedKey{PrivateKey: &key}))
	l, err := net.Listen("unix", filepath.Join(dir, "agent"))
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			go agent.ServeAgent(ring, conn)
		}
	}()
	addr := testdb.FreeAddress(t)
	start(t, binary, "-name", witnessName, "-listen", addr, "-db", filepath.Join(dir, "db"),
		"-ssh-agent", filepath.Join(dir, "agent"), "-key", ssh.FingerprintSHA256(signer.PublicKey()))
	wait(t, "litewitness", func() bool { return answers("http://" + addr + "/") })
	db, err := sql.Open("sqlite", filepath.Join(dir, "db"))
	must(t, err)
	defer db.Close()
	empty, err := tlog.TreeHash(0, nil)
	must(t, err)
	_, err = db.Exec(`INSERT INTO log VALUES (?, 0, ?)`, origin, empty.String())
	must(t, err)
	_, err = db.Exec(`INSERT INTO key VALUES (?, ?)`, origin, vkey)
	must(t, err)
	return litewitness{addr, cosigner.Verifier().String()}
}

// A house is a daemon of ours, which is used only through its commands and its API.
type house struct {
	*testing.T
	dir, binary, url string
	key              int
}

func newHouse(t *testing.T) *house {
	h := &house{T: t, dir: t.TempDir()}
	h.binary = h.path("shuffled-program")
	build(t, filepath.Join("..", ".."), h.binary, "./cmd/shuffled", "GOTOOLCHAIN=local")
	return h
}

func (h *house) path(name string) string { return filepath.Join(h.dir, name) }

func (h *house) read(name string) string {
	h.Helper()
	b, err := os.ReadFile(h.path(name))
	must(h.T, err)
	return strings.TrimSpace(string(b))
}

func (h *house) write(name, text string) {
	h.Helper()
	must(h.T, os.WriteFile(h.path(name), []byte(text), 0o600))
}

func (h *house) run(args ...string) string {
	h.Helper()
	out, err := exec.Command(h.binary, args...).CombinedOutput()
	if err != nil {
		h.Fatalf("shuffled %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// serve starts the daemon with both keys.
func (h *house) serve() {
	addr := testdb.FreeAddress(h.T)
	h.url = "http://" + addr
	h.write("shuffled.toml", fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\n"+
		"sealing_keys = [%q]\n[[ledger]]\nname = \"main\"\nsigning_key = %q\nsigning_keys = [%q]\n",
		addr, testdb.FreeAddress(h.T), h.dir, h.path("sealing.key"), h.path("main.key"), h.path("pq.key")))
	start(h.T, h.binary, "serve", "--config", h.path("shuffled.toml"))
	h.until("the daemon", func() bool { return answers(h.url + "/log/main/checkpoint") })
}

func (h *house) until(what string, come func() bool) { h.Helper(); wait(h.T, what, come) }

func (h *house) get(path string) []byte {
	h.Helper()
	resp, err := http.Get(h.url + path)
	must(h.T, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		h.Fatalf("GET %s: %s, %v: %s", path, resp.Status, err, b)
	}
	return b
}

func (h *house) post(role, path string, body any) []byte {
	h.Helper()
	text, err := json.Marshal(body)
	must(h.T, err)
	h.key++
	var answer []byte
	h.until("an answer to "+path, func() bool {
		req, err := http.NewRequest("POST", h.url+path, bytes.NewReader(text))
		must(h.T, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+h.read(role+".token"))
		req.Header.Set("Idempotency-Key", fmt.Sprintf("foreign-key-%06d", h.key))
		resp, err := http.DefaultClient.Do(req)
		must(h.T, err)
		defer resp.Body.Close()
		answer, err = io.ReadAll(resp.Body)
		must(h.T, err)
		if resp.StatusCode/100 != 2 && resp.StatusCode != http.StatusServiceUnavailable {
			h.Fatalf("POST %s: %s: %s", path, resp.Status, answer)
		}
		return resp.StatusCode/100 == 2
	})
	return answer
}

func (h *house) decode(b []byte, to any) {
	h.Helper()
	if err := json.Unmarshal(b, to); err != nil {
		h.Fatalf("%v: %s", err, b)
	}
}

func build(t *testing.T, dir, path, pkg, toolchain string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", toolchain)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
}

// start runs a program until the test ends.
func start(t *testing.T, path string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", path, log.Bytes()[max(0, log.Len()-2000):])
		}
	})
}

func answers(url string) bool {
	resp, err := http.Get(url)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode < 300
}

// wait waits until come is true, and fails the test after a minute.
func wait(t *testing.T, what string, come func() bool) {
	t.Helper()
	end := time.Now().Add(60 * time.Second)
	for tick := time.NewTicker(20 * time.Millisecond); !come(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
