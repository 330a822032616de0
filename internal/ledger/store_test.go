package ledger_test

import (
	"path/filepath"
	"testing"

	"shuffled/internal/ledger"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// onBoth runs a test on a fresh ledger of each store.
func onBoth(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]func(*testing.T) ledger.Store{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newHouse(t, open(t)))
		})
	}
}

func openPostgres(t *testing.T) ledger.Store {
	t.Helper()
	dsn := testdb.DSN(t)
	if err := postgres.MigrateUp(t.Context(), dsn, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openSQLite(t *testing.T) ledger.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shuffled.db")
	if err := sqlite.MigrateUp(t.Context(), path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
