package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/testdb"
)

var kills = flag.Int("kills", 30, "how often the kill test kills the daemon, on each store")

// TestKill kills the daemon with SIGKILL at random moments under 8 clients, half of which send batches. Whatever was
// acknowledged must be there with the same bytes, every request that was cut off must resolve when it is repeated, and
// serials have no gap. A batch that was cut off between its rounds answers for the first as before.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills daemons for half a minute")
	}
	for store, database := range map[string]func(testing.TB) string{"sqlite": func(testing.TB) string { return "" },
		"postgres": testdb.DSN} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, database(t))
			killTest(t, []*daemon{d}, func(d *daemon) { d.start() }, false, "main")
		})
		t.Run(store+", with a co-dealer", func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, database(t))
			killTest(t, []*daemon{d}, func(d *daemon) { d.start("--co-dealer") }, true, "main")
		})
		t.Run(store+", four ledgers", func(t *testing.T) {
			t.Parallel()
			p := newProduction(t)
			killTest(t, []*daemon{p.daemon}, func(*daemon) { p.serve() }, false, p.addLedgers(store == "postgres")...)
		})
	}
	t.Run("postgres, two daemons", func(t *testing.T) {
		t.Parallel()
		database := testdb.DSN(t)
		two := newReplicas(t, database, database).daemons
		for _, d := range two {
			d.stop()
		}
		killTest(t, two, func(d *daemon) { d.start() }, false, "main")
	})
}

// addLedgers makes four ledgers, with a dealer's token each, in the tables of PostgreSQL or in the embedded store.
func (p *production) addLedgers(postgres bool) []string {
	p.t.Helper()
	p.tables()
	config, err := os.ReadFile(p.config)
	at := []string{"--database", p.as("shuffled_owner"), "--data", p.dir}
	if !postgres {
		at, config = at[2:], regexp.MustCompile("(?m)^database.*\n").ReplaceAll(config, nil)
		p.must("", append([]string{"migrate", "up"}, at...)...)
	}
	config = append(config, "[[ledger]]\nname = \"three\"\n[[ledger]]\nname = \"four\"\n"...)
	p.data = p.dir
	if err = errors.Join(err, os.WriteFile(p.config, config, 0o600)); err != nil {
		p.t.Fatal(err)
	}
	p.must("", "key", "generate", "auditor", "--out", p.path("auditor.key"))
	ledgers := []string{"main", "poker", "three", "four"}
	for _, name := range ledgers {
		p.must("owner", append([]string{"ledger", "create", "--name", name, "--origin", "cards.example.com/" + name,
			"--house", "casino", "--auditor", p.path("auditor.pub"), "--deals", "signed"}, at...)...)
		p.saveToken(name, "dealer", "--config", p.config, "--ledger", name)
	}
	return ledgers
}

// killTest kills one of the daemons at a time, and the others go on.
func killTest(t *testing.T, daemons []*daemon, start func(*daemon), blind bool, ledgers ...string) {
	clients := make([]*killClient, 8)
	var answers atomic.Int64
	for i := range clients {
		clients[i] = &killClient{d: daemons[i/2%len(daemons)], name: fmt.Sprintf("c%d", i), batches: i%2 == 1,
			answers: &answers, ledger: ledgers[i/2%len(ledgers)], blind: blind}
	}
	cut := 0
	for _, d := range daemons[1:] {
		start(d)
	}
	killed := daemons[0]
	for range *kills {
		start(killed)
		for _, c := range clients {
			name := c.ledger
			if len(ledgers) == 1 { // the sandbox's own
				name = "dealer"
			}
			c.token = daemons[0].token(name + ".token")
		}
		var stop atomic.Bool
		var wg sync.WaitGroup
		for _, c := range clients {
			wg.Go(func() { c.play(&stop) })
		}
		// A random moment after some answers, for a busy machine gives few in a time: time is the experiment here.
		limit := time.Now().Add(time.Minute)
		for enough := answers.Load() + rand.Int64N(20); answers.Load() < enough && time.Now().Before(limit); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(20+rand.IntN(180)) * time.Millisecond)
		killed = daemons[rand.IntN(len(daemons))]
		killed.kill()
		stop.Store(true)
		wg.Wait()
		for _, c := range clients {
			if c.pending != nil {
				cut++
			}
		}
	}
	start(killed)
	acknowledged, parted := 0, 0
	for _, c := range clients {
		for c.pending != nil {
			if !c.step() {
				t.Fatalf("%s: a request that was cut off does not resolve: %s", c.name, c.failure)
			}
		}
		acknowledged += len(c.done)
		for _, call := range c.done {
			if n := bytes.Count(call.answer, []byte(`"repeated":true`)); n > 0 && n < len(results(call.answer)) {
				parted++
			}
		}
	}
	if acknowledged < 5**kills || cut == 0 {
		t.Fatalf("void: %d acknowledged requests, %d cut off", acknowledged, cut)
	}
	checkRepeats(t, clients)
	checkSerials(t, clients, len(ledgers))
	for _, d := range daemons {
		d.stop()
	}
	t.Logf("%d requests acknowledged, %d cut off by %d kills, %d batches between their rounds", acknowledged, cut, *kills,
		parted)
}

// call is a request and, once it was acknowledged, its answer.
type call struct {
	path, key string
	body      any
	answer    []byte
}

// killClient plays hand after hand at a table of its own, and commits to a table that all share. One request is pending
// at a time, and is repeated as it stands until it is answered. One of batches plays many hands in a request, at tables
// of its own alongside the shared one.
type killClient struct {
	d       *daemon
	name    string
	batches bool
	ledger  string
	blind   bool // its hands have a co-dealer
	token   string
	n       int // requests begun
	id      uint64
	pending *call
	done    []call
	failure string
	answers *atomic.Int64 // of all clients
}

