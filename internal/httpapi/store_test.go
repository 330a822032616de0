package httpapi

import (
	"testing"

	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

func openStore(t testing.TB, _ string) testStore {
	t.Helper()
	dsn := testdb.DSN(t)
	if err := postgres.MigrateUp(t.Context(), dsn, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}
