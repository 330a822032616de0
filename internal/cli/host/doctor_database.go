package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/term"
	"shuffled/migrations"
)

// database opens a database as a daemon does, and checks what a daemon does not check: rights, guards, version and
// clock.
func (d *doctor) database(ctx context.Context, cfg *config.Config) {
	store, err := place.OpenStore(ctx, cfg, false) // as a daemon does
	if d.failed("database", "", err) {
		return
	}
	store.Close()
	e, err := place.Examine(ctx, cfg)
	if d.failed("database", "run roles.sql as the database's administrator, after every migration", err) {
		return
	}
	const roles = "connect as shuffled_writer, and run roles.sql as the database's administrator, after every migration"
	before := len(d.findings)
	for _, fault := range []struct{ tables, found, cure string }{
		{e.Owns, "the role owns %s, so it could remove the guards of the evidence", roles},
		{e.Changes, "the role may change or remove rows of %s", roles},
		{e.Lacks, "the role cannot use %s", roles},
		{e.Gone, "guards of the evidence are not in force: %s",
			"find out who removed these guards, run shuffled audit fsck, and make the guards again as in migrations/postgres"},
	} {
		if fault.tables != "" {
			d.fail("database", fault.cure, fault.found, fault.tables)
		}
	}
	if e.Number > 0 && e.Number < 130000 {
		d.fail("database", "use PostgreSQL 13 or newer", "the server is PostgreSQL %s", e.Version)
	}
	if e.Citus {
		d.warn("durability", "run SELECT * FROM run_command_on_workers('SHOW synchronous_commit'), and the same for fsync and "+
			"full_page_writes: each must be on", "the server has Citus: the settings of its other nodes were not checked")
	}
	if len(d.findings) == before {
		what := "schema, rights, guards and durability are"
		if e.Number == 0 {
			what = "schema and durability are" // an embedded store knows no roles
		}
		d.ok("database", "%s: %s as they must be", strings.TrimSpace(place.Database(cfg)+" "+e.Version), what)
	}
	if !e.Clock.IsZero() {
		d.clock(e.Clock)
	}
}

// clock compares this host's clock with that of the database.
func (d *doctor) clock(other time.Time) {
	const check = "clock of the database"
	apart := time.Since(other).Round(time.Millisecond)
	if apart.Abs() > d.cfg.ClockStep.Duration() {
		d.fail(check, "set the clocks of all hosts from one time service, because entries and cosignatures carry these times",
			"this host's clock and that clock differ by %s, and clock_step is %s", apart, d.cfg.ClockStep.Duration())
		return
	}
	d.ok(check, "this host's clock and that clock differ by %s", apart)
}

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
