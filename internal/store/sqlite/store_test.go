package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) storetest.Backend {
		path := migrated(t)
		db := raw(t, path)
		return storetest.Backend{
			Store: open(t, path),
			Open:  func(t *testing.T) store.Database { return open(t, path) },
			Counts: func(t *testing.T) map[string]int {
				counts := make(map[string]int)
				for _, table := range tables {
					var n int
					if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
						t.Fatal(err)
					}
					counts[table] = n
				}
				return counts
			},
		}
	})
}

var tables = []string{"ledgers", "heads", "entries", "tiles", "checkpoints", "cosigned", "late", "decks", "slots",
	"access_records", "statements"}

// migrated makes a database and returns its path, one that an address must quote.
func migrated(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a dir?", "100%#1.sqlite")
	if err := MigrateUp(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// raw opens the file as a stranger with a shell would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := connect(path, Options{}.withDefaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
