package ledger_test

import (
	"testing"

	"shuffled/internal/ledger"
	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func openStore(t *testing.T) ledger.Store {
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
