package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/testdb"
)

// receiver takes deliveries, or refuses them.
type receiver struct {
	mu       sync.Mutex
	refusing bool
	refused  int
	came     []string      // type and shuffle of events that were taken, without repeats
	last     uint64        // newest index
	keys     []string      // that must have signed
	wrong    []error       // what was wrong with a delivery
	header   http.Header   // of the newest
	body     []byte        // of the newest
	more     chan struct{} // of capacity 1: something came
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		select {
		case r.more <- struct{}{}:
		default:
		}
	}()
	if r.refusing {
		r.refused++
		http.Redirect(w, q, "http://elsewhere.invalid/", http.StatusTemporaryRedirect) // which is not followed
		return
	}
	d, wrong := client.ReadWebhook(q.Header, body, time.Now(), r.keys...)
	if err != nil || wrong != nil || d.Ledger != "main" {
		r.wrong = append(r.wrong, fmt.Errorf("%v, %w: %s", err, wrong, body))
		return
	}
	r.header, r.body = q.Header, body
	for _, e := range d.Events {
		if e.Index != nil && e.Shuffle != nil && *e.Index > r.last {
			r.last = *e.Index
			r.came = append(r.came, fmt.Sprint(e.Type, " ", *e.Shuffle))
		}
	}
}

// waitFor waits until what it has taken and refused is as wanted.
func (r *receiver) waitFor(t *testing.T, what string, wanted func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		r.mu.Lock()
		done, wrong := wanted(), r.wrong
		r.mu.Unlock()
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		if done {
			return
		}
		select {
		case <-r.more:
		case <-limit:
			t.Fatalf("%s: %q, refused %d", what, r.came, r.refused)
		}
	}
}

// TestWebhooks: a receiver is sent everything in order, also what happened while it refused
// and the daemon was started again; a deal notices nothing.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return testdb.DSN(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &receiver{more: make(chan struct{}, 1)}
			server := httptest.NewServer(r)
			defer server.Close()
			d := newDaemon(t, database(t))
			config := filepath.Join(filepath.Dir(d.data), "config.toml")
			text := fmt.Sprintf("[[ledger]]\nname = \"main\"\nwebhooks = [%q]\n", server.URL+"/hook")
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"serve", "--dev", "--data", d.data, "--listen", d.addr, "--config", config}
			if d.database != "" {
				args = append(args, "--database", d.database)
			}
			if _, stderr, code := command(t, args...); code == 0 ||
				!strings.Contains(stderr, "webhook.key") {
				t.Errorf("without a key: %d, %s", code, stderr)
			}
			key, stderr, code := command(t, "key", "generate", "webhook", "--out", filepath.Join(d.data, "webhook.key"))
			if code != 0 {
				t.Fatal(stderr)
			}
			r.keys = []string{strings.TrimSpace(key)}
			d.start("--config", config)
			if status, b, err := d.get("/v1/main/keys", ""); status != 200 || !strings.Contains(string(b), r.keys[0]) {
				t.Errorf("%d, %v: %s", status, err, b)
			}
			var want []string
			play := func(key string) {
				t.Helper()
				var s struct{ ID uint64 }
				d.mustPost("/v1/main/shuffles", key, map[string]any{"table": "t", "deck": "short-36"}, &s)
				path := fmt.Sprintf("/v1/main/shuffles/%d/", s.ID)
				d.mustPost(path+"deal", "", map[string]any{"first": 0,
					"runs": []any{map[string]any{"count": 3, "purpose": "board", "public": true}}}, nil)
				d.mustPost(path+"close", "", map[string]any{"outcome": "completed"}, nil)
				for _, what := range []string{"committed", "dealt", "closed"} {
					want = append(want, fmt.Sprint(what, " ", s.ID))
				}
			}
			all := func() bool { return slices.Equal(r.came, want) }
			play("one")
			r.waitFor(t, "at first", all)
			r.mu.Lock()
			r.refusing = true
			header, body := r.header, r.body
			r.mu.Unlock()
			play("two")
			r.waitFor(t, "refused", func() bool { return r.refused > 1 })
			play("three")
			d.stop()
			r.mu.Lock()
			r.refusing = false
			r.mu.Unlock()
			d.start("--config", config)
			play("four")
			r.waitFor(t, "after a restart", all)

			now := time.Now()
			if _, err := client.ReadWebhook(header, body, now, "whpk_nothing", r.keys[0]); err != nil {
				t.Error(err)
			}
			for what, err := range map[string]func() error{
				"another body": func() error {
					_, err := client.ReadWebhook(header, append([]byte(" "), body...), now, r.keys...)
					return err
				},
				"another key": func() error {
					_, err := client.ReadWebhook(header, body, now, "whpk_MCowBQYDK2VwAyEAMCowBQYDK2VwAyEAMCowBQYDK2U=")
					return err
				},
				"an old one": func() error {
					_, err := client.ReadWebhook(header, body, now.Add(time.Hour), r.keys...)
					return err
				},
			} {
				if err() == nil {
					t.Errorf("%s is believed", what)
				}
			}
			d.stop()
			files, err := filepath.Glob(filepath.Join(d.data, "main.webhook-*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			if err := os.WriteFile(files[0], nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, stderr, code := command(t, args...); code == 0 ||
				!strings.Contains(stderr, "holds the index of an entry") {
				t.Errorf("with a file that says nothing: %d, %s", code, stderr)
			}
		})
	}
}
