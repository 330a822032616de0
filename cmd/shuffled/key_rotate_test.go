package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/keys"
	"shuffled/internal/term"
	"shuffled/internal/testdb"
)

// rotating is a daemon on a configuration file, whose keys change.
type rotating struct {
	*production
	settings string // of the ledger
	sealing  string
}

func newRotating(t *testing.T) *rotating {
	t.Helper()
	d := newDaemon(t, "")
	dir := filepath.Dir(d.log)
	r := &rotating{production: &production{daemon: d, dir: dir, config: filepath.Join(dir, "shuffled.toml"),
		operator: "http://" + testdb.FreeAddress(t)}}
	r.sealing = fmt.Sprintf("[%q]", r.path("sealing.key"))
	r.must("", "key", "generate", "sealing", "--out", r.path("sealing.key"))
	r.must("", "migrate", "up", "--data", dir)
	r.must("", "ledger", "create", "--house", "casino", "--data", dir, "--name", "main", "--origin",
		"cards.example.com/main", "--deals", "signed")
	r.saveToken("dealer", "dealer", "--data", dir)
	r.must("", "act", "do", "admin_credential", "--new-token-file", r.path("admin.token"), "--sign",
		r.path("admin.key"), "--yes", "--data", dir)
	return r
}

// does submits an act that one administrator signs.
func (r *rotating) does(code int, pinned, act string, args []string, texts ...string) {
	r.t.Helper()
	r.says(code, "admin", pinned, append([]string{"act", "do", act, "--sign", r.path("admin.key"), "--yes"}, args...),
		texts...)
}

// restart starts the daemon with the settings of now.
func (r *rotating) restart() {
	r.t.Helper()
	r.configure()
	r.serve()
}

func (r *rotating) configure() {
	r.t.Helper()
	if r.cmd != nil {
		r.stop()
	}
	text := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\nsealing_keys = %s\n[[ledger]]\nname = \"main\"\n%s",
		r.addr, strings.TrimPrefix(r.operator, "http://"), r.dir, r.sealing, r.settings)
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// operate runs a command against the daemon with a token, pinned to a key file.
func (r *rotating) operate(role, pinned string, args ...string) (int, string) {
	r.t.Helper()
	return r.run("", append(args, "--url", r.url, "--token-file", r.path(role+".token"), "--key", r.path(pinned))...)
}

// says runs a command that ends with a code, and wants these texts of it.
func (r *rotating) says(code int, role, pinned string, args []string, texts ...string) string {
	r.t.Helper()
	got, out := r.operate(role, pinned, args...)
	if got != code {
		r.t.Fatalf("shuffled %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			r.t.Errorf("shuffled %s: %q is not in\n%s", strings.Join(args, " "), text, out)
		}
	}
	return out
}

