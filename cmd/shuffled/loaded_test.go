package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// loaded is a production daemon on a PostgreSQL of its own, and one client of it with as many connections as it takes.
type loaded struct {
	*production
	token  string
	client *http.Client
}

// newLoaded starts the daemon with the limits added to its configuration.
func newLoaded(t *testing.T, limits string) *loaded {
	t.Helper()
	p := newProduction(t)
	p.tables()
	admins := administrators(t, p.dir, func(args ...string) { p.must("", args...) })
	for _, name := range []string{"main", "poker"} {
		p.must("owner", append([]string{"ledger", "create", "--house", "casino",
			"--database", p.as("shuffled_owner"), "--data", p.dir,
			"--name", name, "--origin", "cards.example.com/" + name, "--production", "--deals", "signed"},
			admins...)...)
	}
	config, err := os.ReadFile(p.config)
	if err == nil {
		err = os.WriteFile(p.config, append(config, "[log]\nlevel = \"warn\"\n[limits]\n"+limits...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &loaded{production: p}
	l.token = strings.TrimSpace(p.must("", "token", "create", "--config", p.config, "--ledger", "main", "--role",
		"dealer", "--identity", "poker-backend"))
	dial := net.Dialer{}
	l.client = &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8192,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial.DialContext(ctx, network, addr)
			if tcp, ok := conn.(*net.TCPConn); ok {
				tcp.SetLinger(0) // a port for every one that is given up would soon be all ports
			}
			return conn, err
		}}}
	t.Cleanup(l.client.CloseIdleConnections)
	p.serve()
	return l
}

// reply is an answer, or why there is none.
type reply struct {
	status int
	retry  string // Retry-After
	body   []byte
	err    error
	took   time.Duration
}

// refused: told to come back, in the proper form.
func (r reply) refused() bool {
	return r.err == nil && (r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests) &&
		r.retry != ""
}

// commit commits to a deck at a table under a key.
func (l *loaded) commit(ctx context.Context, table, key string) reply {
	body := fmt.Appendf(nil, `{"table":%q,"deck":"standard-52"}`, table)
	return l.ask(ctx, http.MethodPost, l.url+"/v1/main/shuffles", key, body)
}

func (l *loaded) ask(ctx context.Context, method, url, key string, body []byte) (r reply) {
	start := time.Now()
	defer func() { r.took = time.Since(start) }()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+l.token)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{status: resp.StatusCode, retry: resp.Header.Get("Retry-After"), body: b, err: err}
}

// wire is a kept connection that sends commits and reads their answers with as
// little work as possible: what loads the daemon should not take its processor.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
}

func (l *loaded) dial() (*wire, error) {
	conn, err := net.Dial("tcp", l.addr)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(5 * time.Minute))
	return &wire{conn, bufio.NewReader(conn)}, nil
}

func (w *wire) commit(token, table, key string) (r reply) {
	start := time.Now()
	defer func() { r.took = time.Since(start) }()
	body := fmt.Sprintf(`{"table":%q,"deck":"standard-52"}`, table)
	_, err := fmt.Fprintf(w.conn, "POST /v1/main/shuffles HTTP/1.1\r\nHost: shuffled\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, key, len(body), body)
	if err != nil {
		return reply{err: err}
	}
	length := 0
	for first := true; ; first = false {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return reply{err: err}
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ": ")
		switch {
		case first:
			if _, err := fmt.Sscanf(name, "HTTP/1.1 %d", &r.status); err != nil {
				return reply{err: err}
			}
		case name == "":
			r.body = make([]byte, length)
			_, r.err = io.ReadFull(w.in, r.body)
			return r
		case name == "Content-Length":
			length, _ = strconv.Atoi(value)
		case name == "Retry-After":
			r.retry = value
		}
	}
}

// insist sends a commit until it is acknowledged, as a client does; nil: it was not.
func (l *loaded) insist(table, key string) []byte {
	l.t.Helper()
	for range 100 {
		r := l.commit(l.t.Context(), table, key)
		if r.status == http.StatusOK {
			return r.body
		}
		if r.err == nil && !r.refused() {
			l.t.Errorf("%s: %d: %s", key, r.status, r.body)
			return nil
		}
		time.Sleep(50 * time.Millisecond) // not to be one of a crowd; no test of time
	}
	l.t.Errorf("%s: no answer after 100 attempts", key)
	return nil
}

// rss returns the daemon's resident memory in bytes, and its peak.
func (l *loaded) rss() (now, peak int) {
	l.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.cmd.Process.Pid))
	if err != nil {
		l.t.Skipf("no /proc: %v", err)
	}
	read := func(name string) int {
		_, rest, _ := strings.Cut(string(b), name+":")
		kib, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			l.t.Fatal(err)
		}
		return kib << 10
	}
	return read("VmRSS"), read("VmHWM")
}

// cpu returns the processor time that the daemon took.
func (l *loaded) cpu() time.Duration {
	return time.Duration(l.figure("process_cpu_seconds_total") * float64(time.Second))
}

// figure returns one of the daemon's metrics.
func (l *loaded) figure(name string) float64 {
	l.t.Helper()
	for line := range strings.Lines(l.mustGet(l.operator, "/metrics", http.StatusOK)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			f, err := strconv.ParseFloat(value, 64)
			if err != nil {
				l.t.Fatal(err)
			}
			return f
		}
	}
	l.t.Fatalf("no metric %s", name)
	return 0
}

// connect opens a connection to the database, as superuser.
func (l *loaded) connect() *pgx.Conn {
	l.t.Helper()
	conn, err := pgx.Connect(l.t.Context(), l.super)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// checkCommits sends every commit again, by key, and wants the answer that was given, where one was, and serials
// without a gap: nothing was lost, and nothing stands twice.
func (l *loaded) checkCommits(table string, given map[string][]byte) {
	l.t.Helper()
	type commit struct {
		key  string
		body []byte
	}
	queue, serials := make(chan commit), make([]atomic.Bool, len(given)+1)
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for c := range queue {
				again := l.insist(table, c.key)
				if c.body != nil && !sameAnswer(again, c.body) {
					l.t.Errorf("%s: repeated:\n%s\nfirst:\n%s", c.key, again, c.body)
				}
				var s struct{ Serial int }
				if err := json.Unmarshal(again, &s); err != nil || s.Serial < 1 || s.Serial > len(given) ||
					serials[s.Serial].Swap(true) {
					l.t.Errorf("%s: %v, serial %d of %d", c.key, err, s.Serial, len(given))
				}
			}
		})
	}
	for key, body := range given {
		queue <- commit{key, body}
	}
	close(queue)
	group.Wait()
}
