package postgres

import (
	"testing"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
)

// TestStoreThroughPgBouncer runs statements of every kind through a real pooler in transaction
// mode, whose server connections many clients share.
func TestStoreThroughPgBouncer(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	through := c.Pooler(t)
	_, err := Open(t.Context(), through(c.Database(t)), Options{})
	if ledger.CauseOf(err) != ledger.CauseParameter {
		t.Errorf("without the setting for a pooler: %v", err)
	}
	storetest.Test(t, func(t *testing.T) storetest.Backend {
		dsn := c.Database(t)
		migrate(t, dsn)
		return backend(t, dsn, func(t *testing.T) store.Database {
			return open(t, through(dsn),
				Options{Pooler: true})
		})
	}, "AppendKeepsEverything", "DuplicateKeys", "Finders", "Cosigned", "Race", "Slots", "Accesses", "Commits",
		"EntryAt")
}
