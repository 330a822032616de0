package attacks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
)

const (
	origin   = "cards.example.com/main"
	password = "test-only"
	// patience bounds every wait for a process; it measures nothing.
	patience = time.Minute
)

// binary returns the command that is attacked.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SHUFFLED_ATTACKS_BINARY"); path != "" {
		return filepath.Abs(path)
	}
	dir, err := os.MkdirTemp("", "shuffled-attacks-")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "shuffled"), termtest.Build(dir, "shuffled")
})

// terms describe the house that is attacked. The zero value is a sandbox ledger on
// SQLite that everybody can read.
type terms struct {
	postgres   bool
	production bool
	access     string // --access of ledger create; "" leaves its default
	witnesses  int    // the number of witnesses that run
	quorum     string // the quorum of the policy, such as "any w1 w2"; "" is all witnesses
	auditor    bool   // the ledger names an auditor
	origin     string // the origin of the ledger; "" is the constant origin
	mix        string // the sources that a mix plan may have; "" is slots and a cut
}

// house is an installation: keys, database, one ledger named main, a token for
// each role, and a daemon that serves it. It is built by the commands of
// docs/OPERATIONS.md, in their order.
type house struct {
	t               *testing.T
	terms           terms
	dir             string
	url, operator   string
	super           string // the database's address for its superuser; "" for SQLite
	cluster         *testdb.Cluster
	witnesses       []*process
	daemon          *process
	vkey, policy    string // the ledger's verifier key; the file of its policy, "" for none
	house, thief    string // the tokens of two dealers, each an identity of its own
	admin, auditor  string // tokens
	regulator, room string // tokens; room is a dealer's, for table t1 only
}

// open builds a house and serves it.
func open(t *testing.T, of terms) *house {
	t.Helper()
	h := prepare(t, of)
	for i := range of.witnesses {
		h.witness(fmt.Sprintf("w%d", i+1))
	}
	if of.witnesses > 0 {
		h.writePolicy()
	}
	h.configure("")
	h.create()
	h.hire()
	h.serve()
	return h
}

// prepare makes what a house has before its ledger: a database, addresses, keys.
func prepare(t *testing.T, of terms) *house {
	t.Helper()
	of.origin, of.mix = cmp.Or(of.origin, origin), cmp.Or(of.mix, "slots,cut")
	h := &house{t: t, terms: of, dir: t.TempDir()}
	h.check(os.Chmod(h.dir, 0o700))
	h.url, h.operator = "http://"+testdb.FreeAddress(t), "http://"+testdb.FreeAddress(t)
	if of.postgres {
		h.cluster = testdb.Start(t) // roles belong to a whole cluster, so tests cannot share one
		h.super = h.cluster.Database(t)
		h.write("password", password+"\n")
	}
	h.must("key", "generate", "signing", "--origin", of.origin, "--out", h.path("main.key"))
	h.vkey = h.read("main.vkey")
	h.must("key", "generate", "sealing", "--out", h.path("sealing.key"))
	return h
}

// create makes the tables and the ledger, as the owner of the database.
func (h *house) create() {
	h.t.Helper()
	h.roles()
	h.must(append([]string{"migrate", "up"}, h.place("shuffled_owner")...)...)
	h.roles()
	args := []string{"ledger", "create", "--house", "casino",
		"--name", "main", "--origin", h.terms.origin, "--mix", h.terms.mix}
	args = append(args, h.place("shuffled_owner")...)
	if h.terms.production {
		args = append(args, "--production")
		if h.policy == "" {
			args = append(args, "--deals", "signed")
		}
	}
	if h.terms.access != "" {
		args = append(args, "--access", h.terms.access)
	}
	if h.policy != "" {
		args = append(args, "--policy", h.policy)
	}
	if h.terms.auditor {
		h.must("key", "generate", "auditor", "--out", h.path("auditor.key"))
		args = append(args, "--auditor", h.path("auditor.pub"))
	}
	h.must(append(args, h.administrators()...)...)
}

// administrators makes the keys of two administrators, if the ledger is for production and
// the build knows administrators. It returns the flags with which ledger create names them.
func (h *house) administrators() (args []string) {
	h.t.Helper()
	_, help := h.run("ledger", "create", "--help")
	if !h.terms.production || !strings.Contains(help, "--administrator") {
		return nil
	}
	for _, name := range []string{"alice", "bob"} {
		if _, err := os.Stat(h.path(name + ".key")); err != nil {
			h.must("key", "generate", "administrator", "--name", name, "--out", h.path(name+".key"))
		}
		args = append(args, "--administrator", name+"="+h.path(name+".vkey"))
	}
	return args
}

// hire makes a token for each role. The dealers are identities of their own, if the build
// knows identities.
func (h *house) hire() {
	h.t.Helper()
	h.house = h.token("dealer", "backend")
	h.thief = h.token("dealer", "other-service")
	h.room = h.token("dealer", "room-1", "--table", "t1")
	h.auditor = h.token("auditor", "lab")
	h.regulator = h.token("regulator", "inspector")
	h.admin = h.administrator() // from then on only a daemon makes tokens
}

// administrator makes a token with the role admin, by an act that both administrators sign, or the one of a sandbox.
func (h *house) administrator() string {
	h.t.Helper()
	do := []string{"act", "do", "admin_credential", "--config", h.path("shuffled.toml"), "--new-token-file",
		h.path("admin.token"), "--yes", "--sign"}
	if !h.terms.production {
		h.must(append(do, h.path("admin.key"))...)
		return h.read("admin.token")
	}
	h.must(append(do, h.path("alice.key"), "--out", h.path("admin.act"))...)
	h.must("act", "sign", h.path("admin.act"), "--sign", h.path("bob.key"), "--yes")
	h.must("act", "submit", h.path("admin.act"), "--config", h.path("shuffled.toml"))
	return h.read("admin.token")
}

