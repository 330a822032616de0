package host

import (
	"context"
	"fmt"

	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/term"
	"shuffled/migrations"
)

// MigrateCmd is shuffled migrate.
type MigrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Create the tables, or bring them to the newest form."`
	Down   migrateDownCmd   `cmd:"" help:"Undo the newest migration. Refused while there are entries."`
	Status migrateStatusCmd `cmd:"" help:"Show which form the tables have."`
}

type migrateUpCmd struct{ place.Flags }

// Help shows an example.
func (migrateUpCmd) Help() string {
	return "Example:\n  shuffled migrate up --database postgres://owner@db/shuffled"
}

func (c migrateUpCmd) Run(ctx context.Context, s term.Streams) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	if err := place.MigrateUp(ctx, cfg); err != nil {
		return err
	}
	return printSchema(ctx, s, cfg, false)
}

type migrateDownCmd struct{ place.Flags }

// Help shows an example.
func (migrateDownCmd) Help() string {
	return "Example:\n  shuffled migrate down --data ./shuffled-data"
}

func (c migrateDownCmd) Run(ctx context.Context, s term.Streams) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	if path, ok := place.SQLitePath(cfg); ok {
		err = sqlite.MigrateDown(ctx, path, sqlite.Options{})
	} else {
		err = postgres.MigrateDown(ctx, cfg.Database, postgres.Options{PasswordFile: cfg.DatabasePasswordFile})
	}
	if err != nil {
		return err
	}
	return printSchema(ctx, s, cfg, false)
}

type migrateStatusCmd struct {
	place.Flags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help shows an example.
func (migrateStatusCmd) Help() string {
	return "Example:\n  shuffled migrate status --database postgres://owner@db/shuffled"
}

func (c migrateStatusCmd) Run(ctx context.Context, s term.Streams) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	return printSchema(ctx, s, cfg, c.JSON)
}

// schema is what `migrate status` says.
type schema struct {
	Version int `json:"version"`
	Latest  int `json:"latest"`
}

func printSchema(ctx context.Context, s term.Streams, cfg *config.Config, asJSON bool) error {
	var version int
	var err error
	if path, ok := place.SQLitePath(cfg); ok {
		version, err = sqlite.SchemaVersion(ctx, path, sqlite.Options{})
	} else {
		version, err = postgres.SchemaVersion(ctx, cfg.Database,
			postgres.Options{PasswordFile: cfg.DatabasePasswordFile})
	}
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(s.Out, schema{version, migrations.Latest})
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
	fmt.Fprintf(s.Out, "%s: schema %d of %d, %s\n", place.Database(cfg), version, migrations.Latest, state)
	return nil
}
