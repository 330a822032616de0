package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/keys"
)

// forked are two ledgers under one key, and a client that is led from the first to the second.
type forked struct {
	t        *testing.T
	one, two *daemon
	led      atomic.Bool // to the second
	tiles    atomic.Int64
}

func newForked(t *testing.T) *forked {
	t.Helper()
	signing, err := keys.GenerateSigning("example.com/test")
	must(t, err)
	return &forked{t: t, one: newDaemonUnder(t, signing), two: newDaemonUnder(t, signing)}
}

func (f *forked) between(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := f.one
		if f.led.Load() {
			d = f.two
		}
		if strings.Contains(r.URL.Path, "/tile/") {
			f.tiles.Add(1)
		}
		r.Header.Set("Authorization", "Bearer "+d.token)
		d.api.ServeHTTP(w, r)
	})
}

func (f *forked) client(state client.State) *client.Client {
	return f.one.client(f.between, func(cfg *client.Config) { cfg.State, cfg.Identity = state, "dealer" })
}

// commits makes n shuffles, and returns the last.
func commits(t *testing.T, c *client.Client, n int, key string) (s *client.Committed) {
	t.Helper()
	for i := range n {
		var err error
		if s, err = c.Commit(t.Context(), fmt.Sprint(key, i),
			client.ShuffleRequest{Table: fmt.Sprint(key, i), Deck: ptr("short-36")}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// isFork wants a fault with the two checkpoints that do not go together.
func isFork(t *testing.T, what string, err error) {
	t.Helper()
	var f *client.Fault
	if !errors.As(err, &f) || f.Other == nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestRolledBack leads a client to a ledger that is shorter than what it saw.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	f := newForked(t)
	c := f.client(nil)
	commits(t, c, 5, "a")
	f.led.Store(true)
	_, err := c.Commit(t.Context(), "b", client.ShuffleRequest{Table: "b", Deck: ptr("short-36")})
	isFork(t, "a commit below the known end", err)
	// It does not get better by asking again.
	_, err = c.Commit(t.Context(), "b", client.ShuffleRequest{Table: "b", Deck: ptr("short-36")})
	isFork(t, "the same again", err)
}

// TestSameSize leads a client to a ledger of the same size with other entries.
func TestSameSize(t *testing.T) {
	t.Parallel()
	f := newForked(t)
	commits(t, f.two.client(nil, nil), 2, "b")
	c := f.client(nil)
	commits(t, c, 3, "a")
	f.led.Store(true)
	_, err := c.Commit(t.Context(), "c", client.ShuffleRequest{Table: "c", Deck: ptr("short-36")})
	isFork(t, "another root at one size", err)
}

// TestOvertaken leads a client to a longer ledger, which Check does not link.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	f := newForked(t)
	commits(t, f.two.client(nil, nil), 300, "b")
	c := f.client(nil)
	last := commits(t, c, 3, "a")
	must(t, c.Check(t.Context()))
	f.led.Store(true)
	commits(t, c, 1, "c")
	isFork(t, "a longer ledger", c.Check(t.Context()))
	_, err := c.Load(t.Context(), last.ID-1)
	isFork(t, "an old entry of it", err)
}

// TestRestart keeps what a client saw in a file.
func TestRestart(t *testing.T) {
	t.Parallel()
	f := newForked(t)
	path := filepath.Join(t.TempDir(), "state")
	s := commits(t, f.client(client.FileState(path)), 4, "a")
	again := f.client(client.FileState(path))
	if _, err := again.Load(t.Context(), s.ID-1); err != nil {
		t.Errorf("the same ledger: %v", err)
	}
	if f.tiles.Load() == 0 {
		t.Error("nothing was proved")
	}
	commits(t, again, 1, "d")
	f.led.Store(true)
	led := f.client(client.FileState(path))
	_, err := led.Commit(t.Context(), "c", client.ShuffleRequest{Table: "c", Deck: ptr("short-36")})
	isFork(t, "after a restart", err)
	// Without the state the other ledger is as good as the one.
	if _, err := f.client(nil).Commit(client.FirstTried(t.Context(), time.Time{}), "c",
		client.ShuffleRequest{Table: "c", Deck: ptr("short-36")}); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}

// TestGrowth checks an honest ledger over several tiles, by itself when many checkpoints wait, before a commit and
// after a read, and when old shuffles are loaded.
func TestGrowth(t *testing.T) {
	t.Parallel()
	f := newForked(t)
	c := f.client(client.FileState(filepath.Join(t.TempDir(), "state")))
	first, reader := commits(t, c, 1, "a"), f.client(nil)
	for i := range 256 {
		_, err := reader.Receipt(t.Context(), first.ID)
		must(t, err)
		commits(t, c, 1, fmt.Sprint("b", i, "-"))
	}
	if f.tiles.Load() != 0 {
		t.Error("checked early")
	}
	if _, err := reader.Receipt(t.Context(), first.ID); err != nil || f.tiles.Load() == 0 {
		t.Errorf("a reader never checked, or %v", err)
	}
	before := f.tiles.Load()
	commits(t, c, 20, "c")
	if f.tiles.Load() == before {
		t.Error("never checked")
	}
	if _, err := c.Load(t.Context(), first.ID); err != nil {
		t.Error(err)
	}
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	before = f.tiles.Load()
	if err := c.Check(t.Context()); err != nil || f.tiles.Load() != before {
		t.Errorf("nothing new, and %d tiles, %v", f.tiles.Load()-before, err)
	}
}

// TestNoTiles wants no answer of the past without a proof, and no fault either where the daemon only does not answer.
func TestNoTiles(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	var broken atomic.Bool
	c := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if broken.Load() && strings.Contains(r.URL.Path, "/tile/") {
				w.WriteHeader(500)
				return
			}
			h.ServeHTTP(w, r)
		})
	}, nil)
	s := commits(t, c, 2, "a")
	commits(t, c, 2, "b")
	broken.Store(true)
	var refused *client.Error
	for range 2 { // the second time too
		if _, err := c.Load(t.Context(), s.ID); !errors.As(err, &refused) || !client.Unknown(err) {
			t.Errorf("%v", err)
		}
	}
	broken.Store(false)
	if _, err := c.Load(t.Context(), s.ID); err != nil {
		t.Error(err)
	}
}

