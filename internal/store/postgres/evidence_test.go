package postgres

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
)

// TestInsertOnly tries to change evidence as the superuser that owns it, in an
// ordinary connection and in one of a replication role.
func TestInsertOnly(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{})
	l := storetest.Create(t, s)
	b := l.Next(2)
	commit(b, 0, 1, 1)
	b.Rows[0].Slots = [][32]byte{{1}}
	b.Rows[1].Type, b.Rows[1].Shuffle = audit.TypeClose, b.Rows[0].Index
	b.Decks = []ledger.Deck{{Hash: [32]byte{1}, List: []byte("\x00\x02\x01a\x01b")}}
	must(t, s.Append(t.Context(), l.ID, l.Head, b))
	must(t, errors.Join(s.PutCosigned(t.Context(), l.ID, l.Head), s.PutLate(t.Context(), l.ID, l.Head)))
	must(t, s.PutAccess(t.Context(), l.ID, ledger.Access{Request: "a"}))
	must(t, s.PutStatement(t.Context(), l.ID, 1, 0, []byte("a note")))
	conn := connect(t, dsn)
	for _, sql := range []string{"SET session_replication_role = replica", // no ledger of 3 entries has a tile
		"INSERT INTO tiles SELECT ledger, 0, 0, decode(repeat('00', 8192), 'hex') FROM heads"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "42501" || !strings.Contains(pg.Message, "is refused: ") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, role := range []string{"origin", "replica"} {
		if _, err := conn.Exec(t.Context(), "SET session_replication_role = "+role); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"ledgers", "entries", "tiles", "checkpoints", "cosigned", "late", "decks",
			"slots", "statements"} {
			if query[int](t, conn, "SELECT count(*) FROM "+table) == 0 {
				t.Fatalf("%s is empty", table)
			}
			refused("UPDATE " + table + " SET ledger = ledger")
			refused("UPDATE " + table + " SET ledger = ledger WHERE false")
			refused("DELETE FROM " + table)
			refused("TRUNCATE " + table + " CASCADE")
			refused("INSERT INTO " + table + " SELECT * FROM " + table + " ON CONFLICT ON CONSTRAINT " + table +
				"_pkey DO UPDATE SET ledger = excluded.ledger")
		}
		if query[int](t, conn, "SELECT current_setting('server_version_num')::int") >= 150000 {
			refused("MERGE INTO entries e USING heads h ON e.ledger = h.ledger WHEN MATCHED THEN DELETE")
		}
		refused("UPDATE access_records SET time = 0")
		refused("TRUNCATE access_records")
		refused("DELETE FROM heads")
		refused("TRUNCATE heads")
		refused("UPDATE heads SET size = size - 1")
		refused("UPDATE heads SET root = sha256('')")
		refused("UPDATE heads SET ledger = ledger + 1")
	}
	for _, sql := range []string{ // as a replication role, which is the last
		"UPDATE heads SET checkpoint = checkpoint || '+'",
		"UPDATE heads SET size = size + 1, root = sha256('')",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestPlans sees every statement on entries use an index although the table has
// never been analyzed, as in the first minutes of a ledger.
func TestPlans(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	conn := connect(t, dsn)
	for _, sql := range []string{
		"SET session_replication_role = replica", // for which the guards do not fire
		"ALTER TABLE entries SET (autovacuum_enabled = off)",
		"SET plan_cache_mode = force_generic_plan",
		`INSERT INTO entries (ledger, idx, time, type, tbl, serial, key_tag, entry, game_ref)
		 SELECT 1, n, n, 2, 'table-' || n % 50, 1 + n / 50, sha256(n::text::bytea), '', 'game-' || n / 9 FROM generate_series(1, 5000) n`,
		`INSERT INTO entries (ledger, idx, time, type, shuffle, entry) SELECT 1, n, 0, 4, n % 5000, '' FROM generate_series(5001, 10000) n`,
		"INSERT INTO ledgers VALUES (1, 'main', 'example.org/main')",
		`INSERT INTO slots (ledger, slot, idx) SELECT 1, sha256(n::text::bytea), n FROM generate_series(1, 5000) n`,
		`INSERT INTO access_records SELECT 1, n, n, sha256(''), n::text, 'regulator', 'GET', '/' FROM generate_series(1, 5000) n`,
		"INSERT INTO heads VALUES (1, 10000, sha256(''), '')",
		`INSERT INTO tiles SELECT 1, 0, n, decode(repeat('00', 8192), 'hex') FROM generate_series(0, 400) n`,
		`INSERT INTO checkpoints SELECT 1, n, sha256(''), repeat('a', 200)::bytea FROM generate_series(1, 5000) n`,
		`INSERT INTO cosigned SELECT 1, n, sha256(''), repeat('a', 200)::bytea FROM generate_series(1, 5000) n`,
		`INSERT INTO late SELECT 1, n, sha256(''), repeat('a', 200)::bytea FROM generate_series(1, 5000) n`,
		`INSERT INTO decks SELECT 1, sha256(n::text::bytea), repeat('a', 500)::bytea FROM generate_series(1, 2000) n`,
		`INSERT INTO statements SELECT 1, n, 0, repeat('a', 300)::bytea FROM generate_series(1, 5000) n`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	statements := map[string]statement{
		"range":      {"bigint, bigint, bigint", "1, 2, 3", store.SQLRows},
		"ByKeyTags":  {"bigint[], bytea[]", `'{1, 2}', '{"\\x00", "\\x01"}'`, sqlByKeyTags},
		"key tags":   {"bigint, bytea[]", `1, '{"\\x00", "\\x01"}'`, store.SQLKeyTags},
		"slots":      {"bigint, bytea[]", `1, '{"\\x00", "\\x01"}'`, store.SQLSlots},
		"ByShuffles": {"bigint[], bigint[]", "'{1, 2}', '{2, 3}'", sqlShuffles},
		"checkpoint": {"bigint, bigint", "1, 2", store.SQLCheckpointAfter},
		"tile":       {"bigint, smallint, bigint", "1, 0, 2", store.SQLTile},
		"cosigned":   {"bigint, bigint", "1, 2", store.SQLCosignedAtMost},
		"and from":   {"bigint, bigint, bigint", "1, 2, 512", store.SQLCosignedFrom},
		"late":       {"bigint, bigint, bigint", "1, 2, 8", store.SQLLateFrom},
		"newest":     {"bigint, bigint", "1, 8", store.SQLNewestLate},
		"has":        {"bigint, bigint", "1, 2", store.SQLHasCosigned},
		"deck":       {"bigint, bytea", `1, '\\x00'`, store.SQLDeck},
		"statements": {"bigint, bigint", "1, 2", store.SQLStatements},
		"accesses":   {"bigint, bigint, bigint, bigint, text, int", "1, 2, 3, 2, 'a', 5", store.SQLAccess},
		"old ones":   {"bigint, bigint, int", "1, 2, 3", sqlDropAccess},
	}
	for _, analyzed := range []bool{false, true} {
		for name, statement := range statements {
			plan := explain(t, conn, "EXPLAIN", statement)
			if !strings.Contains(plan, "Index ") || scans.MatchString(plan) {
				t.Errorf("%s, analyzed %v:\n%s", name, analyzed, plan)
			}
		}
		for name, q := range recallPlans {
			// A search is planned when it is run.
			if plan := explain(t, conn, "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF)", q.statement); !q.is(plan) {
				t.Errorf("recall by %s, analyzed %v, does not follow its indexes:\n%s", name, analyzed, plan)
			}
		}
		if _, err := conn.Exec(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlansOfFewRows sees the same of a table whose statistics say that it is small:
// it may be large when the plan is used.
func TestPlansOfFewRows(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	conn := connect(t, dsn)
	for _, sql := range []string{
		"SET session_replication_role = replica", // for which the guards do not fire
		"SET plan_cache_mode = force_generic_plan",
		"SET enable_seqscan = off",
		`INSERT INTO entries (ledger, idx, time, type, tbl, serial, key_tag, entry, game_ref)
		 SELECT 1, 2 * n, n, 2, 'table-1', n, sha256(n::text::bytea), '', 'game-1' FROM generate_series(1, 10) n`,
		`INSERT INTO entries (ledger, idx, time, type, shuffle, entry) SELECT 1, 2 * n + 1, n, 5, 2 * n, '' FROM generate_series(1, 10) n`,
		"ANALYZE",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	all := []statement{{"bigint[], bigint[]", "'{1, 2}', '{2, 3}'", sqlShuffles},
		{"bigint[], bytea[]", `'{1}', '{"\\x00"}'`, sqlByKeyTags}}
	for _, q := range recallPlans {
		all = append(all, q.statement)
	}
	for _, s := range all {
		if plan := explain(t, conn, "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF)", s); !strings.Contains(plan,
			"Index ") || scans.MatchString(plan) {
			t.Errorf("%s:\n%s", s.sql, plan)
		}
	}
	s, err := Open(t.Context(), dsn, Options{AllowSuperuser: true})
	must(t, err)
	defer s.Close()
	for _, pool := range s.pools {
		for setting, want := range map[string]string{"enable_seqscan": "off", "plan_cache_mode": "force_generic_plan"} {
			var got string
			if err := pool.QueryRow(t.Context(), "SHOW "+setting).Scan(&got); got != want || err != nil {
				t.Errorf("%s is %q, %v", setting, got, err)
			}
		}
	}
}

// TestHeadsReadOnce: a look-up of many keys reads a head once, also while an old snapshot keeps its dead versions.
func TestHeadsReadOnce(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	conn, old := connect(t, dsn), connect(t, dsn)
	for _, step := range []struct {
		on  *pgx.Conn
		sql string
	}{
		{conn, "SET session_replication_role = replica"}, // for which the guards do not fire
		{conn, "SET plan_cache_mode = force_generic_plan"},
		{conn, "SET enable_seqscan = off"},
		{conn, "INSERT INTO heads SELECT n, 10000, sha256(''), '' FROM generate_series(1, 20) n"},
		{conn, "ANALYZE"},
		{old, "BEGIN ISOLATION LEVEL REPEATABLE READ"},
		{old, "SELECT FROM heads"},
		{conn, "DO $$ BEGIN FOR n IN 1..3000 LOOP UPDATE heads SET size = size + 1 WHERE ledger = 1; END LOOP; END $$"},
	} {
		if _, err := step.on.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []statement{
		{"bigint[], bytea[]", `array_fill(1::bigint, ARRAY[500]), array_fill('\x00'::bytea, ARRAY[500])`, sqlByKeyTags},
		{"bigint[]", "array_fill(1::bigint, ARRAY[500])", sqlBarrier},
	} {
		plan := explain(t, conn, "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)", s)
		read := regexp.MustCompile(`Buffers: shared hit=(\d+)`).FindStringSubmatch(plan)
		if len(read) == 0 {
			t.Fatalf("no buffers in\n%s", plan)
		}
		if n, err := strconv.Atoi(read[1]); err != nil || n > 5000 {
			t.Errorf("%s buffers, %v:\n%s", read[1], err, plan)
		}
	}
}

// explain prepares a statement and says how it is run.
func explain(t *testing.T, conn *pgx.Conn, how string, s statement) string {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "PREPARE p ("+s.types+") AS "+s.sql); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), how+" EXECUTE p ("+s.args+")")
	must(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if _, err := conn.Exec(t.Context(), "DEALLOCATE p"); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n") + "\n"
}

// scans finds what reads a whole table of those that grow.
var scans = regexp.MustCompile(`Seq Scan on (entries|slots|access_records|tiles|checkpoints|cosigned|late|decks|statements)\b`)

type statement struct{ types, args, sql string }

// recallPlan is a question of recall with the indexes by which it looks things up,
// in the order of its plan, and their conditions.
type recallPlan struct {
	statement
	lookups []string
}

var recallPlans = map[string]recallPlan{
	"time": {statement{"bigint, bigint, bigint", "1, 2000, 4096", store.RecallEntryAt},
		[]string{"entries_pkey: ledger = idx ="}},
	"id": {statement{"bigint, bigint, bigint, bigint", "1, 2000, 5000, 64", store.RecallByID},
		[]string{"entries_pkey: ledger = idx >= idx <", closeLookup}},
	"game": {statement{"bigint, bigint, bigint, bigint, text", "1, 2000, 5000, 64, 'game-300'", store.RecallByGameRef},
		[]string{"entries_game_ref: ledger = game_ref = idx >= idx <", closeLookup}},
	"table": {statement{"bigint, text, bigint, bigint, bigint, bigint, bigint",
		"1, 'table-7', 64, 2000, 0, 1024, 999999", store.RecallByTable},
		[]string{"entries_serial: ledger = tbl = serial =", "entries_serial: ledger = tbl = serial > serial <=",
			closeLookup}},
}

const closeLookup = "entries_close: ledger = shuffle ="

var (
	indexScan = regexp.MustCompile(`Index (?:Only )?Scan using (\w+) on entries .*loops=(\d+)\)\n\s+Index Cond: (.*)\n`)
	condition = regexp.MustCompile(`\b(\w+ (?:=|<|>|<=|>=)) `)
)

// is reports whether a plan that was run has these look-ups, none of which was
// made more often than a page has shuffles or a number bits.
func (p recallPlan) is(plan string) bool {
	var lookups []string
	for _, m := range indexScan.FindAllStringSubmatch(plan, -1) {
		lookup := m[1] + ":"
		for _, c := range condition.FindAllStringSubmatch(m[3], -1) {
			lookup += " " + c[1]
		}
		if len(m[2]) > 2 || m[2] > "64" && len(m[2]) == 2 {
			lookup += " too often"
		}
		lookups = append(lookups, lookup)
	}
	return slices.Equal(lookups, p.lookups) && !strings.Contains(plan, "Sort") &&
		!strings.Contains(plan, "Scan on entries")
}
