package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

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

// migrationLock keeps two migrations of one database apart. An advisory lock needs a direct connection.
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

// OpenEvidence connects to the database at dsn for reading only. It accepts any rows and any settings of the server:
// evidence is read from a standby or a restored copy as well. The role needs SELECT on the tables of evidence, and
// nothing else.
func OpenEvidence(ctx context.Context, dsn string, o Options) (*store.Evidence, error) {
	o = o.withDefaults()
	cfg, err := o.parse(dsn)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = int32(o.Readers)
	if !o.Pooler {
		// Set with the connection, it would leave an address with target_session_attrs=read-write without a server.
		cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SET default_transaction_read_only = on")
			return err
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", clean(err))
	}
	query := func(ctx context.Context, sql string, args []any, each func([]any) error) error {
		rows, err := pool.Query(ctx, sql, args...)
		if err != nil {
			return schemaError(err)
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return clean(err)
			}
			if err := each(values); err != nil {
				return err
			}
		}
		return schemaError(rows.Err())
	}
	var comment any
	err = query(ctx, sqlVersion, nil, func(values []any) error {
		comment = values[0]
		return nil
	})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	text, _ := comment.(string)
	version, _, err := parseVersion(text) // 0 if it cannot be read
	e := &store.Evidence{Query: query, Close: func() error { pool.Close(); return nil }}
	if !errors.Is(err, store.ErrOldSchema) {
		err = e.CheckSchema(ctx, version)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return e, nil
}

// SQLSTATE codes of statements that do not fit the tables.
const (
	codeUndefinedTable    = "42P01"
	codeUndefinedColumn   = "42703"
	codeUndefinedFunction = "42883" // a comparison with a column of another type
	codeDatatypeMismatch  = "42804"
)

// schemaError wraps store.ErrSchema if a statement does not fit the tables.
func schemaError(err error) error {
	misfits := []string{codeUndefinedTable, codeUndefinedColumn, codeUndefinedFunction, codeDatatypeMismatch}
	if slices.ContainsFunc(misfits, func(code string) bool { return isCode(err, code) }) {
		return fmt.Errorf("%w: %w", store.ErrSchema, clean(err))
	}
	return clean(err)
}

// Examined is what a server says of itself and of a role. A daemon that starts requires less: see checkServer.
type Examined struct {
	Version string
	Number  int       // of the version, 150004 for 15.4
	Clock   time.Time // of the server

	Owns    string // tables that the role owns, or for whose owner it may act
	Changes string // tables of evidence in which it may change or remove rows
	Lacks   string // tables that it cannot use as a daemon does
	Gone    string // triggers that guard evidence and are missing or not enabled
	Citus   bool   // its tables may lie on other nodes, which were not asked
}

const sqlExamine = `
WITH evidence (t) AS (VALUES ('ledgers'), ('entries'), ('tiles'), ('checkpoints'), ('cosigned'), ('decks'), ('terms'),
       ('slots'), ('statements'), ('late')),
     guards (t, name) AS (SELECT t, 'insert_only' FROM evidence
       UNION ALL VALUES ('heads', 'kept'), ('heads', 'grows'), ('heads', 'guard'), ('entries', 'guard'),
       ('checkpoints', 'guard'), ('tiles', 'guard'), ('access_records', 'unchanged'), ('access_records', 'guard'))
SELECT current_setting('server_version'), current_setting('server_version_num')::int, clock_timestamp(),
       coalesce((SELECT string_agg(c.relname, ', ' ORDER BY c.relname) FROM pg_class c
         WHERE c.relname IN (SELECT t FROM guards) AND c.relnamespace = 'public'::regnamespace
           AND pg_has_role(c.relowner, 'MEMBER')), ''),
       coalesce((SELECT string_agg(t, ', ') FROM evidence WHERE has_table_privilege(t, 'UPDATE, DELETE, TRUNCATE')), ''),
       coalesce((SELECT string_agg(t, ', ') FROM (SELECT t FROM evidence UNION ALL VALUES ('heads'), ('access_records')) r
         WHERE NOT has_table_privilege(t, 'SELECT')
           OR NOT has_table_privilege(t, CASE t WHEN 'heads' THEN 'UPDATE' ELSE 'INSERT' END)), ''),
       coalesce((SELECT string_agg(name || ' of ' || t, ', ') FROM guards g WHERE NOT EXISTS
         (SELECT FROM pg_trigger p WHERE p.tgrelid = to_regclass(g.t) AND p.tgname = g.name AND p.tgenabled <> 'D')), ''),
       EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

// Examine asks the server at dsn. The schema must be that of this program.
func Examine(ctx context.Context, dsn string, o Options) (e Examined, err error) {
	conn, err := o.direct(ctx, dsn)
	if err != nil {
		return e, err
	}
	defer conn.Close(context.Background())
	row := conn.QueryRow(ctx, sqlExamine)
	if err := row.Scan(&e.Version, &e.Number, &e.Clock, &e.Owns, &e.Changes, &e.Lacks, &e.Gone, &e.Citus); err != nil {
		return e, fmt.Errorf("asking for rights and guards: %w", clean(err))
	}
	return e, nil
}

// Pools returns how the connections of each pool are used.
func (s *Store) Pools() (all []store.Pool) {
	for i, p := range s.pools {
		stat := p.Stat()
		all = append(all, store.Pool{Name: [...]string{"appends", "reads", "public"}[i], Limit: int(stat.MaxConns()),
			Used: int(stat.AcquiredConns()), Open: int(stat.TotalConns()), Waits: uint64(stat.EmptyAcquireCount()),
			Wait: stat.EmptyAcquireWaitTime()})
	}
	return all
}

// Standbys asks the server for its synchronous standbys. It calls the function of deploy/roles.sql. If that is missing,
// the role needs the right to read the server's statistics.
func (s *Store) Standbys(ctx context.Context) (r store.Standbys, err error) {
	var function bool
	err = s.reads.Of(ctx).QueryRow(ctx, `SELECT current_setting('synchronous_standby_names') <> '',
		pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
		coalesce(has_function_privilege(to_regprocedure('public.synchronous_standbys()'), 'EXECUTE'), false)`).
		Scan(&r.Wanted, &r.Known, &function)
	count := `SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')`
	if function {
		count = `SELECT public.synchronous_standbys()`
	}
	var synced *int
	if err == nil {
		err = s.reads.Of(ctx).QueryRow(ctx, count).Scan(&synced)
	}
	if r.Known = synced != nil && (function || r.Known); r.Known {
		r.Synced = *synced
	}
	if err != nil {
		return r, fmt.Errorf("reading the standbys: %w", clean(err))
	}
	return r, nil
}
