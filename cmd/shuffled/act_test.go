package main

import (
	"encoding/json"
	"os"
	"regexp"
	"shuffled/internal/term"
	"slices"
	"strings"
	"testing"
)

// TestActs follows administrators through a production ledger: what takes two of them,
// what one of them may begin, and how a head is adopted.
func TestActs(t *testing.T) {
	t.Parallel()
	r := newActing(t, "")
	token := func(name string, args ...string) {
		t.Helper()
		made := r.must("", append([]string{"token", "create", "--data", r.dir}, args...)...)
		if err := os.WriteFile(r.path(name+".token"), []byte(made), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token("dealer", "--role", "dealer", "--identity", "poker-backend")
	token("other", "--role", "dealer", "--identity", "pit")
	if code, out := r.run("", "token", "create", "--data", r.dir, "--role", "admin"); code != term.ExitCannot ||
		!strings.Contains(out, "shuffled act propose admin_credential") {
		t.Errorf("an admin's token by nobody: %d\n%s", code, out)
	}

	r.adminToken()
	r.offline(term.ExitCannot, []string{"submit", r.path("admin.act")}, "the newest act is entry")
	r.offline(term.ExitOK, []string{"list"}, "administrator  alice", "two persons    takeover")
	r.restart()

	// An auditor, by one and by both.
	r.must("", "key", "generate", "auditor", "--out", r.path("lab.key"))
	propose := func(role, as, act string, args ...string) string {
		t.Helper()
		file := r.path(act + ".act")
		r.says(term.ExitOK, role, "main.vkey",
			append([]string{"act", "propose", act, "--as", as, "--sign", r.path("alice.key"), "--out", file}, args...),
			"signed by   alice")
		return file
	}
	sign := func(file string) { r.must("", "act", "sign", file, "--key", r.path("bob.key")) }
	submit := func(code int, role, file string, texts ...string) {
		t.Helper()
		r.says(code, role, "main.vkey", []string{"act", "submit", file}, texts...)
	}
	r.says(term.ExitCannot, "admin", "main.vkey", []string{"ledger", "auditor", "add", r.path("lab.pub")},
		"two_persons")
	file := propose("admin", "admin", "auditor", "--public", r.path("lab.pub"))
	submit(term.ExitCannot, "admin", file, "two administrators")
	sign(file)
	submit(term.ExitOK, "admin", file, "It is done: bring the auditor key")

	// A takeover to play.
	out := r.says(term.ExitOK, "dealer", "main.vkey",
		[]string{"shuffle", "--table", "t1", "--deck", "standard-52", "--json"})
	var made struct{ ID json.Number }
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatal(err)
	}
	id := made.ID.String()
	deal := []string{"deal", id, "--first", "0", "--run", "2:seat:seat-1"}
	r.says(term.ExitCannot, "other", "main.vkey", deal, "not_yours")
	r.says(term.ExitCannot, "other", "main.vkey",
		[]string{"takeover", id, "--extent", "play", "--reason", "the service is gone"}, "two_persons")
	file = propose("admin", "pit", "takeover", "--shuffle", id, "--reason", "the service is gone")
	sign(file)
	submit(term.ExitCannot, "admin", file, "403 forbidden")
	submit(term.ExitOK, "other", file, "It is done: let the submitter play on shuffle "+id)
	r.says(term.ExitOK, "other", "main.vkey", deal)
	r.says(term.ExitCannot, "dealer", "main.vkey", []string{"close", id, "--outcome", "completed"}, "not_yours")

	// A switch that one clears waits, and is cancelled.
	r.says(term.ExitOK, "admin", "main.vkey", []string{"kill", "set", "--all", "--reason", "a fault"})
	r.says(term.ExitCannot, "admin", "main.vkey", []string{"kill", "clear", "--all", "--reason", "mended"},
		"two_persons")
	file = propose("admin", "admin", "kill_clear", "--reason", "mended")
	submit(term.ExitOK, "admin", file, "The act waits for 1h0m0s")
	submit(term.ExitCannot, "admin", file, "submit it again at", "and before")
	file = propose("admin", "admin", "latch_clear", "--reason", "the host was exchanged")
	submit(term.ExitOK, "admin", file, "The act waits for 1h0m0s")
	list := r.says(term.ExitOK, "admin", "main.vkey", []string{"act", "list"}, "waits")
	waits := regexp.MustCompile(`(?m)^waits .* (\S+)$`).FindAllStringSubmatch(list, -1)
	if len(waits) != 2 {
		t.Fatalf("two wait:\n%s", list)
	}
	submit(term.ExitOK, "admin", propose("admin", "admin", "cancel", "--digest", waits[0][1]), "It is done: cancel")
	if list := r.says(term.ExitOK, "admin", "main.vkey", []string{"act", "list"}); strings.Count(list, "waits ") != 1 {
		t.Errorf("one waits:\n%s", list)
	}
	r.stop()
	r.adopts()
}

// newActing is a production ledger with two administrators, and its daemon, which does not
// run yet.
func newActing(t *testing.T, database string) *rotating {
	t.Helper()
	r := newRotating(t)
	if err := os.Remove(r.path("main.key")); err != nil {
		t.Fatal(err)
	}
	r.dir, r.database = t.TempDir(), database
	admins := administrators(t, r.dir, func(args ...string) { r.must("", args...) })
	r.config = r.path("shuffled.toml")
	r.sealing = `["` + r.path("sealing.key") + `"]`
	r.must("", "key", "generate", "sealing", "--out", r.path("sealing.key"))
	if database != "" {
		r.configure()
	}
	r.must("", append([]string{"migrate", "up"}, r.place()...)...)
	create := append([]string{"ledger", "create", "--house", "casino",
		"--name", "main", "--origin", "cards.example.com/main",
		"--production", "--deals", "signed"}, admins...)
	r.must("", append(create, r.place()...)...)
	return r
}

// place are the flags that say where the ledger is.
func (r *rotating) place() []string {
	if r.database != "" {
		return []string{"--config", r.config}
	}
	return []string{"--data", r.dir}
}

// adminToken makes an admin's token by both administrators, without a daemon.
func (r *rotating) adminToken() {
	r.t.Helper()
	r.offline(term.ExitOK, []string{"propose", "admin_credential", "--new-token-file", r.path("admin.token"), "--sign",
		r.path("alice.key"), "--out", r.path("admin.act")}, "signed by   alice", "needs       a second signature")
	r.offline(term.ExitCannot, []string{"submit", r.path("admin.act")}, "needs two administrators")
	r.offline(term.ExitCannot, []string{"sign", r.path("admin.act"), "--key", r.path("alice.key")}, "signed the act")
	r.offline(term.ExitOK, []string{"sign", r.path("admin.act"), "--key", r.path("bob.key")}, "signed by   bob")
	r.offline(term.ExitOK, []string{"submit", r.path("admin.act")}, "It is done: create the admin's credential")
}

// offline runs an act command without a daemon.
func (r *rotating) offline(code int, args []string, texts ...string) {
	r.t.Helper()
	args = append([]string{"act"}, args...)
	if args[1] != "sign" {
		args = append(args, r.place()...)
	}
	got, out := r.run("", args...)
	if got != code {
		r.t.Fatalf("shuffled %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			r.t.Errorf("shuffled %s: %q is not in\n%s", strings.Join(args, " "), text, out)
		}
	}
}

// adopts loses the mark of a stopped daemon: the word of two administrators takes its
// place, and every token is revoked.
func (r *rotating) adopts() {
	r.t.Helper()
	if err := os.Remove(r.path("main.mark")); err != nil {
		r.t.Fatal(err)
	}
	act := r.path("head.act")
	r.offline(term.ExitOK, []string{"propose", "adopt_head", "--reason", "a new host", "--sign", r.path("alice.key"),
		"--out", act}, "submitted   by daemon")
	for _, flags := range [][]string{nil, {"--adopt-head", "a new host"}, {"--adopt-act", act},
		{"--adopt-act", r.path("auditor.act")}} {
		if code, out := r.run("", append([]string{"serve", "--config", r.config}, flags...)...); code == term.ExitOK ||
			!strings.Contains(out, "adopt") ||
			slices.Contains(flags, act) &&
				!strings.Contains(out, "adopt_head needs two administrators: it cannot wait") {
			r.t.Errorf("serve %v: exit code %d\n%s", flags, code, out)
		}
	}
	r.offline(term.ExitUsage, []string{"submit", act}, "adopt_head needs two administrators and cannot wait")
	r.must("", "act", "sign", act, "--key", r.path("bob.key"))
	r.launch(r.operator, []string{"serve", "--config", r.config, "--adopt-act", act})
	r.says(term.ExitCannot, "dealer", "main.vkey", []string{"shuffle", "--table", "t2", "--deck", "standard-52"},
		"401 unauthorized")
	r.stop()
	if list := r.must("", "token", "list", "--data", r.dir); strings.Contains(list, "in force") {
		r.t.Errorf("after a head was adopted:\n%s", list)
	}
}
