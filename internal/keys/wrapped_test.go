package keys

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"shuffled/internal/keys/keystest"
	"shuffled/internal/stops"
)

// TestHSM: keys in a token of PKCS#11 sign and wrap. What is lost, slow, stopped or
// exchanged gives an error and no key, and what is back is used again.
func TestHSM(t *testing.T) {
	t.Parallel()
	h := keystest.HSM(t)
	vkey, err := ReadSSHPublic(h.Public(t, "main"), agentOrigin)
	must(t, err)
	k, err := AgentSigning(h.Socket, vkey)
	must(t, err)
	if next, err := ReadSSHPublic(h.Public(t, "main-2"), agentOrigin); err != nil || next == vkey {
		t.Errorf("the key to rotate to is %s, %v", next, err)
	} else if _, err := AgentSigning(h.Socket, next); err != nil {
		t.Error(err)
	}
	signer := k.Signer().(*agentSigner)
	file := filepath.Join(t.TempDir(), "sealing.key")
	sealing := GenerateSealing()
	must(t, WriteWrappedSealing(file, h.Socket, sealing))
	if err := WriteWrappedSealing(file, h.Socket, sealing); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written twice: %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), wrappedPrefix+h.Socket+" ") {
		t.Fatal(text, err)
	}
	wrapped, err := decodeLine(text, wrappedPrefix+h.Socket+" ")
	if err != nil || bytes.Contains(wrapped, sealing.Bytes()) || len(wrapped) != 12+32+16 {
		t.Errorf("wrapped: %d bytes, %v", len(wrapped), err)
	}
	works := func(when string) {
		t.Helper()
		if err := signer.Present(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if got, err := ReadSealing(file, Secret{}); err != nil || !bytes.Equal(got.Bytes(), sealing.Bytes()) {
			t.Errorf("%s: %v", when, err)
		}
	}
	fails := func(when, why string) {
		t.Helper()
		if err := signer.Present(); !errors.Is(err, ErrAgent) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", when, err)
		}
		if got, err := ReadSealing(file, Secret{}); !got.Empty() || !errors.Is(err, ErrAgent) ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%s: a sealing key, %v", when, err)
		}
	}
	works("at start")
	must(t, os.Rename(h.Tokens, h.Tokens+".away"))
	fails("token lost", "failed to sign")
	must(t, os.Rename(h.Tokens+".away", h.Tokens))
	works("token back")
	must(t, h.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus // until every thread stands
	if _, err := syscall.Wait4(h.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(status, err)
	}
	fails("stopped", "i/o timeout")
	h.Process.Signal(syscall.SIGCONT)
	works("going on")
	h.Stop()
	fails("dead", "connection refused")
	h.Start(t)
	works("started again")

	// Another token, whose keys have the same labels.
	other := keystest.HSM(t)
	if _, err := AgentSigning(other.Socket, vkey); err == nil {
		t.Error("another token signs")
	}
	line := strings.TrimPrefix(string(text), wrappedPrefix+h.Socket)
	if _, err := ReadSealing(put(t, "k", wrappedPrefix+other.Socket+line, 0o600), Secret{}); !errors.Is(err, ErrAgent) {
		t.Errorf("another token opens: %v", err)
	}
}

// TestWrappedSealingRefused: what is no wrapped sealing key, and an agent that wraps nothing.
func TestWrappedSealingRefused(t *testing.T) {
	t.Parallel()
	socket, _ := sshAgent(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "sealing.key")
	err := WriteWrappedSealing(file, socket, GenerateSealing())
	if !errors.Is(err, ErrAgent) || !strings.Contains(err.Error(), "does not know wrap@shuffled") {
		t.Errorf("OpenSSH's agent wraps: %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Error("there is a file without a key")
	}
	for name, line := range map[string]string{
		"no socket":        "QUJD",
		"a relative one":   "s QUJD",
		"no base64":        socket + " QUJ",
		"a line after":     socket + " QUJD\nQUJD",
		"another agent":    socket + " QUJD",
		"an absent agent":  socket + "x QUJD",
		"nothing to open":  socket + " ",
		"a space too many": socket + "  QUJD",
	} {
		if got, err := ReadSealing(put(t, "k", wrappedPrefix+line+"\n", 0o600), Secret{}); err == nil || !got.Empty() {
			t.Errorf("a file with %s is read", name)
		}
	}
	open := put(t, "k", wrappedPrefix+socket+" QUJD\n", 0o644)
	if _, err := ReadSealing(open, Secret{}); !errors.Is(err, stops.Mode) {
		t.Errorf("a file open to all: %v", err)
	}
}
