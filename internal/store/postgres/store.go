// Package postgres keeps ledgers in PostgreSQL, the system of record. It needs nothing of the server that distributed
// engines of its family lack: no sequences, no LISTEN, no transaction longer than one round trip, and no advisory locks
// except in a migration.
//
// # An append
//
// An append is one statement (append.go): an UPDATE of the head, from the old size and root to the new, whose result
// feeds the INSERTs. If the head is another one, the UPDATE returns no row, and every INSERT has nothing to insert. The
// statement is its own transaction. It commits before the server says that it is ready again, and pgx waits for that.
// The statement runs under a time limit of its own and not under the caller's context, so that a caller that leaves
// does not make an outcome unknown.
//
// # The barrier
//
// With synchronous replication a commit becomes visible when its standby has it, but also when the wait for the standby
// is cut short: by a cancel request, which pgx sends when it gives up on a connection, by an operator, or by a crash
// and restart of the server. So a row that can be read may still be lost in a failover. Before such a row is
// acknowledged, it is therefore read with a lock on the head. A locking read gets a transaction id, and the commit of
// any transaction that has one waits for the standby. The write-ahead log is one sequence, so everything that was read
// before is replicated then, too. A plain read does not wait.
//
// Head takes the lock that an append takes, FOR NO KEY UPDATE, and so waits for an append that is under way: no commit
// that was sent before overtakes what Head returns. The finders take FOR KEY SHARE, which conflicts with no append:
// what they found need only stay. When they find nothing, no row is locked and there is no wait: an append follows, and
// decides. That a shuffle is not found is an answer: the barrier comes in front of its rows, on their connection.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/store"
)

// Options are the settings of a store. The zero value is good for production.
type Options struct {
	// PasswordFile is a file with the password, which is read again for every connection. A line end after the password
	// is ignored. If it is empty, the password is in the address or in the places where libpq looks for it.
	PasswordFile string
	// Readers is the largest number of connections for reading, 8 if it is 0.
	// Appends and heads have four of their own, which readers cannot take.
	Readers int
	// Audience is the largest number of connections for what is asked under ledger.AsReader, 4 if it is 0. They are
	// apart from those of Readers.
	Audience int
	// Timeout bounds an append from when it is sent, 10 s if it is 0. The server gives up on a statement after three
	// quarters of it and on a lock after half, so that the outcome is known if the server can still tell.
	Timeout time.Duration
	// AllowSuperuser accepts a role that no trigger and no grant can stop.
	AllowSuperuser bool
	// Pooler says that the address is of a transaction pooler such as PgBouncer. Then statements are not prepared, and
	// no settings are sent with connections: they belong to the role (docs/OPERATIONS.md).
	Pooler bool
	// NoGuards has MigrateUp leave out what guards the tables (migrations.Guards), for an engine that has no such
	// triggers. A later MigrateUp without NoGuards brings the guards.
	NoGuards bool

	anySchema bool // MigrateUp makes the tables in any schema: tests make many in one database

	recheck time.Duration // how long a check of a connection's server counts; 30 s if it is 0
}

// appenders is the number of connections for appends and heads. A ledger uses one at a time, for a millisecond.
const appenders = 4

// Store is a ledger.Store in one PostgreSQL database. All methods are safe for concurrent use.
type Store struct {
	store.Common
	*store.Joint // appends

	appends *pgxpool.Pool          // for Append, Create, Head and all other writes of evidence
	reads   ledger.Apart[readPool] // for all other calls
	pools   []*pgxpool.Pool        // of appends, of dealers' reads, of readers
	timeout time.Duration
	blocked atomic.Pointer[stops.Cause] // what a write waits for; nil for nothing that is known
}

// readPool is a pool of connections for reading. Of names those whose work uses it.
type readPool struct {
	*pgxpool.Pool
	of string
}

var _ ledger.Store = (*Store)(nil)

// Open connects to the database at dsn, a postgres:// address or libpq's "key=value" form, and checks it: durability is
// on, it is no standby, the role is no superuser, and the schema is that of this program. The same is checked for every
// later connection, and again while it is in use, since servers are restarted, another one is promoted, and roles
// change. An address may name several servers: the first one that passes is used.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{timeout: o.Timeout}
	s.Common = store.NewCommon(store.DB{Query: s.query, Keep: s.keep, Note: s.note, Shuffles: s.shuffles,
		ByKeyTags: sqlByKeyTags, DropAccess: sqlDropAccess})
	s.Joint = store.NewJoint(appenders, s.append)
	for i, conns := range []int{appenders, o.Readers, o.Audience} {
		cfg, err := o.pool(dsn, conns, s.moved)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if i == 0 && !o.Pooler {
			cfg.ConnConfig.RuntimeParams["statement_timeout"] = milliseconds(o.Timeout * 3 / 4)
		}
		pool, err := pgxpool.NewWithConfig(ctx, cfg)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening the database: %w", clean(err)), s.Close())
		}
		s.pools = append(s.pools, pool)
	}
	s.appends = s.pools[0]
	s.reads = ledger.NewApart(readPool{s.pools[1], "dealers"}, readPool{s.pools[2], "readers"})
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := s.appends.Ping(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("opening the database: %w", clean(err))
	}
	return s, nil
}

