package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/client"
	"shuffled/internal/testdb"
)

// counts is what a piece of work costs, counted and not timed: it is the same at any load of the machine.
type counts struct {
	Rounds       float64 // batches that the ledgers took
	Transactions float64 // of PostgreSQL, that wrote
	Statements   float64 // of PostgreSQL
	LogSyncs     float64 // of PostgreSQL's log
	Syncs        float64 // fsync and fdatasync of our own programs
	LogBytes     float64 // of PostgreSQL's log
	Rows         float64 // that the tables have more
}

// figures are the counts in the order of countLayout, with the names that JSON has.
func (c counts) figures() ([]string, []float64) {
	return []string{"rounds", "transactions", "statements", "log syncs", "own syncs", "log bytes", "rows"},
		[]float64{c.Rounds, c.Transactions, c.Statements, c.LogSyncs, c.Syncs, c.LogBytes, c.Rows}
}

const countLayout = "%-44s %8s %12s %10s %9s %9s %9s %8s"

// each returns (more - less) / n: what each of n units costs, without what both runs have in common.
func (c counts) each(less counts, n float64) counts {
	return counts{(c.Rounds - less.Rounds) / n, (c.Transactions - less.Transactions) / n,
		(c.Statements - less.Statements) / n, (c.LogSyncs - less.LogSyncs) / n, (c.Syncs - less.Syncs) / n,
		(c.LogBytes - less.LogBytes) / n, (c.Rows - less.Rows) / n}
}

// A counted is work whose counts may not grow. TestCounts compares each with the most that it may cost, which goes down
// when the work has become cheaper. Above the whole numbers is room for what a daemon writes at times of its own, which
// is more on a slower machine: 2.6 to 3.1 syncs of an embedded deal were seen.
type counted struct {
	name string
	unit int // hands or deals of one play
	few  int // plays of the shorter one of two runs
	play func(*testing.T, *client.Client, int)
	most counts
}

// onPostgreSQL is played with one connection by a daemon on PostgreSQL.
var onPostgreSQL = []counted{
	{"a hand of six requests", 1, 16, singly,
		counts{6, 7, 8, 7, 1, 9_500, 13}},
	{"a hand, 16 in a batch", 16, 8, inBatch(16),
		counts{2.0 / 16, 0.4, 1.2, 0.4, 0.1, 3_500, 6.6}},
	{"a hand, 64 in a batch", 64, 4, inBatch(64),
		counts{2.0 / 64, 0.2, 0.6, 0.2, 0.1, 3_400, 6.5}},
	{"a deal of one card", 1, 26, deals(nil), counts{1, 1.3, 1.3, 1.3, 0.3, 1_400, 2.3}},
}

// onFiles is played by a house and its co-dealer, each on an embedded store, and a witness.
var onFiles = []counted{
	{"a deal of one card, the house alone", 1, 26, deals(nil), counts{Rounds: 1, Syncs: 4}},
	{"a deal of one card, blind", 1, 26, deals(&client.MixPlan{CoDealer: new(client.MixPlanCoDealerTrue)}),
		counts{Rounds: 2, Syncs: 8}},
}

// someHand is what is dealt in a hand: four deals of 20 cards.
var someHand = []client.DealRequest{
	{First: 0, Runs: []client.Run{{Count: 5, Purpose: client.PurposeSeat, Recipient: new("seat-1")}}},
	{First: 5, Runs: []client.Run{{Count: 5, Purpose: client.PurposeSeat, Recipient: new("seat-2")}}},
	{First: 10, Runs: []client.Run{{Count: 5, Purpose: client.PurposeBoard, Public: new(true)}}},
	{First: 15, Runs: []client.Run{{Count: 5, Purpose: client.PurposeBoard, Public: new(true)}}},
}

func aShuffle(plan *client.MixPlan) client.ShuffleRequest {
	return client.ShuffleRequest{Table: "counted", Deck: new("standard-52"), Mix: plan}
}

