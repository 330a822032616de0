package bench

import (
	"fmt"
	"slices"
	"testing"

	"shuffled/perf/load"
)

const proved = "shuffled: a commit with proof, over HTTP"

// compareCommits: commits over HTTP, pgbench's single-row inserts and the rival's
// inserts, on the same PostgreSQL.
func compareCommits(t *testing.T, all *table, s *server, binary string) {
	rival, inserts := startRival(t, s), s.pgbenchDatabase(t)
	clients, connections, big := []int{1, 8, 32, 64}, []int{1, 64, 256, 1024}, []int{1, 64, 256}
	if *quick {
		clients, connections = []int{1, 32}, []int{1, 64, 256}
	}
	var contestants []func() result
	var held room // of the last run on 256 connections
	for _, n := range clients {
		contestants = append(contestants, func() result { return s.pgbench(t, inserts, n) })
	}
	for _, n := range connections {
		contestants = append(contestants, func() result {
			r, taken := afresh(t, s, binary, n, load.Mix{load.Commit: 1}, 1)
			if n == 256 {
				held = taken
			}
			return r
		})
	}
	for _, n := range big {
		contestants = append(contestants, func() result { return rival.load(t, n, load.Mix{load.Commit: 1}, 1) })
	}
	best := again(contestants)

	var rows []row
	pg, own, other := best[:len(clients)], best[len(clients):len(clients)+len(connections)],
		best[len(clients)+len(connections):]
	most := slices.MaxFunc(pg, func(a, b result) int { return int(a.PerSecond - b.PerSecond) })
	for i, r := range pg {
		rows = append(rows, r.row("pgbench: a row inserted, prepared", "/s", clients[i]))
	}
	for i, r := range other {
		rows = append(rows, r.row("sign a shuffle and insert it, over HTTP", "/s", big[i]))
	}
	for i, r := range own {
		o := r.row(proved, "/s", connections[i])
		o.Ratio, o.To = r.PerSecond/most.PerSecond, "pgbench's best"
		if connections[i] == 1 {
			o.Ratio, o.To = r.P50/pg[0].Mean, "the time of pgbench's one client"
		}
		rows = append(rows, o)
	}
	if i, j := slices.Index(connections, big[len(big)-1]), len(big)-1; i >= 0 {
		o := own[i].row(proved, "/s", connections[i])
		o.Ratio, o.To = own[i].PerSecond/other[j].PerSecond, "sign and insert, at as many connections"
		rows = append(rows, o)
	}
	all.add("Durable writes on one PostgreSQL", "best of the rounds, in which all take turns", rows...)
	all.store("commits only, none of them closed", held)
}

// afresh loads a daemon on a new ledger, so that earlier work and open shuffles are
// no part of a measurement.
func afresh(t *testing.T, s *server, binary string, connections int, mix load.Mix, batch int) (result, room) {
	d := startDaemon(t, s, binary)
	defer d.stop()
	before := s.size(t, d.database)
	r := d.load(t, connections, mix, batch)
	return r, d.since(t, before)
}

// since returns what was used since then.
func (d *service) since(t *testing.T, before room) room {
	r := d.server.size(t, d.database)
	return room{r.shuffles - before.shuffles, r.tables - before.tables, r.indexes - before.indexes, d.peak()}
}

// room is the disk space of this many shuffles, in bytes, and the memory of the
// daemon, in MiB.
type room struct{ shuffles, tables, indexes, peak float64 }

// store adds the disk space of a ledger, and the memory of the daemon.
func (all *table) store(what string, r room) {
	all.add("Room, "+what, fmt.Sprintf("after %.0f shuffles", r.shuffles),
		row{Name: "PostgreSQL, tables, per shuffle", Unit: "bytes", Value: r.tables / r.shuffles},
		row{Name: "PostgreSQL, indexes, per shuffle", Unit: "bytes", Value: r.indexes / r.shuffles},
		row{Name: "the daemon at its peak", Unit: "MiB", Value: r.peak},
	)
}
