package httpapi

import (
	"path/filepath"
	"testing"

	"shuffled/internal/store/sqlite"
)

func openStore(t testing.TB, dir string) testStore {
	t.Helper()
	path := filepath.Join(dir, "test.sqlite")
	if err := sqlite.MigrateUp(t.Context(), path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}
