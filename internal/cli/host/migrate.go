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
	Up migrateUpCmd `cmd:"" help:"Create the tables, or bring them to the newest version."`
}

type migrateUpCmd struct {
	place.Flags
	NoGuards bool `help:"Make the tables without the triggers that guard them, for a database engine that has no such triggers."`
}

func (migrateUpCmd) Help() string {
	return "Example:\n  shuffled migrate up --database postgres://owner@db/shuffled"
}

func (c migrateUpCmd) Run(ctx context.Context, s term.Streams) error {
	all, err := c.LoadEach()
	if err != nil {
		return err
	}
	return place.Each(all, func(cfg *config.Config) error {
		if err := place.MigrateUp(ctx, cfg, c.NoGuards); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.Out, "%s: schema %d of %d, up to date\n", place.Where(cfg), migrations.Latest,
			migrations.Latest)
		return err
	})
}
