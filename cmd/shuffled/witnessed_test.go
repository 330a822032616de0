package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"shuffled/internal/term"
	"shuffled/internal/testdb"
	"strings"
	"testing"
	"time"
)

// TestWitnessedLedger follows docs/OPERATIONS.md for a production ledger with three witnesses: each step with the real
// binary, each witness a process of its own. Then the database goes back to a backup.
func TestWitnessedLedger(t *testing.T) {
	t.Parallel()
	c := newWitnessedRoom(t)
	vkey := c.read("main.vkey")
	c.must("key", "generate", "sealing", "--out", c.path("sealing.key"))
	c.must("migrate", "up", "--data", c.dir)
	admins := administrators(t, c.dir, func(args ...string) { c.must(args...) })
	c.must(append([]string{"ledger", "create", "--house", "casino",
		"--data", c.dir, "--name", "main", "--origin", "cards.example.com/main",
		"--production", "--policy", c.path("ledger.policy")}, admins...)...)
	token := strings.TrimSpace(c.must("token", "create", "--data", c.dir, "--ledger", "main", "--role", "dealer",
		"--identity", "poker-backend"))
	c.configure("main")
	c.serve()

	id := c.commit(token, "hand-1", http.StatusOK)
	first := id
	c.deal(token, id, http.StatusOK)
	_, transcript, err := c.get(fmt.Sprintf("/v1/main/shuffles/%d/transcript", id), "")
	if err != nil {
		t.Fatal(err)
	}
	c.write("hand-1.json", transcript)
	if out := c.until(id, "verify", c.path("hand-1.json"), "--policy", c.path("player.policy")); !strings.Contains(out,
		`"witnessed"`) {
		t.Errorf("the verdict on a witnessed hand:\n%s", out)
	}
	if out := c.must("verify", c.path("hand-1.json"), "--key", vkey); strings.Contains(out, `"witnessed"`) {
		t.Errorf("a key alone vouches for witnesses:\n%s", out)
	}
	_, published, err := c.get("/log/main/checkpoint", "")
	if err != nil || strings.Count(string(published), "\n— ") < 3 {
		t.Errorf("the published checkpoint carries no quorum: %v\n%s", err, published)
	}
	c.readyNames(http.StatusOK, `"cosigned":`, `"ok":true`)

	// Two of three are gone: commits go on, cards wait.
	c.witnesses[0].kill()
	c.witnesses[1].kill()
	id = c.commit(token, "hand-2", http.StatusOK)
	if status, answer := c.deal(token, id, 0); status != http.StatusServiceUnavailable ||
		!strings.Contains(answer, `"code":"cosigned"`) {
		t.Errorf("a deal that one witness of three has seen: %d: %s", status, answer)
	}
	c.readyNames(http.StatusServiceUnavailable, `"commit":{"ok":true}`, `"read":{"ok":true}`, "rounds without a quorum")
	c.doctorNames("it cannot deal: the witnesses have not cosigned", "start the witnesses that are not ok",
		"warn  witness w0")
	c.witnesses[0].start()
	c.deal(token, id, http.StatusOK)
	c.stop()

	// The database goes back; the mark is lost with the host.
	backup := c.readBytes("shuffled.db")
	c.serve()
	id = c.commit(token, "hand-3", http.StatusOK)
	c.deal(token, id, http.StatusOK)
	c.stop()
	whole := c.readBytes("shuffled.db")
	c.write("shuffled.db", backup)
	if err := os.Remove(c.path("main.mark")); err != nil {
		t.Fatal(err)
	}
	c.launchUnready()
	c.readyNames(http.StatusServiceUnavailable, "another history", "under this ledger's key", `"read":{"ok":true}`)
	c.doctorNames("it cannot commit: the stored ledger does not extend what was seen", "which copy of the ledger is the true one")
	if status, answer, err := c.post("/v1/main/shuffles", token, "hand-4",
		map[string]any{"table": "t1", "deck": "standard-52"}); err != nil ||
		status != http.StatusServiceUnavailable || !strings.Contains(string(answer), `"code":"frozen"`) {
		t.Errorf("a commit onto a restored backup: %d, %v: %s", status, err, answer)
	}
	if status, _, err := c.get(fmt.Sprintf("/v1/main/shuffles/%d/transcript", first), ""); err != nil ||
		status != http.StatusOK {
		t.Errorf("reads do not go on: %d, %v", status, err)
	}
	c.kill()

	// The database is found after all: the old ledger goes on.
	c.write("shuffled.db", whole)
	c.launch(c.operator, []string{"serve", "--config", c.path("shuffled.toml")})
	c.commit(token, "hand-4", http.StatusOK)
}

