package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/term"
	"shuffled/internal/testdb"
)

// TestProduction follows docs/OPERATIONS.md: roles, tables, keys, ledger, token
// and daemon, each step as the role that it is for.
func TestProduction(t *testing.T) {
	t.Parallel()
	p := newProduction(t)
	p.tables()
	create := []string{"ledger", "create", "--name", "main", "--origin", "cards.example.com/main", "--house", "casino",
		"--database", p.as("shuffled_owner"), "--data", p.dir, "--production"}
	if code, out := p.run("owner", append(create, "--deals", "signed")...); code != term.ExitUsage ||
		!strings.Contains(out, "at least two administrators") {
		t.Errorf("a production ledger without administrators: %d: %s", code, out)
	}
	create = append(create, administrators(t, p.dir, func(args ...string) { p.must("", args...) })...)
	if code, out := p.run("owner", create...); code != term.ExitUsage || !strings.Contains(out, "--deals signed") {
		t.Errorf("a production ledger without witnesses, unasked: %d: %s", code, out)
	}
	p.must("owner", append(create, "--deals", "signed")...)
	if code, out := p.run("owner", append(create, "--deals", "signed")...); code != term.ExitCannot ||
		!strings.Contains(out, "no key was made") {
		t.Errorf("the same ledger twice: %d: %s", code, out)
	}
	token := strings.TrimSpace(p.must("", "token", "create", "--config", p.config, "--ledger", "main", "--role",
		"dealer", "--identity", "poker-backend"))
	if list := p.must("", "token", "list", "--config", p.config); strings.Contains(list, token) ||
		!strings.Contains(list, "in force") {
		t.Errorf("tokens: %s", list)
	}
	if list := p.must("", "ledger", "list", "--config", p.config); !strings.Contains(list, "production") {
		t.Errorf("ledgers: %s", list)
	}
	second := append([]string(nil), create...)
	second[3], second[5] = "poker", "cards.example.com/poker"
	p.must("owner", append(second, "--deals", "signed", "--access", "token")...)
	auditor := strings.TrimSpace(p.must("", "token", "create", "--config", p.config, "--ledger", "poker", "--role",
		"auditor"))
	p.serve()
	p.keepsApart(token, auditor)
	if code, out := p.run("", "token", "create", "--config", p.config, "--role", "auditor"); code != term.ExitCannot ||
		!strings.Contains(out, "--url") {
		t.Errorf("a token made alongside the daemon: %d: %s", code, out)
	}

	status, answer, err := p.post("/v1/main/shuffles", token, "hand-1",
		map[string]any{"table": "t1", "deck": "standard-52"})
	if err != nil || status/100 != 2 {
		t.Fatalf("a commit: %d, %v: %s", status, err, answer)
	}
	for path, want := range map[string]int{"/healthz": http.StatusNotFound, "/metrics": http.StatusNotFound} {
		if status, _, err := p.get(path, ""); err != nil || status != want {
			t.Errorf("%s on the public listener: %d, %v", path, status, err)
		}
	}
	if metrics := p.mustGet(p.operator, "/metrics", http.StatusOK); !strings.Contains(metrics,
		"shuffled_entropy_tapes_total 1\n") {
		t.Errorf("the metrics after one shuffle:\n%s", metrics)
	}
	var made struct{ ID uint64 }
	if err := json.Unmarshal(answer, &made); err != nil {
		t.Fatal(err)
	}
	if status, transcript, err := p.get(fmt.Sprintf("/v1/main/shuffles/%d/transcript", made.ID), ""); err != nil ||
		status != http.StatusOK {
		t.Errorf("the transcript: %d, %v", status, err)
	} else if err := os.WriteFile(p.path("t.json"), transcript, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := p.must("", "verify", p.path("t.json"), "--key", p.path("main.vkey")); !strings.Contains(out, "PROVED") ||
		strings.Contains(out, "sandbox") {
		t.Errorf("the verdict on a production shuffle:\n%s", out)
	}

	id, _, _ := strings.Cut(token, ".")
	if code, out := p.run("", "token", "revoke", "--config", p.config, id); code != term.ExitCannot ||
		!strings.Contains(out, "--url") {
		t.Errorf("a token revoked alongside the daemon: %d: %s", code, out)
	}
	p.stop()
	p.must("", "token", "revoke", "--config", p.config, id)
	p.serve()
	if status, _, err := p.post("/v1/main/shuffles", token, "hand-2",
		map[string]any{"table": "t1", "deck": "standard-52"}); err != nil || status != http.StatusUnauthorized {
		t.Errorf("a revoked token: %d, %v", status, err)
	}
	p.stop()
	if code, out := p.run("", "serve", "--data", p.dir, "--database", p.super); code != term.ExitCannot ||
		!strings.Contains(out, "superuser") {
		t.Errorf("serving as a superuser: %d: %s", code, out)
	}
}

// keepsApart: two ledgers of one daemon share neither tokens nor keys, and one of them is read with a token only.
func (p *production) keepsApart(token, auditor string) {
	p.t.Helper()
	body := map[string]any{"table": "t1", "deck": "standard-52"}
	if status, _, err := p.post("/v1/poker/shuffles", token, "hand-1", body); err != nil ||
		status != http.StatusUnauthorized {
		p.t.Errorf("a token of another ledger: %d, %v", status, err)
	}
	for who, want := range map[string]int{"": http.StatusUnauthorized, token: http.StatusUnauthorized,
		auditor: http.StatusOK} {
		status, checkpoint, err := p.get("/log/poker/checkpoint", who)
		if err != nil || status != want {
			p.t.Errorf("the log of a closed ledger as %.8q: %d, %v", who, status, err)
		}
		if want == http.StatusOK && !strings.HasPrefix(string(checkpoint), "cards.example.com/poker\n4\n") {
			p.t.Errorf("its checkpoint:\n%s", checkpoint)
		}
	}
	if status, _, err := p.get("/log/main/checkpoint", ""); err != nil || status != http.StatusOK {
		p.t.Errorf("the log of a public ledger: %d, %v", status, err)
	}
}

// administrators makes the keys of alice and bob, and returns the flags that name them.
func administrators(t *testing.T, dir string, run func(args ...string)) (flags []string) {
	t.Helper()
	for _, name := range []string{"alice", "bob"} {
		run("key", "generate", "administrator", "--name", name, "--out", filepath.Join(dir, name+".key"))
		flags = append(flags, "--administrator", name+"="+filepath.Join(dir, name+".vkey"))
	}
	return flags
}

// production is a database with the roles of deploy/roles.sql and a daemon that is configured by a file.
type production struct {
	*daemon
	dir, config, operator string
	super                 string // the superuser's address
	cluster               *testdb.Cluster
}

const testPassword = "test-only"

func newProduction(t *testing.T) *production {
	t.Helper()
	cluster := testdb.Start(t) // roles are the cluster's: it cannot be shared
	p := &production{daemon: newDaemon(t, ""), dir: t.TempDir(), super: cluster.Database(t), cluster: cluster}
	if err := os.Chmod(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.operator = "http://" + testdb.FreeAddress(t)
	p.config = p.path("shuffled.toml")
	config := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\ndatabase = %q\ndatabase_password_file = %q\n"+
		"[[ledger]]\nname = \"main\"\n[[ledger]]\nname = \"poker\"\n",
		p.addr, strings.TrimPrefix(p.operator, "http://"), p.dir, p.as("shuffled_writer"), p.path("password"))
	for name, text := range map[string]string{"shuffled.toml": config, "password": testPassword + "\n"} {
		if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *production) path(name string) string { return filepath.Join(p.dir, name) }

// as returns the database's address for a role, without a password.
func (p *production) as(role string) string {
	u, err := url.Parse(p.super)
	if err != nil {
		p.t.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}

// saveToken makes a dealer's token and writes it to NAME.token.
func (p *production) saveToken(name, identity string, place ...string) {
	p.t.Helper()
	made := p.must("", append([]string{"token", "create", "--role", "dealer", "--identity", identity}, place...)...)
	if err := os.WriteFile(p.path(name+".token"), []byte(made), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// tables makes a sealing key, and the roles and tables of the database.
func (p *production) tables() {
	p.t.Helper()
	p.must("", "key", "generate", "sealing", "--out", p.path("sealing.key"))
	p.psql()
	p.must("owner", "migrate", "up", "--database", p.as("shuffled_owner"))
	p.psql()
}

// psql runs deploy/roles.sql as superuser and gives the roles a password.
func (p *production) psql() {
	p.t.Helper()
	psql, err := testdb.Bin("psql")
	if err != nil {
		p.t.Fatal(err)
	}
	passwords := "ALTER ROLE shuffled_owner PASSWORD '" + testPassword + "'; ALTER ROLE shuffled_writer PASSWORD '" +
		testPassword + "'"
	out, err := exec.Command(psql, p.super, "-q", "-v", "ON_ERROR_STOP=1", "-f", "../../deploy/roles.sql", "-c",
		passwords).CombinedOutput()
	if err != nil {
		p.t.Fatalf("roles.sql: %v\n%s", err, out)
	}
}

// run runs the command; owner gives it the owner's password.
func (p *production) run(owner string, args ...string) (int, string) {
	p.t.Helper()
	path := builtBinary(p.t)
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Env = os.Environ()
	if owner != "" {
		cmd.Env = append(cmd.Env, "PGPASSWORD="+testPassword)
	}
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

func (p *production) must(owner string, args ...string) string {
	p.t.Helper()
	code, out := p.run(owner, args...)
	if code != term.ExitOK {
		p.t.Fatalf("shuffled %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// serve starts the daemon with the configuration file and waits for its operator's listener.
func (p *production) serve() {
	p.t.Helper()
	p.launch(p.operator, []string{"serve", "--config", p.config})
}

func (p *production) mustGet(base, path string, want int) string {
	p.t.Helper()
	status, text := fetch(p.t, base+path)
	if status != want {
		p.t.Errorf("%s: %d", path, status)
	}
	return text
}
