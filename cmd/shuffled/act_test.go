package main

import (
	"encoding/json"
	"os"
	"regexp"
	"shuffled/internal/term"
	"strings"
	"testing"
)

// TestActs follows administrators through a production ledger: what takes two of them,
// what one of them may begin, and how a head is adopted.
func TestActs(t *testing.T) {
	t.Parallel()
	r := newActing(t)
	r.saveToken("dealer", "poker-backend", "--data", r.dir)
	r.saveToken("other", "pit", "--data", r.dir)
	r.adminToken()
	lost := []string{"is in force, so only a daemon makes this change", "shuffled token revoke tok_"}
	r.offline(term.ExitCannot, []string{"submit", r.path("admin.act")}, lost...)
	if code, out := r.run("", "token", "create", "--data", r.dir, "--role", "auditor"); code != term.ExitCannot ||
		!strings.Contains(out, lost[1]) {
		t.Errorf("a token past the daemon: %d\n%s", code, out)
	}
	r.offline(term.ExitOK, []string{"list"}, "administrator  alice", "two persons    takeover")
	r.restart()

	// An auditor, by one and by both.
	r.must("", "key", "generate", "auditor", "--out", r.path("lab.key"))
	propose := func(role, as, act string, args ...string) string {
		t.Helper()
		file := r.path(act + ".act")
		r.says(term.ExitOK, role, "main.vkey",
			append([]string{"act", "do", act, "--as", as, "--sign", r.path("alice.key"), "--yes", "--out", file},
				args...), "signed by   alice")
		return file
	}
	sign := func(file string) { r.must("", "act", "sign", file, "--sign", r.path("bob.key"), "--yes") }
	submit := func(code int, role, file string, texts ...string) {
		t.Helper()
		r.says(code, role, "main.vkey", []string{"act", "submit", file}, texts...)
	}
	alone := []string{"--sign", r.path("alice.key"), "--yes"}
	r.says(term.ExitUsage, "admin", "main.vkey",
		append([]string{"act", "do", "auditor", "--public", r.path("lab.pub")}, alone...), "give --out FILE")
	file := propose("admin", "admin", "auditor", "--public", r.path("lab.pub"))
	submit(term.ExitCannot, "admin", file, "two administrators")
	sign(file)
	submit(term.ExitOK, "admin", file, "It is done: bring the auditor key")

	// A takeover to play.
	out := r.says(term.ExitOK, "dealer", "main.vkey",
		[]string{"shuffle", "--table", "t1", "--deck", "standard-52", "--json"})
	var made struct{ ID json.Number }
	must(t, json.Unmarshal([]byte(out), &made))
	id := made.ID.String()
	deal := []string{"deal", id, "--first", "0", "--run", "2:seat:seat-1"}
	r.says(term.ExitCannot, "other", "main.vkey", deal, "not_yours")
	file = propose("admin", "pit", "takeover", "--shuffle", id, "--reason", "the service is gone")
	sign(file)
	submit(term.ExitCannot, "admin", file, "403 forbidden")
	submit(term.ExitOK, "other", file, "It is done: let the submitter play on shuffle "+id)
	r.says(term.ExitOK, "other", "main.vkey", deal)
	r.says(term.ExitCannot, "dealer", "main.vkey", []string{"close", id, "--outcome", "completed"}, "not_yours")

	// A switch that one clears waits, and is cancelled.
	r.says(term.ExitOK, "admin", "main.vkey", []string{"kill", "set", "--all", "--reason", "a fault"})
	file = propose("admin", "admin", "kill_clear", "--reason", "mended")
	submit(term.ExitOK, "admin", file, "The act waits for 1h0m0s")
	submit(term.ExitCannot, "admin", file, "again at", "and before")
	r.says(term.ExitOK, "admin", "main.vkey",
		append([]string{"act", "do", "latch_clear", "--reason", "the host was exchanged"}, alone...),
		"takes effect 1h0m0s after it was submitted", "The act waits for 1h0m0s")
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
	r.losesToken()
	r.adopts()
}

// losesToken loses the only admin's token of a stopped daemon. It is revoked past the daemon, and two
// administrators make another one.
func (r *rotating) losesToken() {
	r.t.Helper()
	lost := contents(r.t, r.path("admin.token"))
	if err := os.Remove(r.path("admin.token")); err != nil {
		r.t.Fatal(err)
	}
	id, _, _ := strings.Cut(string(lost), ".")
	r.must("", "token", "revoke", id, "--data", r.dir, "--reason", "lost, ticket 4714")
	r.adminToken()
}

