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
	"shuffled/internal/cli/host"
	"shuffled/internal/testdb"
)

// receiver takes deliveries, or refuses them.
type receiver struct {
	mu       sync.Mutex
	refusing bool
	refused  int
	held     chan struct{} // the next delivery is answered when it is closed
	holding  int           // that wait for it
	came     []string      // type and shuffle of events that were taken, without repeats
	last     uint64        // newest index
	next     uint64        // entries below it were told
	keys     []string      // that must have signed
	wrong    []error       // what was wrong with a delivery
	header   http.Header   // of the newest
	body     []byte        // of the newest
	more     chan struct{} // of capacity 1: something came
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	tell := func() {
		select {
		case r.more <- struct{}{}:
		default:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer tell()
	if held := r.held; held != nil {
		r.holding++
		tell()
		r.mu.Unlock()
		<-held
		r.mu.Lock()
	}
	if r.refusing {
		r.refused++
		http.Redirect(w, q, "http://elsewhere.invalid/", http.StatusTemporaryRedirect) // which is not followed
		return
	}
	d, wrong := client.ReadWebhook(host.SandboxOrigin, q.Header, body, time.Now(), r.keys...)
	if err != nil || wrong != nil || d.Ledger != "main" {
		r.wrong = append(r.wrong, fmt.Errorf("%v, %w: %s", err, wrong, body))
		return
	}
	r.header, r.body = q.Header, body
	if r.next != 0 && d.From != r.next && d.Next > r.next {
		r.wrong = append(r.wrong, fmt.Errorf("a delivery from %d, behind %d", d.From, r.next))
	}
	r.next = max(r.next, d.Next)
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
			held := make(chan struct{})
			r.mu.Lock()
			r.held = held
			r.mu.Unlock()
			play("slow") // while the receiver does not answer
			r.waitFor(t, "held", func() bool { return r.holding > 0 })
			play("one")
			r.mu.Lock()
			r.held = nil
			r.mu.Unlock()
			close(held)
			r.waitFor(t, "at first", all)
			r.mu.Lock()
			r.refusing = true
			header, body := r.header, r.body
			r.mu.Unlock()
			play("two")
			r.waitFor(t, "refused", func() bool { return r.refused > 1 })
			play("three")
			figures := d.figures("shuffled_")
			labels := fmt.Sprintf(`{host=%q,ledger="main",webhook="1"}`, strings.TrimPrefix(server.URL, "http://"))
			for _, figure := range []string{"shuffled_webhook_failing_seconds" + labels,
				"shuffled_webhook_behind_entries" + labels, "shuffled_webhook_failed_total" + labels,
				`shuffled_ledger_followers{ledger="main"}`} {
				if figures[figure] <= 0 {
					t.Errorf("%s is %v", figure, figures[figure])
				}
			}
			d.stop()
			// The key changes: the receiver takes both until no daemon has the old one.
			if err := os.Remove(filepath.Join(d.data, "webhook.key")); err != nil {
				t.Fatal(err)
			}
			newKey, stderr, code := command(t, "key", "generate", "webhook", "--out",
				filepath.Join(d.data, "webhook.key"))
			if code != 0 {
				t.Fatal(stderr)
			}
			r.mu.Lock()
			r.refusing = false
			r.keys = append(r.keys, strings.TrimSpace(newKey))
			r.mu.Unlock()
			d.start("--config", config)
			if status, b, err := d.get("/v1/main/keys", ""); status != 200 || !strings.Contains(string(b), r.keys[1]) ||
				strings.Contains(string(b), r.keys[0]) {
				t.Errorf("%d, %v: %s", status, err, b)
			}
			play("four")
			r.waitFor(t, "after a restart", all)

			now := time.Now()
			read := func(origin string, header http.Header, body []byte, at time.Time, keys ...string) error {
				_, err := client.ReadWebhook(origin, header, body, at, keys...)
				return err
			}
			const main = host.SandboxOrigin
			if err := read(main, header, body, now, "whpk_nothing", r.keys[0]); err != nil {
				t.Error(err)
			}
			later := with(header, "Webhook-Timestamp", fmt.Sprint(now.Unix()+1))
			for what, err := range map[string]error{
				"another body":         read(main, header, append([]byte(" "), body...), now, r.keys...),
				"another key":          read(main, header, body, now, r.keys[1]),
				"no key":               read(main, header, body, now),
				"an old one":           read(main, header, body, now.Add(time.Hour), r.keys...),
				"one of later":         read(main, header, body, now.Add(-time.Hour), r.keys...),
				"another ledger's":     read("cards.example.org/main", header, body, now, r.keys...),
				"with another time":    read(main, later, body, now, r.keys...),
				"under another name":   read(main, with(header, "Webhook-Id", "x"), body, now, r.keys...),
				"without a signature":  read(main, with(header, "Webhook-Signature", ""), body, now, r.keys...),
				"by a shared secret":   read(main, with(header, "Webhook-Signature", "v1,AAAA"), body, now, r.keys...),
				"without its own time": read(main, with(header, "Webhook-Timestamp", ""), body, now, r.keys...),
			} {
				if err == nil {
					t.Errorf("%s is believed", what)
				}
			}
			d.stop()
			files, err := filepath.Glob(filepath.Join(d.data, "main.webhook-*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			for _, text := range []string{"", "100000\n"} {
				if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, stderr, code := command(t, args...); code == 0 ||
					!strings.Contains(stderr, "does not hold an index") {
					t.Errorf("with a file that says %q: %d, %s", text, code, stderr)
				}
			}
		})
	}
}

// with returns a header with another value.
func with(h http.Header, name, value string) http.Header {
	h = h.Clone()
	h.Set(name, value)
	return h
}
