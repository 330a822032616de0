package postgres

import (
	"context"
	"database/sql"
	"fmt"

	driver "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"shuffled/internal/store"
	"shuffled/migrations"
)

// MigrateUp brings the database at dsn to the newest schema. The role must own the schema (deploy/roles.sql), which the
// daemon's role does not. It uses the fields PasswordFile, Timeout and NoGuards of o.
func MigrateUp(ctx context.Context, dsn string, o Options) error {
	return o.migrate(ctx, dsn, store.Schema.Up)
}

// MigrateDown undoes the newest migration. It returns store.ErrNotEmpty if there are entries.
func MigrateDown(ctx context.Context, dsn string, o Options) error {
	return o.migrate(ctx, dsn, store.Schema.Down)
}

// SchemaVersion returns the number of the schema of the database at dsn, 0 for none. It changes nothing.
func SchemaVersion(ctx context.Context, dsn string, o Options) (int, error) {
	db, err := o.direct(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	version, _, err := schemaVersion(ctx, db)
	return version, err
}

// migrationLock keeps two migrations of one database apart. golang-migrate has a lock too, but releases it between its
// steps. An advisory lock needs a direct connection, which a migration has.
const migrationLock = 0x73687566666c6564 // "shuffled"

// direct opens connections that are not the daemon's. A wait for a lock, also an advisory one, ends with lock_timeout:
// golang-migrate itself would wait for ever.
func (o Options) direct(ctx context.Context, dsn string) (*sql.DB, error) {
	o = o.withDefaults()
	pool, err := o.parse(dsn)
	if err != nil {
		return nil, err
	}
	cfg := pool.ConnConfig
	if cfg.ValidateConnect == nil {
		cfg.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if o.Pooler { // only Examine: the connection of a migration bypasses the pooler
		cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	var before []stdlib.OptionOpenDB
	if pool.BeforeConnect != nil {
		before = append(before, stdlib.OptionBeforeConnect(pool.BeforeConnect))
	}
	db := stdlib.OpenDB(*cfg, before...)
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("opening the database: %w", clean(err))
	}
	return db, nil
}

func (o Options) migrate(ctx context.Context, dsn string, do func(store.Schema) error) error {
	db, err := o.direct(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	lock, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("opening the database: %w", clean(err))
	}
	defer lock.Close() // db is closed as well: the lock ends with the connection
	waiting, cancel := context.WithTimeout(ctx, o.withDefaults().Timeout)
	defer cancel()
	if _, err := lock.ExecContext(waiting, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return fmt.Errorf("waiting for another migration to end: %w", clean(err))
	}
	d, err := driver.WithInstance(db, &driver.Config{})
	if err != nil {
		return fmt.Errorf("preparing to migrate: %w", clean(err))
	}
	defer d.Close()
	schema := store.Schema{
		Store:  "postgres",
		Driver: d,
		Version: func() (int, error) {
			version, guarded, err := schemaVersion(ctx, db)
			if version == migrations.Guards && !guarded && !o.NoGuards {
				version-- // the guards are wanted now
			}
			return version, err
		},
		Entries: func() (some bool, err error) {
			if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM entries)").Scan(&some); err != nil {
				return false, fmt.Errorf("looking for entries: %w", clean(err))
			}
			return some, nil
		},
	}
	if o.NoGuards {
		schema.Unguarded = func() error {
			_, err := db.ExecContext(ctx, fmt.Sprintf("COMMENT ON TABLE heads IS '%s%d%s'",
				versionPrefix, migrations.Guards, versionUnguarded))
			if err != nil {
				return fmt.Errorf("leaving out the guards: %w", clean(err))
			}
			return nil
		}
	}
	return do(schema)
}

const sqlVersion = `SELECT coalesce(obj_description(to_regclass('heads'), 'pg_class'), '')`

func schemaVersion(ctx context.Context, db *sql.DB) (version int, guarded bool, err error) {
	var c string
	if err := db.QueryRowContext(ctx, sqlVersion).Scan(&c); err != nil {
		return 0, false, fmt.Errorf("reading the schema version: %w", clean(err))
	}
	return parseVersion(c)
}
