package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

// TestActKinds does what takes two administrators: nothing with the signature of one, and each act with both.
func TestActKinds(t *testing.T) {
	t.Parallel()
	r := newActing(t)
	for _, key := range [][]string{
		{"administrator", "--name", "carol", "--out", r.path("carol.key")},
		{"administrator", "--name", "bob", "--out", r.path("bob-2.key")},
		{"signing", "--origin", "cards.example.com/main", "--out", r.path("main-2.key")},
	} {
		r.must("", append([]string{"key", "generate"}, key...)...)
	}
	r.settings = fmt.Sprintf("signing_keys = [%q]\n", r.path("main-2.key"))
	r.adminToken()
	r.restart()
	defer r.stop()
	pinned := "main.vkey"
	says := func(code int, args []string, texts ...string) {
		t.Helper()
		r.says(code, "admin", pinned, args, texts...)
	}
	propose := func(act string, args ...string) []string {
		os.Remove(r.path("kind.act")) // of the act before: act do replaces no file
		return append([]string{"act", "do", act, "--sign", r.path("alice.key"), "--yes", "--out",
			r.path("kind.act")}, args...)
	}
	submit := []string{"act", "submit", r.path("kind.act")}
	byTwo := func(act, second, done string, args ...string) {
		t.Helper()
		says(term.ExitOK, propose(act, args...), "signed by   alice", "needs a second signature")
		says(term.ExitCannot, submit, "needs two administrators")
		r.must("", "act", "sign", r.path("kind.act"), "--sign", r.path(second), "--yes")
		says(term.ExitOK, submit, "It is done: "+done)
		says(term.ExitCannot, submit, "newest act is entry")
	}
	refused := func(why, act string, args ...string) {
		r.t.Helper()
		says(term.ExitUsage, propose(act, args...), why)
	}

	refused("bob.vkey has a key with the name bob, not carol", "add_administrator", "--admin", "carol", "--public",
		r.path("bob.vkey"))
	byTwo("add_administrator", "bob.key", "add administrator carol", "--admin", "carol", "--public",
		r.path("carol.vkey"))
	refused("carol.vkey has a key with the name carol, not bob", "replace_administrator", "--admin", "bob", "--public",
		r.path("carol.vkey"))
	byTwo("replace_administrator", "bob.key", "replace administrator bob", "--admin", "bob", "--public",
		r.path("bob-2.vkey"))
	says(term.ExitOK, []string{"act", "list"}, "administrator  alice", "administrator  bob", "administrator  carol",
		"delay          1h0m0s")
	byTwo("remove_administrator", "bob-2.key", "remove administrator carol", "--admin", "carol")
	says(term.ExitOK, propose("remove_administrator", "--admin", "bob"))
	r.must("", "act", "sign", r.path("kind.act"), "--sign", r.path("bob-2.key"), "--yes")
	says(term.ExitCannot, submit, "administrators are asked for, and 1 would be in force")
	byTwo("two_persons", "bob-2.key", "ask two administrators for", "--delay", "2h",
		"--acts", "signing,retirement,kill_clear,administrator,admin_credential,takeover,two_persons,co_dealer")
	says(term.ExitOK, []string{"act", "list"}, "two persons    kill_clear", "delay          2h0m0s")

	refused("bob-2.vkey has a key with the name bob, not cards.example.com/main", "signing", "--public", r.path("bob-2.vkey"))
	old := r.keyID("main.vkey")
	byTwo("signing", "bob-2.key", "bring the signing key "+r.keyID("main-2.vkey"), "--public", r.path("main-2.vkey"))
	pinned = "main-2.vkey"
	refused(`--from must be a time such as 2026-03-14T15:09:26Z, not "then"`, "retirement", "--retired", "signing",
		"--key-id", old, "--from", "then")
	byTwo("retirement", "bob-2.key", "retire the signing key "+old+" from 2026-03-14T15:09:26Z on",
		"--retired", "signing", "--key-id", old, "--from", "2026-03-14T16:09:26+01:00")
	says(term.ExitOK, []string{"key", "list"}, "from 2026-03-14T15:09:26Z", "retired")

	byTwo("two_persons", "bob-2.key", "ask two administrators for", "--delay", "0s",
		"--acts", "kill_clear,administrator,admin_credential,takeover,two_persons,co_dealer")
	says(term.ExitOK, []string{"kill", "set", "--all", "--reason", "a fault"})
	alone := []string{"act", "do", "kill_clear", "--reason", "mended", "--sign", r.path("alice.key"), "--yes"}
	says(term.ExitOK, alone, "The act waits for 0s: then give the same command again")
	says(term.ExitOK, alone, "It is done: clear the kill switch of the whole ledger")
	says(term.ExitOK, []string{"kill", "list"}, "no kill switch is set")
}

// keyID is the id of a verifier key's key, as key list shows it.
func (r *rotating) keyID(file string) string {
	r.t.Helper()
	vkey, err := keys.ReadVKey(r.path(file))
	if err != nil {
		r.t.Fatal(err)
	}
	key, err := audit.SigningKey(vkey)
	if err != nil {
		r.t.Fatal(err)
	}
	id := audit.KeyID(key)
	return base64.StdEncoding.EncodeToString(id[:])
}
