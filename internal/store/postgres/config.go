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
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

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
	if !o.Pooler {
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
	if o.Pooler {
		cc.DefaultQueryExecMode = pgx.QueryExecModeExec
	} else {
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
