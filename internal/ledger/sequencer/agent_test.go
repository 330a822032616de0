package sequencer_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/keys/keystest"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// agentKey starts a real ssh-agent and returns a signing key that it holds, and what takes
// the key out and puts it back.
func agentKey(t *testing.T) (k *keys.SigningKey, out, in func()) {
	a := keystest.SSHAgent(t)
	return keyOf(t, a.Helper), func() { a.Remove(t) }, func() { a.Add(t) }
}

// keyOf returns the signing key that an agent holds.
func keyOf(t *testing.T, h *keystest.Helper) *keys.SigningKey {
	t.Helper()
	vkey, err := keys.ReadSSHPublic(h.Public(t, h.Key), origin)
	must(t, err)
	k, err := keys.AgentSigning(h.Socket, vkey)
	must(t, err)
	return k
}

// hsmKey is agentKey with a key in a token of PKCS#11.
func hsmKey(t *testing.T) (k *keys.SigningKey, out, in func()) {
	h := keystest.HSM(t)
	move := func(from, to string) func() {
		return func() {
			must(t, os.Rename(from, to))
		}
	}
	return keyOf(t, h), move(h.Tokens, h.Tokens+".away"), move(h.Tokens+".away", h.Tokens)
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

// handedTo opens a ledger and hands it to a key.
func handedTo(h *house, k *keys.SigningKey, c ledger.Config) *sequencer.Ledger {
	h.t.Helper()
	verifier, err := audit.ParseVKey(k.VKey())
	if err != nil {
		h.t.Fatal(err)
	}
	l := h.open(c)
	h.must(l, propose(commit("t", 1)))
	h.rotate(l, signingKey{k.Signer(), verifier, k.VKey(), k.Public()})
	h.must(l, propose(commit("t", 2)))
	return l
}

func keyComesAndGoes(t *testing.T, k *keys.SigningKey, out, in func()) {
	h := newHouse(t, openSQLite(t))
	l := handedTo(h, k, h.holding("mark", h.signer, k.Signer()))
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

// TestHungAgent: an agent that hangs holds up the one batch that it hangs in. What comes next
// is refused without a question to it, until the daemon has asked it again.
func TestHungAgent(t *testing.T) {
	t.Parallel()
	a, h := keystest.SSHAgent(t), newHouse(t, openSQLite(t))
	k := keyOf(t, a.Helper)
	c := h.holding("mark", h.signer, k.Signer())
	c.Probe = time.Hour
	l := handedTo(h, k, c)
	a.Hang(t)
	if _, err := on(l).Append(t.Context(), propose(commit("t", 3))); !errors.Is(err, ledger.ErrNoKey) {
		t.Errorf("an append while the agent hangs: %v", err)
	}
	a.WakeUp(t)
	if _, err := on(l).Append(t.Context(), propose(commit("t", 4))); !errors.Is(err, ledger.ErrNoKey) {
		t.Errorf("an append before the agent is asked again: %v", err)
	}
}
