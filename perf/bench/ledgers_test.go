package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/testdb"
	"shuffled/perf/load"
)

// manyLedgers is the number of ledgers of one daemon in the row of many.
const manyLedgers = 100

// compareLedgers: commits on many ledgers of one daemon at a time, with two
// connections each, and as many connections on one of these ledgers.
func compareLedgers(t *testing.T, all *table, s *server, binary string) {
	const connections = 2
	ledgers := startLedgers(t, s, binary)
	idle := ledgers[0].memory("VmRSS")
	best := again([]func() result{
		func() result { return ledgers[0].load(t, connections*manyLedgers, load.Mix{load.Commit: 1}, 1) },
		func() result { return loadAll(t, ledgers, connections) },
	})
	first := best[0].row("one of them", "/s", connections*manyLedgers)
	second := best[1].row("all of them", "/s", connections*manyLedgers)
	second.Ratio, second.To = best[1].PerSecond/best[0].PerSecond, first.Name
	all.add(fmt.Sprintf("%d ledgers of one daemon", manyLedgers), "a commit with proof, over HTTP", first, second)
	all.add(fmt.Sprintf("%d ledgers, memory of the daemon", manyLedgers), "resident",
		row{Name: "after its start", Unit: "MiB", Value: idle},
		row{Name: "at its peak", Unit: "MiB", Value: ledgers[0].peak()})
}

// loadAll loads every ledger at the same time. Rates and processor time of the
// generators add up; times are those of the slowest ledger.
func loadAll(t *testing.T, ledgers []*service, connections int) result {
	t.Helper()
	results := make([]result, len(ledgers))
	var wg sync.WaitGroup
	for i, d := range ledgers {
		wg.Go(func() { results[i] = d.load(t, connections, load.Mix{load.Commit: 1}, 1) })
	}
	wg.Wait()
	var sum result
	for _, r := range results {
		sum.PerSecond += r.PerSecond
		sum.Mean, sum.P50, sum.P99 = max(sum.Mean, r.Mean), max(sum.P50, r.P50), max(sum.P99, r.P99)
		sum.Acknowledged += r.Acknowledged
	}
	return sum
}

// startLedgers serves many sandbox ledgers from one daemon on a new database, under
// the default limits. It returns a service for each ledger, all of one process.
func startLedgers(t *testing.T, s *server, binary string) []*service {
	t.Helper()
	addr, dir := testdb.FreeAddress(t), t.TempDir()
	data, config := filepath.Join(dir, "data"), filepath.Join(dir, "shuffled.toml")
	text := fmt.Sprintf("data = %q\nlisten = %q\noperator_listen = \"\"\n[log]\nlevel = \"error\"\n", data, addr)
	database := s.Database(t)
	run := func(args ...string) string {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary, append(args, "--config", config, "--database", database)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("shuffled %s: %v: %s", strings.Join(args, " "), err, err.(*exec.ExitError).Stderr)
		}
		return strings.TrimSpace(string(out))
	}
	sealing := exec.Command(binary, "key", "generate", "sealing", "--out", filepath.Join(data, "sealing.key"))
	if err := errors.Join(os.Mkdir(data, 0o700), sealing.Run()); err != nil {
		t.Fatal(err)
	}
	run("migrate", "up")
	services := make([]*service, manyLedgers)
	for i := range services {
		d := &service{url: "http://" + addr, ledger: fmt.Sprintf("l%d", i), database: database, data: data, server: s}
		run("ledger", "create", "--house", "casino", "--name", d.ledger, "--origin", "example.com/"+d.ledger)
		text += fmt.Sprintf("[[ledger]]\nname = %q\n", d.ledger)
		d.token = run("token", "create", "--ledger", d.ledger, "--role", "dealer", "--identity", "bench")
		vkey, err := os.ReadFile(filepath.Join(data, d.ledger+".vkey"))
		if err != nil {
			t.Fatal(err)
		}
		if d.key, err = audit.ParseVKey(strings.TrimSpace(string(vkey))); err != nil {
			t.Fatal(err)
		}
		services[i] = d
	}
	first := services[0]
	first.run(t, binary, "/log/l0/checkpoint", "serve", "--config", config, "--database", first.asWriter(t))
	for _, d := range services {
		d.cmd = first.cmd
	}
	return services
}
