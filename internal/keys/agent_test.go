package keys

import (
	"bufio"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

const agentOrigin = "cards.example.com/main"

// sshAgent runs a real ssh-agent and returns its socket and process.
func sshAgent(t *testing.T, dir string) (socket string, p *os.Process) {
	t.Helper()
	if _, err := exec.LookPath("ssh-agent"); err != nil {
		t.Skip("no ssh-agent on this machine")
	}
	socket = filepath.Join(dir, "agent.sock")
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it says its socket when it listens
		t.Fatalf("ssh-agent says %q, %v", line, err)
	}
	return socket, cmd.Process
}

// sshTool runs a program of OpenSSH with this agent.
func sshTool(t *testing.T, socket, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// TestAgent: a key in an ssh-agent signs as one in a file, and when the agent has it no
// more, is locked, stopped or dead, there is an error and no signature.
func TestAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socket, process := sshAgent(t, dir)
	private := filepath.Join(dir, "id")
	sshTool(t, socket, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", private)
	vkey, err := ReadSSHPublic(private+".pub", agentOrigin)
	must(t, err)
	if k, err := AgentSigning(socket, vkey); k != nil || err == nil ||
		!strings.Contains(err.Error(), "failed to sign") {
		t.Errorf("an agent without the key: %v", err)
	}
	sshTool(t, socket, "ssh-add", "-q", private)
	k, err := AgentSigning(socket, vkey)
	must(t, err)
	file := filepath.Join(dir, "main.key")
	must(t, k.WriteFile(file, Secret{}))
	if k, err = ReadSigning(file, Secret{}); err != nil || k.VKey() != vkey || k.Origin() != agentOrigin {
		t.Fatal(k, err)
	}
	verifier, err := note.NewVerifier(vkey)
	must(t, err)
	sign := func() error {
		signed, err := note.Sign(&note.Note{Text: "a text\n"}, k.Signer())
		if err == nil {
			_, err = note.Open(signed, note.VerifierList(verifier))
		}
		return err
	}
	must(t, sign())
	for _, state := range []struct {
		name     string
		away, up func()
	}{
		{"taken out", func() { sshTool(t, socket, "ssh-add", "-q", "-D") },
			func() { sshTool(t, socket, "ssh-add", "-q", private) }},
		{"stopped", func() { process.Signal(syscall.SIGSTOP) }, func() { process.Signal(syscall.SIGCONT) }},
	} {
		state.away()
		if err := sign(); err == nil || !strings.Contains(err.Error(), socket) {
			t.Errorf("%s: %v", state.name, err)
		} else if state.name == "stopped" && !strings.Contains(err.Error(), "i/o timeout") {
			t.Errorf("%s: %v", state.name, err)
		}
		state.up()
		if err := sign(); err != nil {
			t.Errorf("after it was %s: %v", state.name, err)
		}
	}
	process.Kill()
	process.Wait()
	if err := sign(); err == nil {
		t.Error("a dead agent signs")
	}
	if _, err := ReadSigning(file, Secret{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a start without the agent: %v", err)
	}
	sshTool(t, socket, "ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", private+"2")
	_, err = ReadSSHPublic(private+"2.pub", agentOrigin)
	if err == nil || !strings.Contains(err.Error(), "Ed25519 alone") {
		t.Errorf("a key of ECDSA: %v", err)
	}
}

// TestAgentAnswers: what no agent answers is no signature.
func TestAgentAnswers(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	vkey, err := note.NewEd25519VerifierKey(agentOrigin, public)
	must(t, err)
	const agentSigned = 14 // a message of draft-ietf-sshm-ssh-agent
	sshString := func(to, b []byte) []byte { return append(binary.BigEndian.AppendUint32(to, uint32(len(b))), b...) }
	signed := func(alg string, sig, more []byte) []byte {
		inner := append(sshString(sshString(nil, []byte(alg)), sig), more...)
		return sshString(nil, sshString([]byte{agentSigned}, inner))
	}
	good := ed25519.Sign(private, pairwise)
	other := ed25519.Sign(private, []byte("another text"))
	for name, answer := range map[string][]byte{
		"":                      signed("ssh-ed25519", good, nil),
		"of another text":       signed("ssh-ed25519", other, nil),
		"another algorithm":     signed("ssh-rsa", good, nil),
		"bytes behind":          signed("ssh-ed25519", good, []byte{0}),
		"63 bytes":              signed("ssh-ed25519", good[:63], nil),
		"nothing":               nil,
		"no bytes":              {0, 0, 0, 0},
		"4 GiB":                 {255, 255, 255, 255},
		"failure":               {0, 0, 0, 1, 5},
		"a type alone":          {0, 0, 0, 1, agentSigned},
		"a string past the end": {0, 0, 0, 5, agentSigned, 0, 0, 0, 9},
		"cut short":             signed("ssh-ed25519", good, nil)[:40],
	} {
		socket := filepath.Join(t.TempDir(), "s")
		listener, err := net.Listen("unix", socket)
		must(t, err)
		go func() {
			defer listener.Close()
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			request := make([]byte, 4+1+4+51+4+len(pairwise)+4)
			if _, err := bufio.NewReader(conn).Read(request); err == nil {
				conn.Write(answer)
			}
		}()
		if k, err := AgentSigning(socket, vkey); (err == nil) != (name == "") || (k == nil) != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, line := range map[string]string{"no socket": vkey, "a relative one": "agent.sock " + vkey,
		"no key": "/run/agent.sock ", "another key": fmt.Sprintf("/run/agent.sock %sA", vkey)} {
		if _, err := ReadSigning(put(t, "k", agentPrefix+line+"\n", 0o600), Secret{}); err == nil {
			t.Errorf("a file with %s", name)
		}
	}
}
