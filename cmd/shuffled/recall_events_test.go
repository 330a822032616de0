package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/term"
	"shuffled/internal/testdb"
)

// TestRecall finds shuffles of a running daemon and proves what recall lists.
func TestRecall(t *testing.T) { t.Parallel(); runAgainstDaemon(t, "recall") }

// TestRecallLies: what the list says against the commits is not believed, and what it leaves out is named.
func TestRecallLies(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	for i := range 3 {
		d.mustPost("/v1/main/shuffles", fmt.Sprint("k-", i), map[string]any{"table": "t", "deck": "short-36"}, nil)
	}
	daemon, err := url.Parse(d.url)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		lie  func(list []map[string]any) []map[string]any
		says string
		code int
	}{
		"none": {func(list []map[string]any) []map[string]any { return list },
			"proved: 3 commits from serial 3 back to serial 1,", term.ExitOK},
		"one is left out": {func(list []map[string]any) []map[string]any { return slices.Delete(list, 1, 2) },
			"Not in the list, which leaves out what closed before its retention: 1 commit.", term.ExitOK},
		"another game": {func(list []map[string]any) []map[string]any { list[1]["game_ref"] = "g"; return list },
			"what its commit does not say", term.ExitFails},
		"another newest": {func(list []map[string]any) []map[string]any { list[2]["id"] = 999; return list },
			"404 not_found", term.ExitCannot},
	} {
		proxy := httputil.NewSingleHostReverseProxy(daemon)
		proxy.ModifyResponse = func(r *http.Response) error {
			if !strings.HasSuffix(r.Request.URL.Path, "/shuffles") {
				return nil
			}
			var answer struct {
				Shuffles []map[string]any `json:"shuffles"`
			}
			if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
				return err
			}
			answer.Shuffles = test.lie(answer.Shuffles)
			b, err := json.Marshal(answer)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
			r.Header.Set("Content-Length", fmt.Sprint(len(b)))
			return err
		}
		server := httptest.NewServer(proxy)
		out, errs, code := command(t, "recall", "--table", "t", "--prove", "--url", server.URL, "--token-file",
			filepath.Join(d.data, "dealer.token"), "--key", filepath.Join(d.data, "main.vkey"))
		server.Close()
		if code != test.code || !strings.Contains(out+errs, test.says) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", name, code, test.code, test.says, out, errs)
		}
	}
}

// TestEventsOfDaemons follows at one of two daemons what both write, while that one stops
// and starts again: nothing is left out, and nothing comes twice.
func TestEventsOfDaemons(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "shuffled.db") },
		"postgres": func(t *testing.T) string { return testdb.DSN(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReplicas(t, repeat(database(t), 2)...)
			first, second := r.daemons[0], r.daemons[1]
			vkey := contents(t, filepath.Join(first.data, "main.vkey"))
			c, err := client.New(client.Config{URL: second.url, Ledger: "main", VKey: strings.TrimSpace(string(vkey)),
				Token: first.token("auditor.token")})
			if err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithTimeout(t.Context(), time.Minute)
			defer leave()
			told := make(chan client.Event, 1)
			go func() {
				defer close(told)
				start := uint64(0)
				for e, err := range c.Events(ctx, &start) {
					if ctx.Err() != nil {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					told <- e
				}
			}()
			var want []string
			keys := 0
			play := func(d *daemon, n int) {
				t.Helper()
				for range n {
					keys++
					var s struct{ ID uint64 }
					key := fmt.Sprint("event-", keys)
					d.do1(t, r.token, "/v1/main/shuffles", key, map[string]any{"table": "t", "deck": "short-36"}, &s)
					path := fmt.Sprintf("/v1/main/shuffles/%d/", s.ID)
					d.do1(t, r.token, path+"deal", "", map[string]any{"first": 0,
						"runs": []any{map[string]any{"count": 3, "purpose": "board", "public": true}}}, nil)
					d.do1(t, r.token, path+"close", "", map[string]any{"outcome": "completed"}, nil)
					for _, what := range []string{"committed", "dealt", "closed"} {
						want = append(want, fmt.Sprint(what, " ", s.ID))
					}
				}
			}
			follow := func() {
				t.Helper()
				last := uint64(0)
				for len(want) > 0 {
					e, ok := <-told
					if !ok {
						t.Fatalf("it ended, and %q are to come", want)
					}
					if e.Shuffle == nil || e.Index == nil {
						continue
					}
					if got := fmt.Sprint(e.Type, " ", *e.Shuffle); got != want[0] || *e.Index <= last {
						t.Fatalf("got %q at %d, want %q", got, *e.Index, want[0])
					}
					last, want = *e.Index, want[1:]
				}
			}
			play(first, 2)
			play(second, 2)
			follow()
			second.stop()
			play(first, 2)
			second.start("--log-level", "warn")
			play(second, 1)
			follow()
		})
	}
}

// do1 posts with a token and wants a 200.
func (d *daemon) do1(t *testing.T, token, path, key string, body, answer any) {
	t.Helper()
	status, b, err := d.post(path, token, key, body)
	if err != nil || status != 200 {
		t.Fatalf("POST %s: %d, %v: %s", path, status, err, b)
	}
	if answer != nil {
		if err := json.Unmarshal(b, answer); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEventsCommand prints what happened.
func TestEventsCommand(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	last := d.playSome(2)[1] + 1 // a deal
	for _, form := range [][]string{nil, {"--json"}} {
		args := append([]string{"events", "--url", d.url, "--key", filepath.Join(d.data, "main.vkey"), "--after", "0",
			"--until", fmt.Sprint(last), "--token-file", filepath.Join(d.data, "auditor.token")}, form...)
		out := d.follow(args)
		for _, want := range []string{"committed", "t-1", "dealt", "closed", "completed"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q does not say %s:\n%s", args, want, out)
			}
		}
	}
}

// follow runs the command.
func (d *daemon) follow(args []string) string {
	d.t.Helper()
	out, err := exec.Command(builtBinary(d.t), args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}
