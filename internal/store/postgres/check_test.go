package postgres

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
	"shuffled/migrations"
)

func TestServerRefused(t *testing.T) {
	t.Parallel()
	t.Run("fsync", func(t *testing.T) {
		t.Parallel()
		c := testdb.Start(t, testdb.Setting("fsync", "off"))
		dsn := c.Database(t)
		migrate(t, dsn)
		refusedWith(t, dsn, Options{AllowSuperuser: true}, "fsync is off")
	})
	t.Run("full_page_writes", func(t *testing.T) {
		t.Parallel()
		c := testdb.Start(t, testdb.Setting("full_page_writes", "off"))
		dsn := c.Database(t)
		migrate(t, dsn)
		refusedWith(t, dsn, Options{AllowSuperuser: true}, "full_page_writes is off")
	})
	t.Run("read only", func(t *testing.T) {
		t.Parallel()
		dsn := migrated(t)
		refusedWith(t, dsn+"&options=-c%20default_transaction_read_only%3Don", Options{AllowSuperuser: true},
			"takes no writes")
	})
	t.Run("standby", func(t *testing.T) {
		t.Parallel()
		c := testdb.Start(t)
		dsn := c.Database(t)
		migrate(t, dsn)
		s := open(t, dsn, Options{})
		l := storetest.Create(t, s)
		c.Standby(t)
		refusedWith(t, dsn, Options{AllowSuperuser: true}, "is a standby")
		if err := MigrateUp(t.Context(), dsn, Options{}); err == nil {
			t.Error("migrated a standby")
		}
		// A store that was opened before the server changed finds out as well.
		s.reads.Of(t.Context()).Reset()
		if _, err := s.ByKeyTags(t.Context(), l.ID, [32]byte{}); err == nil ||
			!strings.Contains(err.Error(), "is a standby") {
			t.Errorf("reading from what has become a standby: %v", err)
		}
		s.Close()
		c.Stop(t, testdb.Fast)
	})
}

// as returns the database with a schema in front that answers as another engine would.
func as(t *testing.T, dsn, sql string) string {
	t.Helper()
	exec(t, dsn, "CREATE SCHEMA engine; "+sql)
	return dsn + "&options=-c%20search_path%3Dengine%2Cpg_catalog%2Cpublic"
}

// TestEngineRefused: an engine whose durability nobody can ask for is named, and not started on.
func TestEngineRefused(t *testing.T) {
	t.Parallel()
	for version, engine := range map[string]string{
		"CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19.10)":        "CockroachDB",
		"PostgreSQL 11.2-YB-2.19.3.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 15, 64-bit": "YugabyteDB",
		"AnotherDB 1.0": "AnotherDB",
	} {
		dsn := migrated(t)
		refusedWith(t, as(t, dsn, "CREATE FUNCTION engine.version() RETURNS text LANGUAGE sql AS $$SELECT '"+version+
			"'::text$$"), Options{AllowSuperuser: true}, fmt.Sprintf("the server is %q and not PostgreSQL", engine))
		open(t, dsn, Options{})
	}
}

func refusedWith(t *testing.T, dsn string, o Options, reason string) {
	t.Helper()
	s, err := Open(t.Context(), dsn, o)
	if err == nil {
		s.Close()
		t.Errorf("opened; want a refusal: %s", reason)
	} else if !strings.Contains(err.Error(), reason) {
		t.Errorf("error %v, want one with %q", err, reason)
	}
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	refusedWith(t, dsn, Options{AllowSuperuser: true}, "the tables are older than this program")
	migrate(t, dsn)
	refusedWith(t, dsn, Options{}, "superuser")
	for value, reason := range map[string]string{
		"off": "synchronous_commit is off", "local": "synchronous_commit is local",
		"remote_write": "synchronous_commit is remote_write", "on": "", "remote_apply": "",
	} {
		with := dsn + "&options=" + "-c%20synchronous_commit%3D" + value
		if reason == "" {
			open(t, with, Options{})
		} else {
			refusedWith(t, with, Options{AllowSuperuser: true}, reason)
		}
	}
	exec(t, dsn, fmt.Sprintf("COMMENT ON TABLE heads IS '%s%d'", migrations.Comment, migrations.Latest+1))
	refusedWith(t, dsn, Options{AllowSuperuser: true}, "too old")
	exec(t, dsn, "COMMENT ON TABLE heads IS 'heads of cabbage'")
	refusedWith(t, dsn, Options{AllowSuperuser: true}, "not made by shuffled")
}

