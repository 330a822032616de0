package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
	"shuffled/migrations"
)

const sqlObjects = `SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM (SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS objects`

func TestMigrations(t *testing.T) {
	t.Parallel()
	storetest.Migrations(t, func(t *testing.T) storetest.Place {
		dsn := testdb.DSN(t)
		conn := connect(t, dsn)
		return storetest.Place{
			Up:      func(ctx context.Context) error { return MigrateUp(ctx, dsn, Options{}) },
			Version: func(ctx context.Context) (int, error) { return versionOf(ctx, dsn, Options{}) },
			Open: func() (ledger.Store, error) {
				return Open(t.Context(), dsn, Options{AllowSuperuser: true})
			},
			Read: func() (*store.Evidence, error) { return OpenEvidence(t.Context(), dsn, Options{}) },
			Exec: func(sql string) error {
				_, err := conn.Exec(t.Context(), sql) // several statements are one transaction
				return err
			},
			Objects: func(t *testing.T) string { return query[string](t, conn, sqlObjects) },
			Old:     "CREATE TABLE heads (ledger bigint); COMMENT ON TABLE heads IS 'shuffled schema 2'",
		}
	})
}

func TestVersionOfNothing(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	wantVersion(t, dsn, 0)
	if got := query[string](t, connect(t, dsn), sqlObjects); got != "" {
		t.Errorf("reading the version made %s", got)
	}
}

func wantVersion(t *testing.T, dsn string, want int) {
	t.Helper()
	if got, err := versionOf(t.Context(), dsn, Options{}); err != nil || got != want {
		t.Fatalf("schema version %d, %v; want %d", got, err, want)
	}
}

// TestOtherSchema: a daemon looks for its tables in public, so no migration makes them elsewhere.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	exec(t, dsn, "CREATE SCHEMA apart")
	for schema, named := range map[string]string{"apart": `"apart"`, "nowhere": `""`} {
		err := MigrateUp(t.Context(), dsn+"&search_path="+schema, Options{})
		if err == nil || !strings.Contains(err.Error(), "in the schema "+named+", and must be in public") {
			t.Errorf("%s: %v", schema, err)
		}
	}
	wantVersion(t, dsn+"&search_path=apart", 0)
	migrate(t, dsn)
}

// TestMigrationLock: a migration does not wait for ever until another one ends.
func TestMigrationLock(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	other := connect(t, dsn)
	if _, err := other.Exec(t.Context(), "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		t.Fatal(err)
	}
	o := Options{Timeout: 2 * time.Second} // for connecting, too
	if err := MigrateUp(t.Context(), dsn, o); !isCode(err, "55P03") {
		t.Errorf("migrating alongside another migration: %v", err)
	}
	wantVersion(t, dsn, 0)
	if _, err := other.Exec(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	must(t, MigrateUp(t.Context(), dsn, Options{NoGuards: true}))
	// Likewise for a table that is in use.
	tx, err := other.Begin(t.Context())
	must(t, err)
	if _, err := tx.Exec(t.Context(), "SELECT FROM entries"); err != nil {
		t.Fatal(err)
	}
	if err := MigrateUp(t.Context(), dsn, o); !isCode(err, "55P03") {
		t.Errorf("migrating a table in use: %v", err)
	}
	must(t, tx.Rollback(t.Context()))
	migrate(t, dsn)
}

// TestNoGuards: an engine without triggers gets the tables, which then nothing guards and doctor
// says so; the guards come later, alongside appends, of which none is lost.
func TestNoGuards(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	bare := Options{NoGuards: true}
	for range 2 {
		must(t, MigrateUp(t.Context(), dsn, bare))
		wantVersion(t, dsn, migrations.Latest)
	}
	examined := func() Examined {
		t.Helper()
		e, err := Examine(t.Context(), dsn, Options{})
		must(t, err)
		return e
	}
	if got := examined().Gone; strings.Count(got, " of ") != 18 {
		t.Errorf("guards that are gone: %s", got)
	}
	stop := storetest.Appending(t, open(t, dsn, Options{}), "main", "other")
	exec(t, dsn, "DELETE FROM heads WHERE false") // which is what a guard would refuse
	if err := MigrateUp(t.Context(), dsn, Options{Timeout: time.Minute}); err != nil {
		t.Error(err)
	}
	stop()
	wantVersion(t, dsn, migrations.Latest)
	if got := examined().Gone; got != "" {
		t.Errorf("guards that are gone: %s", got)
	}
	if _, err := connect(t, dsn).Exec(t.Context(), "DELETE FROM heads WHERE false"); !isCode(err, "42501") {
		t.Errorf("deleting heads: %v", err)
	}
}

// versionOf returns the number of the schema of the database at dsn, 0 for none. It changes nothing.
func versionOf(ctx context.Context, dsn string, o Options) (int, error) {
	conn, err := o.direct(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	version, _, err := schemaVersion(ctx, conn)
	return version, err
}
