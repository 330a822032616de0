package client_test

import (
	"context"
	"log"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/client"
)

// TestList asks with every parameter, and pages.
func TestList(t *testing.T) {
	d := newDaemon(t)
	var asked url.Values
	c := d.client(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Query()
			next.ServeHTTP(w, r)
		})
	}, nil)
	var ids []uint64
	for range 3 {
		s, err := c.Commit(t.Context(), client.NewKey(),
			client.ShuffleRequest{Table: "t-1", Deck: ptr("standard-52"), GameRef: ptr("game-7")})
		must(t, err)
		ids = append(ids, s.ID)
	}
	from, to := client.Timestamp{Time: time.Now().Add(-time.Hour)}, client.Timestamp{Time: time.Now().Add(time.Hour)}
	find := func(params client.ListShufflesParams) (found []uint64) {
		t.Helper()
		for s, err := range c.Shuffles(t.Context(), params) {
			must(t, err)
			found = append(found, s.ID)
		}
		return found
	}
	found := find(client.ListShufflesParams{
		Table: ptr("t-1"), Serial: ptr(uint64(2)), GameRef: ptr("game-7"), From: &from, To: &to,
		State: ptr(client.ListShufflesParamsState("open")), Limit: ptr(uint64(5)),
	})
	if !cmp.Equal(found, ids[1:2]) {
		t.Errorf("found %v", found)
	}
	if len(asked) != 7 || asked.Get("from") != from.UTC().Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("asked with %v", asked)
	}
	if found := find(client.ListShufflesParams{Limit: ptr(uint64(2))}); !cmp.Equal(found, ids) {
		t.Errorf("found %v in pages, want %v", found, ids)
	}
	for _, err := range c.Shuffles(t.Context(), client.ListShufflesParams{Serial: ptr(uint64(1))}) {
		if err == nil {
			t.Error("a serial of no table was looked for")
		}
	}
}

// TestSamePage: a list whose next page is the page itself ends as a fault.
func TestSamePage(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), &liar{forge: true}
	c := d.client(l.between, nil)
	l.tell("/shuffles", func([]byte) []byte { return []byte(`{"shuffles":[],"next":"x"}`) })
	for _, err := range c.Shuffles(t.Context(), client.ListShufflesParams{}) {
		isFault(t, "shuffles", err, "the same page")
	}
	l.tell("/tables", func([]byte) []byte { return []byte(`{"tables":[],"next":"x"}`) })
	for _, err := range c.Tables(t.Context()) {
		isFault(t, "tables", err, "the same page")
	}
}

// TestRoulette: each pocket of a wheel once, the zeros by their own names, and none that is 37.
func TestRoulette(t *testing.T) {
	t.Parallel()
	for _, zeros := range [][]string{{"0"}, {"0", "00"}} {
		stops, at := client.Roulette(zeros...), map[string]int{}
		for i, s := range stops {
			if at[s.Label] = i; s.Weight != 1 {
				t.Errorf("%q has the weight %d", s.Label, s.Weight)
			}
		}
		if n := 36 + len(zeros); len(stops) != n || len(at) != n {
			t.Errorf("%v: %d stops with %d labels, want %d", zeros, len(stops), len(at), n)
		}
		for label, want := range map[string]int{"0": 0, "1": len(zeros), "36": len(stops) - 1, "37": 0, "": 0} {
			if at[label] != want {
				t.Errorf("%v: %q is stop %d, want %d", zeros, label, at[label], want)
			}
		}
	}
}

// sandbox starts a daemon for an example: a real one, with its ledger on disk and
// witnesses, and a client that pins the policy. done stops it.
func sandbox(witnesses int) (c *client.Client, done func()) {
	s := &stage{ctx: context.Background()}
	d := newDaemonWith(s, setting{witnesses: witnesses})
	c = d.client(nil, d.witnessed)
	return c, s.end
}

// stage is what the stack needs of a test, for an example, which has none.
type stage struct {
	testing.TB
	ctx      context.Context
	cleanups []func()
}

func (s *stage) Helper()                   {}
func (s *stage) Context() context.Context  { return s.ctx }
func (s *stage) Cleanup(f func())          { s.cleanups = append(s.cleanups, f) }
func (s *stage) Fatal(args ...any)         { log.Panic(args...) }
func (s *stage) Fatalf(f string, a ...any) { log.Panicf(f, a...) }
func (s *stage) Error(args ...any)         { log.Panic(args...) }
func (s *stage) Errorf(f string, a ...any) { log.Panicf(f, a...) }

func (s *stage) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	s.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (s *stage) end() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}

// check ends an example. A game back end looks at the error: see docs/CLIENT.md.
func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}

// names returns the names of dealt cards.
func names(d *client.Deal) (names []string) {
	for _, card := range d.Cards {
		names = append(names, *card.Card)
	}
	return names
}
