package host

import (
	"context"
	"fmt"

	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/term"
	"shuffled/migrations"
)

// MigrateCmd is shuffled migrate.
type MigrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Create the tables, or bring them to the newest version."`
	Status migrateStatusCmd `cmd:"" help:"Show which version the tables have."`
}

type migrateUpCmd struct {
	place.Flags
	NoGuards bool `help:"Make the tables without the triggers that guard them, for a database engine that has no such triggers."`
}

func (migrateUpCmd) Help() string {
	return "Example:\n  shuffled migrate up --database postgres://owner@db/shuffled"
}

func (c migrateUpCmd) Run(ctx context.Context, s term.Streams) error {
	return migrate(ctx, s, c.Flags, c.NoGuards, false, func(t place.Tables) error { return t.Up(ctx) })
}

type migrateStatusCmd struct {
	place.Flags
	JSON bool `name:"json" help:"Print JSON: a list with an object for each database."`
}

func (migrateStatusCmd) Help() string {
	return "Example:\n  shuffled migrate status --database postgres://owner@db/shuffled"
}

func (c migrateStatusCmd) Run(ctx context.Context, s term.Streams) error {
	return migrate(ctx, s, c.Flags, false, c.JSON, func(place.Tables) error { return nil })
}

// schema is what `migrate status` says of a database.
type schema struct {
	Ledger  string `json:"ledger,omitempty"` // the first one, of a database that is not the daemon's
	Version int    `json:"version"`
	Latest  int    `json:"latest"`
}

// migrate changes the tables of each database, and says which version they have then.
func migrate(ctx context.Context, s term.Streams, where place.Flags, noGuards, asJSON bool,
	change func(place.Tables) error) error {
	all, err := where.LoadEach()
	if err != nil {
		return err
	}
	list := []schema{}
	err = place.Each(all, func(cfg *config.Config) error {
		tables := place.TablesOf(cfg, noGuards)
		if err := change(tables); err != nil {
			return err
		}
		version, err := tables.Version(ctx)
		if err != nil {
			return err
		}
		list = append(list, schema{place.First(cfg), version, migrations.Latest})
		if !asJSON {
			fmt.Fprintf(s.Out, "%s: schema %d of %d, %s\n", place.Where(cfg), version, migrations.Latest,
				state(version))
		}
		return nil
	})
	if err == nil && asJSON {
		err = term.PrintJSON(s.Out, list)
	}
	return err
}

// state says how tables of the version relate to this program.
func state(version int) string {
	switch {
	case version == 0:
		return "no tables yet; run shuffled migrate up"
	case version < migrations.Latest:
		return "older than this program; run shuffled migrate up"
	case version > migrations.Latest:
		return "newer than this program"
	}
	return "up to date"
}
