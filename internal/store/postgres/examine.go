package postgres

import (
	"context"
	"fmt"
	"time"
)

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
	db, err := o.direct(ctx, dsn)
	if err != nil {
		return e, err
	}
	defer db.Close()
	row := db.QueryRowContext(ctx, sqlExamine)
	if err := row.Scan(&e.Version, &e.Number, &e.Clock, &e.Owns, &e.Changes, &e.Lacks, &e.Gone,
		&e.Citus); err != nil {
		return e, fmt.Errorf("asking for rights and guards: %w", clean(err))
	}
	return e, nil
}