// newActing is a production ledger with two administrators, and its daemon, which does not run yet.
func newActing(t *testing.T) *rotating {
	t.Helper()
	r := newRotating(t)
	must(t, os.Remove(r.path("main.key")))
	r.dir = t.TempDir()
	admins := administrators(t, r.dir, func(args ...string) { r.must("", args...) })
	r.config = r.path("shuffled.toml")
	r.sealing = `["` + r.path("sealing.key") + `"]`
	r.must("", "key", "generate", "sealing", "--out", r.path("sealing.key"))
	r.must("", "migrate", "up", "--data", r.dir)
	create := append([]string{"ledger", "create", "--house", "casino",
		"--name", "main", "--origin", "cards.example.com/main",
		"--production", "--deals", "signed", "--data", r.dir}, admins...)
	r.must("", create...)
	return r
}

// adminToken makes an admin's token by both administrators, without a daemon.
func (r *rotating) adminToken() {
	r.t.Helper()
	os.Remove(r.path("admin.act")) // of the token before
	r.offline(term.ExitOK, []string{"do", "admin_credential", "--new-token-file", r.path("admin.token"), "--sign",
		r.path("alice.key"), "--out", r.path("admin.act")}, "signed by   alice", "needs a second signature")
	r.offline(term.ExitCannot, []string{"submit", r.path("admin.act")}, "needs two administrators")
	r.offline(term.ExitCannot, []string{"sign", r.path("admin.act"), "--sign", r.path("alice.key")}, "signed the act")
	r.offline(term.ExitOK, []string{"sign", r.path("admin.act"), "--sign", r.path("bob.key")}, "signed by   bob")
	r.offline(term.ExitOK, []string{"submit", r.path("admin.act")}, "It is done: create the admin's credential")
}

// offline runs an act command without a daemon.
func (r *rotating) offline(code int, args []string, texts ...string) {
	r.t.Helper()
	args = append([]string{"act"}, args...)
	if args[1] != "sign" {
		args = append(args, "--data", r.dir)
	}
	if args[1] == "sign" || args[1] == "do" {
		args = append(args, "--yes")
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

// adopts loses the mark of a stopped daemon: the act of two administrators takes its
// place, and every token is revoked. A lost token then stops nobody.
func (r *rotating) adopts() {
	r.t.Helper()
	if err := os.Remove(r.path("main.mark")); err != nil {
		r.t.Fatal(err)
	}
	act := r.path("head.act")
	r.offline(term.ExitOK, []string{"do", "adopt_head", "--reason", "a new host", "--sign", r.path("alice.key"),
		"--out", act}, "submitted   by daemon")
	if code, out := r.run("", "serve", "--config", r.config); code == term.ExitOK ||
		!strings.Contains(out, "shuffled act do adopt_head") {
		r.t.Errorf("serve: exit code %d\n%s", code, out)
	}
	r.offline(term.ExitCannot, []string{"submit", act}, "adopt_head needs two administrators")
	must(r.t, os.Remove(act)) // the block makes it again
	y := newTypist(r.t)
	y.work = r.dir
	y.replaces("/etc/shuffled/shuffled.toml", r.config)
	block, serve, ok := strings.Cut(y.text("docs/operations/backup.md", "shuffled act do adopt_head"), "shuffled serve")
	if !ok {
		r.t.Fatal("the block starts no daemon")
	}
	if said := y.must(block); !strings.Contains(said, "It is done: adopt the stored head of") {
		r.t.Errorf("%s", said)
	}
	r.offline(term.ExitCannot, []string{"submit", act}, "needs no act, because the high-water mark")
	if list := r.must("", "token", "list", "--data", r.dir); strings.Count(list, "in force") != 2 {
		r.t.Errorf("two tokens were made after a head was adopted:\n%s", list)
	}
	r.launch(r.operator, y.arguments("shuffled serve"+serve))
	hand := []string{"shuffle", "--table", "t2", "--deck", "standard-52"}
	r.says(term.ExitCannot, "dealer", "main.vkey", hand, "401 unauthorized")
	r.says(term.ExitCannot, "dealer-2", "main.vkey", hand, "409 kill")
	r.says(term.ExitOK, "admin-3", "main.vkey", []string{"token", "list"}, "in force")
	r.stop()
}
