package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
)

// buildBinary builds the command once per test process.
var buildBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "shuffled-test-")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "shuffled"), termtest.Build(dir, "shuffled")
})

// builtBinary returns the path of the command.
func builtBinary(t testing.TB) string {
	t.Helper()
	path, err := buildBinary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// contents returns what a file holds.
func contents(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// daemon is a running `shuffled serve --dev`.
type daemon struct {
	t        *testing.T
	url      string
	addr     string
	data     string
	database string // empty: the embedded store
	dir      string // where it runs; empty: here
	log      string // file that takes its standard error
	cmd      *exec.Cmd
	done     chan struct{} // closed when the process has ended
}

// newDaemon names a daemon on a free port with its own data directory.
func newDaemon(t *testing.T, database string) *daemon {
	t.Helper()
	dir, addr := t.TempDir(), testdb.FreeAddress(t)
	return &daemon{t: t, addr: addr, url: "http://" + addr,
		data: filepath.Join(dir, "data"), database: database, log: filepath.Join(dir, "log")}
}

// start runs a sandbox until it answers.
func (d *daemon) start(args ...string) {
	d.t.Helper()
	args = append([]string{"serve", "--dev", "--data", d.data, "--listen", d.addr}, args...)
	if d.database != "" {
		args = append(args, "--database", d.database)
	}
	d.launch(d.url, args)
}

// launch runs the command until it is ready, at the operator's address.
func (d *daemon) launch(operator string, args []string) {
	d.t.Helper()
	d.launchUntil(operator+"/readyz", func(resp *http.Response) bool { return resp.StatusCode == http.StatusOK }, args)
}

// launchIn is launch in a directory, for an address that is there when the process is.
func (d *daemon) launchIn(dir, url string, args []string) {
	d.t.Helper()
	d.dir = dir
	d.launchUntil(url, func(resp *http.Response) bool { return resp.StatusCode == http.StatusOK }, args)
}

// launchUntil runs the command until an answer of the address is as wanted.
func (d *daemon) launchUntil(url string, wanted func(*http.Response) bool, args []string) {
	d.t.Helper()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	d.cmd = exec.Command(builtBinary(d.t), args...)
	d.cmd.Stdout, d.cmd.Stderr, d.cmd.Dir = log, log, d.dir
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.done = make(chan struct{})
	go func(c *exec.Cmd, done chan struct{}) { c.Wait(); close(done) }(d.cmd, d.done)
	d.t.Cleanup(d.kill)
	d.waitFor(url, wanted)
}

func (d *daemon) waitFor(url string, wanted func(*http.Response) bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 60*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if resp, err := httpClient.Get(url); err == nil {
			done := wanted(resp)
			resp.Body.Close()
			if done {
				return
			}
		}
		select {
		case <-d.done:
			d.t.Fatalf("the daemon ended at start:\n%s", d.logged())
		case <-ctx.Done():
			d.t.Fatalf("the daemon did not get ready:\n%s", d.logged())
		case <-tick.C:
		}
	}
}

// kill ends the process with SIGKILL and waits for its end.
func (d *daemon) kill() {
	if d.cmd != nil {
		d.cmd.Process.Kill()
		<-d.done
	}
}

// stopLimit is how long a daemon may take to stop: it finishes what it has for 20 s.
const stopLimit = time.Minute

// stop ends it as a supervisor does, and reports how it ended. One that goes on writes
// its goroutines to its log and ends.
func (d *daemon) stop() {
	d.t.Helper()
	d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(stopLimit):
		d.cmd.Process.Signal(syscall.SIGQUIT)
		<-d.done
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		d.t.Errorf("the daemon stopped with code %d:\n%s", code, d.logged())
	}
}

func (d *daemon) logged() string {
	b, _ := os.ReadFile(d.log)
	return string(b)
}

// token reads a token that --dev made, such as dealer.token.
func (d *daemon) token(name string) string {
	d.t.Helper()
	return strings.TrimSpace(string(contents(d.t, filepath.Join(d.data, name))))
}

var httpClient = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// fetch returns what an address answers.
func fetch(t testing.TB, address string) (status int, text string) {
	t.Helper()
	resp, err := httpClient.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (d *daemon) get(path, token string) (int, []byte, error) {
	return d.do(http.MethodGet, path, token, "", nil)
}

func (d *daemon) post(path, token, key string, body any) (int, []byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	return d.do(http.MethodPost, path, token, key, b)
}

func (d *daemon) do(method, path, token, key string, body []byte) (int, []byte, error) {
	req, err := http.NewRequest(method, d.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

// mustPost posts and wants a 2xx.
func (d *daemon) mustPost(path, key string, body, answer any) []byte {
	d.t.Helper()
	status, b, err := d.post(path, d.token("dealer.token"), key, body)
	if err != nil || status/100 != 2 {
		d.t.Fatalf("POST %s: %d, %v: %s", path, status, err, b)
	}
	if answer != nil {
		if err := json.Unmarshal(b, answer); err != nil {
			d.t.Fatal(err)
		}
	}
	return b
}

// TestLogOfActs: the log says who administered what, and has the ids that a caller gave.
func TestLogOfActs(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	req, err := http.NewRequest(http.MethodPost, d.url+"/v1/main/switches",
		strings.NewReader(`{"scope":"table","table":"t-9","reason":"a private word"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + d.token("admin.token"),
		"Content-Type": "application/json", "X-Request-Id": "ours-1",
		"Traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"} {
		req.Header.Set(name, value)
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s", resp.Status, answer)
	}
	d.stop()
	log := d.logged()
	for _, want := range []string{`msg="administrative act" ledger=main entry=`, "act=kill_set of=t-9 identity=",
		"trace_id=4bf92f3577b34da6a3ce929d0e0e4736 parent_span_id=00f067aa0ba902b7 caller_request=ours-1"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "a private word") {
		t.Error("the reason is in the log")
	}
}

// as is the actor of a test: a service with one credential of the same name.
func as(name string) audit.Actor { return audit.Actor{Identity: name, Credential: name} }
