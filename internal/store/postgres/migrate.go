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
)

// MigrateUp brings the database at dsn to the newest schema. The role must own
// the schema (deploy/roles.sql), which the daemon's role does not. Of o it uses
// PasswordFile and Timeout.
func MigrateUp(ctx context.Context, dsn string, o Options) error {
	return o.migrate(ctx, dsn, store.Schema.Up)
}

// MigrateDown undoes the newest migration. It returns store.ErrNotEmpty
// while there are entries.
func MigrateDown(ctx context.Context, dsn string, o Options) error {
	return o.migrate(ctx, dsn, store.Schema.Down)
}

// SchemaVersion returns the number of the schema of the database at dsn, 0 for
// none. It changes nothing.
func SchemaVersion(ctx context.Context, dsn string, o Options) (int, error) {
	db, err := o.direct(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return schemaVersion(ctx, db)
}

// migrationLock keeps two migrations of one database apart. golang-migrate has a
// lock too, but gives it back between its steps. An advisory lock is for direct
// connections only, which a migration's is.
const migrationLock = 0x73687566666c6564 // "shuffled"

// direct opens connections that are not the daemon's. Waiting for a lock, the
// advisory ones included, ends with lock_timeout; golang-migrate itself would
// wait for ever.
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
	if o.Pooler { // for Examine: a migration's connection goes past it
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
	defer lock.Close() // db is closed as well, and with the connection its lock is gone
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
	return do(store.Schema{
		Store:   "postgres",
		Driver:  d,
		Version: func() (int, error) { return schemaVersion(ctx, db) },
		Entries: func() (some bool, err error) {
			if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM entries)").Scan(&some); err != nil {
				return false, fmt.Errorf("looking for entries: %w", clean(err))
			}
			return some, nil
		},
	})
}

const sqlVersion = `SELECT coalesce(obj_description(to_regclass('heads'), 'pg_class'), '')`

func schemaVersion(ctx context.Context, db *sql.DB) (int, error) {
	var c string
	if err := db.QueryRowContext(ctx, sqlVersion).Scan(&c); err != nil {
		return 0, fmt.Errorf("reading the schema version: %w", clean(err))
	}
	return parseVersion(c)
}
