package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
	"shuffled/perf/load"
)

// service is a process that answers POST /v1/main/shuffles: the daemon, or the rival.
type service struct {
	cmd        *exec.Cmd
	url, token string
	ledger     string        // "" is main
	key        note.Verifier // nil: its answers prove nothing
	vkey       string        // of key
	database   string
	data       string // the daemon's directory
	dir        string // that it runs in; "" is this one
	traced     string // file in which strace writes the syncs of the process; "" for none
	server     *server
}

// result is what one load measured.
type result struct {
	PerSecond, Mean, P50, P99      float64
	Service, PostgreSQL, Generator float64 // processor time for each unit, in microseconds
	Acknowledged                   uint64  // in shuffles, warm-up included
}

func build(t *testing.T) (binary string) {
	dir := t.TempDir()
	if err := termtest.Build(dir, "shuffled"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "shuffled")
}

// startDaemon serves a sandbox on a new database with the real binary.
func startDaemon(t *testing.T, s *server, binary string) *service {
	t.Helper()
	return startDaemonOn(t, s, binary, s.Database(t))
}

// startDaemonOn is startDaemon on a database of PostgreSQL, or on the embedded store
// if it names none.
func startDaemonOn(t *testing.T, s *server, binary, database string) *service {
	t.Helper()
	d := &service{url: "http://" + testdb.FreeAddress(t), database: database, server: s}
	d.data = filepath.Join(t.TempDir(), "data")
	d.serveDev(t, binary)
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(d.data, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	d.token = read("dealer.token")
	var err error
	d.vkey = read("main.vkey")
	if d.key, err = audit.ParseVKey(d.vkey); err != nil {
		t.Fatal(err)
	}
	return d
}

// serveDev starts the daemon of a sandbox, for the first time or again.
func (d *service) serveDev(t *testing.T, binary string) {
	t.Helper()
	args := []string{"serve", "--dev", "--log-level", "warn", "--data", d.data, "--listen",
		strings.TrimPrefix(d.url, "http://")}
	if d.database != "" {
		args = append(args, "--database", d.database)
	}
	d.run(t, binary, "/readyz", args...)
}

// run starts the daemon and waits until the address answers.
func (d *service) run(t *testing.T, binary, until string, args ...string) {
	t.Helper()
	log := d.begin(t, binary, args...)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if resp, err := http.Get(d.url + until); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the daemon did not get ready:\n%s", log.String())
		}
	}
}

// begin starts the daemon, and returns its output.
func (d *service) begin(t *testing.T, binary string, args ...string) *bytes.Buffer {
	t.Helper()
	d.cmd = exec.Command(binary, args...)
	if path := strace(); d.traced != "" && path != "" {
		// -D leaves the daemon the child of this process.
		d.cmd = exec.Command(path, append([]string{"-D", "-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync,fdatasync",
			"-o", d.traced, binary}, args...)...)
	}
	log := new(bytes.Buffer)
	d.cmd.Stdout, d.cmd.Stderr, d.cmd.Dir = log, log, d.dir
	tie(d.cmd)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.stop)
	return log
}

// startRival serves the rival on a new database: this test binary, once more.
func startRival(t *testing.T, s *server) *service {
	t.Helper()
	d := &service{database: s.Database(t), server: s}
	d.cmd = exec.Command(os.Args[0])
	d.cmd.Env = append(os.Environ(), rivalVariable+"="+d.database)
	d.cmd.Stderr = os.Stderr
	tie(d.cmd)
	out, err := d.cmd.StdoutPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.stop)
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the rival did not start: %v", err)
	}
	d.url = "http://" + strings.TrimSpace(addr)
	return d
}

func (d *service) stop() {
	if d.cmd.ProcessState == nil {
		d.cmd.Process.Signal(os.Interrupt)
		d.cmd.Wait()
	}
}

func (d *service) stat() stat {
	p, _ := readStat(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	return p
}

// peak is the largest memory of the process so far, in MiB.
func (d *service) peak() float64 { return d.memory("VmHWM") }

// memory is a figure of proc_pid_status(5), in MiB.
func (d *service) memory(name string) float64 {
	kb, _ := strconv.ParseFloat(firstMatch(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid), name+`:\s*(\d+) kB`), 64)
	return kb / 1024
}

// load runs the load of `shuffled bench`, and counts in the units of count: requests,
// shuffles or hands. Acknowledged answers are verified.
func (d *service) load(t *testing.T, connections int, mix load.Mix, batch int) result {
	t.Helper()
	return d.loadAt(t, connections, mix, batch, 1, false)
}

// loadAt is load at this many tables for each connection. If it only fills, refusals
// are ignored.
func (d *service) loadAt(t *testing.T, connections int, mix load.Mix, batch, spread int, fills bool) result {
	t.Helper()
	keep, keys := int64(16<<20), []note.Verifier{d.key}
	if d.key == nil {
		keep = 1
	}
	own, db := d.stat().own, d.server.cpu()
	ownAfter, dbAfter := own, db
	r, err := load.Run(context.Background(), load.Config{
		URL: d.url, Ledger: cmp.Or(d.ledger, "main"), Token: d.token, Keys: keys, Connections: connections,
		Warmup: *period / 5, Duration: *period,
		Mix: mix, Batch: batch, Deck: "standard-52", Tables: "t-" + client.NewKey()[:23], Spread: spread,
		Keep:    keep,
		Timeout: 30 * time.Second,
		Verifying: func(done, _ int) {
			if done == 0 { // the load is over
				ownAfter, dbAfter = d.stat().own, d.server.cpu()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.key != nil && (r.Verified.Failed > 0 || r.Verified.Answers == 0) || !fills &&
		(r.Errors > 0 || len(r.Refused) > 0) {
		t.Fatalf("not all was well: %+v", r)
	}
	kind, per := "commit", float64(batch)
	if mix[load.Hand] > 0 {
		kind = "hand"
		if batch == 1 {
			per = 1.0 / requestsPerHand
		}
	}
	l, units := r.LatencyMS[kind], float64(r.Acknowledged)*per
	return result{
		PerSecond: r.PerSecond * per, Mean: l.Mean, P50: l.P50, P99: l.P99,
		Service: perUnit(ownAfter-own, units), PostgreSQL: perUnit(dbAfter-db, units),
		Generator:    r.Generator.CPUSeconds * 1e6 / units,
		Acknowledged: uint64(units),
	}
}

func (r result) cpu() float64 { return r.Service + r.PostgreSQL + r.Generator }

func (r result) row(name, unit string, connections int) row {
	return row{Name: name, Unit: unit, Connections: connections, Value: r.PerSecond, Mean: r.Mean, P50: r.P50,
		P99:     r.P99,
		Service: r.Service, PostgreSQL: r.PostgreSQL, Generator: r.Generator, Ran: took(*period)}
}
