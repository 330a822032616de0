package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/store"
	"shuffled/migrations"
)

// refusal is why a server is not used. Open returns it without the words that the driver puts around it.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// sqlServer asks what checkServer judges. An engine of the family may not know a setting.
const sqlServer = `
SELECT current_setting('fsync', true), current_setting('full_page_writes', true),
       current_setting('synchronous_commit', true), pg_is_in_recovery(), current_setting('is_superuser'),
       obj_description(to_regclass('heads'), 'pg_class'), current_setting('transaction_read_only'), version()`

// engineOf names the engine of a server by its answer to version(): "" for PostgreSQL itself.
func engineOf(version string) string {
	for _, e := range []struct{ says, name string }{{"CockroachDB", "CockroachDB"}, {"-YB-", "YugabyteDB"},
		{"Redshift", "Redshift"}, {"Greenplum", "Greenplum"}} {
		if strings.Contains(version, e.says) {
			return e.name
		}
	}
	if strings.HasPrefix(version, "PostgreSQL ") {
		return ""
	}
	name, _, _ := strings.Cut(version, " ")
	return name
}

// checkServer returns a *refusal if the server or the role could lose or change evidence, or if the schema is not that
// of this program.
func checkServer(ctx context.Context, conn *pgconn.PgConn, superuser bool) error {
	r := conn.ExecParams(ctx, sqlServer, nil, nil, nil, nil).Read()
	if r.Err != nil {
		return r.Err
	}
	if len(r.Rows) != 1 || len(r.Rows[0]) != 8 {
		return &refusal{errors.New("the server does not answer like PostgreSQL")}
	}
	var v [8]string
	for i, b := range r.Rows[0] {
		v[i] = string(b)
	}
	if engine := engineOf(v[7]); engine != "" {
		// If it has the settings below, they may govern nothing.
		return &refusal{fmt.Errorf("the server is %q and not PostgreSQL: whether it keeps what it acknowledged was "+
			"not checked, because its settings are not those of PostgreSQL (docs/SCALE.md)", engine)}
	}
	switch {
	case v[3] != "f":
		return &refusal{stops.With(errors.New("the server is a standby: what it shows may be old"), stops.ReadOnly)}
	case v[0] != "on":
		return &refusal{stops.With(errors.New("fsync is off"), stops.Unsafe)}
	case v[1] != "on":
		return &refusal{stops.With(errors.New("full_page_writes is off"), stops.Unsafe)}
	case v[2] != "on" && v[2] != "remote_apply":
		// Without a standby, local and remote_write are the same as on. With a standby, they acknowledge commits that
		// a failover may lose.
		return &refusal{stops.With(fmt.Errorf("synchronous_commit is %s", v[2]), stops.Unsafe)}
	case v[6] != "off":
		return &refusal{stops.With(errors.New("default_transaction_read_only is on"), stops.ReadOnly)}
	case v[4] != "off" && !superuser:
		return &refusal{stops.Superuser}
	}
	version, _, err := parseVersion(v[5])
	if err == nil {
		err = store.CheckSchema(version)
	}
	if err != nil {
		return &refusal{err}
	}
	return nil
}

const lastCheck = "shuffled: checked"

// checkAgain checks the server again before a connection is used, if its last check is longer ago than o.recheck:
// settings are changed, and behind a pooler or a moved address there may be another server. If the server does not
// pass, the connection is given up. The connection that takes its place reports the refusal.
func (o Options) checkAgain(ctx context.Context, conn *pgx.Conn) (keep bool, err error) {
	data := conn.PgConn().CustomData()
	if at, ok := data[lastCheck].(time.Time); ok && time.Since(at) < o.recheck {
		return true, nil
	}
	if checkServer(ctx, conn.PgConn(), o.AllowSuperuser) != nil {
		return false, nil
	}
	data[lastCheck] = time.Now()
	return true, nil
}

// keepsConnection says after which of the server's errors a connection is used again: not after those for which fatal
// closes it, and not if the server takes no writes or is being stopped. In the latter case moved is called, since the
// other connections are no better. New ones find the primary, or are refused.
func keepsConnection(fatal pgconn.PgErrorHandler, moved func()) pgconn.PgErrorHandler {
	return func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		switch err.Code {
		case codeReadOnly, codeAdminShutdown, codeCrashShutdown:
			moved()
			return false
		}
		return fatal(conn, err)
	}
}

// What stands in the comment of the relation heads alongside migrations.Comment and the number: unguarded ends it if
// the guards were left out. oldComment begins that of a program up to 1.0.0-rc.1.
const (
	unguarded  = " without guards"
	oldComment = "shuffled schema "
)

// parseVersion reads the schema's number from the comment of heads. An empty comment is version 0: there is no schema.
func parseVersion(comment string) (version int, guarded bool, err error) {
	if comment == "" {
		return 0, false, nil
	}
	number, ours := strings.CutPrefix(comment, migrations.Comment)
	number, bare := strings.CutSuffix(number, unguarded)
	if version, err = strconv.Atoi(number); ours && err == nil && version > 0 {
		return version, !bare, nil
	}
	number, old := strings.CutPrefix(number, oldComment)
	if version, err = strconv.Atoi(number); old && err == nil {
		return 0, false, store.OldSchema(version)
	}
	return 0, false, errors.New("the table heads was not made by shuffled")
}

// sqlWaits asks what a server process of the same role waits for. Behind a pooler the number that the connection has is
// not that of the process, and may have 32 bits without a sign: nothing is found.
const sqlWaits = `SELECT coalesce(wait_event_type, ''), coalesce(wait_event, '') FROM pg_stat_activity
	WHERE pid = $1::bigint`

// watch asks the server, on another connection, what the statement waits for that is sent on conn next, if it is still
// under way after a tenth of the timeout, and again after each further tenth. When the statement has ended, the caller
// calls ended, which returns the error with the cause that was found.
func (s *Store) watch(conn *pgxpool.Conn) (ended func(error) error) {
	pid := int64(conn.Conn().PgConn().PID())
	ctx, stop := context.WithCancel(context.Background())
	var mu sync.Mutex // held while it looks
	var cause stops.Cause
	timer := time.AfterFunc(s.timeout/10, func() {
		mu.Lock()
		defer mu.Unlock()
		for more := ctx.Err() == nil; more; more = ledger.Sleep(ctx, s.timeout/10, nil) {
			if found := s.waits(ctx, pid); found != "" {
				cause = found
				s.blocked.Store(&found)
			}
		}
	})
	return func(err error) error {
		stop()
		timer.Stop()
		mu.Lock() // waits for a look that is under way
		defer mu.Unlock()
		if cause == "" {
			return err
		}
		s.blocked.Store(nil)
		if err == nil {
			return nil
		}
		return stops.With(err, cause)
	}
}

// waits returns what a server process waits for, "" if it waits for nothing that has a name.
func (s *Store) waits(ctx context.Context, pid int64) (cause stops.Cause) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout/10)
	defer cancel()
	conn, err := s.reads.Of(ctx).Acquire(ctx)
	if err != nil {
		return ""
	}
	defer conn.Release()
	var class, event string
	if err := conn.QueryRow(ctx, sqlWaits, pid).Scan(&class, &event); err != nil {
		return ""
	}
	switch {
	case event == "SyncRep":
		return stops.Standby
	case class == "Lock":
		return stops.Lock
	}
	return ""
}

// Blocked returns what a statement under way waits for, "" for nothing that is known.
func (s *Store) Blocked() stops.Cause {
	if cause := s.blocked.Load(); cause != nil {
		return *cause
	}
	return ""
}
