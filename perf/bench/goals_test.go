package bench

import (
	"fmt"
	"strings"
)

// goal is a speed to reach, and the rows that show whether it is reached.
type goal struct {
	what, section, name, to string // beginnings of a row's section, of its name, and of what its ratio compares with
	connections             int    // 0: any
	unit                    string // of the row; "": any
	of                      func(row) float64
	least                   float64 // least value to reach; 0: most counts
	most                    float64
}

func ratio(r row) float64 { return r.Ratio }
func work(r row) float64  { return r.Work }
func value(r row) float64 { return r.Value }

const (
	durable   = "Durable writes"
	wholeHand = "Hands: commit"
	auditing  = "Auditing from files"
	blindly   = "Dealing blind"
)

// speeds are the goals. Each row of a goal is compared with it.
var speeds = []goal{
	{what: "hands, × six times sign and insert, by processor time", section: wholeHand, name: "six requests",
		to: "six times", of: work, least: 1.9},
	{what: "the same, 16 hands in a batch", section: wholeHand, name: "16 hands", of: work, least: 5},
	{what: "the same, 64 hands in a batch", section: wholeHand, name: "64 hands", of: work, least: 5},
	{what: "commits, 128 in a batch, × one each", section: "Batches", name: "128", of: ratio, least: 4},
	{what: "commits on 100 ledgers, × on one of them", section: "100 ledgers of", name: "all", of: ratio, least: 0.5},
	{what: "commits at 256 connections, × pgbench's best", section: durable, name: proved, to: "pgbench's best",
		connections: 256, of: ratio, least: 0.9},
	{what: "the same, × sign and insert", section: durable, name: proved, to: "sign and insert", connections: 256,
		of: ratio, least: 2.5},
	{what: "p50 of one connection, × pgbench's one client", section: durable, name: proved, connections: 1, of: ratio,
		most: 3},
	{what: "rate with many open, × that with few", section: "Open shuffles, none", to: "a new ledger", of: ratio,
		least: 0.9},
	{what: "memory of each that is open, bytes", section: "Open shuffles, memory", of: value, most: 400},
	{what: "p99 with 64 strangers reading, × that with none", section: "Dealing while strangers",
		name: "hands, 64 strangers", of: ratio, most: 2},
	{what: "blind deal without its round trip, × a deal", section: blindly, name: "with a co-dealer", of: ratio,
		most: 4.5},
	{what: "blind deal, calls of the co-dealer", section: blindly, name: "calls", of: value, most: 1},
	{what: "audit, shuffles per second of one core", section: auditing, name: "shuffled audit verify, 1 cores",
		unit: "per CPU second", of: value, least: 35_000},
	{what: "audit, MiB at its peak", section: auditing, unit: "MiB at its peak", of: value, most: 256},
	{what: "rate of a large ledger, × that of a small one", section: "Growth", to: "a ledger", of: ratio, least: 0.95},
}

// in reports whether a row belongs to the goal.
func (g goal) in(r row) bool {
	return strings.HasPrefix(r.Section, g.section) && strings.HasPrefix(r.Name, g.name) &&
		strings.HasPrefix(r.To, g.to) && (g.connections == 0 || g.connections == r.Connections) &&
		(g.unit == "" || g.unit == r.Unit)
}

// line says whether a row reaches the goal.
func (g goal) line(r row) string {
	v, aim, reached := g.of(r), fmt.Sprintf("at most %g", g.most), "reached"
	if g.least > 0 {
		aim = fmt.Sprintf("at least %g", g.least)
	}
	if v < g.least || g.most > 0 && v > g.most {
		reached = "not reached"
	}
	return fmt.Sprintf(goalLayout, g.what, aim, number(v), reached, r.Name)
}

const goalLayout = "  %-54s %-16s %8s  %-12s %s"

// goals prints the rows of the table that belong to goals.
func (t *table) goals() {
	fmt.Println("Goals")
	for _, g := range speeds {
		measured := false
		for _, r := range t.Rows {
			if g.in(r) {
				fmt.Println(strings.TrimRight(g.line(r), " "))
				measured = true
			}
		}
		if !measured {
			fmt.Println(strings.TrimRight(fmt.Sprintf(goalLayout, g.what, "", "", "not measured", ""), " "))
		}
	}
	fmt.Println("  at 100,000,000 entries: perf/growth (docs/SCALE.md); .ci/run says how long it took")
}
