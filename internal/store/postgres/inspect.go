package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/store"
)

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
		// It is not set with the connection, because an address with target_session_attrs=read-write would then find
		// no server.
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
       ('slots'), ('statements')),
     guards (t, name) AS (SELECT t, 'insert_only' FROM evidence
       UNION ALL VALUES ('heads', 'kept'), ('heads', 'grows'), ('heads', 'guard'), ('entries', 'guard'),
       ('checkpoints', 'guard'), ('tiles', 'guard'), ('access_records', 'unchanged'), ('access_records', 'guard'))
SELECT current_setting('server_version'), current_setting('server_version_num')::int, clock_timestamp(),
       coalesce((SELECT string_agg(c.relname, ', ' ORDER BY c.relname) FROM pg_class c
         WHERE c.relname IN (SELECT t FROM guards) AND c.relnamespace = 'public'::regnamespace
           AND pg_has_role(c.relowner, 'MEMBER')), ''),
       coalesce((SELECT string_agg(t, ', ') FROM evidence WHERE has_table_privilege(t, 'UPDATE, DELETE, TRUNCATE')), ''),
       coalesce((SELECT string_agg(t, ', ') FROM evidence
         WHERE NOT has_table_privilege(t, 'SELECT') OR NOT has_table_privilege(t, 'INSERT')), '')
       || CASE WHEN has_table_privilege('heads', 'UPDATE') THEN '' ELSE ' heads' END,
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
	if err := row.Scan(&e.Version, &e.Number, &e.Clock, &e.Owns, &e.Changes, &e.Lacks, &e.Gone,
		&e.Citus); err != nil {
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
