package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
)

func TestMigrations(t *testing.T) {
	t.Parallel()
	storetest.Migrations(t, func(t *testing.T) storetest.Place {
		path := filepath.Join(t.TempDir(), "ledger.sqlite")
		if err := makeFile(path); err != nil {
			t.Fatal(err)
		}
		return storetest.Place{
			Up:      func(ctx context.Context) error { return MigrateUp(ctx, path, Options{}) },
			Version: func(ctx context.Context) (int, error) { return versionOf(ctx, path, Options{}) },
			Open:    func() (store.Database, error) { return Open(path, Options{}) },
			Read:    func() (*store.Evidence, error) { return OpenEvidence(path, Options{}) },
			Exec: func(sql string) error {
				db := raw(t, path)
				defer db.Close()
				_, err := db.Exec(sql)
				return err
			},
			Objects: func(t *testing.T) (names string) {
				t.Helper()
				db := raw(t, path)
				defer db.Close()
				err := db.QueryRow("SELECT coalesce(group_concat(name, ' '), '') FROM sqlite_schema").Scan(&names)
				if err != nil {
					t.Fatal(err)
				}
				return names
			},
			Old: "CREATE TABLE heads (ledger INTEGER) STRICT; PRAGMA user_version = 2",
		}
	})
}

func TestMigrateMakesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	if got, err := versionOf(t.Context(), path, Options{}); err != nil || got != 0 {
		t.Errorf("the version of no file: %d, %v", got, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("reading the version made a file")
	}
	if err := MigrateUp(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
}

// versionOf returns the number of the schema of the database file at path, 0 for none. It changes nothing.
func versionOf(ctx context.Context, path string, o Options) (int, error) {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, nil
	}
	db, err := connect(path, o.withDefaults(), readerSettings)
	if err != nil {
		return 0, fmt.Errorf("opening the database: %w", err)
	}
	defer db.Close()
	return schemaVersion(ctx, db)
}