// TestLateInBundle: what a witness cosigned at its interval stands in a bundle that was exported
// before it came, once that is exported again, and counts for an auditor who asks for all three.
func TestLateInBundle(t *testing.T) {
	t.Parallel()
	c := newWitnessedRoom(t)
	strict := strings.Replace(c.read("player.policy"), "two-of-three 2", "two-of-three all", 1)
	c.write("strict.policy", []byte(strict+"\n"))
	c.must("key", "generate", "sealing", "--out", c.path("sealing.key"))
	c.must("migrate", "up", "--data", c.dir)
	c.must("ledger", "create", "--house", "casino", "--data", c.dir, "--name", "main", "--origin",
		"cards.example.com/main", "--policy", c.path("ledger.policy"))
	token := strings.TrimSpace(c.must("token", "create", "--data", c.dir, "--ledger", "main", "--role", "dealer",
		"--identity", "poker-backend"))
	c.configure("main")
	c.write("shuffled.toml", append(c.readBytes("shuffled.toml"),
		"[witness]\nintervals = [\"witness.example.org/w2 2s\"]\n"...))
	c.serve()
	c.deal(token, c.commit(token, "hand-1", http.StatusOK), http.StatusOK)

	bundle := c.path("main-bundle")
	export := func() { c.must("audit", "export", "--data", c.dir, "--ledger", "main", "--out", bundle) }
	deadline := time.Now().Add(time.Minute)
	for export(); ; export() {
		code, out := c.run("audit", "verify", bundle, "--policy", c.path("strict.policy"))
		if code == term.ExitOK {
			break
		}
		if code != term.ExitFails || time.Now().After(deadline) {
			t.Fatalf("exit code %d:\n%s", code, out)
		}
	}
	c.must("audit", "verify", bundle, "--policy", c.path("player.policy"))
}

// cardRoom is a production daemon on an embedded store, with its witnesses.
type cardRoom struct {
	*daemon
	dir, operator string
	witnesses     []*witnessProcess
}

