package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/store"
	"shuffled/migrations"
)

// MigrateUp brings the database at dsn to the newest schema, in one transaction. The role must own the schema
// (deploy/roles.sql), which the daemon's role does not. It uses the fields PasswordFile, Timeout and NoGuards of o.
func MigrateUp(ctx context.Context, dsn string, o Options) error {
	conn, err := o.direct(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background()) // with it ends the lock
	waiting, cancel := context.WithTimeout(ctx, o.withDefaults().Timeout)
	defer cancel()
	if _, err := conn.Exec(waiting, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return fmt.Errorf("waiting for another migration to end: %w", clean(err))
	}
	var in string
	if err := conn.QueryRow(ctx, "SELECT coalesce(current_schema(), '')").Scan(&in); err != nil {
		return fmt.Errorf("reading the schema: %w", clean(err))
	}
	if in != "public" && !o.anySchema { // a daemon looks for its tables in public
		return fmt.Errorf("the tables would be made in the schema %q, and must be in public: take search_path out of the "+
			"address and of the role's settings, and let the role create tables in public", in)
	}
	version, guarded, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	if version > migrations.Latest {
		return store.CheckSchema(version)
	}
	sql := migrations.Above("postgres", version)
	if !guarded && !o.NoGuards {
		sql += migrations.Guards()
	}
	// Statements without parameters, sent at once, are one transaction.
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("migrating up: %w", clean(err))
	}
	return nil
}

// migrationLock keeps two migrations of one database apart. An advisory lock needs a direct connection, which a
// migration has.
const migrationLock = 0x73687566666c6564 // "shuffled"

// direct opens a connection that is not the daemon's. A wait for a lock, also an advisory one, ends with lock_timeout.
// Only Examine may go through a pooler: the connection of a migration bypasses it.
func (o Options) direct(ctx context.Context, dsn string) (*pgx.Conn, error) {
	o = o.withDefaults()
	pool, err := o.parse(dsn)
	if err != nil {
		return nil, err
	}
	cfg := pool.ConnConfig
	if cfg.ValidateConnect == nil {
		cfg.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if pool.BeforeConnect != nil {
		err = pool.BeforeConnect(ctx, cfg)
	}
	var conn *pgx.Conn
	if err == nil {
		conn, err = pgx.ConnectConfig(ctx, cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", clean(err))
	}
	return conn, nil
}

const sqlVersion = `SELECT coalesce(obj_description(to_regclass('heads'), 'pg_class'), '')`

func schemaVersion(ctx context.Context, conn *pgx.Conn) (version int, guarded bool, err error) {
	var c string
	if err := conn.QueryRow(ctx, sqlVersion).Scan(&c); err != nil {
		return 0, false, fmt.Errorf("reading the schema version: %w", clean(err))
	}
	return parseVersion(c)
}
