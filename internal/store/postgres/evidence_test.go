package postgres

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// TestInsertOnly tries to change evidence as the superuser that owns it, in an
// ordinary connection and in one of a replication role.
func TestInsertOnly(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{})
	l := create(t, s)
	b := l.next(2)
	commit(b, 0, 1, 1)
	b.Rows[0].Slots = [][32]byte{{1}}
	b.Rows[1].Type, b.Rows[1].Shuffle = audit.TypeClose, b.Rows[0].Index
	b.Tiles = []ledger.Tile{{Data: make([]byte, 8192)}}
	if err := s.Append(t.Context(), l.id, l.head, b); err != nil {
		t.Fatal(err)
	}
	if err := s.PutDeck(t.Context(), l.id, [32]byte{1}, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutCosigned(t.Context(), l.id, l.head); err != nil {
		t.Fatal(err)
	}
	if err := s.PutSnapshot(t.Context(), l.id, ledger.Snapshot{Index: 1, State: []byte("state")}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutAccess(t.Context(), l.id, ledger.Access{Request: "a"}); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
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
		for _, table := range []string{"ledgers", "entries", "tiles", "checkpoints", "cosigned", "decks", "slots"} {
			if query[int](t, conn, "SELECT count(*) FROM "+table) == 0 {
				t.Fatalf("%s is empty", table)
			}
			refused("UPDATE " + table + " SET ledger = ledger")
			refused("UPDATE " + table + " SET ledger = ledger WHERE false")
			refused("DELETE FROM " + table)
			refused("TRUNCATE " + table + " CASCADE")
			refused("INSERT INTO " + table + " SELECT * FROM " + table + " ON CONFLICT ON CONSTRAINT " + table + "_pkey DO UPDATE SET ledger = excluded.ledger")
		}
		if query[int](t, conn, "SELECT current_setting('server_version_num')::int") >= 150000 {
			refused("MERGE INTO entries e USING heads h ON e.ledger = h.ledger WHEN MATCHED THEN DELETE")
		}
		refused("UPDATE access_records SET time = 0")
		refused("UPDATE snapshots SET state = ''")
		refused("TRUNCATE snapshots")
		refused("TRUNCATE access_records")
		refused("DELETE FROM heads")
		refused("TRUNCATE heads")
		refused("UPDATE heads SET size = size - 1")
		refused("UPDATE heads SET root = sha256('')")
		refused("UPDATE heads SET ledger = ledger + 1")
	}
	for _, sql := range []string{
		"UPDATE heads SET checkpoint = checkpoint || '+'", // a cosignature more
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
		"ALTER TABLE recall SET (autovacuum_enabled = off)",
		"SET plan_cache_mode = force_generic_plan",
		`INSERT INTO entries (ledger, idx, time, type, tbl, serial, key_tag, entry)
		 SELECT 1, n, 0, 2, 'table-1', n, sha256(n::text::bytea), '' FROM generate_series(1, 5000) n`,
		`INSERT INTO entries (ledger, idx, time, type, shuffle, entry) SELECT 1, n, 0, 4, n % 5000, '' FROM generate_series(5001, 10000) n`,
		"INSERT INTO ledgers VALUES (1, 'main', 'example.org/main')",
		`INSERT INTO slots (ledger, slot, idx) SELECT 1, sha256(n::text::bytea), n FROM generate_series(1, 5000) n`,
		`INSERT INTO access_records SELECT 1, n, n::text, 'regulator', 'GET', '/' FROM generate_series(1, 5000) n`,
		`INSERT INTO recall SELECT 1, 2 * n, n / 50, 10 * n, 10 * n + 5, NULL, CASE WHEN n % 100 > 0 THEN 10 * n END,
		        CASE WHEN n % 100 > 0 THEN 1 END, CASE WHEN n % 100 > 0 THEN 0 END, false, 'table-' || n % 50, 'game-' || n / 9
		 FROM generate_series(1, 10000) n`,
		"INSERT INTO recall_marks VALUES (1, 20001, 0)",
		"INSERT INTO heads VALUES (1, 10000, sha256(''), '')",
		`INSERT INTO tiles SELECT 1, 0, n, decode(repeat('00', 8192), 'hex') FROM generate_series(0, 400) n`,
		`INSERT INTO checkpoints SELECT 1, n, sha256(''), repeat('a', 200)::bytea FROM generate_series(1, 5000) n`,
		`INSERT INTO cosigned SELECT 1, n, sha256(''), repeat('a', 200)::bytea FROM generate_series(1, 5000) n`,
		`INSERT INTO decks SELECT 1, sha256(n::text::bytea), repeat('a', 500)::bytea FROM generate_series(1, 2000) n`,
		`INSERT INTO tokens SELECT 1, n::text, 1, sha256(''), 1 FROM generate_series(1, 2000) n`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	type statement struct{ types, args, sql string }
	statements := map[string]statement{
		"range":       {"bigint, bigint, bigint", "1, 2, 3", sqlRows},
		"ByKeyTags":   {"bigint, bytea[]", `1, '{"\\x00", "\\x01"}'`, sqlByKeyTags},
		"key tags":    {"bigint, bytea[]", `1, '{"\\x00", "\\x01"}'`, sqlKeyTags},
		"slots":       {"bigint, bytea[]", `1, '{"\\x00", "\\x01"}'`, sqlSlots},
		"commits":     {"bigint, bigint[]", "1, '{2, 3}'", sqlCommits},
		"ByShuffles":  {"bigint, bigint[]", "1, '{2, 3}'", sqlOfShuffles},
		"visible":     {"bigint, bigint[]", "1, '{2, 3}'", sqlShuffles},
		"checkpoint":  {"bigint, bigint", "1, 2", sqlCheckpointAfter},
		"tile":        {"bigint, smallint, bigint", "1, 0, 2", sqlTile},
		"cosigned":    {"bigint, bigint", "1, 2", sqlCosignedAtMost},
		"and from":    {"bigint, bigint, bigint", "1, 2, 512", sqlCosignedFrom},
		"has":         {"bigint, bigint", "1, 2", sqlHasCosigned},
		"deck":        {"bigint, bytea", `1, '\\x00'`, sqlDeck},
		"token":       {"bigint, text", "1, 'a'", sqlToken},
		"accesses":    {"bigint, bigint, bigint, bigint, text, int", "1, 2, 3, 2, 'a', 5", sqlAccess},
		"old ones":    {"bigint, bigint, int", "1, 2, 3", sqlDropAccess},
		"recall step": {stepTypes, "1, 20001, 0, 20002, " + strings.Repeat("NULL, ", 15) + "NULL", sqlPutRecall},
		"recall drop": {"bigint, bigint, int", "1, 500, 100", sqlDropRecall},
	}
	for by, sql := range sqlRecall {
		statements["recall by "+recallIndexes[by]] = statement{"bigint, bigint, bigint, bigint, text, bigint, text, text, int",
			"1, 2000, 0, 50000, 'table-7', 8, 'game-9', 'open', 100", sql}
	}
	explain := func(s statement) string {
		if _, err := conn.Exec(t.Context(), "PREPARE p ("+s.types+") AS "+s.sql); err != nil {
			t.Fatal(err)
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE p ("+s.args+")")
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(line + "\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "DEALLOCATE p"); err != nil {
			t.Fatal(err)
		}
		return plan.String()
	}
	for _, analyzed := range []bool{false, true} {
		for name, statement := range statements {
			plan := explain(statement)
			if !strings.Contains(plan, "Index ") || scans.MatchString(plan) {
				t.Errorf("%s, analyzed %v:\n%s", name, analyzed, plan)
			}
			if by, ok := strings.CutPrefix(name, "recall by "); ok && (!strings.Contains(plan, " using "+by+"  (") || strings.Contains(plan, "Sort")) {
				t.Errorf("%s, analyzed %v, is not in the order of its index:\n%s", name, analyzed, plan)
			}
		}
		if _, err := conn.Exec(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
	}
}

// scans finds what reads a whole table of those that grow.
var scans = regexp.MustCompile(`Seq Scan on (entries|recall|slots|access_records|tiles|checkpoints|cosigned|decks|tokens)\b`)

const stepTypes = "bigint, bigint, bigint, bigint, bigint[], text[], bigint[], bigint[], bigint[], text[], boolean[], bigint[], bigint[], " +
	"smallint[], smallint[], bigint[], bigint[], smallint[], smallint[], bigint[]"

var recallIndexes = map[store.RecallBy]string{
	store.RecallByID: "recall_pkey on recall", store.RecallByTable: "recall_tbl on recall", store.RecallBySerial: "entries_serial on entries",
	store.RecallByGameRef: "recall_game_ref on recall", store.RecallByOpen: "recall_open on recall",
}
