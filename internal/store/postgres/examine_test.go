package postgres

import (
	"strings"
	"testing"
	"time"

	"shuffled/internal/stops"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
)

// TestExamine: the owner of the tables is found out, and a guard that is gone is named, also
// with statements as a pooler takes them.
func TestExamine(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	migrate(t, dsn)
	for _, o := range []Options{{}, {Pooler: true}} {
		e, err := Examine(t.Context(), dsn, o)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.Owns, "entries") || !strings.Contains(e.Changes, "entries") ||
			e.Lacks != "" || e.Gone != "" || e.Citus || e.Version == "" ||
			e.Number < 130000 || time.Since(e.Clock).Abs() > time.Minute {
			t.Errorf("%+v: %+v", o, e)
		}
	}
	if e, err := Examine(t.Context(), as(t, dsn, "CREATE VIEW engine.pg_extension AS SELECT 'citus'::name AS extname"),
		Options{}); err != nil || !e.Citus {
		t.Errorf("with Citus: %+v, %v", e, err)
	}
	exec(t, dsn, "DROP TRIGGER kept ON heads")
	if e, err := Examine(t.Context(), dsn, Options{}); err != nil || e.Gone != "kept of heads" {
		t.Errorf("without a guard: %+v, %v", e, err)
	}
}

// TestRefusedOnce: a server that is not there is said once and in one line, though the driver
// asks with TLS and without.
func TestRefusedOnce(t *testing.T) {
	t.Parallel()
	_, err := Examine(t.Context(), "postgres://nobody@127.0.0.1:1/x", Options{})
	if err == nil || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "127.0.0.1:1 ") != 1 {
		t.Errorf("%v", err)
	}
}

// TestStoreThroughPgBouncer runs statements of every kind through a real pooler in transaction
// mode, whose server connections many clients share.
func TestStoreThroughPgBouncer(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	through := c.Pooler(t)
	_, err := Open(t.Context(), through(c.Database(t)), Options{})
	if stops.Of(err) != stops.Parameter {
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
