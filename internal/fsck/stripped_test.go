package fsck_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/store"
	"shuffled/internal/store/sqlite"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// sqliteFile is a stripped database file, copied for each case.
type sqliteFile struct{ path string }

// strip makes a table again without anything but its columns and rows.
func strip(table string) []string {
	return []string{
		fmt.Sprintf("CREATE TABLE stripped AS SELECT * FROM %s", table),
		fmt.Sprintf("DROP TABLE %s", table),
		fmt.Sprintf("ALTER TABLE stripped RENAME TO %s", table),
	}
}

func strippedSQLite(t *testing.T, m *material) tampered {
	t.Helper()
	path, s := openSQLite(t)
	m.load(t, s, len(m.heads))
	must(t, s.Close())
	return stripSQLite(t, path, store.Relations())
}

// stripSQLite takes from a file all triggers, and from some of its tables everything but columns and rows.
func stripSQLite(t *testing.T, path string, tables []*store.Relation) *sqliteFile {
	t.Helper()
	f := &sqliteFile{path}
	triggers := f.names(t, "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
	db := rawSQLite(t, path)
	defer db.Close()
	for _, name := range triggers {
		if _, err := db.Exec("DROP TRIGGER " + name); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range tables {
		for _, text := range strip(table.Name) {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

// rawSQLite opens a file as a stranger would.
func rawSQLite(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	db.SetMaxOpenConns(1)
	return db
}

func (f *sqliteFile) with(t *testing.T, changes []change, do func(*store.Evidence)) {
	t.Helper()
	path := filepath.Join(filepath.Dir(f.path), "case.db")
	b, err := os.ReadFile(f.path)
	must(t, err)
	for _, suffix := range []string{"-wal", "-shm", ""} {
		os.Remove(path + suffix)
	}
	must(t, os.WriteFile(path, b, 0o600))
	db := rawSQLite(t, path)
	for _, c := range changes {
		if _, err := db.Exec(strings.ReplaceAll(c.sql, "$", "?"), c.args...); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
	}
	must(t, db.Close())
	e, err := sqlite.OpenEvidence(path, sqlite.Options{})
	must(t, err)
	defer e.Close()
	do(e)
}

func (f *sqliteFile) names(t *testing.T, text string, args ...any) (names []string) {
	t.Helper()
	db := rawSQLite(t, f.path)
	defer db.Close()
	rows, err := db.Query(text, args...)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		names = append(names, name)
	}
	if err := rows.Err(); err != nil || len(names) == 0 {
		t.Fatalf("names %v, %v", names, err)
	}
	return names
}

func (f *sqliteFile) tables(t *testing.T) []string {
	return f.names(t, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
}

func (f *sqliteFile) columns(t *testing.T, table string) []string {
	return f.names(t, "SELECT name FROM pragma_table_info(?)", table)
}

func (f *sqliteFile) rows(t *testing.T, table *store.Relation) (list []store.Raw) {
	t.Helper()
	f.with(t, nil, func(e *store.Evidence) { list = allRows(t, e, table) })
	return list
}

// mistyped: SQLite keeps any value in any column.
func (f *sqliteFile) mistyped() []any { return []any{"text", 0.5, []byte("bytes")} }

// allRows reads a table in the order of its keys.
func allRows(t *testing.T, e *store.Evidence, table *store.Relation) (list []store.Raw) {
	t.Helper()
	order := strings.Join(table.Columns[:1+table.Keys], ", ")
	text := fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(table.Columns, ", "), table.Name, order)
	err := e.Query(t.Context(), text, nil, func(values []any) error {
		list = append(list, store.Raw{Relation: table, Values: slices.Clone(values)})
		return nil
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("%d rows of %s, %v", len(list), table.Name, err)
	}
	return list
}

// postgresConn is a stripped database: each case is a transaction that is rolled back.
type postgresConn struct{ conn *pgx.Conn }

func strippedPostgres(t *testing.T, m *material) tampered {
	t.Helper()
	dsn, s := openPostgres(t)
	m.load(t, s, len(m.heads))
	s.Close()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	for _, table := range store.Relations() {
		for _, text := range strip(table.Name) {
			if _, err := conn.Exec(t.Context(),
				strings.ReplaceAll(text, "DROP TABLE "+table.Name, "DROP TABLE "+table.Name+" CASCADE")); err != nil {
				t.Fatal(err)
			}
		}
	}
	return &postgresConn{conn}
}

func (p *postgresConn) with(t *testing.T, changes []change, do func(*store.Evidence)) {
	t.Helper()
	tx, err := p.conn.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.Background())
	for _, c := range changes {
		if _, err := tx.Exec(t.Context(), c.sql, c.args...); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
	}
	var mu sync.Mutex // one connection for all
	do(&store.Evidence{Query: func(ctx context.Context, text string, args []any, each func([]any) error) error {
		mu.Lock()
		defer mu.Unlock()
		rows, err := tx.Query(context.WithoutCancel(ctx), text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return err
			}
			if err := each(values); err != nil {
				return err
			}
		}
		return rows.Err()
	}})
}

func (p *postgresConn) names(t *testing.T, text string, args ...any) []string {
	t.Helper()
	rows, err := p.conn.Query(t.Context(), text, args...)
	must(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) == 0 {
		t.Fatalf("names %v, %v", names, err)
	}
	return names
}

func (p *postgresConn) tables(t *testing.T) []string {
	return p.names(t, "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'")
}

func (p *postgresConn) columns(t *testing.T, table string) []string {
	return p.names(t, "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1", table)
}

func (p *postgresConn) rows(t *testing.T, table *store.Relation) (list []store.Raw) {
	t.Helper()
	p.with(t, nil, func(e *store.Evidence) { list = allRows(t, e, table) })
	return list
}

func (p *postgresConn) mistyped() []any { return nil }

// step: what is done with a value is the same for both stores, and SQLite is sooner made anew.
func (p *postgresConn) step() int { return 3 }
func (f *sqliteFile) step() int   { return 1 }
