package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/cli/host"
	"shuffled/internal/config"
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

// TestRelays: a daemon asks its relays for the round of a plan, from the round's time on, and believes none of them.
func TestRelays(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	early := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
	}))
	defer early.Close()
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, round, _ := strings.Cut(r.URL.Path, "/public/")
		fmt.Fprintf(w, `{"round":%s,"signature":"%s"}`, round, strings.Repeat("ab", 48))
		select {
		case asked <- r.URL.Path:
		default:
		}
	}))
	defer liar.Close()
	config := filepath.Join(t.TempDir(), "shuffled.toml")
	text := fmt.Sprintf("[beacon]\nrelays = [%q, %q]\n", early.URL, liar.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t, "")
	d.start("--config", config)
	// The second round from now: the first may come out before the commit is made.
	round := audit.BeaconRound(time.Now().UnixMilli()) + 1
	var made struct{ ID uint64 }
	d.mustPost("/v1/main/shuffles", "hand", map[string]any{"table": "t", "deck": "standard-52",
		"mix": map[string]any{"beacon": map[string]any{"round": round}}}, &made)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		status, answer, err := d.post(fmt.Sprintf("/v1/main/shuffles/%d/mix", made.ID), d.token("dealer.token"), "",
			map[string]any{})
		if err != nil || status != http.StatusServiceUnavailable ||
			!strings.Contains(string(answer), `"code":"beacon_early"`) {
			t.Fatalf("%d, %v: %s", status, err, answer)
		}
		select {
		case path := <-asked:
			if _, got, _ := strings.Cut(path, "/public/"); got != strconv.FormatUint(round, 10) {
				t.Errorf("%s was asked for round %d", path, round)
			}
			return
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("no relay was asked")
		}
	}
}

// TestDevKeepsSigningKeys: a rotation in a sandbox names the next key in the file of configuration.
func TestDevKeepsSigningKeys(t *testing.T) {
	t.Parallel()
	s := &sandbox{t: t, cfg: config.Default()}
	s.cfg.Data = t.TempDir()
	s.cfg.Ledgers = []config.Ledger{{Name: host.SandboxLedger, SigningKeys: []string{"next.key"}}}
	s.cfg.Resolve()
	step := quietly().begin("", "")
	defer step.end()
	if err := (serveCmd{Dev: true}).prepare(t.Context(), s.cfg, step); err != nil {
		t.Fatal(err)
	}
	if l := s.cfg.Ledgers; len(l) != 1 || len(l[0].SigningKeys) != 1 ||
		filepath.Base(l[0].SigningKeys[0]) != "next.key" {
		t.Errorf("%+v", l)
	}
}
