package bench

import (
	"fmt"
	"testing"

	"shuffled/perf/growth"
	"shuffled/perf/load"
)

// smallLedger is the number of entries of the ledger with which a large one is
// compared.
const smallLedger = 100_000

// compareGrowth: commits on a small ledger and on a large one. perf/growth fills one of any size,
// in several runs (docs/SCALE.md).
func compareGrowth(t *testing.T, all *table, s *server, binary string) {
	const connections = 64
	var contestants []func() result
	sizes := []int{min(smallLedger, *entries/10), *entries}
	for _, size := range sizes {
		d := startDaemon(t, s, binary)
		d.stop()
		l, store, err := growth.Open(t.Context(), d.database, d.data)
		if err != nil {
			t.Fatal(err)
		}
		err = growth.Fill(t.Context(), l, uint64(size), "uuid", t.Logf)
		l.Close()
		store.Close()
		if err != nil {
			t.Fatal(err)
		}
		d.serveDev(t, binary)
		contestants = append(contestants, func() result { return d.load(t, connections, load.Mix{load.Commit: 1}, 1) })
	}
	best := again(contestants)
	var rows []row
	for i, size := range sizes {
		rows = append(rows, best[i].row(fmt.Sprintf("a ledger of %d entries", size), "/s", connections))
	}
	rows[1].Ratio, rows[1].To = best[1].PerSecond/best[0].PerSecond, rows[0].Name
	all.add("Growth", "a commit with proof, over HTTP", rows...)
}
