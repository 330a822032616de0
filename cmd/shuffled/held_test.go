package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/stops"
)

// TestFilesTakenAway: when a file that the daemon has open is removed, replaced or cut, nothing more is acknowledged,
// the answer, /readyz and the log say why, and reads go on. When the file is back, so is the daemon.
func TestFilesTakenAway(t *testing.T) {
	t.Parallel()
	away := func(path string) error { return os.Rename(path, path+".away") }
	replace := func(path string) error {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path+".copy", text, 0o600)
		}
		if err == nil {
			err = away(path)
		}
		if err == nil {
			err = os.Rename(path+".copy", path)
		}
		return err
	}
	cut := func(path string) error { return os.Truncate(path, 100) }
	for name, c := range map[string]struct {
		file  string
		fault func(string) error
		back  bool // by the file that was moved away
	}{
		"database removed": {"shuffled.db", away, true}, "database replaced": {"shuffled.db", replace, true},
		"database cut": {"shuffled.db", cut, false}, "log removed": {"shuffled.db-wal", away, true},
		"log replaced": {"shuffled.db-wal", replace, true}, "log cut": {"shuffled.db-wal", cut, false},
		"index removed": {"shuffled.db-shm", away, true}, "mark removed": {"main.mark", away, true},
		"mark replaced": {"main.mark", replace, true}, "mark cut": {"main.mark", cut, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, "")
			d.start()
			path := filepath.Join(d.data, c.file)
			commit := func(key string) (int, string) {
				t.Helper()
				status, body, err := d.post("/v1/main/shuffles", d.token("dealer.token"), key,
					map[string]any{"table": key, "deck": "standard-52"})
				if err != nil {
					t.Fatal(err)
				}
				return status, string(body)
			}
			for _, key := range []string{"k1", "k2", "k3"} {
				if status, body := commit(key); status != http.StatusOK {
					t.Fatalf("%d %s", status, body)
				}
			}
			if err := c.fault(path); err != nil {
				t.Fatal(err)
			}
			// Of the mark, what one batch wrote is durable in any case, and is acknowledged.
			if status, body := commit("k4"); status == http.StatusOK && c.file != "main.mark" {
				t.Errorf("after the fault: %s", body)
			}
			var ready []byte
			d.waitFor(d.url+"/readyz", func(r *http.Response) bool {
				ready, _ = io.ReadAll(r.Body)
				return strings.Contains(string(ready), string(stops.Replaced))
			})
			if !strings.Contains(string(ready), stops.Replaced.Cure()) ||
				!strings.Contains(string(ready), `"read":{"ok":true}`) {
				t.Errorf("readiness: %s", ready)
			}
			status, body := commit("k5")
			if c.back && (status != http.StatusServiceUnavailable || !strings.Contains(body, `"code":"frozen"`) ||
				!strings.Contains(body, string(stops.Replaced)[1:])) {
				t.Errorf("frozen: %d %s", status, body)
			}
			if !strings.Contains(d.logged(), "signing stopped") || !strings.Contains(d.logged(), c.file) {
				t.Errorf("the log:\n%s", d.logged())
			}
			if !c.back {
				return
			}
			if status, _, err := d.get("/v1/main/entries/0/receipt", ""); err != nil || status != http.StatusOK {
				t.Errorf("reads do not go on: %d, %v", status, err)
			}
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			d.waitFor(d.url+"/readyz", func(r *http.Response) bool { return r.StatusCode == http.StatusOK })
			if status, body := commit("k6"); status != http.StatusOK {
				t.Errorf("after the file is back: %d %s", status, body)
			}
		})
	}
}

// TestFilesRescued: the database and its log are removed under a daemon. What it has open is copied as
// docs/operations/backup.md says, and everything that was acknowledged is there again.
func TestFilesRescued(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root reads the open files of a daemon")
	}
	d := newDaemon(t, "")
	d.start()
	var last struct {
		ID      json.Number
		Receipt string
	}
	d.mustPost("/v1/main/shuffles", "k1", map[string]any{"table": "t", "deck": "standard-52"}, &last)
	database := filepath.Join(d.data, "shuffled.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(database + end); err != nil {
			t.Fatal(err)
		}
	}
	d.waitFor(d.url+"/readyz", func(r *http.Response) bool { return r.StatusCode == http.StatusServiceUnavailable })
	fds := fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid)
	open, err := os.ReadDir(fds)
	if err != nil {
		t.Fatal(err)
	}
	rescued := map[string][]byte{}
	for _, fd := range open {
		of, _ := os.Readlink(filepath.Join(fds, fd.Name()))
		for _, end := range []string{"", "-wal"} {
			if of == database+end+" (deleted)" {
				if rescued[end], err = os.ReadFile(filepath.Join(fds, fd.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	d.kill()
	for end, text := range rescued {
		if err := os.WriteFile(database+end, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.start()
	_, receipt, err := d.get("/v1/main/entries/"+last.ID.String()+"/receipt", "")
	if err != nil || !strings.Contains(last.Receipt, strings.Split(string(receipt), "\n")[1]) {
		t.Errorf("the entry is not there: %v\n%s\n%s", err, receipt, last.Receipt)
	}
	d.stop()
	if err := os.WriteFile(database, []byte(strings.Repeat("no database", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(builtBinary(t), "serve", "--dev", "--data", d.data, "--listen", d.addr).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "restore database and -wal together") {
		t.Errorf("a start on a damaged file: %v\n%s", err, out)
	}
}

// TestKeysTakenAway: a daemon holds its keys in memory, and goes on when their files are removed.
// The next start makes no new ones: it says that they are gone.
func TestKeysTakenAway(t *testing.T) {
	t.Parallel()
	path := builtBinary(t)
	for _, file := range []string{"main.key", "sealing.key"} {
		d := newDaemon(t, "")
		d.start()
		if err := os.Remove(filepath.Join(d.data, file)); err != nil {
			t.Fatal(err)
		}
		d.mustPost("/v1/main/shuffles", "k1", map[string]any{"table": "t", "deck": "standard-52"}, nil)
		d.stop()
		out, err := exec.Command(path, "serve", "--dev", "--data", d.data, "--listen", d.addr).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "does not have its keys") {
			t.Errorf("a start without %s: %v\n%s", file, err, out)
		}
	}
}
