package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// requestLimit is how long a request of a crowd may take: far above what any answer
// needs, so that a daemon that never answers fails a test and does not hang it.
const requestLimit = time.Minute

// replicas are daemons of one ledger, each with a directory and a mark of its own and the same keys.
type replicas struct {
	t       *testing.T
	daemons []*daemon
	token   string
	key     note.Verifier
	http    *http.Client
}

// newReplicas starts a daemon on each of the addresses, which lead to one database. The first makes the ledger; each
// other one begins from a copy of its mark (docs/OPERATIONS.md, Several daemons), so that no credential is revoked.
func newReplicas(t *testing.T, databases ...string) *replicas {
	t.Helper()
	r := &replicas{t: t, http: &http.Client{
		Timeout: requestLimit, Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}}
	for i, database := range databases {
		d := newDaemon(t, database)
		if i > 0 {
			r.copyTo(d)
		}
		d.start("--log-level", "warn")
		r.daemons = append(r.daemons, d)
	}
	r.token = r.daemons[0].token("dealer.token")
	vkey, err := os.ReadFile(filepath.Join(r.daemons[0].data, "main.vkey"))
	if err == nil {
		r.key, err = note.NewVerifier(strings.TrimSpace(string(vkey)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.http.CloseIdleConnections)
	return r
}

// copyTo gives a daemon the keys, the tokens and the mark of the first one.
func (r *replicas) copyTo(d *daemon) {
	r.t.Helper()
	if err := os.Mkdir(d.data, 0o700); err != nil {
		r.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(r.daemons[0].data, "*.*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range files {
		if strings.Contains(path, ".db") {
			continue
		}
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(d.data, filepath.Base(path)), b, 0o600)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// repeat returns n times the address.
func repeat(database string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = database
	}
	return list
}

// figures reads metrics of a daemon whose names begin with a prefix, each by name and labels.
func (d *daemon) figures(prefix string) map[string]float64 {
	d.t.Helper()
	status, text, err := d.get("/metrics", "")
	if err != nil || status != http.StatusOK {
		d.t.Fatalf("the metrics: %d, %v", status, err)
	}
	found := make(map[string]float64)
	for _, m := range regexp.MustCompile(`(?m)^(`+prefix+`\S*) (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			d.t.Fatal(err)
		}
		found[m[1]] = v
	}
	return found
}

// appends returns how many batches of the daemon had this outcome.
func (d *daemon) appends(outcome string) float64 {
	return d.figures("shuffled_ledger_appends_total")[`shuffled_ledger_appends_total{ledger="main",outcome="`+outcome+`"}`]
}

// acked is an acknowledged entry.
type acked struct {
	key    string // of a commit
	index  uint64
	leaf   tlog.Hash
	size   uint64 // of the checkpoint that the receipt was under
	root   tlog.Hash
	daemon int // that answered
}

// crowd plays hands at the daemons: a commit, then a deal that closes; every fourth is two hands in a batch, and every
// eighth no more than a commit to a table that all share. Each second of these is sent to two daemons at once.
type crowd struct {
	*replicas
	name     string // of this crowd: keys begin with it
	clients  []int  // of each daemon
	attempts int    // for each request, at the daemons in turn
	commits  bool   // nothing but commits

	stop    atomic.Bool
	entries atomic.Int64 // acknowledged
	again   atomic.Int64 // attempts after the first
	most    atomic.Int64 // attempts of one request

	mu       sync.Mutex
	journal  []acked
	failures []string

	checkpoints sync.Map // proved ones, by their text: audit.Checkpoint
}

// run plays until enough entries are acknowledged; with 0 until stop is set.
func (l *crowd) run(enough int64) {
	var wg sync.WaitGroup
	for home, n := range l.clients {
		for i := range n {
			c := &gambler{crowd: l, home: home, name: fmt.Sprintf("%s-%d-%d", l.name, home, i)}
			wg.Go(func() {
				for !l.stop.Load() && (enough == 0 || l.entries.Load() < enough) {
					if !c.hand() {
						l.stop.Store(true)
					}
				}
			})
		}
	}
	wg.Wait()
}

// ok reports what went wrong, if anything did.
func (l *crowd) ok() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.failures {
		l.t.Error(f)
	}
	if len(l.failures) > 0 {
		l.t.FailNow()
	}
}

// gambler is one connection's worth of a crowd.
type gambler struct {
	*crowd
	name string
	home int // the daemon that it asks first
	at   int // the daemon that it asked last
	n    int // hands begun
	took int // how often the last request was sent
}

// hand plays a hand and reports whether all of it was acknowledged.
func (c *gambler) hand() bool {
	c.n++
	c.at = c.home
	table, key := c.name, fmt.Sprintf("%s-%d", c.name, c.n)
	if c.n%8 == 0 {
		table = "shared"
	}
	var s struct {
		ID      uint64
		Table   string
		Receipt string
	}
	send := c.call
	if c.n%16 < 8 && c.n%4 == 0 && len(c.daemons) > 1 {
		send = func(path, key, body string, answer any) bool { return c.twice(1, path, key, body, answer) }
	}
	if c.n%8 == 4 && !c.commits {
		return c.inBatch(key)
	}
	if !send("/v1/main/shuffles", key, `{"table":"`+table+`","deck":"standard-52"}`, &s) {
		return false
	}
	if s.Table != table || !c.prove(s.Receipt, acked{key: key, index: s.ID}) {
		return c.failed("%s: the answer is of table %s", key, s.Table)
	}
	if c.commits || table == "shared" { // which must be dealt in the order of serials
		return true
	}
	var d struct {
		Receipt string
		Close   struct{ Receipt string }
	}
	path := fmt.Sprintf("/v1/main/shuffles/%d/deal", s.ID)
	body := `{"first":0,"runs":[{"count":5,"purpose":"board","public":true}],"close":{"outcome":"completed"}}`
	return c.call(path, "", body, &d) && c.prove(d.Receipt, acked{}) && c.prove(d.Close.Receipt, acked{})
}

// inBatch plays two hands at tables of its own in one request.
func (c *gambler) inBatch(key string) bool {
	var ops []string
	for i := range 2 {
		ops = append(ops, fmt.Sprintf(`{"op":"shuffle","key":"%s-%d","body":{"table":"%s-%d","deck":"standard-52"}}`, key, i,
			c.name, i), fmt.Sprintf(`{"op":"deal","shuffle":{"op":%d},"body":{"first":0,"runs":[{"count":5,`+
			`"purpose":"board","public":true}],"close":{"outcome":"completed"}}}`, 2*i))
	}
	body := `{"operations":[` + strings.Join(ops, ",") + `]}`
	type proof struct {
		ID      uint64
		Receipt string
		Close   struct{ Receipt string }
	}
	var b struct{ Results []struct{ Body proof } }
	ok := c.n%16 < 8 && len(c.daemons) > 1 && c.twice(6, "/v1/main/batch", "", body, &b) ||
		c.call("/v1/main/batch", "", body, &b)
	for i := 0; ok && i < 4; i += 2 {
		commit, deal := b.Results[i].Body, b.Results[i+1].Body
		ok = c.prove(commit.Receipt, acked{key: fmt.Sprintf("%s-%d", key, i/2), index: commit.ID}) &&
			c.prove(deal.Receipt, acked{}) && c.prove(deal.Close.Receipt, acked{})
	}
	return ok
}

func (c *gambler) failed(format string, args ...any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
	return false
}

// call sends one request until it is acknowledged, and to the next daemon after each failure.
func (c *gambler) call(path, key, body string, answer any) bool {
	var last string
	c.took = 0
	for n := range c.attempts {
		if n > 0 {
			c.again.Add(1)
			c.at = (c.at + 1) % len(c.daemons)
		}
		for most := c.most.Load(); most < int64(n+1) && !c.most.CompareAndSwap(most, int64(n+1)); most = c.most.Load() {
		}
		b, err := c.untilTaken(c.daemons[c.at].url+path, key, body)
		if err == nil {
			err = json.Unmarshal(b, answer)
		}
		if err == nil {
			return true
		}
		last += fmt.Sprintf("\n  daemon %d: %v", c.at, err)
	}
	return c.failed("%s %s failed %d times:%s", path, key, c.attempts, last)
}

// twice sends one request for n answers to two daemons at once: one of them gives each
// answer, the other one the same again.
func (c *gambler) twice(n int, path, key, body string, answer any) bool {
	if c.commits {
		return c.call(path, key, body, answer)
	}
	var both [2]json.RawMessage
	var took [2]int
	var wg sync.WaitGroup
	ok := [2]bool{}
	for i := range both {
		one := *c
		one.at = (c.at + i) % len(c.daemons)
		wg.Go(func() {
			ok[i] = one.call(path, key, body, &both[i])
			took[i] = one.took
		})
	}
	wg.Wait()
	if !ok[0] || !ok[1] {
		return false
	}
	// Both are repeated only if the first answer was lost and asked for again.
	again := bytes.Count(both[0], []byte(`"repeated":true`)) + bytes.Count(both[1], []byte(`"repeated":true`))
	if plain(both[0]) != plain(both[1]) || again < n || again > n && took[0]+took[1] == 2 {
		return c.failed("%s: two daemons answered\n%s\nand\n%s", key, both[0], both[1])
	}
	if err := json.Unmarshal(both[0], answer); err != nil {
		return c.failed("%s: %v", key, err)
	}
	return true
}

// untilTaken sends a request to one daemon until the daemon does not say that it is
// overloaded, as clients do: on a busy machine that is no failure.
func (c *gambler) untilTaken(url, key, body string) (b []byte, err error) {
	for until := time.Now().Add(requestLimit); ; time.Sleep(time.Second) { // Retry-After
		c.took++
		if b, err = c.try(url, key, body); err == nil || !strings.Contains(err.Error(), `"code":"overloaded"`) ||
			time.Now().After(until) {
			return b, err
		}
	}
}

func (c *gambler) try(url, key, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", resp.StatusCode, b)
	}
	for _, r := range results(b) { // what follows on the first that failed fails, too
		if err == nil && r.Status != http.StatusOK {
			err = fmt.Errorf("an operation: %d %s", r.Status, r.Body)
		}
	}
	return b, err
}

// prove checks a receipt under its own checkpoint and puts it into the journal.
func (c *gambler) prove(text string, a acked) bool {
	r, err := audit.ParseReceipt(text)
	if err != nil {
		return c.failed("a receipt: %v", err)
	}
	var at audit.Checkpoint
	if known, ok := c.checkpoints.Load(string(r.Checkpoint)); ok {
		at = known.(audit.Checkpoint)
	} else if at, err = audit.OpenCheckpoint(r.Checkpoint, c.key); err != nil {
		return c.failed("the checkpoint of a receipt: %v", err)
	}
	c.checkpoints.Store(string(r.Checkpoint), at)
	if err := r.CheckInclusion(at); err != nil {
		return c.failed("the receipt of entry %d: %v", r.Index, err)
	}
	if a.key != "" && a.index != r.Index {
		return c.failed("%s is shuffle %d by its answer and %d by its receipt", a.key, a.index, r.Index)
	}
	a.index, a.leaf, a.size, a.root, a.daemon = r.Index, tlog.RecordHash(r.Entry), at.Size, at.Root, c.at
	c.entries.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crowd.journal = append(c.crowd.journal, a)
	return true
}
