package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/inspect/inspecttest"
	"shuffled/perf/load"
)

// requestsPerHand is the number of requests of a hand: a commit, four deals and a
// close.
const requestsPerHand = 6

// times is a result in units that have n of its own units each. It has no latencies,
// because those of n requests in turn are not measured.
func (r result) times(n float64) result {
	return result{PerSecond: r.PerSecond * n, Service: r.Service / n, PostgreSQL: r.PostgreSQL / n,
		Generator: r.Generator / n, Acknowledged: uint64(float64(r.Acknowledged) * n)}
}

// compareHands: batches of commits, whole hands of six requests, and hands in batches,
// compared with the rival, which signs and inserts a row for each of six requests.
func compareHands(t *testing.T, all *table, s *server, binary string) {
	commits := func(connections, batch int) func() result {
		return func() result {
			r, _ := afresh(t, s, binary, connections, load.Mix{load.Commit: 1}, batch)
			return r
		}
	}
	best := again([]func() result{commits(64, 1), commits(8, 16), commits(8, 64), commits(8, 128)})
	var rows []row
	for i, name := range []string{"one commit each", "16 in a batch", "64 in a batch", "128 in a batch"} {
		r := best[i].row(name, "shuffles/s", []int{64, 8, 8, 8}[i])
		if i > 0 {
			r.Ratio, r.Work, r.To = best[i].PerSecond/best[0].PerSecond, best[0].cpu()/best[i].cpu(), "one commit each"
		}
		rows = append(rows, r)
	}
	all.add("Batches of N commits", "latency is of the request", rows...)

	rival := startRival(t, s)
	defer rival.stop()
	d := startDaemon(t, s, binary)
	defer d.stop()
	before := s.size(t, d.database)
	play := func(n, batch int) func() result {
		return func() result { return d.load(t, n, load.Mix{load.Hand: 1}, batch) }
	}
	best = again([]func() result{play(1, 1), play(64, 1), play(256, 1), play(8, 16), play(4, 64),
		func() result { return rival.load(t, 256, load.Mix{load.Commit: 1}, 1).times(1.0 / requestsPerHand) }})
	in := func(i int, name string, connections int) row {
		r := best[i].row(name, "hands/s", connections)
		r.Ratio, r.Work = best[i].PerSecond/best[5].PerSecond, best[5].cpu()/best[i].cpu()
		r.To = "six times sign and insert"
		return r
	}
	all.add("Hands: commit, four deals of 20 cards, close", "latency is of the whole hand, or of the whole batch",
		best[0].row("six requests one after another", "hands/s", 1),
		best[1].row("six requests one after another", "hands/s", 64),
		best[5].row("sign a shuffle and insert it, six times", "hands/s", 256),
		in(2, "six requests one after another", 256),
		in(3, "16 hands in a batch", 8),
		in(4, "64 hands in a batch", 4))
	all.store("whole hands: commit, four deals, close", d.since(t, before))
}

// measureAudit verifies a ledger of whole hands from its files with the command.
func measureAudit(t *testing.T, all *table, binary string) {
	n := 100_000
	if *quick {
		n = 10_000
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	inspecttest.Fast(dir, n)
	var rows []row
	for _, cores := range []int{1, all.Machine.Cores} {
		cmd := exec.Command(binary, "audit", "verify", dir, "--key", inspecttest.VKey(), "--json")
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
		var errs strings.Builder
		cmd.Stderr = &errs
		began := time.Now()
		out, err := cmd.Output()
		took := time.Since(began)
		var report struct{ Verdict string }
		if err != nil || json.Unmarshal(out, &report) != nil || report.Verdict != "proved" {
			t.Fatalf("auditing: %v, %s: %s", err, report.Verdict, errs.String())
		}
		state := cmd.ProcessState
		cpu := state.UserTime() + state.SystemTime()
		used, _ := state.SysUsage().(*syscall.Rusage)
		name := fmt.Sprintf("shuffled audit verify, %d cores", cores)
		rows = append(rows,
			row{Name: name, Unit: "shuffles/s", Value: float64(n) / took.Seconds(),
				Ran: took.Round(100 * time.Millisecond).String()},
			row{Name: name, Unit: "per CPU second", Value: float64(n) / cpu.Seconds()})
		if used != nil {
			rows = append(rows, row{Name: name, Unit: "MiB at its peak", Value: float64(used.Maxrss) / 1024})
		}
	}
	all.add("Auditing from files, every tape recomputed", fmt.Sprintf("%d hands, %d entries", n, 6*n), rows...)
}