func (c *killClient) play(stop *atomic.Bool) {
	for !stop.Load() {
		c.step()
	}
}

// step sends the pending request, or the next, and reports whether it was acknowledged.
func (c *killClient) step() bool {
	if c.pending == nil {
		c.pending = c.next()
	}
	status, answer, err := c.post(c.pending)
	if err != nil || status/100 != 2 {
		c.failure = fmt.Sprintf("%s: %d, %v, %s", c.pending.path, status, err, answer)
		return false
	}
	for _, r := range results(answer) {
		if r.Status != http.StatusOK {
			c.failure = fmt.Sprintf("%s: %d, %s", c.pending.path, r.Status, r.Body)
			return false
		}
	}
	c.pending.answer = answer
	c.done = append(c.done, *c.pending)
	c.answers.Add(1)
	if c.n%4 == 1 && !c.batches {
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

// post sends a request until the daemon, or an operation of a batch, is not overloaded: on a busy machine that is no
// failure.
func (c *killClient) post(call *call) (status int, answer []byte, err error) {
	for until := time.Now().Add(requestLimit); ; time.Sleep(100 * time.Millisecond) {
		status, answer, err = c.d.post(call.path, c.token, call.key, call.body)
		if err != nil || !bytes.Contains(answer, []byte(`"code":"overloaded"`)) || time.Now().After(until) {
			return status, answer, err
		}
	}
}

func (c *killClient) next() *call {
	c.n++
	shuffle := func(table, who string) *call {
		return &call{path: "/v1/" + c.ledger + "/shuffles", key: fmt.Sprintf("%s-%d", c.name, c.n),
			body: c.commit(table, who)}
	}
	if c.batches {
		return c.batch()
	}
	switch c.n % 4 {
	case 1:
		// Every other hand is closed for auditors, whose close never comes out the same twice: the stored one counts.
		return shuffle(c.name, []string{"public", "auditor"}[c.n/4%2])
	case 2:
		return &call{path: fmt.Sprintf("/v1/%s/shuffles/%d/deal", c.ledger, c.id),
			body: map[string]any{"first": 0, "runs": []any{
				map[string]any{"count": 2, "purpose": "seat", "recipient": "seat-1"},
				map[string]any{"count": 3, "purpose": "board", "public": true}}}}
	case 3:
		return &call{path: fmt.Sprintf("/v1/%s/shuffles/%d/close", c.ledger, c.id),
			body: map[string]any{"outcome": "completed"}}
	}
	return shuffle("shared", "public")
}

// commit is the body of a commit.
func (c *killClient) commit(table, who string) map[string]any {
	body := map[string]any{"table": table, "deck": "standard-52", "disclosure": who}
	if c.blind {
		body["mix"] = map[string]any{"co_dealer": true}
	}
	return body
}

// batchHands is how many hands a batch of the kill test has, each at a table of its own.
const batchHands = 12

// batch is a request for hands that are closed, and for a commit to the shared table.
func (c *killClient) batch() *call {
	var ops []any
	for i := range batchHands {
		commit := map[string]int{"op": len(ops)}
		ops = append(ops,
			map[string]any{"op": "shuffle", "key": fmt.Sprintf("%s-%d-%d", c.name, c.n, i),
				"body": c.commit(fmt.Sprintf("%s-%d", c.name, i), []string{"public", "auditor"}[i%2])},
			map[string]any{"op": "deal", "shuffle": commit, "body": map[string]any{"first": 0, "runs": []any{
				map[string]any{"count": 2, "purpose": "seat", "recipient": "seat-1"}}}},
			map[string]any{"op": "close", "shuffle": commit, "body": map[string]any{"outcome": "completed"}})
	}
	ops = append(ops, map[string]any{"op": "shuffle", "key": fmt.Sprintf("%s-%d", c.name, c.n),
		"body": c.commit("shared", "public")})
	return &call{path: "/v1/" + c.ledger + "/batch", body: map[string]any{"operations": ops}}
}

// results are the answers to the operations of a batch; none of any other answer.
func results(answer []byte) []client.BatchResult {
	var b client.Batch
	if json.Unmarshal(answer, &b) != nil {
		return nil
	}
	return b.Results
}

// checkRepeats sends every acknowledged request again.
func checkRepeats(t *testing.T, clients []*killClient) {
	t.Helper()
	for _, c := range clients {
		for _, call := range c.done {
			status, answer, err := c.post(&call)
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
	return isRepeated(later) && plain(later) == plain(first)
}

// plain is an answer without whether it is repeated.
func plain(answer []byte) string {
	return strings.NewReplacer(`"repeated":true,`, "", `,"repeated":true`, "").Replace(string(answer))
}

func isRepeated(answer []byte) bool { return bytes.Contains(answer, []byte(`"repeated":true`)) }

// checkSerials: every commit was acknowledged in the end, so the serials of each table are 1, 2, 3 … without a gap.
func checkSerials(t *testing.T, clients []*killClient, ledgers int) {
	t.Helper()
	serials := make(map[string][]uint64)
	for _, c := range clients {
		for _, call := range c.done {
			bodies := [][]byte{call.answer}
			for _, r := range results(call.answer) {
				bodies = append(bodies, r.Body)
			}
			for _, body := range bodies {
				var s struct {
					Table  string
					Serial uint64
				}
				if err := json.Unmarshal(body, &s); err != nil {
					t.Fatal(err)
				}
				if s.Table != "" {
					serials[c.ledger+" "+s.Table] = append(serials[c.ledger+" "+s.Table], s.Serial)
				}
			}
		}
	}
	if len(serials) != len(clients)/2*(1+batchHands)+ledgers {
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
