package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
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
		for _, table := range []string{"ledgers", "entries", "tiles", "checkpoints", "cosigned", "decks"} {
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
		"SET plan_cache_mode = force_generic_plan",
		`INSERT INTO entries (ledger, idx, time, type, tbl, serial, key_tag, entry)
		 SELECT 1, n, 0, 2, 'table-1', n, sha256(n::text::bytea), '' FROM generate_series(1, 5000) n`,
		`INSERT INTO entries (ledger, idx, time, type, shuffle, entry) SELECT 1, n, 0, 4, n % 5000, '' FROM generate_series(5001, 10000) n`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for name, statement := range map[string]struct{ types, args, sql string }{
		"range":     {"bigint, bigint, bigint", "1, 2, 3", sqlRows},
		"ByKeyTag":  {"bigint, bytea", `1, '\x00'`, sqlByKeyTag},
		"key tags":  {"bigint, bytea[]", `1, '{"\\x00", "\\x01"}'`, sqlKeyTags},
		"commit":    {"bigint, bigint", "1, 2", sqlCommit},
		"ByShuffle": {"bigint, bigint", "1, 2", sqlOfShuffle},
	} {
		if _, err := conn.Exec(t.Context(), "PREPARE p ("+statement.types+") AS "+statement.sql); err != nil {
			t.Fatal(err)
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE p ("+statement.args+")")
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
		if !strings.Contains(plan.String(), "entries") || strings.Contains(plan.String(), "Seq Scan on entries") {
			t.Errorf("%s:\n%s", name, &plan)
		}
	}
}
