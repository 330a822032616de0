package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/term/termtest"
)

// TestMain builds the programs: the load is made through the command of the daemon's
// program, as users do.
func TestMain(m *testing.M) { termtest.Main(m, "shuffled", "shuffled-bench") }

// daemon is a running `shuffled serve --dev`.
type daemon struct {
	t         *testing.T
	url, data string
}

// newDaemon serves a sandbox until the test ends.
func newDaemon(t *testing.T) *daemon {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	d := &daemon{t: t, url: "http://" + address, data: filepath.Join(dir, "data")}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(termtest.Path(t, "shuffled"), "serve", "--dev", "--data", d.data, "--listen", address)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	limit := time.After(time.Minute)
	for {
		if resp, err := http.Get(d.url + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return d
			}
		}
		select {
		case <-ended:
		case <-limit:
		case <-time.After(5 * time.Millisecond):
			continue
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("the daemon did not get ready:\n%s", text)
	}
}

// environment is what the commands for this daemon take from theirs.
func (d *daemon) environment() []string {
	d.t.Helper()
	token, err := os.ReadFile(filepath.Join(d.data, "dealer.token"))
	if err != nil {
		d.t.Fatal(err)
	}
	return []string{"SHUFFLED_URL=" + d.url, "SHUFFLED_KEY=" + filepath.Join(d.data, "main.vkey"),
		"SHUFFLED_TOKEN=" + strings.TrimSpace(string(token))}
}
