package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/ledger"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testdb.M{M: m}) }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) storetest.Backend {
		return backend(t, migrated(t, testdb.DSN(t)))
	})
}

// migrated makes the schema and returns the DSN.
func migrated(t testing.TB, dsn string) string {
	t.Helper()
	if err := MigrateUp(t.Context(), dsn, Options{}); err != nil {
		t.Fatal(err)
	}
	return dsn
}

func open(t testing.TB, dsn string, o Options) *Store {
	t.Helper()
	o.AllowSuperuser = true
	s, err := Open(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func backend(t *testing.T, dsn string) storetest.Backend {
	conn := connect(t, dsn)
	return storetest.Backend{
		Store: open(t, dsn, Options{}),
		Open:  func(t *testing.T) storetest.Store { return open(t, dsn, Options{}) },
		Counts: func(t *testing.T) map[string]int {
			counts := make(map[string]int)
			for _, table := range tables {
				var n int
				if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
					t.Fatal(err)
				}
				counts[table] = n
			}
			return counts
		},
	}
}

var tables = []string{"ledgers", "heads", "entries", "tiles", "checkpoints", "decks", "tokens"}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

var _ = time.Second
var _ ledger.Head
