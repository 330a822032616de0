package ledger_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/keys/keystest"
	"shuffled/internal/ledger"
)

// agentKey starts a real ssh-agent and returns a signing key that it holds, and what takes
// the key out and puts it back.
func agentKey(t *testing.T) (k *keys.SigningKey, out, in func()) {
	t.Helper()
	if _, err := exec.LookPath("ssh-agent"); err != nil {
		t.Skip("no ssh-agent on this machine")
	}
	dir := t.TempDir()
	socket, private := filepath.Join(dir, "agent.sock"), filepath.Join(dir, "id")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	says, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { agent.Process.Kill(); agent.Wait() })
	if _, err := bufio.NewReader(says).ReadString('\n'); err != nil { // its socket, when it listens
		t.Fatal(err)
	}
	run := func(name string, args ...string) func() {
		return func() {
			cmd := exec.Command(name, args...)
			cmd.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, said)
			}
		}
	}
	in, out = run("ssh-add", "-q", private), run("ssh-add", "-q", "-D")
	run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", private)()
	in()
	vkey, err := keys.ReadSSHPublic(private+".pub", origin)
	if err != nil {
		t.Fatal(err)
	}
	if k, err = keys.AgentSigning(socket, vkey); err != nil {
		t.Fatal(err)
	}
	return k, out, in
}

// hsmKey is agentKey with a key in a token of PKCS#11.
func hsmKey(t *testing.T) (k *keys.SigningKey, out, in func()) {
	h := keystest.HSM(t)
	vkey, err := keys.ReadSSHPublic(h.Public(t, "main"), origin)
	if err != nil {
		t.Fatal(err)
	}
	if k, err = keys.AgentSigning(h.Socket, vkey); err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) func() {
		return func() {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	return k, move(h.Tokens, h.Tokens+".away"), move(h.Tokens+".away", h.Tokens)
}

// TestKeyInAnAgent: a ledger is handed from a key in memory to one in an ssh-agent. When the
// agent loses it, nothing is written and the daemon is not ready, although it holds the key
// before; when the agent has it again, the ledger goes on.
func TestKeyInAnAgent(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(*testing.T) (*keys.SigningKey, func(), func()){
		"ssh-agent": agentKey, "PKCS#11": hsmKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, out, in := key(t)
			keyComesAndGoes(t, k, out, in)
		})
	}
}

func keyComesAndGoes(t *testing.T, k *keys.SigningKey, out, in func()) {
	h := newHouse(t, openSQLite(t))
	verifier, err := audit.ParseVKey(k.VKey())
	if err != nil {
		t.Fatal(err)
	}
	l := h.open(h.holding("mark", h.signer, k.Signer()))
	h.must(l, propose(commit("t", 1)))
	h.rotate(l, signingKey{k.Signer(), verifier, k.VKey(), k.Public()})
	h.must(l, propose(commit("t", 2)))
	size := h.size()
	out()
	waitFor(t, func() bool { return errors.Is(l.Ready(), ledger.ErrNoKey) }) // by the probe, before any entry
	if _, err := on(l).Append(t.Context(), propose(commit("t", 3))); !errors.Is(err, ledger.ErrNoKey) {
		t.Errorf("an append without the agent's key: %v", err)
	}
	if h.size() != size {
		t.Error("an entry was written without the key in force")
	}
	in()
	waitReady(t, l)
	h.must(l, propose(commit("t", 4)))
	l.Close()
	out()
	l = h.open(h.holding("mark", h.signer, k.Signer())) // it reads
	if err := l.Ready(); !errors.Is(err, ledger.ErrNoKey) {
		t.Errorf("a start without the agent's key: %v", err)
	}
	in()
	waitReady(t, l)
	h.must(l, propose(commit("t", 5)))
	h.entries()
}
