package bench

import (
	"fmt"
	"testing"

	"shuffled/perf/load"
)

// openTables is the number of tables of the open shuffles in the row with many
// tables, as in a large house.
const openTables = 100_000

// compareOpen: commits while many shuffles are open and while few are, at a table for
// each connection and at many tables. No shuffle is closed.
func compareOpen(t *testing.T, all *table, s *server, binary string) {
	const connections = 256
	spread := openTables / connections
	one, many := fill(t, s, binary, connections, 1), fill(t, s, binary, connections, spread)
	few := func(spread int) func() result {
		return func() result {
			d := startDaemon(t, s, binary)
			defer d.stop()
			return d.loadAt(t, connections, load.Mix{load.Commit: 1}, 1, spread, false)
		}
	}
	full := func(d *filled, spread int) func() result {
		return func() result {
			r := d.loadAt(t, connections, load.Mix{load.Commit: 1}, 1, spread, false)
			d.opened += float64(r.Acknowledged)
			return r
		}
	}
	best := again([]func() result{few(1), full(one, 1), few(spread), full(many, spread)})
	tables := fmt.Sprintf("at %d new tables", spread*connections)
	names := []string{"a new ledger", fmt.Sprintf("%d open before", *open), "a new ledger, " + tables,
		fmt.Sprintf("%d open before, %s", *open, tables)}
	var rows []row
	for i, name := range names {
		r := best[i].row(name, "/s", connections)
		if i%2 == 1 {
			r.Ratio, r.To = best[i].PerSecond/best[i-1].PerSecond, names[i-1]
		}
		rows = append(rows, r)
	}
	all.add("Open shuffles, none of them closed", "a commit with proof, over HTTP", rows...)
	rows = nil
	for i, d := range []*filled{one, many} {
		rows = append(rows,
			row{Name: names[2*i+1] + ": more than at its start, each", Unit: "bytes",
				Value: (d.memory("VmRSS") - d.idle) * (1 << 20) / d.opened},
			row{Name: names[2*i+1] + ": more at its peak, each", Unit: "bytes",
				Value: (d.peak() - d.idle) * (1 << 20) / d.opened})
	}
	all.add("Open shuffles, memory of the daemon", fmt.Sprintf("with %.0f and %.0f open", one.opened, many.opened),
		rows...)
}

// filled is a daemon with many open shuffles.
type filled struct {
	*service
	opened float64
	idle   float64 // memory after its start, in MiB
}

// fill starts a daemon and opens shuffles, many with each request.
func fill(t *testing.T, s *server, binary string, connections, spread int) *filled {
	t.Helper()
	d := &filled{service: startDaemon(t, s, binary)}
	d.idle = d.memory("VmRSS")
	batch := 64
	if spread > 1 {
		batch = 8 // a batch is of one table, and each table must have some
	}
	for d.opened < float64(*open) {
		d.opened += float64(d.loadAt(t, connections/8, load.Mix{load.Commit: 1}, batch, spread*8, true).Acknowledged)
	}
	return d
}
