package bench

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

var (
	compare  = flag.Bool("compare", false, "run the comparison (make bench)")
	quick    = flag.Bool("quick", false, "with -compare: one short round, to see that it works")
	only     = flag.String("only", "", "with -compare: only the section named: counts, hands, strangers, followers, open, ledgers, blind or growth")
	period   = flag.Duration("period", 5*time.Second, "how long each load is measured in a round")
	rounds   = flag.Int("rounds", 3, "how often the rivals take turns")
	open     = flag.Int("open", 1_000_000, "how many shuffles are open in the row that never closes what it opens")
	entries  = flag.Int("entries", 1_000_000, "size of the ledger that one of 100,000 entries is compared with")
	jsonFile = flag.String("json", "", "file that the table is written to as JSON")
)

func TestMain(m *testing.M) {
	if database := os.Getenv(rivalVariable); database != "" {
		fmt.Fprintln(os.Stderr, serveRival(database))
		os.Exit(1)
	}
	testdb.Main(m)
}

// TestCompare prints the comparison.
func TestCompare(t *testing.T) {
	if !*compare {
		t.Skip("a measurement, not a test: make bench")
	}
	if *quick {
		*period, *rounds, *open, *entries = time.Second, 1, min(*open, 20_000), min(*entries, 200_000)
	}
	// Enough memory and log that no checkpoint falls into one load and not into
	// another. Durability is that of testdb: fsync, full_page_writes,
	// synchronous_commit.
	cluster := testdb.Start(t, testdb.Setting("shared_buffers", "256MB"), testdb.Setting("max_wal_size", "8GB"),
		testdb.Setting("checkpoint_timeout", "1h"))
	s := &server{Cluster: cluster}
	all := &table{Machine: describe(t, s)}
	fmt.Println(all.Machine)
	binary := build(t)
	switch *only {
	case "":
		all.counted(countAll(t, binary))
		compareShuffles(all)
		compareCommits(t, all, s, binary)
		compareHands(t, all, s, binary)
		compareStrangers(t, all, s, binary)
		compareFollowers(t, all, s, binary)
		measureAudit(t, all, binary)
		compareOpen(t, all, s, binary)
		compareLedgers(t, all, s, binary)
		compareBlind(t, all, binary)
		compareGrowth(t, all, s, binary)
	case "counts":
		all.counted(countAll(t, binary))
	case "blind":
		compareBlind(t, all, binary)
	case "growth":
		compareGrowth(t, all, s, binary)
	case "hands":
		compareHands(t, all, s, binary)
	case "strangers":
		compareStrangers(t, all, s, binary)
	case "followers":
		compareFollowers(t, all, s, binary)
	case "open":
		compareOpen(t, all, s, binary)
	case "ledgers":
		compareLedgers(t, all, s, binary)
	default:
		t.Fatalf("-only %s: counts, hands, strangers, followers, open, ledgers, blind or growth", *only)
	}
	all.goals()
	if *jsonFile != "" {
		all.write(t, *jsonFile)
	}
}

// again runs each contestant once in each round, so that other work on the machine
// disturbs them all, and returns the best result of each.
func again(contestants []func() result) []result {
	best := make([]result, len(contestants))
	for range *rounds {
		for i, run := range contestants {
			if r := run(); r.PerSecond > best[i].PerSecond {
				best[i] = r
			}
		}
	}
	return best
}

// took says how long something ran.
func took(each time.Duration) string { return fmt.Sprintf("%d × %s", *rounds, each) }
