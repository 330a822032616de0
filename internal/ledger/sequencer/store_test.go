package sequencer_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/ledger"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// onBothStores runs a test on each store, empty.
func onBothStores(t *testing.T, test func(t *testing.T, store ledger.Store)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]func(*testing.T) ledger.Store{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// onBoth runs a test on a fresh ledger of each store.
func onBoth(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	onBothStores(t, func(t *testing.T, store ledger.Store) { test(t, newHouse(t, store)) })
}

func openPostgres(t *testing.T) ledger.Store { return newPostgres(t).open() }

func openSQLite(t *testing.T) ledger.Store { return newSQLite(t).open() }

// database is a database of which a backup can be taken.
type database interface {
	// open opens it; what was opened before is closed.
	open() ledger.Store
	// backup copies it as it stands, closed.
	backup() database
}

// onBothDatabases runs a test on a database of each kind, migrated and empty.
func onBothDatabases(t *testing.T, test func(t *testing.T, db database)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newSQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newPostgres(t))
	})
}

type sqliteFile struct {
	t    *testing.T
	path string
	last *sqlite.Store
}

func newSQLite(t *testing.T) *sqliteFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shuffled.db")
	must(t, sqlite.MigrateUp(t.Context(), path, sqlite.Options{}))
	return &sqliteFile{t: t, path: path}
}

func (d *sqliteFile) open() ledger.Store {
	d.t.Helper()
	d.close()
	s, err := sqlite.Open(d.path, sqlite.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	d.last = s
	d.t.Cleanup(func() { s.Close() })
	return s
}

func (d *sqliteFile) close() {
	if d.last != nil {
		d.last.Close() // which folds the write-ahead log into the file
	}
}

func (d *sqliteFile) backup() database {
	d.t.Helper()
	d.close()
	copied := &sqliteFile{t: d.t, path: filepath.Join(d.t.TempDir(), "backup.db")}
	b, err := os.ReadFile(d.path)
	if err == nil {
		err = os.WriteFile(copied.path, b, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return copied
}

type postgresDatabase struct {
	t    *testing.T
	dsn  string
	last *postgres.Store
}

func newPostgres(t *testing.T) *postgresDatabase {
	t.Helper()
	dsn := testdb.DSN(t)
	must(t, postgres.MigrateUp(t.Context(), dsn, postgres.Options{}))
	return &postgresDatabase{t: t, dsn: dsn}
}

func (d *postgresDatabase) open() ledger.Store {
	d.t.Helper()
	d.close()
	s, err := postgres.Open(d.t.Context(), d.dsn, postgres.Options{AllowSuperuser: true})
	if err != nil {
		d.t.Fatal(err)
	}
	d.last = s
	d.t.Cleanup(func() { s.Close() })
	return s
}

func (d *postgresDatabase) close() {
	if d.last != nil {
		d.last.Close()
	}
}

// backup copies the database as a template of another.
func (d *postgresDatabase) backup() database {
	d.t.Helper()
	d.close()
	u, err := url.Parse(d.dsn)
	if err != nil {
		d.t.Fatal(err)
	}
	name := u.Path[1:]
	u.Path = "/postgres"
	conn, err := pgx.Connect(d.t.Context(), u.String())
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close(d.t.Context())
	copied := pgx.Identifier{name + "_backup"}.Sanitize()
	// A connection that was closed may still be there for a moment.
	waitFor(d.t, func() bool {
		_, err = conn.Exec(d.t.Context(), "CREATE DATABASE "+copied+" TEMPLATE "+pgx.Identifier{name}.Sanitize())
		return err == nil
	})
	u.Path = "/" + name + "_backup"
	return &postgresDatabase{t: d.t, dsn: u.String()}
}
