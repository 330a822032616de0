package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"shuffled/internal/keys/keystest"
	"shuffled/internal/term"
)

// TestKeysOutside: signing and sealing key of a daemon go over to an HSM or a KMS, by rotation. While it is away a
// running daemon writes nothing and another one does not start; when it is back, what is open is dealt.
func TestKeysOutside(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) *keystest.Helper{"HSM": keystest.HSM, "KMS": keystest.KMS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keysOutside(t, start(t))
		})
	}
}

func keysOutside(t *testing.T, h *keystest.Helper) {
	r := newRotating(t)
	generate := []string{"key", "generate", "signing", "--origin", "cards.example.com/main",
		"--out", r.path("main-2.key"), "--agent", h.Socket}
	if code, out := r.run("", generate...); code != term.ExitUsage || !strings.Contains(out, "--ssh-public") {
		t.Errorf("no public key: %d, %s", code, out)
	}
	r.must("", append(generate, "--ssh-public", h.Public(t, h.Key))...)
	seals := []string{"--agent", h.Socket}
	if err := os.WriteFile(r.path("phrase"), []byte("a phrase"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := r.run("", append([]string{"key", "generate", "sealing", "--out", r.path("none"),
		"--passphrase-file", r.path("phrase")}, seals...)...); code != term.ExitUsage {
		t.Errorf("wrapped and under a passphrase: %d, %s", code, out)
	}
	r.must("", append([]string{"key", "generate", "sealing", "--out", r.path("sealing-2.key")}, seals...)...)
	shown := r.must("", "key", "show", r.path("sealing-2.key"))

	r.settings = fmt.Sprintf("signing_keys = [%q]\n", r.path("main-2.key"))
	r.sealing = fmt.Sprintf("[%q, %q]", r.path("sealing-2.key"), r.path("sealing.key"))
	r.restart()
	r.does(term.ExitOK, "main.vkey", "signing", []string{"--public", r.path("main-2.vkey")}, "It is done")
	hand := []string{"shuffle", "--table", "t1", "--deck", "standard-52"}
	r.says(term.ExitOK, "dealer", "main-2.vkey", hand) // entry 9
	deal := []string{"deal", "9", "--first", "0", "--run", "2:seat:seat-1"}

	h.Stop()
	r.waitFor(r.operator+"/readyz",
		func(resp *http.Response) bool { return resp.StatusCode == http.StatusServiceUnavailable })
	r.says(term.ExitCannot, "dealer", "main-2.vkey", deal, "503 signing_key")
	const cure = "start the agent that the key file names"
	if code, out := r.run("", "doctor", "--config", r.config); code != term.ExitFails ||
		strings.Count(out, cure) != 2 || !strings.Contains(out, h.Socket) {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	r.stop()
	r.settings = fmt.Sprintf("signing_key = %q\n", r.path("main-2.key"))
	r.sealing = fmt.Sprintf("[%q]", r.path("sealing-2.key"))
	r.configure()
	if code, out := r.run("", "serve", "--config", r.config); code != term.ExitCannot || !strings.Contains(out, cure) {
		t.Errorf("a start without it: %d\n%s", code, out)
	}
	h.Start(t)
	if again := r.must("", "key", "show", r.path("sealing-2.key")); again != shown {
		t.Errorf("the sealing key was %s, and is %s", shown, again)
	}
	r.restart()
	r.says(term.ExitOK, "dealer", "main-2.vkey", deal)
	r.stop()
}

// TestHungAgent: while the agent that holds the signing key hangs, reads answer, and what writes
// is answered at once with the reason; when the agent goes on, the daemon does.
func TestHungAgent(t *testing.T) {
	t.Parallel()
	a, r := keystest.SSHAgent(t), newRotating(t)
	r.must("", "key", "generate", "signing", "--origin", "cards.example.com/main", "--out", r.path("main-2.key"),
		"--agent", a.Socket, "--ssh-public", a.Public(t, a.Key))
	r.settings = fmt.Sprintf("signing_keys = [%q]\n", r.path("main-2.key"))
	r.restart()
	r.does(term.ExitOK, "main.vkey", "signing", []string{"--public", r.path("main-2.vkey")}, "It is done")
	r.says(term.ExitOK, "dealer", "main-2.vkey", []string{"shuffle", "--table", "t1", "--deck", "standard-52"})
	deal := []string{"deal", "9", "--first", "0", "--run", "2:seat:seat-1"}
	readyz := func(status int) {
		r.waitFor(r.operator+"/readyz", func(resp *http.Response) bool { return resp.StatusCode == status })
	}

	a.Hang(t)
	readyz(http.StatusServiceUnavailable)
	for range 2 {
		for _, path := range []string{"tables", "switches", "credentials", "keys", "shuffles/9"} {
			r.reads(path)
		}
	}
	r.says(term.ExitCannot, "dealer", "main-2.vkey", deal, "503 signing_key")
	a.WakeUp(t)
	readyz(http.StatusOK)
	r.says(term.ExitOK, "dealer", "main-2.vkey", deal)
	r.stop()
}

// reads gets what is under the ledger's address, as an administrator.
func (r *rotating) reads(path string) {
	r.t.Helper()
	token := contents(r.t, r.path("admin.token"))
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.addr+"/v1/main/"+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := httpClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		r.t.Errorf("GET %s: %s, %v: %s", path, resp.Status, err, text)
	}
}
