package sqlite

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/migrations"
)

func wantVersion(t *testing.T, path string, want int) {
	t.Helper()
	if got, err := SchemaVersion(t.Context(), path, Options{}); err != nil || got != want {
		t.Fatalf("schema version %d, %v; want %d", got, err, want)
	}
}

// migrateDown goes down from the newest schema, a step at a time.
func migrateDown(t *testing.T, path string, to int) {
	t.Helper()
	for at := migrations.Latest; at > to; at-- {
		if err := MigrateDown(t.Context(), path, Options{}); err != nil {
			t.Fatal(err)
		}
		wantVersion(t, path, at-1)
	}
}

// objects lists what is in the schema beside golang-migrate's own.
func objects(t *testing.T, path string) (list string) {
	t.Helper()
	db := raw(t, path)
	defer db.Close()
	if err := db.QueryRow(`SELECT coalesce(group_concat(name, ' '), '') FROM sqlite_schema
		WHERE name NOT IN ('schema_migrations', 'version_unique')`).Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	wantVersion(t, path, 0)
	if _, err := os.Stat(path); err == nil {
		t.Error("reading the version made a file")
	}
	if err := MigrateDown(t.Context(), path, Options{}); err == nil {
		t.Error("migrated down where there is no file")
	}
	for range 2 {
		for range 2 { // the second time there is nothing to do
			if err := MigrateUp(t.Context(), path, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		wantVersion(t, path, migrations.Latest)
		migrateDown(t, path, 0)
		if got := objects(t, path); got != "" {
			t.Fatalf("left after migrating down: %s", got)
		}
	}
	if err := MigrateDown(t.Context(), path, Options{}); err == nil {
		t.Error("migrated down from nothing")
	}
}

func TestMigrateDownRefused(t *testing.T) {
	t.Parallel()
	path := migrated(t)
	s := open(t, path)
	l := create(t, s)
	if err := MigrateDown(t.Context(), path, Options{}); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("migrating entries away: %v", err)
	}
	// Without the look in Go, the migration itself refuses.
	files, err := iofs.Glob(migrations.Files, "sqlite/*.down.sql")
	if err != nil || len(files) != migrations.Latest {
		t.Fatalf("found %v, %v", files, err)
	}
	before := objects(t, path)
	db, err := raw(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, file := range files {
		down, err := migrations.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "BEGIN"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), string(down)); err == nil || !strings.Contains(err.Error(), "holds entries") {
			t.Errorf("running %s: %v", file, err)
		}
		if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
	wantVersion(t, path, migrations.Latest)
	if after := objects(t, path); after != before {
		t.Errorf("schema %s, before %s", after, before)
	}
	if err := s.Append(t.Context(), l.id, l.head, l.next(1)); err != nil {
		t.Error(err)
	}
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
			path := migrated(t)
			migrateDown(t, path, test.at)
			db := raw(t, path)
			if _, err := db.Exec(test.note); err != nil {
				t.Fatal(err)
			}
			db.Close()
			for _, run := range []func(context.Context, string, Options) error{MigrateUp, MigrateDown, MigrateUp} {
				if err := run(t.Context(), path, Options{}); err != nil {
					t.Fatal(err)
				}
			}
			wantVersion(t, path, migrations.Latest)
			create(t, open(t, path))
		})
	}
}

// TestMigrateWithEntries brings a ledger of the first schema to the newest:
// nothing of it changes, and it goes on.
func TestMigrateWithEntries(t *testing.T) {
	t.Parallel()
	path := migrated(t)
	migrateDown(t, path, 1)
	l := aLedger{id: ledger.IDOf(mainInfo.Origin)}
	l.head = l.next(1).Head
	db := raw(t, path)
	for _, insert := range []struct {
		sql  string
		args []any
	}{
		{"INSERT INTO ledgers VALUES (?, ?, ?)", []any{int64(l.id), mainInfo.Name, mainInfo.Origin}},
		{"INSERT INTO entries (ledger, idx, time, type, entry) VALUES (?, 0, 0, 7, x'00')", []any{int64(l.id)}},
		{"INSERT INTO heads VALUES (?, 1, ?, ?)", []any{int64(l.id), l.head.Root[:], l.head.Checkpoint}},
		{"INSERT INTO checkpoints VALUES (?, 1, ?, ?)", []any{int64(l.id), l.head.Root[:], l.head.Checkpoint}},
	} {
		if _, err := db.Exec(insert.sql, insert.args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`schema 1 and this program needs %d: run "shuffled migrate up"`, migrations.Latest)) {
		t.Errorf("opening the older schema: %v", err)
	}
	if err := MigrateUp(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if h, err := s.Head(t.Context(), l.id); err != nil || !cmp.Equal(h, l.head) {
		t.Errorf("head %v, %v; want %v", h, err, l.head)
	}
	if err := s.Append(t.Context(), l.id, l.head, l.next(1)); err != nil {
		t.Error(err)
	}
	if err := s.PutCosigned(t.Context(), l.id, l.head); err != nil {
		t.Error(err)
	}
	if err := MigrateDown(t.Context(), path, Options{}); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("migrating entries away: %v", err)
	}
}

// TestFailedMigration changes nothing, and can be tried again.
func TestFailedMigration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	if err := makeFile(path); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	if _, err := db.Exec("CREATE TABLE decks (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for range 2 {
		err := MigrateUp(t.Context(), path, Options{})
		if err == nil || !strings.Contains(err.Error(), "decks already exists") || strings.Contains(err.Error(), "CREATE") {
			t.Fatalf("migrating into a taken name: %v", err)
		}
		if got := objects(t, path); got != "decks" {
			t.Fatalf("schema after a failed migration: %s", got)
		}
	}
	db = raw(t, path)
	if _, err := db.Exec("DROP TABLE decks"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if err := MigrateUp(t.Context(), path, Options{}); err != nil {
		t.Error(err)
	}
}

func TestMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	const n = 4
	done := make(chan error, n)
	for range n {
		go func() { done <- MigrateUp(t.Context(), path, Options{}) }()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	wantVersion(t, path, migrations.Latest)
}
