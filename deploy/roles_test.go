package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const (
	owner  = "shuffled_owner"
	writer = "shuffled_writer"
	reader = "shuffled_reader"
)

// granted is what roles.sql is meant to give, and nothing else.
var granted = map[string]map[string][]string{
	writer: {
		"ledgers": {"SELECT", "INSERT"}, "entries": {"SELECT", "INSERT"}, "tiles": {"SELECT", "INSERT"},
		"checkpoints": {"SELECT", "INSERT"}, "cosigned": {"SELECT", "INSERT"}, "decks": {"SELECT", "INSERT"},
		"late":  {"SELECT", "INSERT"},
		"terms": {"SELECT", "INSERT"}, "slots": {"SELECT", "INSERT"}, "statements": {"SELECT", "INSERT"},
		"heads":          {"SELECT", "UPDATE"},
		"access_records": {"SELECT", "INSERT"},
	},
	reader: {
		"ledgers": {"SELECT"}, "entries": {"SELECT"}, "tiles": {"SELECT"},
		"checkpoints": {"SELECT"}, "cosigned": {"SELECT"}, "late": {"SELECT"}, "decks": {"SELECT"}, "heads": {"SELECT"},
		"terms": {"SELECT"}, "slots": {"SELECT"}, "access_records": {"SELECT"}, "statements": {"SELECT"},
	},
}

func open(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// script runs a file of statements.
func script(t *testing.T, conn *pgx.Conn, path string) error {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.PgConn().Exec(t.Context(), string(text)).ReadAll()
	return err
}

// install follows the head of roles.sql: roles, migrations as the owner, grants.
func install(t *testing.T) (admin *pgx.Conn, as func(role string) *pgx.Conn) {
	t.Helper()
	return installBy(t, testdb.DSN(t), "")
}

// installBy does it as a role, or as superuser if that is "".
func installBy(t *testing.T, dsn, by string) (admin *pgx.Conn, as func(role string) *pgx.Conn) {
	t.Helper()
	as = func(role string) *pgx.Conn {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		if role != "" {
			u.User = url.UserPassword(role, "known")
		}
		return open(t, u.String())
	}
	admin = as(by)
	if err := script(t, admin, "roles.sql"); err != nil {
		t.Fatalf("before the migrations: %v", err)
	}
	for _, role := range []string{owner, writer, reader} {
		do(t, admin, fmt.Sprintf("ALTER ROLE %s PASSWORD 'known'", role))
	}
	files, err := filepath.Glob("../migrations/postgres/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no migrations: %v", err)
	}
	slices.Sort(files) // the tables, then their guards
	for _, file := range files {
		if err := script(t, as(owner), file); err != nil {
			t.Fatalf("%s as the owner: %v", file, err)
		}
	}
	for range 2 { // it may be repeated
		if err := script(t, admin, "roles.sql"); err != nil {
			t.Fatalf("after the migrations: %v", err)
		}
	}
	return admin, as
}

