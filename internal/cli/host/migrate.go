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
	Up     migrateUpCmd     `cmd:"" help:"Create the tables, or bring them to the newest form."`
	Down   migrateDownCmd   `cmd:"" help:"Undo the newest migration. Refused while there are entries."`
	Status migrateStatusCmd `cmd:"" help:"Show which form the tables have."`
}

type migrateUpCmd struct {
	place.Flags
	NoGuards bool `help:"Make the tables without the triggers that guard them, for an engine that has no such triggers."`
}

func (migrateUpCmd) Help() string {
	return "Example:\n  shuffled migrate up --database postgres://owner@db/shuffled"
}

func (c migrateUpCmd) Run(ctx context.Context, s term.Streams) error {
	return migrate(ctx, s, c.Flags, c.NoGuards, false, func(t place.Tables) error { return t.Up(ctx) })
}

type migrateDownCmd struct{ place.Flags }

func (migrateDownCmd) Help() string {
	return "Example:\n  shuffled migrate down --data ./shuffled-data"
}

func (c migrateDownCmd) Run(ctx context.Context, s term.Streams) error {
	return migrate(ctx, s, c.Flags, false, false, func(t place.Tables) error { return t.Down(ctx) })
}

type migrateStatusCmd struct {
	place.Flags
	JSON bool `name:"json" help:"Print JSON."`
}

func (migrateStatusCmd) Help() string {
	return "Example:\n  shuffled migrate status --database postgres://owner@db/shuffled"
}

func (c migrateStatusCmd) Run(ctx context.Context, s term.Streams) error {
	return migrate(ctx, s, c.Flags, false, c.JSON, func(place.Tables) error { return nil })
}

// schema is what `migrate status` says.
type schema struct {
	Ledger  string `json:"ledger,omitempty"` // the first in a database that is not the daemon's
	Version int    `json:"version"`
	Latest  int    `json:"latest"`
}

// migrate changes the tables of each database and says which form they have then.
func migrate(ctx context.Context, s term.Streams, where place.Flags, noGuards, asJSON bool,
	change func(place.Tables) error) error {
	all, err := where.LoadEach()
	if err != nil {
		return err
	}
	for _, cfg := range all {
		if err := migrateOne(ctx, s, cfg, noGuards, asJSON, change); err != nil {
			return err
		}
	}
	return nil
}

func migrateOne(ctx context.Context, s term.Streams, cfg *config.Config, noGuards, asJSON bool,
	change func(place.Tables) error) error {
	tables := place.TablesOf(cfg, noGuards)
	if err := change(tables); err != nil {
		return err
	}
	version, err := tables.Version(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(s.Out, schema{place.First(cfg), version, migrations.Latest})
	}
	state := "up to date"
	switch {
	case version == 0:
		state = "no tables yet; run shuffled migrate up"
	case version < migrations.Latest:
		state = "older than this program; run shuffled migrate up"
	case version > migrations.Latest:
		state = "newer than this program"
	}
	where := place.Database(cfg)
	if first := place.First(cfg); first != "" {
		where += " of ledger " + first
	}
	fmt.Fprintf(s.Out, "%s: schema %d of %d, %s\n", where, version, migrations.Latest, state)
	return nil
}
