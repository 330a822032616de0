package failover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
)

// program is a running `shuffled serve --dev`.
type program struct {
	t     *testing.T
	url   string
	data  string
	log   string
	token string
}

// newProgram builds the command and serves the database at the address.
func newProgram(t *testing.T, address string) *program {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "shuffled")
	must(t, termtest.Build(dir, "shuffled"))
	listen := testdb.FreeAddress(t)
	p := &program{t: t, url: "http://" + listen, data: filepath.Join(dir, "data"), log: filepath.Join(dir, "log")}
	log, err := os.Create(p.log)
	must(t, err)
	defer log.Close()
	cmd := exec.Command(path, "serve", "--dev", "--data", p.data, "--listen", listen, "--database", address)
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	until(t, "the daemon to be ready", func() bool {
		select {
		case <-ended:
			text, _ := os.ReadFile(p.log)
			t.Fatalf("the daemon ended:\n%s", text)
		default:
		}
		return p.ready() == http.StatusOK
	})
	token, err := os.ReadFile(filepath.Join(p.data, "dealer.token"))
	must(t, err)
	p.token = strings.TrimSpace(string(token))
	return p
}

// get returns the status and the text of an answer; status 0 if there is none.
func (p *program) get(path string) (int, string) {
	resp, err := http.Get(p.url + path)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func (p *program) ready() int { status, _ := p.get("/readyz"); return status }

// request is what a client sends, again and again, until it is answered.
type request struct {
	path, key, body string
	answer          map[string]any // except whether it is a repeat
}

// send sends a request until it is answered with a 2xx, which it keeps; another
// answer than before, or a refusal, is an error.
func (p *program) send(r *request) {
	p.t.Helper()
	var status int
	var answer []byte
	until(p.t, "an answer to "+r.path, func() bool {
		req, err := http.NewRequest(http.MethodPost, p.url+r.path, bytes.NewReader([]byte(r.body)))
		must(p.t, err)
		req.Header.Set("Authorization", "Bearer "+p.token)
		req.Header.Set("Content-Type", "application/json")
		if r.key != "" {
			req.Header.Set("Idempotency-Key", r.key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		status = resp.StatusCode
		answer, err = io.ReadAll(resp.Body)
		return err == nil && status != http.StatusServiceUnavailable
	})
	if status/100 != 2 {
		p.t.Fatalf("%s %s: %d %s", r.path, r.key, status, answer)
	}
	told, again := p.told(answer)
	if r.answer != nil && (!again || !reflect.DeepEqual(r.answer, told)) {
		p.t.Fatalf("%s %s: %d %s\nbefore: %v", r.path, r.key, status, answer, r.answer)
	}
	r.answer = told
}

// told returns an answer without the mark of a repeat, and whether it has the mark.
func (p *program) told(answer []byte) (members map[string]any, repeated bool) {
	p.t.Helper()
	must(p.t, json.Unmarshal(answer, &members))
	repeated = members["repeated"] == true
	delete(members, "repeated")
	return members, repeated
}

// hand plays one hand and returns its three requests.
func (p *program) hand(n int) []*request {
	p.t.Helper()
	all := []*request{{path: "/v1/main/shuffles", key: fmt.Sprintf("hand-%d", n),
		body: `{"table":"table-1","deck":"standard-52"}`}}
	p.send(all[0])
	for _, step := range [][2]string{{"deal", `{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"}]}`},
		{"close", `{"outcome":"completed"}`}} {
		r := &request{path: fmt.Sprintf("/v1/main/shuffles/%v/%s", all[0].answer["id"], step[0]), body: step[1]}
		p.send(r)
		all = append(all, r)
	}
	return all
}

// TestProgram runs the real daemon over an address that names two servers: messages
// are lost, the primary is killed and the standby promoted, and then one comes back
// that lacks a tail.
func TestProgram(t *testing.T) {
	t.Parallel()
	primary := testdb.Start(t)
	first := primary.Database(t)
	standby := primary.NewStandby(t)
	second := standby.Same(t, first)
	until(t, "the standby to follow", func() bool {
		return ask[int](t, primary.Same(t, first), `SELECT count(*) FROM pg_stat_replication
		WHERE replay_lsn = pg_current_wal_lsn()`) == 1
	})
	primary.Synchronous(t, true)
	a, b := testdb.NewProxy(t, first), testdb.NewProxy(t, second)
	n := *injections / 20 // each costs a second or ten
	s := newSpoiler(n)
	var begun atomic.Bool // not while it makes the ledger, which an operator would repeat
	a.Fault = func(sql string) testdb.Fault {
		if !begun.Load() {
			return testdb.Pass
		}
		return s.fault(sql)
	}
	p := newProgram(t, both(t, a.DSN, b.DSN))
	begun.Store(true)
	var all []*request
	for hands := 0; !s.done(); hands++ {
		all = append(all, p.hand(hands)...)
	}
	primary.Stop(t, testdb.Kill)
	standby.Promote(t)
	promoted := time.Now()
	all = append(all, p.hand(-1)...)
	t.Logf("%d requests and as many replies lost; a hand was played %v after the promotion", n,
		time.Since(promoted).Round(time.Millisecond))
	for _, r := range all {
		p.send(r)
	}
	h := p.house(second)
	got := h.read(second)
	if want := len(all) / 3; len(got.keys) != want {
		t.Errorf("%d commits for %d keys", len(got.keys), want)
	}
	p.lostTail(standby, b, second)
}

// house reads the daemon's ledger with its key.
func (p *program) house(dsn string) *house {
	p.t.Helper()
	vkey, err := os.ReadFile(filepath.Join(p.data, "main.vkey"))
	must(p.t, err)
	h := &house{t: p.t, direct: dsn}
	h.key, err = note.NewVerifier(strings.TrimSpace(string(vkey)))
	must(p.t, err)
	h.origin = h.key.Name()
	return h
}

// lostTail promotes a standby that lacks entries, behind the address that the daemon
// uses, and takes it away again.
func (p *program) lostTail(now *testdb.Cluster, address *testdb.Proxy, dsn string) {
	t := p.t
	t.Helper()
	lacking := now.NewStandby(t)
	lacking.Detach(t)
	p.hand(-2)
	now.Stop(t, testdb.Kill)
	lacking.Promote(t)
	other := lacking.Same(t, dsn)
	before := ask[int](t, other, "SELECT size::int FROM heads")
	address.Aim(t, other)
	moved := time.Now()
	var text string
	until(t, "/readyz to say why", func() bool {
		var status int
		status, text = p.get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "signing stopped")
	})
	t.Logf("/readyz said why %v after the address moved: %s", time.Since(moved).Round(time.Millisecond), text)
	if _, figures := p.get("/metrics"); !strings.Contains(figures, `shuffled_ledger_writable{ledger="main"} 0`) {
		t.Error("the metrics do not show it")
	}
	if log, _ := os.ReadFile(p.log); !strings.Contains(string(log), "signing stopped") {
		t.Error("the log does not say it")
	}
	if status, text := p.get("/v1/main/entries/0/receipt"); status != http.StatusOK {
		t.Errorf("a receipt: %d %s", status, text)
	}
	if got := ask[int](t, other, "SELECT size::int FROM heads"); got != before {
		t.Errorf("%d entries where %d were", got, before)
	}
	now.Start(t)
	address.Aim(t, dsn)
	until(t, "the daemon to be ready again", func() bool { return p.ready() == http.StatusOK })
	p.hand(-3)
}
