package keystest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// An Agent is a running ssh-agent of OpenSSH, and a key of Ed25519 for it.
type Agent struct {
	*Helper
	private string
}

// SSHAgent runs an ssh-agent that holds a new key. The test is skipped if this machine has no OpenSSH.
func SSHAgent(t *testing.T) *Agent {
	t.Helper()
	if _, err := exec.LookPath("ssh-agent"); err != nil {
		t.Skip("no ssh-agent on this machine")
	}
	dir := short(t)
	h := &Helper{Socket: filepath.Join(dir, "s"), Key: "main"}
	h.env = append(os.Environ(), "SSH_AUTH_SOCK="+h.Socket)
	h.cmd = exec.Command("ssh-agent", "-D", "-a", h.Socket)
	says, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.Process = h.cmd.Process
	t.Cleanup(h.Stop)
	if _, err := bufio.NewReader(says).ReadString('\n'); err != nil { // its socket, when it listens
		t.Fatal(err)
	}
	a := &Agent{h, filepath.Join(dir, "id")}
	h.run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", h.Key, "-f", a.private)
	a.Add(t)
	return a
}

// Add gives the agent the key, and Remove takes it out.
func (a *Agent) Add(t *testing.T)    { a.run(t, "ssh-add", "-q", a.private) }
func (a *Agent) Remove(t *testing.T) { a.run(t, "ssh-add", "-q", "-D") }

// Hang has the process hang, and WakeUp has it go on.
func (h *Helper) Hang(t *testing.T)   { h.signal(t, syscall.SIGSTOP) }
func (h *Helper) WakeUp(t *testing.T) { h.signal(t, syscall.SIGCONT) }

func (h *Helper) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := h.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
