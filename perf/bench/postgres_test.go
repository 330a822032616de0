package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/testdb"
)

// server is the PostgreSQL that all contestants use.
type server struct{ *testdb.Cluster }

// cpu is the processor time that the server used so far, including processes that
// have ended.
func (s *server) cpu() (total time.Duration) {
	text, _ := os.ReadFile(filepath.Join(s.DataDir(), "postmaster.pid"))
	pid, _, _ := strings.Cut(string(text), "\n")
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		p, ok := readStat(path)
		switch {
		case !ok:
		case p.pid == pid:
			total += p.own + p.children
		case p.parent == pid:
			total += p.own
		}
	}
	return total
}

// stat is what is read of a process (proc(5)).
type stat struct {
	pid, parent   string
	own, children time.Duration
}

func readStat(path string) (p stat, ok bool) {
	text, err := os.ReadFile(path)
	pid, _, _ := strings.Cut(string(text), " ")
	// The name, in brackets, may have spaces.
	f := strings.Fields(string(text)[strings.LastIndex(string(text), ")")+1:])
	if err != nil || len(f) < 15 {
		return p, false
	}
	ticks := func(i int) time.Duration {
		n, _ := strconv.Atoi(f[i])
		return time.Duration(n) * time.Second / 100 // USER_HZ
	}
	return stat{pid: pid, parent: f[1], own: ticks(11) + ticks(12), children: ticks(13) + ticks(14)}, true
}

// pgbench inserts rows of the size of a commit entry.
func (s *server) pgbench(t *testing.T, database string, clients int) result {
	t.Helper()
	before := s.cpu()
	out := tool(t, "pgbench", "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(1, int(period.Seconds()))), "-f", s.script(t), database)
	number := func(pattern string) float64 {
		m := regexp.MustCompile(pattern).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("pgbench printed no %s:\n%s", pattern, out)
		}
		v, _ := strconv.ParseFloat(m[1], 64)
		return v
	}
	done := number(`actually processed: ([0-9]+)`)
	return result{PerSecond: number(`tps = ([0-9.]+)`), Mean: number(`latency average = ([0-9.]+)`),
		PostgreSQL: perUnit(s.cpu()-before, done)}
}

func (s *server) script(t *testing.T) string {
	script := filepath.Join(t.TempDir(), "insert.sql")
	insert := "\\set n random(1, 1000000000)\nINSERT INTO rows (n, entry) VALUES (:n, '" + strings.Repeat("x", 500) +
		"');\n"
	if err := os.WriteFile(script, []byte(insert), 0o600); err != nil {
		t.Fatal(err)
	}
	return script
}

// pgbenchDatabase has the table that pgbench inserts into.
func (s *server) pgbenchDatabase(t *testing.T) string {
	database := s.Database(t)
	tool(t, "psql", database, "-qc", "CREATE TABLE rows (id bigserial PRIMARY KEY, n bigint, entry text)")
	return database
}

// size returns the number of shuffles of a database, and the size of all its tables
// and their indexes.
func (s *server) size(t *testing.T, database string) (r room) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	err = conn.QueryRow(context.Background(),
		`SELECT (SELECT count(*) FROM entries WHERE type = 2)::float8, sum(pg_table_size(oid))::float8, sum(pg_indexes_size(oid))::float8 FROM pg_class
		WHERE relkind = 'r' AND relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname IN ('pg_catalog', 'information_schema'))`).Scan(&r.shuffles, &r.tables, &r.indexes)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := testdb.Bin(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// perUnit is processor time in microseconds for each of n units.
func perUnit(d time.Duration, n float64) float64 { return float64(d) / 1000 / max(n, 1) }
