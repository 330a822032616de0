package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/term"
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