// TestServerChanges: a connection that is open finds out what became of its server.
func TestServerChanges(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	dsn := c.Database(t)
	migrate(t, dsn)
	usual := open(t, dsn, Options{})
	watchful := open(t, dsn, Options{recheck: time.Nanosecond})
	l := storetest.Create(t, usual)
	c.Set(t, "default_transaction_read_only", "on")
	for what, ask := range map[string]func() error{
		"Head":      func() error { _, err := watchful.Head(t.Context(), l.ID); return err },
		"ByKeyTags": func() error { _, err := watchful.ByKeyTags(t.Context(), l.ID, [32]byte{}); return err },
	} {
		if err := ask(); err == nil || !strings.Contains(err.Error(), "takes no writes") {
			t.Errorf("%s: %v", what, err)
		}
	}
	c.Set(t, "default_transaction_read_only", "off")
	if _, err := watchful.Head(t.Context(), l.ID); err != nil {
		t.Errorf("it is as it was: %v", err)
	}
	// One that takes no writes any more is noticed by the error, and left at once.
	pid := func() (pid uint32) {
		conn, err := usual.appends.Acquire(t.Context())
		must(t, err)
		defer conn.Release()
		return conn.Conn().PgConn().PID()
	}
	before := pid()
	c.Set(t, "default_transaction_read_only", "on")
	if err := usual.Append(t.Context(), l.ID, l.Head, l.Next(1)); !plain(err) || !isCode(err, codeReadOnly) {
		t.Errorf("appending to a server that takes no writes: %v", err)
	}
	if err := usual.Append(t.Context(), l.ID, l.Head, l.Next(1)); !plain(err) ||
		!strings.Contains(err.Error(), "takes no writes") {
		t.Errorf("appending again: %v", err)
	}
	c.Set(t, "default_transaction_read_only", "off")
	if err := usual.Append(t.Context(), l.ID, l.Head, l.Next(1)); err != nil {
		t.Error(err)
	}
	if pid() == before {
		t.Error("the connection was kept")
	}
}

// TestServers: of several servers the first that answers and passes is used, one that hangs notwithstanding.
func TestServers(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	dsn := c.Database(t)
	migrate(t, dsn)
	standby := c.NewStandby(t)
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	primary, err := url.Parse(dsn)
	must(t, err)
	second, err := url.Parse(standby.Same(t, dsn))
	must(t, err)
	all := *primary
	all.Host = strings.Join([]string{silent.Addr().String(), second.Host, primary.Host}, ",")
	// One that hangs takes only its share of the time that there is.
	for address, want := range map[string]time.Duration{dsn: 12 * time.Second, all.String(): 3 * time.Second,
		all.String() + "&connect_timeout=2": 2 * time.Second} {
		if cfg, err := (Options{Timeout: 12 * time.Second}).parse(address); err != nil ||
			cfg.ConnConfig.ConnectTimeout != want {
			t.Errorf("connecting to one of %s may take %v, want %v; %v", address, cfg.ConnConfig.ConnectTimeout, want,
				err)
		}
	}
	for _, more := range []string{"", "&target_session_attrs=read-write"} {
		s := open(t, all.String()+"&connect_timeout=2"+more, Options{Timeout: time.Minute})
		conn, err := s.appends.Acquire(t.Context())
		must(t, err)
		if got := conn.Conn().PgConn().Conn().RemoteAddr().String(); got != primary.Host {
			t.Errorf("connected to %s, want %s", got, primary.Host)
		}
		conn.Release()
	}
}

// TestVanishedClient: a server hears when the machine of a daemon is gone, and gives up its locks.
func TestVanishedClient(t *testing.T) {
	t.Parallel()
	s := open(t, migrated(t), Options{Timeout: 8 * time.Second})
	conn, err := s.appends.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	for setting, want := range map[string]string{"tcp_keepalives_idle": "8", "tcp_keepalives_interval": "2",
		"tcp_keepalives_count": "4",
		"tcp_user_timeout":     "16000"} {
		if got := query[string](t, conn.Conn(), "SHOW "+setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
}

// TestAddress: what cannot be used is refused without repeating a password.
func TestAddress(t *testing.T) {
	t.Parallel()
	const secret = "hunter2%zz"
	for _, dsn := range []string{
		"postgres://daemon:" + secret + "@localhost/shuffled",
		"postgres://daemon:" + secret + "@[::1/shuffled",
		"host=localhost password=" + secret + " sslmode=perhaps",
		"host=localhost password='" + secret,
		"postgres://daemon:hunter2@localhost:port/shuffled",
		"postgres://daemon:hunter2@localhost/shuffled?default_query_exec_mode=simple_protocol",
		"postgres://daemon:hunter2@127.0.0.1:1/shuffled",
	} {
		_, err := Open(t.Context(), dsn, Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", dsn, err)
		}
		if err := MigrateUp(t.Context(), dsn, Options{}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("migrating %s: %v", dsn, err)
		}
	}
}

// TestEnvironment: a variable of libpq that may be what is wrong is named.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{"PGSSLMODE": "perhaps", "PGCONNECT_TIMEOUT": "soon",
		"PGSERVICE": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := Open(t.Context(), "postgres://daemon@localhost/shuffled", Options{})
			if err == nil || !strings.Contains(err.Error(), "or "+name+" of the environment, is malformed") {
				t.Error(err)
			}
		})
	}
}

func TestPasswordFile(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	u, err := url.Parse(dsn)
	must(t, err)
	password, _ := u.User.Password()
	u.User = url.User(u.User.Username())
	file := filepath.Join(t.TempDir(), "password")
	write := func(s string) {
		must(t, os.WriteFile(file, []byte(s), 0o600))
	}
	write(password + "\n")
	o := Options{PasswordFile: file, AllowSuperuser: true}
	must(t, MigrateUp(t.Context(), u.String(), o))
	s := open(t, u.String(), o)
	storetest.Create(t, s)
	// It is read for every connection.
	write("wrong")
	refusedWith(t, u.String(), o, "password authentication failed")
	s.reads.Of(t.Context()).Reset()
	if _, err := s.Ledgers(t.Context()); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("connecting with a wrong password: %v", err)
	}
	write(password)
	if _, err := s.Ledgers(t.Context()); err != nil {
		t.Errorf("connecting with the right password again: %v", err)
	}
	o.PasswordFile += ".none"
	refusedWith(t, u.String(), o, "reading the database password")
}
