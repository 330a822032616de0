package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"shuffled/internal/config"
)

// TestLimitMemory: the limit follows the machine unless it is set, and is told.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, c := range []struct {
		name string
		set  config.Size
		env  string
		want string // in the log
	}{
		{"configured", 512 << 20, "", "limit=512MiB from=memory_limit"},
		{"configured, against GOMEMLIMIT", 512 << 20, "1GiB", "limit=512MiB from=memory_limit"},
		{"GOMEMLIMIT", 0, "1GiB", "from=GOMEMLIMIT"},
		{"by itself", 0, "", "MiB from="},
	} {
		t.Setenv("GOMEMLIMIT", c.env)
		debug.SetMemoryLimit(1 << 30) // as the runtime does for GOMEMLIMIT
		var out bytes.Buffer
		limitMemory(&config.Config{MemoryLimit: c.set}, slog.New(slog.NewTextHandler(&out, nil)))
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: logged %q", c.name, out.String())
		}
		now := debug.SetMemoryLimit(-1)
		switch {
		case c.set != 0 && now != int64(c.set), c.env != "" && c.set == 0 && now != 1<<30,
			c.set == 0 && c.env == "" && now == 1<<30:
			t.Errorf("%s: the limit is %d", c.name, now)
		}
	}
}

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 300, 32 << 20: 300, 64 << 20: 150, 96 << 20: 100, 480 << 20: 20,
		4 << 30: 20} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d bytes: %d %%, not %d", live, got, want)
		}
	}
}

// TestOpenTogether starts a daemon with ledgers whose witnesses answer nobody before all of them were asked: they are
// opened alongside each other, so that a witness that is away delays the start once, and not once for each ledger.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	const ledgers = 6
	asked, all := make(map[string]bool), make(chan struct{})
	together := 0 // asked when the first gave up
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else net/http does not see who gives up
		mu.Lock()
		ledger, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if asked[ledger] = true; len(asked) == ledgers {
			select {
			case <-all:
			default:
				close(all)
			}
		}
		mu.Unlock()
		select {
		case <-all:
		case <-r.Context().Done(): // it was asked for too long
			mu.Lock()
			if together == 0 {
				together = len(asked)
			}
			mu.Unlock()
		}
		http.Error(w, "away", http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)

	c := newCardRoom(t)
	c.must("key", "generate", "sealing", "--out", c.path("sealing.key"))
	c.must("key", "generate", "witness", "--name", "witness.example.org/w", "--out", c.path("w.key"))
	c.must("migrate", "up", "--data", c.dir)
	config := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\n", c.addr,
		strings.TrimPrefix(c.operator, "http://"), c.dir)
	admins := administrators(t, c.dir, func(args ...string) { c.must(args...) })
	for i := range ledgers {
		name := fmt.Sprintf("l%d", i)
		c.write("policy", fmt.Appendf(nil, "witness w %s %s/%s\nquorum w\n", c.read("w.vkey"), server.URL, name))
		c.must(append([]string{"ledger", "create", "--house", "casino",
			"--data", c.dir, "--name", name, "--origin", "cards.example.com/" + name,
			"--production", "--deals", "signed", "--policy", c.path("policy")}, admins...)...)
		config += fmt.Sprintf("[[ledger]]\nname = %q\n", name)
	}
	c.write("shuffled.toml", []byte(config))
	c.serve()
	mu.Lock()
	if together == 1 || len(asked) != ledgers {
		t.Errorf("the witnesses of %d ledgers were asked, of %d at a time", len(asked), together)
	}
	mu.Unlock()
	for i := range ledgers {
		c.readyNames(http.StatusOK, fmt.Sprintf(`"name":"l%d"`, i))
	}
	c.stop()
}
