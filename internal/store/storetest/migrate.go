package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/migrations"
)

// Place is a place for the database of one test, which does not exist yet.
type Place struct {
	Up      func(context.Context) error
	Version func(context.Context) (int, error)
	Open    func() (ledger.Store, error)
	Read    func() (*store.Evidence, error)
	// Exec runs statements as the owner of the database would by hand, all or none of them.
	Exec func(sql string) error
	// Objects returns what is in the schema.
	Objects func(t *testing.T) string
	// Old are statements that make schema 2 of a program of 1.0.0-rc.1, as far as it is told by them.
	Old string
}

// Migrations runs the tests of a store's migrations; at returns a new Place.
func Migrations(t *testing.T, at func(t *testing.T) Place) {
	for name, run := range map[string]func(*testing.T, Place){
		"Up":     testUp,
		"Old":    testOldSchema,
		"Failed": testFailedMigration,
		"AtOnce": testMigrationsAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, at(t))
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

func (p Place) is(t *testing.T, version int) {
	t.Helper()
	if got, err := p.Version(t.Context()); err != nil || got != version {
		t.Fatalf("schema version %d, %v; want %d", got, err, version)
	}
}

func (p Place) exec(t *testing.T, sql string) {
	t.Helper()
	if err := p.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func testUp(t *testing.T, p Place) {
	p.is(t, 0)
	p.up(t)
	made := p.Objects(t)
	p.up(t) // nothing to do
	if got := p.Objects(t); got != made || made == "" {
		t.Errorf("schema %s, before %s", got, made)
	}
	s, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	newChain(t, s, "main")
}

// testOldSchema: a database of 1.0.0-rc.1 is refused by all that opens it, and stays as it is.
func testOldSchema(t *testing.T, p Place) {
	p.exec(t, p.Old)
	made := p.Objects(t)
	for what, refuse := range map[string]func() error{
		"Up":      func() error { return p.Up(t.Context()) },
		"Version": func() error { _, err := p.Version(t.Context()); return err },
		"Open":    func() error { _, err := p.Open(); return err },
		"Read":    func() error { _, err := p.Read(); return err },
	} {
		if err := refuse(); !errors.Is(err, store.ErrOldSchema) ||
			!strings.Contains(err.Error(), "schema 2 of shuffled 1.0.0-rc.1 or older") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := p.Objects(t); got != made {
		t.Errorf("schema %s, before %s", got, made)
	}
}

// testFailedMigration: a migration that fails changes nothing, and can be tried again.
func testFailedMigration(t *testing.T, p Place) {
	p.exec(t, "CREATE TABLE decks (x integer)")
	for range 2 {
		err := p.Up(t.Context())
		if err == nil || !strings.Contains(err.Error(), "decks") || !strings.Contains(err.Error(), "already exists") ||
			strings.Contains(err.Error(), "CREATE") {
			t.Fatalf("migrating into a taken name: %v", err)
		}
		if got := p.Objects(t); got != "decks" {
			t.Fatalf("schema after a failed migration: %s", got)
		}
	}
	p.exec(t, "DROP TABLE decks")
	p.up(t)
}

func testMigrationsAtOnce(t *testing.T, p Place) {
	var all errgroup.Group
	for range 4 {
		all.Go(func() error { return p.Up(t.Context()) })
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	p.is(t, migrations.Latest)
}