// moved closes all connections, since their server is no longer the one to use. A connection in use is closed when it
// is given back.
func (s *Store) moved() {
	for _, p := range s.pools {
		p.Reset()
	}
}

// Close closes all connections. It waits for calls that are under way.
func (s *Store) Close() error {
	for _, p := range s.pools {
		p.Close()
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Readers = cmp.Or(o.Readers, 8)
	o.Audience = cmp.Or(o.Audience, 4)
	o.recheck = cmp.Or(o.recheck, 30*time.Second)
	return o
}

// parse reads the address. A statement waits for a lock no longer than half the timeout.
func (o Options) parse(dsn string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// The error's text holds the address, and may hold the password.
		wrong := "the database address"
		for _, name := range []string{"PGSERVICE", "PGSSLMODE", "PGCONNECT_TIMEOUT"} {
			if os.Getenv(name) != "" {
				wrong += ", or " + name + " of the environment,"
			}
		}
		return nil, errors.New(wrong + " is malformed: the address should be like postgres://user@host:5432/database")
	}
	cc := cfg.ConnConfig
	if cc.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		// It puts values into the text of statements, which servers log.
		return nil, errors.New("the database address asks for the simple protocol, which is not used")
	}
	if cc.ConnectTimeout == 0 {
		// The timeout is for each server: one that hangs must leave time for the others.
		cc.ConnectTimeout = o.Timeout
		if n := servers(cc); n > 1 {
			cc.ConnectTimeout = o.Timeout / time.Duration(n+1)
		}
	}
	cc.DialFunc = (&net.Dialer{Control: o.userTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: o.Timeout, Interval: o.Timeout / 4, Count: 4}}).DialContext
	cc.RuntimeParams["application_name"] = "shuffled"
	if o.Pooler {
		cc.DefaultQueryExecMode = pgx.QueryExecModeExec
	} else {
		cc.RuntimeParams["lock_timeout"] = milliseconds(o.Timeout / 2)
		// So that a daemon whose machine is gone does not keep its locks for hours.
		cc.RuntimeParams["tcp_keepalives_idle"] = seconds(o.Timeout)
		cc.RuntimeParams["tcp_keepalives_interval"] = seconds(o.Timeout / 4)
		cc.RuntimeParams["tcp_keepalives_count"] = "4"
		cc.RuntimeParams["tcp_user_timeout"] = milliseconds(2 * o.Timeout)
	}
	if o.PasswordFile != "" {
		cfg.BeforeConnect = func(_ context.Context, cc *pgx.ConnConfig) error {
			b, err := os.ReadFile(o.PasswordFile)
			if err != nil {
				return fmt.Errorf("reading the database password: %w", err)
			}
			cc.Password = strings.TrimRight(string(b), "\r\n")
			return nil
		}
	}
	return cfg, nil
}

// pool is the configuration of a pool of the daemon. moved is called when the server stops or takes no writes any more.
func (o Options) pool(dsn string, conns int, moved func()) (*pgxpool.Config, error) {
	cfg, err := o.parse(dsn)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = int32(conns), 0, 0
	// The driver pings a connection that was not used for a second before it gives it out.
	cfg.PingTimeout = o.Timeout / 4
	cfg.PrepareConn = o.checkAgain
	cc := cfg.ConnConfig
	cc.OnPgError = keepsConnection(cc.OnPgError, moved)
	if !o.Pooler {
		cc.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(o.Timeout)
		// Each statement has one plan that is good for all parameters.
		cc.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
		// Every statement has an index. A plan that was made while a relation had few rows would read all of it when
		// it has many.
		cc.RuntimeParams["enable_seqscan"] = "off"
	}
	cc.OnNotice = noteSyncCancel
	others := cc.ValidateConnect // target_session_attrs of the address
	cc.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if others != nil {
			if err := others(ctx, conn); err != nil {
				return err
			}
		}
		return checkServer(ctx, conn, o.AllowSuperuser)
	}
	return cfg, nil
}

// servers is the number of servers that an address names.
func servers(cc *pgx.ConnConfig) int {
	all := map[string]bool{net.JoinHostPort(cc.Host, strconv.Itoa(int(cc.Port))): true}
	for _, f := range cc.Fallbacks {
		all[net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port)))] = true
	}
	return len(all)
}

// seconds is d in whole seconds, at least one.
func seconds(d time.Duration) string { return strconv.Itoa(max(1, int(d/time.Second))) }

func milliseconds(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }
