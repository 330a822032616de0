package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/testdb"
	"shuffled/migrations"
)

// relations lists what is in the schema beside golang-migrate's own table.
const relations = `SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'schema_migrations'`

func wantVersion(t *testing.T, dsn string, want int) {
	t.Helper()
	if got, err := SchemaVersion(t.Context(), dsn, Options{}); err != nil || got != want {
		t.Fatalf("schema version %d, %v; want %d", got, err, want)
	}
}

// migrateDown goes down from the newest schema, a step at a time.
func migrateDown(t *testing.T, dsn string, to int) {
	t.Helper()
	for at := migrations.Latest; at > to; at-- {
		if err := MigrateDown(t.Context(), dsn, Options{}); err != nil {
			t.Fatal(err)
		}
		wantVersion(t, dsn, at-1)
	}
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	conn := connect(t, dsn)
	wantVersion(t, dsn, 0)
	if got := query[string](t, conn, "SELECT coalesce(to_regclass('schema_migrations')::text, '')"); got != "" {
		t.Error("reading the version made a table")
	}
	for range 2 {
		migrate(t, dsn)
		migrate(t, dsn) // nothing to do
		wantVersion(t, dsn, migrations.Latest)
		migrateDown(t, dsn, 0)
		if got := query[string](t, conn, relations); got != "" {
			t.Fatalf("left after migrating down: %s", got)
		}
		if n := query[int](t, conn, "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"); n != 0 {
			t.Fatalf("%d functions left after migrating down", n)
		}
	}
	if err := MigrateDown(t.Context(), dsn, Options{}); err == nil {
		t.Error("migrated down from nothing")
	}
}

func TestMigrateDownRefused(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{})
	l := create(t, s)
	if err := MigrateDown(t.Context(), dsn, Options{}); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("migrating entries away: %v", err)
	}
	// Without the look in Go, the migration itself refuses.
	files, err := fs.Glob(migrations.Files, "postgres/*.down.sql")
	if err != nil || len(files) != migrations.Latest {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, file := range files {
		down, err := migrations.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := connect(t, dsn).Exec(t.Context(), string(down)); err == nil || !strings.Contains(err.Error(), "holds entries") {
			t.Errorf("running %s: %v", file, err)
		}
	}
	wantVersion(t, dsn, migrations.Latest)
	if err := s.Append(t.Context(), l.id, l.head, l.next(1)); err != nil {
		t.Error(err)
	}
	migrate(t, dsn)
}

// TestMigrationRepaired starts from what a crash between golang-migrate's
// transactions leaves.
func TestMigrationRepaired(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		at   int // the schema that is there
		note string
	}{
		{"first up, before the migration", 0, "INSERT INTO schema_migrations VALUES (1, true)"},
		{"first up, after the migration", 1, "UPDATE schema_migrations SET dirty = true"},
		{"up, before the migration", 1, "UPDATE schema_migrations SET version = 2, dirty = true"},
		{"up, after the migration", 2, "UPDATE schema_migrations SET dirty = true"},
		{"down, before the migration", 2, "UPDATE schema_migrations SET version = 1, dirty = true"},
		{"down, after the migration", 1, "UPDATE schema_migrations SET dirty = true"},
		{"last down, before the migration", 1, "UPDATE schema_migrations SET version = -1, dirty = true"},
		{"last down, after the migration", 0, "INSERT INTO schema_migrations VALUES (-1, true)"},
		{"notes lost", 2, "DROP TABLE schema_migrations"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dsn := migrated(t)
			migrateDown(t, dsn, test.at)
			exec(t, dsn, test.note)
			migrate(t, dsn)
			wantVersion(t, dsn, migrations.Latest)
			create(t, open(t, dsn, Options{}))
			if got := query[string](t, connect(t, dsn), "SELECT version || ' ' || dirty FROM schema_migrations"); got != fmt.Sprint(migrations.Latest, " false") {
				t.Errorf("noted %s", got)
			}
		})
	}
}

// TestMigrateWithEntries brings a ledger of the first schema to the newest:
// nothing of it changes, and it goes on.
func TestMigrateWithEntries(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	migrateDown(t, dsn, 1)
	l := aLedger{id: ledger.IDOf(mainInfo.Origin)}
	l.head = l.next(1).Head
	conn := connect(t, dsn)
	for _, sql := range []string{
		"INSERT INTO ledgers VALUES ($1, '" + mainInfo.Name + "', '" + mainInfo.Origin + "')",
		"INSERT INTO entries (ledger, idx, time, type, entry) VALUES ($1, 0, 0, 7, 'entry 0')",
	} {
		if _, err := conn.Exec(t.Context(), sql, int64(l.id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"heads", "checkpoints"} {
		if _, err := conn.Exec(t.Context(), "INSERT INTO "+table+" VALUES ($1, 1, $2, $3)", int64(l.id), l.head.Root[:], l.head.Checkpoint); err != nil {
			t.Fatal(err)
		}
	}
	refusedWith(t, dsn, Options{AllowSuperuser: true}, fmt.Sprintf(`schema 1 and this program needs %d: run "shuffled migrate up"`, migrations.Latest))
	migrate(t, dsn)
	s := open(t, dsn, Options{})
	if h, err := s.Head(t.Context(), l.id); err != nil || !cmp.Equal(h, l.head) {
		t.Errorf("head %v, %v; want %v", h, err, l.head)
	}
	if err := s.Append(t.Context(), l.id, l.head, l.next(1)); err != nil {
		t.Error(err)
	}
	if err := s.PutCosigned(t.Context(), l.id, l.head); err != nil {
		t.Error(err)
	}
	if err := MigrateDown(t.Context(), dsn, Options{}); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("migrating entries away: %v", err)
	}
}

// TestFailedMigration changes nothing, and can be tried again.
func TestFailedMigration(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	exec(t, dsn, "CREATE TABLE decks ()")
	for range 2 {
		err := MigrateUp(t.Context(), dsn, Options{})
		if err == nil || !strings.Contains(err.Error(), `relation "decks" already exists`) || strings.Contains(err.Error(), "CREATE") {
			t.Fatalf("migrating into a taken name: %v", err)
		}
		if got := query[string](t, connect(t, dsn), relations); got != "decks" {
			t.Fatalf("tables after a failed migration: %s", got)
		}
	}
	exec(t, dsn, "DROP TABLE decks")
	migrate(t, dsn)
}

func TestMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	const n = 4
	done := make(chan error, n)
	for range n {
		go func() { done <- MigrateUp(t.Context(), dsn, Options{}) }()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	wantVersion(t, dsn, migrations.Latest)
}

// TestMigrationLock: nobody waits for ever for somebody else's migration.
func TestMigrationLock(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	other := connect(t, dsn)
	if _, err := other.Exec(t.Context(), "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		t.Fatal(err)
	}
	o := Options{Timeout: 200 * time.Millisecond}
	if err := MigrateUp(t.Context(), dsn, o); !isCode(err, "55P03") {
		t.Errorf("migrating beside another migration: %v", err)
	}
	wantVersion(t, dsn, 0)
	if _, err := other.Exec(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	migrate(t, dsn)
	// Likewise for a table that is in use.
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM entries"); err != nil {
		t.Fatal(err)
	}
	if err := MigrateDown(t.Context(), dsn, o); !isCode(err, "55P03") {
		t.Errorf("migrating a table in use: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := MigrateDown(t.Context(), dsn, o); err != nil {
		t.Error(err)
	}
}
