package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
)

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