// token makes a token of the role for a named service.
func (h *house) token(role, identity string, args ...string) string {
	h.t.Helper()
	args = append([]string{"token", "create", "--config", h.path("shuffled.toml"), "--role", role}, args...)
	if _, help := h.run("token", "create", "--help"); strings.Contains(help, "--identity") {
		args = append(args, "--identity", identity)
	}
	out := strings.TrimSpace(h.must(args...))
	return out[strings.LastIndexAny(out, "\n ")+1:]
}

// public returns the id of a token, which entries and rows show.
func public(token string) string {
	id, _, _ := strings.Cut(token, ".")
	return id
}

// place returns the flags that say where the data directory and the database are.
func (h *house) place(role string) []string {
	if h.super == "" {
		return []string{"--data", h.dir}
	}
	return []string{"--data", h.dir, "--database", h.as(role)}
}

// as returns the database's address for a role, without a password.
func (h *house) as(role string) string {
	u, err := url.Parse(h.super)
	h.check(err)
	u.User = url.User(role)
	return u.String()
}

// roles runs deploy/roles.sql and gives the roles a password.
func (h *house) roles() {
	h.t.Helper()
	if h.super == "" {
		return
	}
	psql, err := testdb.Bin("psql")
	h.check(err)
	script := os.Getenv("SHUFFLED_ATTACKS_ROLES")
	if script == "" {
		script = "../../deploy/roles.sql"
	}
	args := []string{h.super, "-q", "-v", "ON_ERROR_STOP=1", "-f", script}
	for _, role := range []string{"owner", "writer", "reader"} {
		args = append(args, "-c", fmt.Sprintf("ALTER ROLE shuffled_%s PASSWORD '%s'", role, password))
	}
	if out, err := exec.Command(psql, args...).CombinedOutput(); err != nil {
		h.t.Fatalf("roles.sql: %v\n%s", err, out)
	}
}

// configure writes the configuration file, with the lines of more before the ledger's part.
func (h *house) configure(more string) {
	h.t.Helper()
	text := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\n",
		h.url[len("http://"):], h.operator[len("http://"):], h.dir)
	if h.super != "" {
		text += fmt.Sprintf("database = %q\ndatabase_password_file = %q\n", h.as("shuffled_writer"), h.path("password"))
	}
	h.write("shuffled.toml", text+more+"[[ledger]]\nname = \"main\"\n")
}

func (h *house) path(name string) string { return filepath.Join(h.dir, name) }

func (h *house) write(name, text string) {
	h.t.Helper()
	h.check(os.WriteFile(h.path(name), []byte(text), 0o600))
}

func (h *house) read(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(h.path(name))
	h.check(err)
	return strings.TrimSpace(string(b))
}

func (h *house) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// run runs the command to its end, and returns its exit code and all that it printed.
func (h *house) run(args ...string) (int, string) {
	h.t.Helper()
	path, err := binary()
	h.check(err)
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatalf("shuffled %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (h *house) must(args ...string) string {
	h.t.Helper()
	code, out := h.run(args...)
	if code != 0 {
		h.t.Fatalf("shuffled %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// serve starts the daemon and waits until it is ready.
func (h *house) serve() {
	h.t.Helper()
	h.daemon = start(h.t, "serve", "--config", h.path("shuffled.toml"))
	h.daemon.until("ready", func() bool { return strings.Contains(h.readiness(), `"ready":true`) })
}

// readiness returns the answer of /readyz, "" if no daemon listens.
func (h *house) readiness() string {
	resp, err := client.Get(h.operator + "/readyz")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(b)
}

// key generates a key pair for a witness, and returns the verifier key.
func (h *house) key(name string) (vkey string) {
	h.t.Helper()
	h.must("key", "generate", "witness", "--name", name+".example.org/w", "--out", h.path(name+".key"))
	return h.read(name + ".vkey")
}

// witness adds a witness of the ledger, and starts it.
func (h *house) witness(name string) {
	h.t.Helper()
	h.key(name)
	address := testdb.FreeAddress(h.t)
	h.write(name+".line", fmt.Sprintf("witness %s %s http://%s/\n", name, h.read(name+".vkey"), address))
	h.witnesses = append(h.witnesses, h.startWitness(name, address))
}

func (h *house) startWitness(name, address string) *process {
	h.t.Helper()
	w := start(h.t, "witness", "serve", "--key", h.path(name+".key"), "--state", h.path(name+"-state"),
		"--log", h.vkey, "--listen", address)
	w.until("serving", func() bool { return listens(address) })
	return w
}

// listens reports whether a program answers there.
func listens(address string) bool {
	answer, err := http.Get("http://" + address) // a witness takes its port before it reads its files
	if err == nil {
		answer.Body.Close()
	}
	return err == nil
}

// writePolicy writes the ledger's policy, and one for players, which also has the ledger's key.
func (h *house) writePolicy() {
	h.t.Helper()
	text, names := "", ""
	for i := range h.witnesses {
		text += h.read(fmt.Sprintf("w%d.line", i+1)) + "\n"
		names += fmt.Sprintf(" w%d", i+1)
	}
	quorum := h.terms.quorum
	if quorum == "" {
		quorum = "all" + names
	}
	text += "group g " + quorum + "\nquorum g\n"
	h.write("ledger.policy", text)
	h.write("player.policy", "log "+h.vkey+"\n"+text)
	h.policy = h.path("ledger.policy")
}
