package postgres

import (
	"context"
	"fmt"

	"shuffled/internal/store"
)

// Pools returns how the connections are used, by what they are for.
func (s *Store) Pools() (all []store.Pool) {
	for i, p := range s.pools {
		stat := p.Stat()
		all = append(all, store.Pool{Name: [...]string{"appends", "reads", "public"}[i], Limit: int(stat.MaxConns()),
			Used: int(stat.AcquiredConns()), Open: int(stat.TotalConns()), Waits: uint64(stat.EmptyAcquireCount()),
			Wait: stat.EmptyAcquireWaitTime()})
	}
	return all
}

// Standbys asks the server for its synchronous standbys.
func (s *Store) Standbys(ctx context.Context) (r store.Standbys, err error) {
	err = s.reads.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names') <> '',
		pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
		(SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))`).
		Scan(&r.Wanted, &r.Known, &r.Synced)
	if err != nil {
		return r, fmt.Errorf("reading the standbys: %w", clean(err))
	}
	return r, nil
}
