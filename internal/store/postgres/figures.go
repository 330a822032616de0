package postgres

import (
	"context"
	"fmt"

	"shuffled/internal/store"
)

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
