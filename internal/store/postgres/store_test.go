package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testdb.M{M: m}) }

func TestStore(t *testing.T) {
	t.Parallel()
	schema := schemas(t)
	storetest.Test(t, func(t *testing.T) storetest.Backend {
		dsn := schema(t)
		return backend(t, dsn, func(t *testing.T) ledger.Store { return open(t, dsn, Options{}) })
	})
}

// TestStoreAsWriter runs every statement with the grants of deploy/roles.sql: the
// daemon's, and the owner's to create ledgers.
func TestStoreAsWriter(t *testing.T) {
	t.Parallel()
	cluster := testdb.Start(t)
	script, err := os.ReadFile("../../../deploy/roles.sql")
	must(t, err)
	storetest.Test(t, func(t *testing.T) storetest.Backend {
		admin := cluster.Database(t)
		as := func(role string) string { return withUser(t, admin, role, "known") }
		roles := func(more string) {
			// Parallel tests change the same roles: all of it is under the lock.
			all := strings.Replace(string(script), "\nCOMMIT;", more+"COMMIT;", 1)
			exec(t, admin, "BEGIN; LOCK TABLE pg_authid; "+all)
		}
		roles("ALTER ROLE shuffled_owner PASSWORD 'known'; ALTER ROLE shuffled_writer PASSWORD 'known'; ")
		must(t, MigrateUp(t.Context(), as("shuffled_owner"), Options{}))
		roles("")
		return backend(t, admin, func(t *testing.T) ledger.Store {
			return twoRoles{openAs(t, as("shuffled_writer"), Options{}), openAs(t, as("shuffled_owner"), Options{})}
		})
	}, "Create", "AppendKeepsEverything", "DuplicateKeys", "Finders", "Tiles", "Cosigned", "CosignedRace", "Decks",
		"Slots", "Accesses", "Commits", "EntryAt")
}

// twoRoles is a daemon whose ledgers are created by the owner of the tables, which also drops old accesses.
type twoRoles struct {
	*Store
	owner *Store
}

func (s twoRoles) Create(ctx context.Context, info ledger.Info, b ledger.Batch) error {
	return s.owner.Create(ctx, info, b)
}

func (s twoRoles) DropAccess(ctx context.Context, id ledger.ID, before int64, limit int) (int, error) {
	return s.owner.DropAccess(ctx, id, before, limit)
}

func backend(t *testing.T, admin string, open func(t *testing.T) ledger.Store) storetest.Backend {
	conn := connect(t, admin)
	return storetest.Backend{
		Store: open(t),
		Open:  open,
		Counts: func(t *testing.T) map[string]int {
			counts := make(map[string]int)
			for _, table := range tables {
				counts[table] = query[int](t, conn, "SELECT count(*) FROM "+table)
			}
			return counts
		},
	}
}

var tables = []string{"ledgers", "heads", "entries", "tiles", "checkpoints", "cosigned", "late", "decks", "slots",
	"access_records", "statements"}

// schemas returns a function that makes stores within one database, each in a
// namespace of its own, which is sooner made than a database.
func schemas(t *testing.T) func(t *testing.T) (dsn string) {
	dsn := testdb.DSN(t)
	var n atomic.Int32
	return func(t *testing.T) string {
		t.Helper()
		name := fmt.Sprintf("store_%d", n.Add(1))
		exec(t, dsn, "CREATE SCHEMA "+name)
		within := dsn + "&search_path=" + name
		migrate(t, within)
		return within
	}
}

// migrated returns the address of a new database with the schema.
func migrated(t testing.TB) string {
	t.Helper()
	dsn := testdb.DSN(t)
	migrate(t, dsn)
	return dsn
}

func migrate(t testing.TB, dsn string) {
	t.Helper()
	must(t, MigrateUp(t.Context(), dsn, Options{anySchema: true}))
}

// open opens a store as the superuser that owns a test's cluster.
func open(t testing.TB, dsn string, o Options) *Store {
	t.Helper()
	o.AllowSuperuser = true
	return openAs(t, dsn, o)
}

func openAs(t testing.TB, dsn string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, o)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// exec runs statements over a connection of their own.
func exec(t testing.TB, dsn, sql string) {
	t.Helper()
	if _, err := connect(t, dsn).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func query[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func withUser(t testing.TB, dsn, user, password string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	must(t, err)
	u.User = url.UserPassword(user, password)
	return u.String()
}

// commit makes row i of b a commit.
func commit(b ledger.Batch, i int, serial uint64, key byte) {
	r := &b.Rows[i]
	r.Type, r.Table, r.Serial, r.KeyTag = audit.TypeCommit, "table-1", serial, [32]byte{key}
}
