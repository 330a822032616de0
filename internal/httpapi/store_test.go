package httpapi

import (
	"path/filepath"
	"testing"

	"shuffled/internal/store/sqlite"
)

func openStore(t testing.TB, dir string) testStore {
	t.Helper()
	path := filepath.Join(dir, "test.sqlite")
	must(t, sqlite.MigrateUp(t.Context(), path, sqlite.Options{}))
	store, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { store.Close() })
	return store
}