func do(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// refused runs a statement that must fail for lack of privilege, and not
// because of the triggers that stand behind the grants.
func refused(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "42501" || !strings.HasPrefix(pg.Message, "permission denied") {
		t.Errorf("%s: error %v, want permission denied", sql, err)
	}
}

func TestGrants(t *testing.T) {
	admin, _ := install(t)
	rows, err := admin.Query(t.Context(),
		`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < len(granted[writer]) {
		t.Fatalf("tables %v, error %v", tables, err)
	}
	privileges := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}
	for _, role := range []string{writer, reader} {
		for _, table := range tables {
			for _, p := range privileges {
				var got bool
				err := admin.QueryRow(t.Context(), "SELECT has_table_privilege($1, $2, $3)", role, table, p).Scan(&got)
				if err != nil {
					t.Fatal(err)
				}
				if want := slices.Contains(granted[role][table], p); got != want {
					t.Errorf("%s has %s on %s: %v, want %v", role, p, table, got, want)
				}
			}
		}
	}
	for role, all := range granted {
		for table := range all {
			if !slices.Contains(tables, table) {
				t.Errorf("%s: no table %s", role, table)
			}
		}
	}
}

// TestRolesAtWork does as each role what it is for, and what it must not.
func TestRolesAtWork(t *testing.T) {
	admin, as := install(t)
	atWork(t, admin, as)
}

// TestRolesWithoutSuperuser: a provider's administrator, who makes roles and owns the database,
// comes to the same. The daemon is not told of standbys then, unless the administrator sees them.
func TestRolesWithoutSuperuser(t *testing.T) {
	dsn := testdb.Start(t).Database(t)
	super := open(t, dsn)
	do(t, super, `CREATE ROLE managed LOGIN CREATEROLE PASSWORD 'known'`)
	var database string
	if err := super.QueryRow(t.Context(), `SELECT current_database()`).Scan(&database); err != nil {
		t.Fatal(err)
	}
	do(t, super, `ALTER DATABASE `+database+` OWNER TO managed`)
	do(t, super, `ALTER SCHEMA public OWNER TO managed`) // pg_database_owner has it since PostgreSQL 15
	admin, as := installBy(t, dsn, "managed")
	for known, grant := range []string{``, `GRANT pg_monitor TO managed`} {
		do(t, super, grant)
		var standbys *int
		err := as(writer).QueryRow(t.Context(), `SELECT synchronous_standbys()`).Scan(&standbys)
		if err != nil || (standbys != nil) != (known == 1) {
			t.Errorf("after %q the writer is told of standbys: %v, %v", grant, standbys != nil, err)
		}
	}
	atWork(t, admin, as)
}

func atWork(t *testing.T, admin *pgx.Conn, as func(role string) *pgx.Conn) {
	t.Helper()
	o := as(owner)
	do(t, o, `INSERT INTO ledgers (ledger, name, origin) VALUES (1, 'main', 'example.org/main')`)
	do(t, o, `INSERT INTO heads (ledger, size, root, checkpoint) VALUES (1, 1, decode(repeat('00', 32), 'hex'), '')`)

	w := as(writer)
	do(t, w, `WITH h AS (UPDATE heads SET size = 2, root = decode(repeat('01', 32), 'hex') WHERE ledger = 1 AND size = 1 RETURNING *),
e AS (INSERT INTO entries (ledger, idx, time, type, entry) SELECT ledger, 1, 1, 7, '' FROM h)
INSERT INTO checkpoints (ledger, size, root, checkpoint) SELECT ledger, size, root, checkpoint FROM h`)
	for _, sql := range []string{`UPDATE heads SET size = 9007199254740000`,
		`INSERT INTO entries (ledger, idx, time, type, entry) VALUES (1, 2, 1, 7, '')`} {
		if _, err := w.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "is refused: ") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	do(t, w, `INSERT INTO cosigned (ledger, size, root, checkpoint) VALUES (1, 2, decode(repeat('01', 32), 'hex'), '')`)
	do(t, w, `INSERT INTO decks (ledger, hash, cards) VALUES (1, decode(repeat('02', 32), 'hex'), '')`)
	do(t, w, `SELECT c.checkpoint FROM checkpoints c JOIN heads h USING (ledger) FOR KEY SHARE OF h`)
	refused(t, w, `SELECT 1 FROM checkpoints FOR KEY SHARE`)
	do(t, w, `INSERT INTO slots (ledger, slot, idx) VALUES (1, decode(repeat('03', 32), 'hex'), 1)`)
	do(t, w, `INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev) VALUES (1, 2, 'r', 't', 'GET', '/', 1, sha256(''))`)
	refused(t, w, `DELETE FROM access_records`)
	refused(t, w, `UPDATE access_records SET time = 1`)
	do(t, w, `INSERT INTO terms (ledger, hash, kind, bytes) VALUES (1, decode(repeat('04', 32), 'hex'), 1, '1')`)
	do(t, w, `INSERT INTO statements (ledger, shuffle, n, note) VALUES (1, 1, 0, '')`)
	for _, table := range []string{"ledgers", "entries", "tiles", "checkpoints", "cosigned", "late", "decks", "terms",
		"slots",
		"statements"} {
		refused(t, w, "UPDATE "+table+" SET ledger = 2")
		refused(t, w, "DELETE FROM "+table)
		refused(t, w, "TRUNCATE "+table)
	}
	do(t, w, `SELECT synchronous_standbys()`)
	refused(t, w, `INSERT INTO heads (ledger, size, root, checkpoint) VALUES (2, 1, '', '')`)
	refused(t, w, `DELETE FROM heads`)
	refused(t, w, `DELETE FROM cosigned`)
	refused(t, w, `TRUNCATE access_records`)
	refused(t, w, `CREATE TABLE mine ()`)
	refused(t, w, `CREATE TEMP TABLE mine ()`)

	r := as(reader)
	do(t, r, `SELECT * FROM checkpoints, cosigned, heads, ledgers, entries, tiles, decks, terms, slots, statements`)
	do(t, r, `SELECT * FROM access_records`)
	refused(t, r, `SELECT synchronous_standbys()`)
	refused(t, r, `DELETE FROM access_records`)
	refused(t, r, `INSERT INTO checkpoints DEFAULT VALUES`)
	refused(t, r, `SELECT 1 FROM heads FOR KEY SHARE`)
	refused(t, r, `CREATE TABLE mine ()`)

	// Nobody else gets in.
	do(t, admin, `CREATE ROLE stranger LOGIN`)
	t.Cleanup(func() { admin.Exec(context.Background(), `DROP ROLE stranger`) })
	for _, sql := range []string{
		`SELECT has_database_privilege('stranger', current_database(), 'CONNECT')`,
		`SELECT has_database_privilege('stranger', current_database(), 'TEMP')`,
		`SELECT has_schema_privilege('stranger', 'public', 'USAGE')`,
	} {
		var can bool
		if err := admin.QueryRow(t.Context(), sql).Scan(&can); err != nil || can {
			t.Errorf("%s: %v, %v", sql, can, err)
		}
	}
}

// TestRolesAreTakenBack gives too much away and sees roles.sql correct it.
func TestRolesAreTakenBack(t *testing.T) {
	admin, as := install(t)
	do(t, admin, `GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC, `+writer)
	do(t, admin, `ALTER ROLE `+writer+` BYPASSRLS CREATEDB`)
	do(t, admin, `ALTER TABLE entries OWNER TO `+writer)
	if err := script(t, admin, "roles.sql"); err != nil {
		t.Fatal(err)
	}
	refused(t, as(writer), `DELETE FROM entries`)
	refused(t, as(writer), `CREATE DATABASE mine`)
	var owns string
	err := admin.QueryRow(t.Context(), `SELECT tableowner FROM pg_tables WHERE tablename = 'entries'`).Scan(&owns)
	if err != nil || owns != owner {
		t.Errorf("entries belongs to %s, error %v", owns, err)
	}
}

func TestUnknownTableStopsRoles(t *testing.T) {
	admin, _ := install(t)
	do(t, admin, `CREATE TABLE newcomer ()`)
	err := script(t, admin, "roles.sql")
	if err == nil || !strings.Contains(err.Error(), "newcomer") {
		t.Fatalf("error %v, want one that names the table", err)
	}
}
