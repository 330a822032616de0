package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// delayed starts a daemon with a delay of its shutdown.
func delayed(t *testing.T, delay string) *daemon {
	t.Helper()
	d := newDaemon(t, "")
	path := filepath.Join(t.TempDir(), "shuffled.toml")
	if err := os.WriteFile(path, []byte("shutdown_delay = \""+delay+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.start("--config", path)
	return d
}

// leaves waits until readiness says that the daemon is stopping.
func (d *daemon) leaves() {
	d.t.Helper()
	d.waitFor(d.url+"/readyz", func(resp *http.Response) bool {
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(b), `"stopping"`)
	})
}

// TestShutdownDelay: a daemon that was told to stop serves new connections as before
// until the delay is over, or somebody tells it again.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	d := delayed(t, "60s")
	d.cmd.Process.Signal(syscall.SIGTERM)
	d.leaves()
	for i := range 3 {
		httpClient.CloseIdleConnections()
		d.mustPost("/v1/main/shuffles", strconv.Itoa(i), map[string]any{"table": "t", "deck": "standard-52"}, nil)
	}
	if status, body, err := d.get("/readyz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("readiness: %d, %v: %s", status, err, body)
	}
	d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(50 * time.Second):
		t.Fatal("a second signal does not end the delay")
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 ||
		!strings.Contains(d.logged(), "requests are served until the delay ends") {
		t.Errorf("exit %d:\n%s", code, d.logged())
	}
}

// TestShutdownDelayEnds: the delay is over by itself.
func TestShutdownDelayEnds(t *testing.T) {
	t.Parallel()
	d := delayed(t, "2s")
	d.cmd.Process.Signal(os.Interrupt)
	<-d.done
	if code := d.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(d.logged(), "delay=2s") {
		t.Errorf("exit %d:\n%s", code, d.logged())
	}
}
