// Package keystest runs tools/agent for tests, with keys that lie outside of every process of ours.
package keystest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// softHSM is where Debian has the library.
const softHSM = "/usr/lib/softhsm/libsofthsm2.so"

// A Helper is a running shuffled-agent.
type Helper struct {
	Socket  string
	Process *os.Process
	Tokens  string // of an HSM: the directory with its tokens
	Key     string // the name of the key of Ed25519 that Public knows and that was made first
	binary  string
	args    []string
	env     []string
	cmd     *exec.Cmd
}

// HSM makes a SoftHSM of its own with a token that has the keys main and main-2, which
// sign, and sealing, which wraps, and serves it. The test is skipped if this machine has
// no SoftHSM or no C compiler, and fails with SHUFFLED_REQUIRE_SOFTHSM=1.
func HSM(t *testing.T) *Helper {
	t.Helper()
	if _, err := os.Stat(softHSM); err != nil {
		missing(t, "SHUFFLED_REQUIRE_SOFTHSM", "no SoftHSM: run scripts/softhsm.sh: %v", err)
	}
	dir := short(t)
	h := &Helper{Socket: filepath.Join(dir, "s"), Tokens: filepath.Join(dir, "tokens"), Key: "main",
		binary: filepath.Join(dir, "agent")}
	h.env = append(os.Environ(), "SOFTHSM2_CONF="+filepath.Join(dir, "conf"))
	build(t, h.binary, "CGO_ENABLED=1", "SHUFFLED_REQUIRE_SOFTHSM")
	if err := os.Mkdir(h.Tokens, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "conf"), "directories.tokendir = "+h.Tokens+"\n")
	put(t, filepath.Join(dir, "pin"), "1234\n")
	h.run(t, "softhsm2-util", "--init-token", "--free", "--label", "house", "--pin", "1234", "--so-pin", "5678")
	h.args = []string{"pkcs11", "-library", softHSM, "-token", "house", "-pin-file", filepath.Join(dir, "pin"),
		"-sign", "main", "-sign", "main-2", "-wrap", "sealing", "-socket", h.Socket}
	h.run(t, h.binary, append(h.args, "-generate")...)
	h.Start(t)
	return h
}

// Start serves, and returns when the socket is there.
func (h *Helper) Start(t *testing.T) {
	t.Helper()
	h.cmd = exec.Command(h.binary, h.args...)
	h.cmd.Env = h.env
	says, err := h.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.Process = h.cmd.Process
	t.Cleanup(h.Stop)
	lines := bufio.NewReader(says)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "msg=ready") {
		t.Fatalf("shuffled-agent says %q, %v", line, err)
	}
	go lines.WriteTo(os.Stderr)
}

// Stop ends it as a crash does: the socket stays.
func (h *Helper) Stop() {
	if h.cmd != nil {
		h.Process.Kill()
		h.cmd.Wait()
		h.cmd = nil
	}
}

// Public returns a file with the public half of a key, from ssh-add -L.
func (h *Helper) Public(t *testing.T, name string) (path string) {
	t.Helper()
	h.env = append(h.env, "SSH_AUTH_SOCK="+h.Socket)
	for line := range bytes.Lines(h.run(t, "ssh-add", "-L")) {
		if strings.HasSuffix(strings.TrimSpace(string(line)), " "+name) {
			path = filepath.Join(t.TempDir(), name+".pub")
			put(t, path, string(line))
			return path
		}
	}
	t.Fatalf("the agent lists no key %s", name)
	return ""
}

func (h *Helper) run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

// build builds tools/agent, which is a module of its own.
func build(t *testing.T, path, env, require string) {
	t.Helper()
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "shuffled").Output()
	if err != nil {
		t.Fatalf("finding the source of tools/agent: %v", err)
	}
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join(strings.TrimSpace(string(root)), "tools", "agent")
	cmd.Env = append(os.Environ(), env, "GOFIPS140=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		missing(t, require, "tools/agent does not build here: %v\n%s", err, out)
	}
}

// missing skips the test, or fails it where the variable says so.
func missing(t *testing.T, require, format string, args ...any) {
	t.Helper()
	if os.Getenv(require) == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf("SKIPPED, a test of keys outside: "+format, args...)
}

// short returns a directory with a short path: that of a socket has about 100 characters.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// KMS makes a transit engine on the server that SHUFFLED_TRANSIT_URL and
// SHUFFLED_TRANSIT_TOKEN name, such as one of vault server -dev, with the keys main, which
// signs, and sealing, which wraps, and serves it. Without a server the test is skipped.
func KMS(t *testing.T) *Helper {
	t.Helper()
	url, token := os.Getenv("SHUFFLED_TRANSIT_URL"), os.Getenv("SHUFFLED_TRANSIT_TOKEN")
	if url == "" || token == "" {
		missing(t, "SHUFFLED_REQUIRE_TRANSIT", "SHUFFLED_TRANSIT_URL and SHUFFLED_TRANSIT_TOKEN name no KMS")
	}
	mount := fmt.Sprintf("t%d-%d", os.Getpid(), time.Now().UnixNano())
	admin := func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequest(method, url+"/v1/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Vault-Token", token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %s, %v: %s", method, path, resp.Status, err, text)
		}
	}
	admin("POST", "sys/mounts/"+mount, `{"type":"transit"}`)
	t.Cleanup(func() { admin("DELETE", "sys/mounts/"+mount, "") })
	admin("POST", mount+"/keys/main", `{"type":"ed25519"}`)
	admin("POST", mount+"/keys/sealing", `{"type":"aes256-gcm96"}`)

	dir := short(t)
	h := &Helper{Socket: filepath.Join(dir, "s"), Key: "main-v1", binary: filepath.Join(dir, "agent"),
		env: os.Environ()}
	build(t, h.binary, "CGO_ENABLED=0", "SHUFFLED_REQUIRE_TRANSIT")
	put(t, filepath.Join(dir, "token"), token+"\n")
	h.args = []string{"transit", "-url", url, "-mount", mount, "-token-file", filepath.Join(dir, "token"),
		"-sign", "main", "-wrap", "sealing", "-socket", h.Socket}
	h.Start(t)
	return h
}

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
