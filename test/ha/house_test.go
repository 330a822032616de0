package ha

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
)

// house is a ledger on the cluster, and two daemons that serve it: the first connects to the
// nodes, the second to PgBouncer.
type house struct {
	t       testing.TB // the test of the drill
	whole   testing.TB // the test of the house, which outlasts all drills
	c       *cluster
	dir     string
	token   string
	daemons []*daemon
	load    *load
}

type daemon struct {
	h             *house
	dir           string
	url, operator string
	process       *exec.Cmd
	pid           atomic.Int64 // of process, for goroutines that only read figures
	ended         chan struct{}
}

func newHouse(t *testing.T, c *cluster) *house {
	t.Helper()
	h := &house{t: t, whole: t, c: c, dir: t.TempDir()}
	must(t, termtest.Build(h.dir, "shuffled"))
	l := c.leader()
	at := fmt.Sprintf("127.0.0.1:%d", l.port)
	super := fmt.Sprintf("postgres://postgres:%s@%s/", password, at)
	h.psql(super+"postgres", "-c", "CREATE DATABASE shuffled")
	roles := []string{"-f", "../../deploy/roles.sql"}
	for _, r := range []string{"owner", "writer", "reader"} {
		roles = append(roles, "-c", fmt.Sprintf("ALTER ROLE shuffled_%s PASSWORD '%s'", r, password))
	}
	for _, set := range []string{"lock_timeout = '5s'", "statement_timeout = '7500ms'",
		"idle_in_transaction_session_timeout = '10s'"} {
		roles = append(roles, "-c", "ALTER ROLE shuffled_writer SET "+set)
	}
	h.psql(super+"shuffled", roles...)
	first := filepath.Join(h.dir, "data-1")
	must(t, os.Mkdir(first, 0o700))
	owner := fmt.Sprintf("postgres://shuffled_owner:%s@%s/shuffled", password, at)
	h.run("migrate", "up", "--database", owner)
	h.psql(super+"shuffled", roles...)
	h.run("key", "generate", "signing", "--origin", "ha.example/main", "--out", filepath.Join(first, "main.key"))
	h.run("key", "generate", "sealing", "--out", filepath.Join(first, "sealing.key"))
	h.run("ledger", "create", "--house", "casino", "--data", first, "--database", owner, "--name", "main", "--origin",
		"ha.example/main")
	must(t, os.WriteFile(filepath.Join(first, "password"), []byte(password+"\n"), 0o600))
	h.configure(first, c.dsn("shuffled_writer"), false)
	h.token = strings.TrimSpace(h.run("token", "create", "--config", filepath.Join(first, "shuffled.toml"), "--role",
		"dealer", "--identity", "back-end"))
	second := filepath.Join(h.dir, "data-2")
	for i, dir := range []string{first, second} {
		if i == 1 { // a copy of the first's directory, with the mark as it is before the second's first start
			must(t, exec.Command("cp", "-a", first, second).Run())
			h.configure(second, fmt.Sprintf("postgres://shuffled_writer@127.0.0.1:%d/shuffled", c.pooler), true)
		}
		d := &daemon{h: h, dir: dir}
		h.daemons = append(h.daemons, d)
		d.start()
	}
	return h
}

func (h *house) psql(dsn string, args ...string) {
	h.t.Helper()
	path, err := testdb.Bin("psql")
	must(h.t, err)
	out, err := exec.Command(path, append([]string{dsn, "-q", "-v", "ON_ERROR_STOP=1"}, args...)...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("psql: %v\n%s", err, out)
	}
}

func (h *house) run(args ...string) string {
	h.t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command(filepath.Join(h.dir, "shuffled"), args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%v: %v\n%s%s", args, err, out, errs.Bytes())
	}
	return string(out)
}