// badState fails, or has what it has.
type badState struct {
	content  []byte
	load, on error
}

func (b badState) Load() ([]byte, error) { return b.content, b.load }
func (b badState) Save([]byte) error     { return b.on }

func TestBadState(t *testing.T) {
	t.Parallel()
	d, other := newDaemon(t), newDaemon(t)
	full := errors.New("disk full")
	c := d.client(nil, func(cfg *client.Config) { cfg.State = badState{on: full} })
	if _, err := c.Commit(context.Background(), "k",
		client.ShuffleRequest{Table: "t", Deck: ptr("short-36")}); !errors.Is(err, full) || !client.Unknown(err) {
		t.Errorf("a state that cannot be kept: %v", err)
	}
	path := filepath.Join(t.TempDir(), "state")
	commits(t, other.client(nil, func(cfg *client.Config) { cfg.State = client.FileState(path) }), 2, "a")
	foreign, err := client.FileState(path).Load()
	must(t, err)
	for what, state := range map[string]client.State{
		"unreadable":       badState{load: full},
		"no state":         badState{content: []byte("x")},
		"an empty one":     badState{content: []byte(`{"newest":""}`)},
		"another ledger's": badState{content: foreign},
		"a directory":      client.FileState(t.TempDir()),
	} {
		cfg := client.Config{URL: "http://localhost", Ledger: "main", VKey: d.vkey, State: state}
		if _, err := client.New(cfg); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

// TestForkInState: two checkpoints of one size in a state are a fork that the client does not begin with.
func TestForkInState(t *testing.T) {
	t.Parallel()
	f := newForked(t)
	var newest [2]string
	for i, d := range []*daemon{f.one, f.two} {
		path := filepath.Join(t.TempDir(), "state")
		commits(t, d.client(nil, func(cfg *client.Config) { cfg.State = client.FileState(path) }), 2, "a")
		var kept struct{ Newest string }
		b, err := client.FileState(path).Load()
		if err == nil {
			err = json.Unmarshal(b, &kept)
		}
		must(t, err)
		newest[i] = kept.Newest
	}
	for want, loose := range map[string]string{"": newest[0], "two checkpoints": newest[1]} {
		state, err := json.Marshal(map[string]any{"newest": newest[0], "loose": []string{loose}})
		must(t, err)
		_, err = client.New(client.Config{URL: "http://localhost", Ledger: "main", VKey: f.one.vkey,
			State: badState{content: state}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestAwaitFork has witnesses for another commit at the same index.
func TestAwaitFork(t *testing.T) {
	t.Parallel()
	f := newForked(t)
	commits(t, f.two.client(nil, nil), 1, "b")
	c := f.one.client(f.between, func(cfg *client.Config) {
		cfg.VKey, cfg.Policy = "", strings.Replace(newDaemonWith(t, setting{witnesses: 1}).policy, "log ",
			"log "+f.one.vkey+"\n# ", 1)
	})
	s := commits(t, c, 1, "a")
	f.led.Store(true)
	commits(t, f.two.client(nil, nil), 1, "c") // of another size
	var fault *client.Fault
	if err := c.Await(t.Context(), s); !errors.As(err, &fault) || !strings.Contains(fault.What, "another commit") {
		t.Errorf("%v", err)
	}
}