func newCardRoom(t *testing.T) *cardRoom {
	t.Helper()
	c := &cardRoom{daemon: newDaemon(t, ""), dir: t.TempDir(), operator: "http://" + testdb.FreeAddress(t)}
	if err := os.Chmod(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// newWitnessedRoom has the ledger's signing key, three witnesses that run, and their policies.
func newWitnessedRoom(t *testing.T) *cardRoom {
	t.Helper()
	c := newCardRoom(t)
	c.must("key", "generate", "signing", "--origin", "cards.example.com/main", "--out", c.path("main.key"))
	vkey := c.read("main.vkey")
	for range 3 {
		c.startWitness(vkey)
	}
	c.writePolicies(vkey)
	return c
}

func (c *cardRoom) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cardRoom) readBytes(name string) []byte {
	c.t.Helper()
	return contents(c.t, c.path(name))
}

func (c *cardRoom) read(name string) string { return strings.TrimSpace(string(c.readBytes(name))) }

func (c *cardRoom) write(name string, b []byte) {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), b, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// run runs the command to its end.
func (c *cardRoom) run(args ...string) (int, string) {
	c.t.Helper()
	cmd := exec.Command(builtBinary(c.t), args...)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

func (c *cardRoom) must(args ...string) string {
	c.t.Helper()
	code, out := c.run(args...)
	if code != term.ExitOK {
		c.t.Fatalf("shuffled %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// until runs the command until it succeeds: witnesses may be a moment behind, so
// the transcript is fetched again each time.
func (c *cardRoom) until(id uint64, args ...string) (out string) {
	c.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for code := -1; code != term.ExitOK; {
		if code, out = c.run(args...); code == term.ExitOK {
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("shuffled %s: exit code %d\n%s", strings.Join(args, " "), code, out)
		}
		_, transcript, err := c.get(fmt.Sprintf("/v1/main/shuffles/%d/transcript", id), "")
		if err != nil {
			c.t.Fatal(err)
		}
		c.write("hand-1.json", transcript)
	}
	return out
}

// configure writes the daemon's configuration.
func (c *cardRoom) configure(ledger string) {
	c.t.Helper()
	c.write("shuffled.toml", fmt.Appendf(nil, "listen = %q\noperator_listen = %q\ndata = %q\n[[ledger]]\nname = %q\n",
		c.addr, strings.TrimPrefix(c.operator, "http://"), c.dir, ledger))
}

// writePolicies writes what goes into the genesis, and what a player pins.
func (c *cardRoom) writePolicies(vkey string) {
	var witnesses strings.Builder
	for i, w := range c.witnesses {
		fmt.Fprintf(&witnesses, "witness w%d %s %s\n", i, w.vkey, w.url)
	}
	quorum := witnesses.String() + "group two-of-three 2 w0 w1 w2\nquorum two-of-three\n"
	c.write("ledger.policy", []byte(quorum))
	c.write("player.policy", []byte("log "+vkey+"\n"+quorum))
}

func (c *cardRoom) serve() {
	c.t.Helper()
	c.launch(c.operator, []string{"serve", "--config", c.path("shuffled.toml")})
}

// launchUnready starts a daemon that is to answer, and not to be ready.
func (c *cardRoom) launchUnready() {
	c.t.Helper()
	c.launchUntil(c.operator+"/readyz", func(resp *http.Response) bool {
		var answer struct{ Ledgers []struct{ Name string } }
		json.NewDecoder(resp.Body).Decode(&answer)
		return resp.StatusCode == http.StatusServiceUnavailable && len(answer.Ledgers) == 1
	}, []string{"serve", "--config", c.path("shuffled.toml")})
}

// readyNames asks for readiness and wants the words in it.
func (c *cardRoom) readyNames(status int, words ...string) {
	c.t.Helper()
	is, text := fetch(c.t, c.operator+"/readyz")
	if is != status {
		c.t.Errorf("readiness is %d: %s", is, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			c.t.Errorf("readiness does not say %q: %s", w, text)
		}
	}
}

// doctorNames runs doctor, which must fail, and wants the words in what it prints.
func (c *cardRoom) doctorNames(words ...string) {
	c.t.Helper()
	code, out := c.run("doctor", "--config", c.path("shuffled.toml"))
	for _, w := range words {
		if code != term.ExitFails || !strings.Contains(out, w) {
			c.t.Errorf("doctor ends with %d and does not say %q:\n%s", code, w, out)
		}
	}
}

func (c *cardRoom) commit(token, key string, want int) uint64 {
	c.t.Helper()
	status, b, err := c.post("/v1/main/shuffles", token, key, map[string]any{"table": "t1", "deck": "standard-52"})
	if err != nil || status/100 != want/100 {
		c.t.Fatalf("a commit: %d, %v: %s", status, err, b)
	}
	var answer struct{ ID uint64 }
	if err := json.Unmarshal(b, &answer); err != nil {
		c.t.Fatal(err)
	}
	return answer.ID
}

// deal deals two cards and closes; want 0 takes any status.
func (c *cardRoom) deal(token string, id uint64, want int) (int, string) {
	c.t.Helper()
	status, b, err := c.post(fmt.Sprintf("/v1/main/shuffles/%d/deal", id), token, "", map[string]any{
		"first": 0, "runs": []map[string]any{{"count": 2, "purpose": "seat", "recipient": "seat-1", "public": true}},
		"close": map[string]any{"outcome": "completed"}})
	if err != nil || want != 0 && status != want {
		c.t.Fatalf("a deal: %d, %v: %s\n%s", status, err, b, c.logged())
	}
	return status, string(b)
}

// witnessProcess is a running `shuffled witness serve`.
type witnessProcess struct {
	*daemon
	args      []string
	vkey, url string
}

// startWitness makes a witness of the log and starts it.
func (c *cardRoom) startWitness(logVKey string) {
	c.t.Helper()
	n := len(c.witnesses)
	key := c.path(fmt.Sprintf("w%d.key", n))
	c.must("key", "generate", "witness", "--name", fmt.Sprintf("witness.example.org/w%d", n), "--out", key)
	d := newDaemon(c.t, "")
	w := &witnessProcess{daemon: d, url: d.url, vkey: c.read(fmt.Sprintf("w%d.vkey", n)),
		args: []string{"witness", "serve", "--key", key, "--state", d.data, "--log", logVKey, "--listen", d.addr}}
	c.witnesses = append(c.witnesses, w)
	w.start()
}

func (w *witnessProcess) start() {
	w.t.Helper()
	w.launchUntil(w.url+"/healthz", func(resp *http.Response) bool { return resp.StatusCode == http.StatusOK }, w.args)
}
