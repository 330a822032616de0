package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
)

var dialect = storetest.Dialect{
	Files: "sqlite",
	Objects: `SELECT coalesce(group_concat(name, ' '), '') FROM sqlite_schema
WHERE name NOT IN ('schema_migrations', 'version_unique')`,
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	storetest.Migrations(t, dialect, func(t *testing.T) storetest.Place {
		path := filepath.Join(t.TempDir(), "ledger.sqlite")
		if err := makeFile(path); err != nil {
			t.Fatal(err)
		}
		return storetest.Place{
			Up:      func(ctx context.Context) error { return MigrateUp(ctx, path, Options{}) },
			Down:    func(ctx context.Context) error { return MigrateDown(ctx, path, Options{}) },
			Version: func(ctx context.Context) (int, error) { return SchemaVersion(ctx, path, Options{}) },
			Open:    func() (store.Database, error) { return Open(path, Options{}) },
			Exec: func(sql string) error {
				db := raw(t, path)
				defer db.Close()
				tx, err := db.Begin()
				if err != nil {
					return err
				}
				defer tx.Rollback()
				if _, err := tx.Exec(sql); err != nil {
					return err
				}
				return tx.Commit()
			},
			Text: func(t *testing.T, sql string) (s string) {
				t.Helper()
				db := raw(t, path)
				defer db.Close()
				if err := db.QueryRow(sql).Scan(&s); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
				return s
			},
			Bytes: func(b []byte) string { return fmt.Sprintf("x'%x'", b) },
		}
	})
}

func TestMigrateMakesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	if got, err := SchemaVersion(t.Context(), path, Options{}); err != nil || got != 0 {
		t.Errorf("the version of no file: %d, %v", got, err)
	}
	if err := MigrateDown(t.Context(), path, Options{}); err == nil {
		t.Error("migrated down where there is no file")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("reading the version made a file")
	}
	if err := MigrateUp(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
}
