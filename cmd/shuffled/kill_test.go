package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

var kills = flag.Int("kills", 30, "how often the kill test kills the daemon, on each store")

// TestKill kills the daemon with SIGKILL at random moments under 8 remote.
// Whatever was acknowledged must be there with the same bytes, every request
// that was cut off must resolve when it is repeated, and serials have no gap.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills daemons for half a minute")
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		killTest(t, newDaemon(t, ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		killTest(t, newDaemon(t, testdb.DSN(t)))
	})
}

func killTest(t *testing.T, d *daemon) {
	clients := make([]*killClient, 8)
	for i := range clients {
		clients[i] = &killClient{d: d, name: fmt.Sprintf("c%d", i)}
	}
	cut := 0
	for range *kills {
		d.start()
		for _, c := range clients {
			c.token = d.token("dealer.token")
		}
		var stop atomic.Bool
		var wg sync.WaitGroup
		for _, c := range clients {
			wg.Go(func() { c.play(&stop) })
		}
		// A random moment: time is the experiment here, no condition is waited for.
		time.Sleep(time.Duration(20+rand.IntN(180)) * time.Millisecond)
		d.kill()
		stop.Store(true)
		wg.Wait()
		for _, c := range clients {
			if c.pending != nil {
				cut++
			}
		}
	}
	d.start()
	acknowledged := 0
	for _, c := range clients {
		for c.pending != nil {
			if !c.step() {
				t.Fatalf("%s: a request that was cut off does not resolve: %s", c.name, c.failure)
			}
		}
		acknowledged += len(c.done)
	}
	if acknowledged < 5**kills || cut == 0 {
		t.Fatalf("void: %d acknowledged requests, %d cut off", acknowledged, cut)
	}
	checkRepeats(t, d, clients)
	checkSerials(t, clients)
	d.stop()
	t.Logf("%d requests acknowledged, %d cut off by %d kills", acknowledged, cut, *kills)
}

// call is a request and, once it was acknowledged, its answer.
type call struct {
	path, key string
	body      any
	answer    []byte
}

// killClient plays hand after hand at a table of its own, and commits to a table
// that all share. One request is pending at a time, and is repeated as it stands
// until it is answered.
type killClient struct {
	d       *daemon
	name    string
	token   string
	n       int // requests begun
	id      uint64
	pending *call
	done    []call
	failure string
}

func (c *killClient) play(stop *atomic.Bool) {
	for !stop.Load() {
		c.step()
	}
}

// step sends the pending request, or the next, and reports whether it was
// acknowledged.
func (c *killClient) step() bool {
	if c.pending == nil {
		c.pending = c.next()
	}
	status, answer, err := c.d.post(c.pending.path, c.token, c.pending.key, c.pending.body)
	if err != nil || status/100 != 2 {
		c.failure = fmt.Sprintf("%s: %d, %v, %s", c.pending.path, status, err, answer)
		return false
	}
	c.pending.answer = answer
	c.done = append(c.done, *c.pending)
	if c.n%4 == 1 {
		var s struct{ ID uint64 }
		if err := json.Unmarshal(answer, &s); err != nil {
			c.failure = err.Error()
			return false
		}
		c.id = s.ID
	}
	c.pending = nil
	return true
}

func (c *killClient) next() *call {
	c.n++
	shuffle := func(table, who string) *call {
		return &call{path: "/v1/main/shuffles", key: fmt.Sprintf("%s-%d", c.name, c.n),
			body: map[string]any{"table": table, "deck": "standard-52", "disclosure": who}}
	}
	switch c.n % 4 {
	case 1:
		// Every other hand is closed for auditors, whose close never comes out the
		// same twice: the stored one counts.
		return shuffle(c.name, []string{"public", "auditor"}[c.n/4%2])
	case 2:
		return &call{path: fmt.Sprintf("/v1/main/shuffles/%d/deal", c.id),
			body: map[string]any{"first": 0, "runs": []any{
				map[string]any{"count": 2, "purpose": "seat", "recipient": "seat-1"},
				map[string]any{"count": 3, "purpose": "board", "public": true}}}}
	case 3:
		return &call{path: fmt.Sprintf("/v1/main/shuffles/%d/close", c.id),
			body: map[string]any{"outcome": "completed"}}
	}
	return shuffle("shared", "public")
}

// checkRepeats sends every acknowledged request again.
func checkRepeats(t *testing.T, d *daemon, clients []*killClient) {
	t.Helper()
	for _, c := range clients {
		for _, call := range c.done {
			status, answer, err := d.post(call.path, c.token, call.key, call.body)
			if err != nil || status/100 != 2 || !sameAnswer(answer, call.answer) {
				t.Fatalf("%s %s: repeated: %d, %v\n%s\nfirst:\n%s", call.path, call.key, status, err, answer,
					call.answer)
			}
		}
	}
}

// sameAnswer reports whether the later answer says that it is repeated, and is the first
// one in everything else, which may itself be of a request that was sent twice.
func sameAnswer(later, first []byte) bool {
	plain := func(b []byte) string {
		return strings.NewReplacer(`"repeated":true,`, "", `,"repeated":true`, "").Replace(string(b))
	}
	return isRepeated(later) && plain(later) == plain(first)
}

func isRepeated(answer []byte) bool { return bytes.Contains(answer, []byte(`"repeated":true`)) }

// checkSerials: every commit was acknowledged in the end, so the serials of each
// table are 1, 2, 3 … without a gap.
func checkSerials(t *testing.T, clients []*killClient) {
	t.Helper()
	serials := make(map[string][]uint64)
	for _, c := range clients {
		for _, call := range c.done {
			type one struct {
				Table  string
				Serial uint64
			}
			var s struct {
				one
				Shuffles []one // of a batch
			}
			if call.key == "" {
				continue
			}
			if err := json.Unmarshal(call.answer, &s); err != nil {
				t.Fatal(err)
			}
			if s.Shuffles == nil {
				s.Shuffles = []one{s.one}
			}
			for i, one := range s.Shuffles {
				serials[one.Table] = append(serials[one.Table], one.Serial)
				if one.Serial != s.Shuffles[0].Serial+uint64(i) {
					t.Errorf("batch %s is serials %v", call.key, s.Shuffles)
				}
			}
		}
	}
	if len(serials) != len(clients)+1 {
		t.Errorf("%d tables", len(serials))
	}
	for table, got := range serials {
		slices.Sort(got)
		for i, s := range got {
			if s != uint64(i+1) {
				t.Errorf("table %s: serials %v", table, got)
				break
			}
		}
	}
}
