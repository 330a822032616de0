package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
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
		must(t, err)
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

// TestExamineEachTable: of each table it is told if a role lacks a right that the daemon needs, if it may change rows
// of evidence, and if the guard of these rows is gone.
func TestExamineEachTable(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	role, admin := fmt.Sprint("examined_", os.Getpid()), connect(t, dsn)
	t.Cleanup(func() { admin.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	// after says what is wrong after a statement for a table.
	after := func(sql, table string) string {
		t.Helper()
		exec(t, dsn, strings.NewReplacer("$role", role, "$table", table).Replace(sql))
		e, err := Examine(t.Context(), dsn+"&options=-c%20role%3D"+role, Options{})
		must(t, err)
		return strings.Join([]string{e.Owns, e.Changes, e.Lacks, e.Gone}, ";")
	}
	if got := after("CREATE ROLE $role; GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO $role; "+
		"GRANT UPDATE ON heads TO $role", ""); got != ";;;" {
		t.Errorf("a daemon's rights: %s", got)
	}
	for _, table := range append(store.Relations(), store.AccessRows) {
		writes := "INSERT"
		if table == store.HeadRows {
			writes = "UPDATE"
		}
		for _, right := range []string{"SELECT", writes} {
			if got := after("REVOKE "+right+" ON $table FROM $role", table.Name); got != ";;"+table.Name+";" {
				t.Errorf("without %s on %s: %s", right, table.Name, got)
			}
			after("GRANT "+right+" ON $table TO $role", table.Name)
		}
		if table == store.HeadRows || table == store.AccessRows {
			continue // no evidence
		}
		if got := after("GRANT DELETE ON $table TO $role; ALTER TABLE $table DISABLE TRIGGER insert_only",
			table.Name); got != fmt.Sprintf(";%s;;insert_only of %[1]s", table.Name) {
			t.Errorf("%s: %s", table.Name, got)
		}
		after("REVOKE DELETE ON $table FROM $role; ALTER TABLE $table ENABLE TRIGGER insert_only", table.Name)
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
		return backend(t, dsn, func(t *testing.T) ledger.Store {
			return open(t, through(dsn), Options{Pooler: true})
		})
	}, "AppendKeepsEverything", "DuplicateKeys", "Finders", "Cosigned", "Race", "Slots", "Accesses", "Commits",
		"EntryAt")
}

// TestGuards tries to stop a ledger as the daemon's role could: with rows that no head
// covers, and heads that no rows lead to. None is taken, and the ledger goes on. A
// statement of the form of an append is what that role is for, and no guard's.
func TestGuards(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{})
	l := storetest.Create(t, s)
	b := l.Next(3)
	must(t, s.Append(t.Context(), l.ID, l.Head, b))
	conn := connect(t, dsn)
	const next = `(SELECT ledger, size FROM heads) h`
	for name, sql := range map[string]string{
		"the next entry":        `INSERT INTO entries (ledger, idx, time, type, entry) SELECT ledger, size, 1, 7, '' FROM ` + next,
		"a far entry":           `INSERT INTO entries (ledger, idx, time, type, entry) SELECT ledger, size + 1000, 1, 7, '' FROM ` + next,
		"an entry of no ledger": `INSERT INTO entries (ledger, idx, time, type, entry) VALUES (7, 0, 1, 7, '')`,
		"a huge head":           `UPDATE heads SET size = 9007199254740000`,
		"another root":          `UPDATE heads SET size = size + 1, root = sha256('')`,
		"another checkpoint":    `UPDATE heads SET checkpoint = checkpoint || '+'`,
		"the next checkpoint":   `INSERT INTO checkpoints SELECT ledger, size + 1, sha256(''), '' FROM ` + next,
		"a full tile of the level": `INSERT INTO tiles SELECT ledger, 0, 0, decode(repeat('00', 8192), 'hex') FROM ` +
			next,
		"a tile above all levels": `INSERT INTO tiles SELECT ledger, 7, 0, decode(repeat('00', 8192), 'hex') FROM ` +
			next,
		"a head with its checkpoint alone": `WITH h AS (UPDATE heads SET size = size + 1, root = sha256('') RETURNING *)
INSERT INTO checkpoints SELECT ledger, size, root, checkpoint FROM h`,
		"a head, its checkpoint and the last entry alone": `WITH h AS (UPDATE heads SET size = size + 5, root = sha256('') RETURNING *),
e AS (INSERT INTO entries (ledger, idx, time, type, entry) SELECT ledger, size - 1, 1, 7, '' FROM h)
INSERT INTO checkpoints SELECT ledger, size, root, checkpoint FROM h`,
		"entries with a gap": `WITH h AS (UPDATE heads SET size = size + 5, root = sha256('') RETURNING *),
e AS (INSERT INTO entries (ledger, idx, time, type, entry) SELECT ledger, size - n, 1, 7, '' FROM h, (VALUES (1), (5)) v (n))
INSERT INTO checkpoints SELECT ledger, size, root, checkpoint FROM h`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "42501" || !strings.Contains(pg.Message, "is refused: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	l.Head = b.Head
	if err := s.Append(t.Context(), l.ID, l.Head, l.Next(2)); err != nil {
		t.Errorf("the ledger does not go on: %v", err)
	}
}

// TestRowInTheWay: a row that stands where the next one goes is named, with the page that says what to do.
func TestRowInTheWay(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{})
	l := storetest.Create(t, s)
	conn := connect(t, dsn)
	for _, sql := range []string{"SET session_replication_role = replica",
		`INSERT INTO entries (ledger, idx, time, type, entry) SELECT ledger, size, 1, 7, '' FROM heads`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Append(t.Context(), l.ID, l.Head, l.Next(1))
	if err == nil || !strings.Contains(err.Error(),
		"one stands where entry 1 or what belongs to it goes (entries_pkey)") ||
		!strings.Contains(err.Error(), "docs/OPERATIONS.md, A row in the way") {
		t.Errorf("%v", err)
	}
}