// TestRotateSigning follows the section on rotation of docs/OPERATIONS.md.
func TestRotateSigning(t *testing.T) {
	t.Parallel()
	r := newRotating(t)
	r.restart()
	r.must("", "key", "generate", "signing", "--origin", "cards.example.com/main", "--out", r.path("main-2.key"))
	rotate := []string{"--public", r.path("main-2.vkey")}
	hand := []string{"shuffle", "--table", "t1", "--deck", "standard-52"}
	r.says(term.ExitOK, "dealer", "main.vkey", hand)
	r.says(term.ExitOK, "dealer", "main.vkey", []string{"show", "7", "--transcript", r.path("before.json")})

	r.does(term.ExitCannot, "main.vkey", "signing", rotate, "the file of that key among signing_keys. Mend what is named here")
	r.says(term.ExitCannot, "dealer", "main.vkey",
		append([]string{"act", "do", "signing", "--sign", r.path("admin.key"), "--yes"}, rotate...), "403 forbidden")

	r.settings = fmt.Sprintf("signing_keys = [%q]\n", r.path("main-2.key"))
	r.restart()
	// Entry 7 is the hand; 8 is the head of the administrator's requests, as the daemon
	// stopped; 9 is the start, 10 the act.
	r.does(term.ExitOK, "main.vkey", "signing", rotate, "It is done: bring the signing key", "Entry 11 of ledger main")
	r.does(term.ExitCannot, "main-2.vkey", "signing", rotate, "422 key")
	r.says(term.ExitOK, "admin", "main-2.vkey", []string{"key", "list"}, "replaced", "in force")
	r.says(term.ExitFails, "dealer", "main.vkey", hand) // who pinned the old key only learns that it signs no more
	r.says(term.ExitOK, "dealer", "main-2.vkey", hand)

	retire := []string{"--retired", "signing", "--key-id", r.path("main.vkey"), "--from", "2026-03-14T15:09:26Z"}
	r.does(term.ExitOK, "main-2.vkey", "retirement", retire, "from 2026-03-14T15:09:26Z on")
	r.does(term.ExitCannot, "main-2.vkey", "retirement", retire, "was retired before")
	r.does(term.ExitCannot, "main-2.vkey", "retirement",
		[]string{"--retired", "signing", "--key-id", r.path("main-2.vkey")}, "replaced before it is retired")
	none := r.path("none.policy")
	if err := os.WriteFile(none, []byte("quorum none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.does(term.ExitOK, "main-2.vkey", "policy", []string{"--policy", none}, "put this witness policy into force")
	r.says(term.ExitOK, "admin", "main-2.vkey", []string{"key", "list"}, "retirement of signing",
		"from 2026-03-14T15:09:26Z", "retired", "The newest policy:\n  quorum none")
	if out := r.must("", "verify", r.path("before.json"), "--key", r.path("main.vkey")); !strings.Contains(out,
		"PROVED") {
		t.Errorf("a transcript of before, under the key of before:\n%s", out)
	}
	r.must("", "audit", "export", "--data", r.dir, "--ledger", "main", "--out", r.path("bundle"))
	for _, pinned := range []string{"main.vkey", "main-2.vkey"} { // offline, across the rotation
		if out := r.must("", "audit", "verify", r.path("bundle"), "--key", r.path(pinned)); !strings.Contains(out,
			"PROVED") {
			t.Errorf("the bundle under %s:\n%s", pinned, out)
		}
	}

	// Without the key in force: no writes, reads go on, and readiness says which.
	r.settings = ""
	r.configure()
	notReady := func(resp *http.Response) bool {
		return resp.StatusCode == http.StatusServiceUnavailable && served(r)
	}
	r.launchUntil(r.operator+"/readyz", notReady, []string{"serve", "--config", r.config})
	if ready := r.mustGet(r.operator, "/readyz", http.StatusServiceUnavailable); !strings.Contains(ready,
		"signing_keys") {
		t.Errorf("readiness without the key in force: %s", ready)
	}
	r.says(term.ExitCannot, "dealer", "main-2.vkey", hand, "503 signing_key")
	// The receipt of before the rotation is under the key of that time: pin both.
	both := r.path("both.policy")
	if err := os.WriteFile(both, []byte("log "+r.vkey("main.vkey")+"\nlog "+r.vkey("main-2.vkey")+"\nquorum none\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := r.run("", "show", "7", "--url", r.url, "--policy", both); code != term.ExitOK ||
		strings.Contains(out, "not pinned") {
		t.Errorf("show under a policy of both keys: %d\n%s", code, out)
	}
	if code, out := r.run("", "show", "7", "--url", r.url); code != term.ExitOK ||
		!strings.Contains(out, "not pinned") {
		t.Errorf("show without a pin: %d\n%s", code, out)
	}
	r.settings = fmt.Sprintf("signing_key = %q\n", r.path("main-2.key")) // the new one alone
	r.restart()
	r.says(term.ExitOK, "dealer", "main-2.vkey", hand)
	r.stop()
}

// vkey reads a .vkey file.
func (r *rotating) vkey(name string) string {
	r.t.Helper()
	vkey, err := keys.ReadVKey(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return vkey
}

// served reports whether the daemon's ledgers are loaded.
func served(r *rotating) bool {
	status, _, err := r.get("/v1/main/keys", "")
	return err == nil && status == http.StatusOK
}

// TestRotateSealing: open shuffles of before are dealt, new ones are sealed under
// the new key, in the two restarts that docs/operations/keys.md asks for.
func TestRotateSealing(t *testing.T) {
	t.Parallel()
	r := newRotating(t)
	r.restart()
	hand := func(table string) []string { return []string{"shuffle", "--table", table, "--deck", "standard-52"} }
	deal := func(id string) []string { return []string{"deal", id, "--first", "0", "--run", "2:seat:seat-1"} }
	r.says(term.ExitOK, "dealer", "main.vkey", hand("t1"))
	generate := []string{"key", "generate", "sealing", "--out", r.path("sealing-2.key")}
	r.must("", generate...)
	if code, _ := r.run("", generate...); code == term.ExitOK {
		t.Error("a key was made over another one")
	}
	old, next := r.path("sealing.key"), r.path("sealing-2.key")
	r.sealing = fmt.Sprintf("[%q, %q]", old, next)
	r.restart()
	r.says(term.ExitOK, "dealer", "main.vkey", hand("t2")) // entry 9, still under the old one
	r.sealing = fmt.Sprintf("[%q, %q]", next, old)
	r.restart()
	r.says(term.ExitOK, "dealer", "main.vkey", hand("t3")) // entry 11
	for _, id := range []string{"7", "9", "11"} {
		r.says(term.ExitOK, "dealer", "main.vkey", deal(id))
	}
	r.sealing = fmt.Sprintf("[%q]", next)
	r.restart()
	r.says(term.ExitOK, "dealer", "main.vkey", []string{"close", "11", "--outcome", "completed"})
	r.says(term.ExitCannot, "dealer", "main.vkey", []string{"close", "9", "--outcome", "completed"}, "503 sealed")
	r.stop()
}