// singly plays hands one after another, six requests each.
func singly(t *testing.T, c *client.Client, hands int) {
	for range hands {
		s, err := c.Commit(t.Context(), client.NewKey(), aShuffle(nil))
		for _, deal := range someHand {
			if err == nil {
				_, err = c.Deal(t.Context(), s, deal)
			}
		}
		if err == nil {
			_, err = c.Close(t.Context(), s, client.CloseRequest{Outcome: client.OutcomeCompleted})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// inBatch plays batches of hands, all of one table.
func inBatch(hands int) func(*testing.T, *client.Client, int) {
	return func(t *testing.T, c *client.Client, batches int) {
		for range batches {
			batch(t, c, hands)
		}
	}
}

func batch(t *testing.T, c *client.Client, hands int) {
	var steps []client.Step
	for range hands {
		first := len(steps)
		steps = append(steps, client.Step{Request: aShuffle(nil), Key: client.NewKey()})
		for _, deal := range someHand {
			steps = append(steps, client.Step{Request: deal, From: first})
		}
		steps = append(steps, client.Step{Request: client.CloseRequest{Outcome: client.OutcomeCompleted}, From: first})
	}
	done, err := c.Batch(t.Context(), steps, false)
	for _, d := range done {
		if err == nil {
			err = d.Err
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// deals deals cards of one shuffle, one at a time.
func deals(plan *client.MixPlan) func(*testing.T, *client.Client, int) {
	return func(t *testing.T, c *client.Client, n int) {
		request := aShuffle(plan)
		request.Table = "t-" + client.NewKey()[:23] // the shuffle stays open, and holds up the next one of its table
		s, err := c.Commit(t.Context(), client.NewKey(), request)
		if err == nil {
			err = c.Await(t.Context(), s)
		}
		for i := 0; i < n && err == nil; i++ {
			_, err = c.Deal(t.Context(), s, client.DealRequest{First: i,
				Runs: []client.Run{{Count: 1, Purpose: client.PurposeBoard, Public: new(true)}}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// counter is a cluster whose statements are counted, which takes some of its time. So nothing is timed on it.
func counter(t *testing.T) *server {
	return &server{Cluster: testdb.Start(t, testdb.Setting("shared_preload_libraries", "pg_stat_statements"),
		testdb.Setting("checkpoint_timeout", "1h"), testdb.Setting("autovacuum", "off"))}
}

// count plays a few and twice as many, and returns what each unit of the difference cost: a start, a stop and the
// first pages of a table are in both. run is a play with the counts that it leaves.
func (w counted) count(run func(plays int) counts) counts {
	run(w.few)
	less := run(w.few)
	return run(2*w.few).each(less, float64(w.few*w.unit))
}

// onServer plays on a daemon that is started and stopped for it, since PostgreSQL's processes report when they end.
func (w counted) onServer(t *testing.T, s *server, binary string) counts {
	t.Helper()
	d := startDaemon(t, s, binary)
	d.stop()
	ask(t, d.database, "CREATE EXTENSION pg_stat_statements")
	return w.count(func(plays int) counts {
		before := s.counts(t, d.database)
		d.traced = filepath.Join(t.TempDir(), "syncs")
		d.serveDev(t, binary)
		game, err := client.New(client.Config{URL: d.url, Ledger: "main", Token: d.token, VKey: d.vkey})
		if err != nil {
			t.Fatal(err)
		}
		rounds := landed(t, d.url)
		w.play(t, game, plays)
		rounds = landed(t, d.url) - rounds
		game.CloseIdleConnections()
		d.stop()
		after := s.counts(t, d.database).each(before, 1)
		after.Rounds, after.Syncs = rounds, syncsIn(t, d.traced)
		return after
	})
}

// onPair plays with the house of a pair. All of its programs run on.
func (w counted) onPair(t *testing.T, p *pair) counts {
	t.Helper()
	all := func() (c counts) {
		for _, d := range p.operators {
			c.Rounds += landed(t, d)
		}
		for _, path := range p.traced {
			c.Syncs += syncsIn(t, path)
		}
		return c
	}
	settled := func() counts { // what goes on behind an answer has ended
		last := all()
		for quiet := 0; quiet < 10; {
			time.Sleep(20 * time.Millisecond)
			if now := all(); now == last {
				quiet++
			} else {
				last, quiet = now, 0
			}
		}
		return last
	}
	return w.count(func(plays int) counts {
		before := settled()
		w.play(t, p.game, plays)
		after := settled()
		return after.each(before, 1)
	})
}

// countAll counts everything, on a cluster and a pair of its own.
func countAll(t *testing.T, binary string) (all []counts) {
	t.Helper()
	s := counter(t)
	for _, w := range onPostgreSQL {
		all = append(all, w.onServer(t, s, binary))
	}
	p := startPair(t, binary, true)
	for _, w := range onFiles {
		all = append(all, w.onPair(t, p))
	}
	return all
}

// counted prints the counts, and keeps them.
func (t *table) counted(all []counts) {
	const section = "What is written for each hand and deal"
	names, _ := counts{}.figures()
	head := []any{"  counted, not timed"}
	for _, name := range names {
		head = append(head, name)
	}
	fmt.Printf("%s\n"+countLayout+"\n", append([]any{section}, head...)...)
	for i, w := range slices.Concat(onPostgreSQL, onFiles) {
		_, values := all[i].figures()
		line := []any{"  " + w.name}
		for j, v := range values {
			t.Rows = append(t.Rows, row{Section: section, Name: w.name, Unit: names[j], Value: v})
			line = append(line, number(v))
		}
		fmt.Printf(countLayout+"\n", line...)
	}
	fmt.Println()
}

// TestCounts fails if a hand or a deal costs more than it did.
func TestCounts(t *testing.T) {
	if *compare {
		t.Skip("make bench counts the same")
	}
	all := countAll(t, build(t))
	new(table).counted(all)
	for i, w := range slices.Concat(onPostgreSQL, onFiles) {
		names, values := all[i].figures()
		_, most := w.most.figures()
		for j, name := range names {
			if values[j] > most[j] {
				t.Errorf("%s: %.4g %s, and at most %.4g are allowed", w.name, values[j], name, most[j])
			}
			onServer := i < len(onPostgreSQL) // a daemon on PostgreSQL has nothing of its own to sync for a hand
			if values[j] == 0 && most[j] >= 1 && (name != "own syncs" || strace() != "" && !onServer) {
				t.Errorf("%s: no %s: has the counter lost them?", w.name, name)
			}
		}
	}
}

// counts are those of the server and of one database.
func (s *server) counts(t *testing.T, database string) (c counts) {
	t.Helper()
	c.Transactions = ask(t, database, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8")
	c.LogBytes = ask(t, database, "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8")
	c.Statements = ask(t, database, "SELECT coalesce(sum(calls), 0)::float8 FROM pg_stat_statements JOIN pg_database ON oid = dbid WHERE datname = current_database() AND query !~ 'pg_catalog|pg_stat|pg_snapshot|pg_current'")
	syncs := "SELECT sum(fsyncs)::float8 FROM pg_stat_io WHERE object = 'wal'" // from PostgreSQL 18 on
	if ask(t, database, "SELECT count(*)::float8 FROM pg_attribute WHERE attrelid = 'pg_stat_wal'::regclass AND attname = 'wal_sync'") > 0 {
		syncs = "SELECT wal_sync::float8 FROM pg_stat_wal"
	}
	c.LogSyncs = ask(t, database, syncs)
	c.Rows = ask(t, database, `SELECT sum((xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I.%I',
		table_schema, table_name), false, true, '')))[1]::text::float8) FROM information_schema.tables
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	return c
}

// ask runs one statement, and returns the number that it returns, if any.
func ask(t *testing.T, database, sql string) (v float64) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(context.Background(), sql).Scan(&v); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("%v: %s", err, sql)
	}
	return v
}

// landed is how many batches the ledgers of a daemon took.
func landed(t *testing.T, url string) (n float64) {
	t.Helper()
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^shuffled_ledger_appends_total{.*outcome="landed"} (\S+)$`).
		FindAllStringSubmatch(string(text), -1)
	if found == nil {
		t.Fatalf("%s/metrics has no count of batches that landed", url)
	}
	for _, m := range found {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		n += v
	}
	return n
}

// strace is "" where it is not installed: then nobody counts the syncs of our own programs.
func strace() string {
	path, _ := exec.LookPath("strace")
	return path
}

// syncsIn counts the calls in a file of strace.
func syncsIn(t *testing.T, path string) float64 {
	t.Helper()
	if strace() == "" {
		return 0
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return float64(len(regexp.MustCompile(`(?m)^\d+ +f(data)?sync\(`).FindAll(text, -1)))
}
