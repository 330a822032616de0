package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"shuffled/internal/store"
	"shuffled/migrations"
)

// Place is a place for the database of one test, which does not exist yet.
type Place struct {
	Up, Down func(context.Context) error
	Version  func(context.Context) (int, error)
	Open     func() (store.Database, error)
	// Exec runs statements as the owner of the database would by hand, all or none of them.
	Exec func(sql string) error
	// Text returns the one value of a statement.
	Text func(t *testing.T, sql string) string
	// Bytes returns the literal of bytes.
	Bytes func([]byte) string
}

// Dialect is what differs between the stores in the tests of migrations.
type Dialect struct {
	Files   string // the directory of the migrations
	Objects string // statement: what is in the schema, except for golang-migrate's own
}

// Migrations runs the tests of a store's migrations; at returns a new Place.
func Migrations(t *testing.T, d Dialect, at func(t *testing.T) Place) {
	for name, run := range map[string]func(*testing.T, Dialect, func(t *testing.T) Place){
		"UpAndDown":   testUpAndDown,
		"DownRefused": testDownRefused,
		"Repaired":    testRepaired,
		"WithEntries": testWithEntries,
		"Failed":      testFailedMigration,
		"AtOnce":      testMigrationsAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, d, at)
		})
	}
}

func (p Place) up(t *testing.T) {
	t.Helper()
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.is(t, migrations.Latest)
}

// down migrates down from the newest schema, one step at a time.
func (p Place) down(t *testing.T, to int) {
	t.Helper()
	for at := migrations.Latest; at > to; at-- {
		if err := p.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.is(t, at-1)
	}
}

func (p Place) is(t *testing.T, version int) {
	t.Helper()
	if got, err := p.Version(t.Context()); err != nil || got != version {
		t.Fatalf("schema version %d, %v; want %d", got, err, version)
	}
}

func (p Place) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if err := p.Exec(fmt.Sprintf(sql, args...)); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (p Place) open(t *testing.T) store.Database {
	t.Helper()
	s, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func testUpAndDown(t *testing.T, d Dialect, at func(t *testing.T) Place) {
	p := at(t)
	p.is(t, 0)
	for range 2 {
		p.up(t)
		p.up(t) // nothing to do
		p.down(t, 0)
		if got := p.Text(t, d.Objects); got != "" {
			t.Fatalf("left after migrating down: %s", got)
		}
	}
	if err := p.Down(t.Context()); err == nil {
		t.Error("migrated down from nothing")
	}
}

func testDownRefused(t *testing.T, d Dialect, at func(t *testing.T) Place) {
	p := at(t)
	p.up(t)
	c := newChain(t, p.open(t), "main")
	if err := p.Down(t.Context()); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("migrating entries away: %v", err)
	}
	// Without the look in Go, the migration itself refuses.
	files, err := fs.Glob(migrations.Files, d.Files+"/*.down.sql")
	if err != nil || len(files) != migrations.Latest {
		t.Fatalf("found %v, %v", files, err)
	}
	before := p.Text(t, d.Objects)
	for _, file := range files {
		down, err := migrations.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Exec(string(down)); err == nil || !strings.Contains(err.Error(), "holds entries") {
			t.Errorf("running %s: %v", file, err)
		}
	}
	if after := p.Text(t, d.Objects); after != before {
		t.Errorf("schema %s, before %s", after, before)
	}
	c.mustAppend(c.batch(eventRow(t)))
	p.up(t)
}

// testRepaired starts from the states that a crash between golang-migrate's transactions leaves.
func testRepaired(t *testing.T, _ Dialect, at func(t *testing.T) Place) {
	for _, test := range []struct {
		name string
		at   int // the schema that is there
		note string
	}{
		{"first up, before the migration", 0, "INSERT INTO schema_migrations VALUES (1, true)"},
		{"first up, after the migration", 1, "UPDATE schema_migrations SET dirty = true"},
		{"up, before the migration", 1, "UPDATE schema_migrations SET version = 2, dirty = true"},
		{"up, after the migration", 2, "UPDATE schema_migrations SET dirty = true"},
		{"down, before the migration", 2, "UPDATE schema_migrations SET version = 1, dirty = true"},
		{"down, after the migration", 1, "UPDATE schema_migrations SET dirty = true"},
		{"last down, before the migration", 1, "UPDATE schema_migrations SET version = -1, dirty = true"},
		{"last down, after the migration", 0, "INSERT INTO schema_migrations VALUES (-1, true)"},
		{"notes lost", 2, "DROP TABLE schema_migrations"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := at(t)
			p.up(t)
			p.down(t, test.at)
			p.exec(t, "%s", test.note)
			p.up(t)
			p.down(t, migrations.Latest-1)
			p.up(t)
			noted := p.Text(t, "SELECT CAST(version AS text) FROM schema_migrations WHERE NOT dirty")
			if noted != fmt.Sprint(migrations.Latest) {
				t.Errorf("noted %s", noted)
			}
			newChain(t, p.open(t), "main")
		})
	}
}

// testWithEntries brings a ledger of the first schema to the newest: its rows do not change, and it can be appended to.
func testWithEntries(t *testing.T, _ Dialect, at func(t *testing.T) Place) {
	p := at(t)
	p.up(t)
	p.down(t, 1)
	c := newTestChain(t, nil, "main")
	c.head = c.batch(eventRow(t)).Head
	p.exec(t, "INSERT INTO ledgers VALUES (%d, 'main', '%s')", c.id, originOf("main"))
	p.exec(t, "INSERT INTO entries (ledger, idx, time, type, entry) VALUES (%d, 0, 0, 7, %s)", c.id, p.Bytes([]byte{0}))
	for _, name := range []string{"heads", "checkpoints"} {
		p.exec(t, "INSERT INTO %s VALUES (%d, 1, %s, %s)", name, c.id, p.Bytes(c.head.Root[:]),
			p.Bytes(c.head.Checkpoint))
	}
	want := fmt.Sprintf(`schema 1 and this program needs %d: run "shuffled migrate up"`, migrations.Latest)
	if s, err := p.Open(); err == nil {
		s.Close()
		t.Error("opened the older schema")
	} else if !strings.Contains(err.Error(), want) {
		t.Errorf("opening the older schema: %v", err)
	}
	p.up(t)
	s := p.open(t)
	c.store = s
	c.check()
	c.mustAppend(c.batch(eventRow(t)))
	if err := s.PutCosigned(t.Context(), c.id, c.head); err != nil {
		t.Error(err)
	}
	if err := p.Down(t.Context()); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("migrating entries away: %v", err)
	}
}

// testFailedMigration: a migration that fails changes nothing, and can be tried again.
func testFailedMigration(t *testing.T, d Dialect, at func(t *testing.T) Place) {
	p := at(t)
	p.exec(t, "CREATE TABLE decks (x integer)")
	for range 2 {
		err := p.Up(t.Context())
		if err == nil || !strings.Contains(err.Error(), "decks") || !strings.Contains(err.Error(), "already exists") ||
			strings.Contains(err.Error(), "CREATE") {
			t.Fatalf("migrating into a taken name: %v", err)
		}
		if got := p.Text(t, d.Objects); got != "decks" {
			t.Fatalf("schema after a failed migration: %s", got)
		}
	}
	p.exec(t, "DROP TABLE decks")
	p.up(t)
}

func testMigrationsAtOnce(t *testing.T, _ Dialect, at func(t *testing.T) Place) {
	p := at(t)
	const n = 4
	done := make(chan error, n)
	for range n {
		go func() { done <- p.Up(t.Context()) }()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	p.is(t, migrations.Latest)
}