func (h *house) configure(dir, database string, pooler bool) {
	h.t.Helper()
	free := ports(h.t, 2)
	must(h.t, os.WriteFile(filepath.Join(dir, "shuffled.toml"), fmt.Appendf(nil,
		"listen = \"127.0.0.1:%d\"\noperator_listen = \"127.0.0.1:%d\"\ndata = %q\ndatabase = %q\n"+
			"database_password_file = %q\ndatabase_pooler = %v\n[[ledger]]\nname = \"main\"\n",
		free[0], free[1], dir, database, filepath.Join(dir, "password"), pooler), 0o600))
	must(h.t, os.WriteFile(filepath.Join(dir, "at"), fmt.Appendf(nil, "%d %d", free[0], free[1]), 0o600))
}

// start starts the daemon, and does not wait until it is ready.
func (d *daemon) start() {
	t := d.h.t
	t.Helper()
	at, err := os.ReadFile(filepath.Join(d.dir, "at"))
	must(t, err)
	var api, operator int
	fmt.Sscan(string(at), &api, &operator)
	d.url, d.operator = fmt.Sprintf("http://127.0.0.1:%d", api), fmt.Sprintf("http://127.0.0.1:%d", operator)
	log, err := os.OpenFile(d.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer log.Close()
	d.process = exec.Command(filepath.Join(d.h.dir, "shuffled"), "serve", "--config",
		filepath.Join(d.dir, "shuffled.toml"), "--log-level", "warn")
	d.process.Stdout, d.process.Stderr = log, log
	d.process.Dir = d.h.c.dir // the shell of watch finds it there
	must(t, d.process.Start())
	d.pid.Store(int64(d.process.Process.Pid))
	d.ended = make(chan struct{})
	go func(p *exec.Cmd, ended chan struct{}) { p.Wait(); close(ended) }(d.process, d.ended)
	d.h.whole.Cleanup(d.kill)
}

func (d *daemon) log() string { return filepath.Join(d.dir, "log") }

func (d *daemon) kill() {
	d.process.Process.Kill()
	<-d.ended
}

// stop ends the daemon with an interrupt, and waits for its end.
func (d *daemon) stop() {
	d.process.Process.Signal(os.Interrupt)
	<-d.ended
}

// readiness returns the answer of /readyz; status 0 means that none came.
func (d *daemon) readiness() (status int, text string) {
	resp, err := rest.Get(d.operator + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// ready waits until both daemons are ready.
func (h *house) ready() {
	h.t.Helper()
	for _, d := range h.daemons {
		until(h.t, "a daemon to be ready", func() bool { status, _ := d.readiness(); return status == http.StatusOK })
	}
}

// request is a request that a client repeats until it is acknowledged, and the digest of the
// answer that acknowledged it.
type request struct {
	path, key, body string
	answer          [sha256.Size]byte
}

// load plays hands, and sends its requests to the two daemons in turn.
type load struct {
	h     *house
	stop  chan struct{}
	group sync.WaitGroup

	mu    sync.Mutex
	acked []*request
	count atomic.Int64
	took  []time.Duration // for each request since the last look: from its first try to its answer
}

const players = 4

// pause is how long a player waits between two hands.
var pause time.Duration

var client = &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: players}}

// play starts the players, which play until the load is stopped.
func (h *house) play() {
	h.load = &load{h: h, stop: make(chan struct{})}
	for p := range players {
		h.load.group.Go(func() {
			for n := 0; h.load.hand(p, n); n++ {
			}
		})
	}
}

// hand commits to a shuffle and closes it. It returns false if the load was stopped or a daemon
// refused a request.
func (l *load) hand(player, n int) bool {
	select {
	case <-l.stop:
		return false
	default:
	}
	c := &request{path: "/v1/main/shuffles", key: fmt.Sprintf("%s-%d-%d", epoch, player, n),
		body: fmt.Sprintf(`{"table":"table-%d","deck":"short-36"}`, player)}
	var id uint64
	ok := l.send(c, player+n, &id)
	if ok = ok && l.send(&request{path: fmt.Sprintf("/v1/main/shuffles/%d/close", id), body: `{"outcome":"completed"}`},
		player+n, nil); ok && pause > 0 {
		select {
		case <-l.stop:
		case <-time.After(pause):
		}
	}
	return ok
}

// epoch begins all idempotency keys of a load, so that no two loads have the same keys.
var epoch = fmt.Sprint(time.Now().UnixNano())

// send sends a request to the daemons in turn until one acknowledges it, and keeps it. It sets id,
// unless that is nil. It returns false if the load was stopped or a daemon refused the request.
func (l *load) send(r *request, turn int, id *uint64) bool {
	began := time.Now()
	for {
		d := l.h.daemons[turn%len(l.h.daemons)]
		turn++
		status, answer, err := d.ask(r, l.h.token)
		if err == nil && status/100 == 2 {
			r.answer = answer.digest
			if id != nil {
				*id = answer.id
			}
			l.mu.Lock()
			l.acked = append(l.acked, r)
			l.took = append(l.took, time.Since(began))
			l.mu.Unlock()
			l.count.Add(1)
			return true
		}
		if err == nil && status/100 == 4 && status != http.StatusTooManyRequests {
			l.h.t.Errorf("%s %s: %d %s", r.path, r.key, status, answer.text)
			return false
		}
		select {
		case <-l.stop:
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// answer is an answer of a daemon, without the member repeated.
type answer struct {
	id     uint64
	text   []byte
	digest [sha256.Size]byte
}

// ask sends a request once.
func (d *daemon) ask(r *request, token string) (status int, a answer, err error) {
	req, err := http.NewRequest(http.MethodPost, d.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return 0, a, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, a, err
	}
	defer resp.Body.Close()
	var all map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		return 0, a, err
	}
	delete(all, "repeated")
	id, _ := all["id"].(float64)
	if a.text, err = json.Marshal(all); err != nil { // sorts the members, so that the digest is stable
		return 0, a, err
	}
	a.id, a.digest = uint64(id), sha256.Sum256(a.text)
	return resp.StatusCode, a, nil
}

// serves waits until requests are acknowledged again, and returns how long that took.
func (l *load) serves(what string) time.Duration {
	l.h.t.Helper()
	began, before := time.Now(), l.count.Load()
	m := newMending()
	until(l.h.t, "an acknowledgement after "+what, func() bool {
		if l.count.Load() >= before+2*players {
			return true
		}
		// A standby that was ahead of the new leader cannot follow it, and may be the only one that is left.
		if leader := l.h.c.leader(); leader != nil {
			m.mend(leader, true)
		}
		return false
	})
	return time.Since(began)
}

// some is how many requests must be acknowledged before and after something is broken.
const some = 200

// more waits until some more requests are acknowledged.
func (l *load) more() {
	l.h.t.Helper()
	before := l.count.Load()
	until(l.h.t, "more acknowledgements", func() bool { return l.count.Load() >= before+some })
}

// end stops the load, and waits for its players.
func (l *load) end() {
	close(l.stop)
	l.group.Wait()
}

// again sends every acknowledged request to both daemons again. It returns how many times there
// was no answer, or another one.
func (l *load) again() (lost int) {
	var n atomic.Int64
	work := make(chan *request)
	var group sync.WaitGroup
	for range players {
		group.Go(func() {
			for r := range work {
				for _, d := range l.h.daemons {
					if !d.same(r, l.h.token) && n.Add(1) <= 3 {
						l.h.t.Logf("lost: %s %s, of which the acknowledgement has the digest %x", r.path, r.key, r.answer)
					}
				}
			}
		})
	}
	for _, r := range l.acked {
		work <- r
	}
	close(work)
	group.Wait()
	return int(n.Load())
}

// same reports whether the daemon gives the same answer to a request as before. It tries for 20 s.
func (d *daemon) same(r *request, token string) bool {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		status, answer, err := d.ask(r, token)
		if err == nil && status/100 == 2 {
			return answer.digest == r.answer
		}
		if err == nil && status < 500 && status != http.StatusTooManyRequests || time.Now().After(end) {
			return false
		}
	}
}
