package testdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// standbyName is the name of a standby of [Cluster.NewStandby], for synchronous_standby_names.
const standbyName = "standby"

// NewStandby makes a hot standby of the running cluster, and waits until it streams from the cluster. Its databases are
// those of the cluster: see [Cluster.Same]. It is removed when the test ends.
func (c *Cluster) NewStandby(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	s, err := c.newStandby(t.Context(), opts)
	if err != nil {
		t.Fatalf("testdb: making a standby: %v", err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Errorf("testdb: stopping the standby: %v", err)
		}
	})
	c.await(t, "a standby that streams", "SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming'")
	return s
}

func (c *Cluster) newStandby(ctx context.Context, opts []Option) (_ *Cluster, err error) {
	var cfg config
	for _, o := range opts {
		o(&cfg)
	}
	s := &Cluster{bin: c.bin, as: c.as, password: c.password, settings: append([]string(nil), c.settings...)}
	s.settings = append(append(s.settings, "-c", "cluster_name="+standbyName), cfg.settings...)
	if s.dir, err = makeDir(s.as); err != nil {
		return nil, err
	}
	if s.dog, err = newWatchdog(s.bin, s.dir, s.as); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	// pg_basebackup gets the password by the environment, and keeps it in the standby's data directory.
	cmd := s.command("pg_basebackup", "-D", s.DataDir(), "-h", "127.0.0.1", "-p", fmt.Sprint(c.port), "-U", superuser,
		"-X", "stream", "-c", "fast", "-R", "--no-sync")
	cmd.Env = append(cmd.Env, "PGPASSWORD="+c.password)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := spawn(cmd)
	if err != nil {
		return nil, err
	}
	if err := p.wait(); err != nil {
		return nil, fmt.Errorf("running pg_basebackup: %w\n%s", err, out.String())
	}
	return s, s.launch(ctx, FreePort)
}

// Same returns the address of the database of dsn, of another cluster, in this one: its copy.
func (c *Cluster) Same(t testing.TB, dsn string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	return c.url(cfg.Database)
}

// Synchronous makes commits of the cluster wait for its standby, and waits until they do, or makes them wait no longer.
func (c *Cluster) Synchronous(t testing.TB, on bool) {
	t.Helper()
	if !on {
		c.Set(t, "synchronous_standby_names", "")
		return
	}
	c.Set(t, "synchronous_standby_names", standbyName)
	c.await(t, "a synchronous standby", "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'")
}

// Detach ends the streaming of a standby: it gets nothing any more that its primary writes.
func (c *Cluster) Detach(t testing.TB) {
	t.Helper()
	c.Set(t, "primary_conninfo", "")
	c.await(t, "the end of streaming", "SELECT count(*) = 0 FROM pg_stat_wal_receiver")
}

// Promote makes a primary of a standby.
func (c *Cluster) Promote(t testing.TB) {
	t.Helper()
	var promoted bool
	if err := c.scan("SELECT pg_promote(true, 60)", &promoted); err != nil || !promoted {
		t.Fatalf("testdb: promoting a standby: %t, %v", promoted, err)
	}
}

// Set changes a setting of the running server, also for connections that are open. A setting that was given at the
// start has precedence.
func (c *Cluster) Set(t testing.TB, name, value string) {
	t.Helper()
	quoted := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	for _, sql := range []string{"ALTER SYSTEM SET " + name + " = " + quoted, "SELECT pg_reload_conf()"} {
		if err := c.exec(sql); err != nil {
			t.Fatalf("testdb: setting %s: %v", name, err)
		}
	}
	if name == "primary_conninfo" {
		return // shown differently
	}
	c.await(t, name+" to be "+value, "SELECT current_setting('"+name+"') = "+quoted)
}

// Pause stops every process of the server, like a machine that hangs: connections stay open and nothing answers. The
// returned function continues the processes, as does the end of the test.
func (c *Cluster) Pause(t testing.TB) (resume func()) {
	t.Helper()
	var pids []int
	if err := c.scan("SELECT array_agg(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()", &pids); err != nil {
		t.Fatalf("testdb: pausing the server: %v", err)
	}
	pids = append([]int{c.server.cmd.Process.Pid}, pids...)
	signal := func(s syscall.Signal) {
		for _, pid := range pids {
			if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Errorf("testdb: signalling process %d of the server: %v", pid, err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	paused := true
	resume = func() {
		if paused {
			paused = false
			signal(syscall.SIGCONT)
		}
	}
	t.Cleanup(resume)
	return resume
}

// scan runs one query of one row over a connection of its own.
func (c *Cluster) scan(sql string, dest ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.QueryRow(ctx, sql).Scan(dest...)
}

// await waits until a query of the server says true.
func (c *Cluster) await(t testing.TB, what, sql string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		var reached bool
		err := c.scan(sql, &reached)
		if err == nil && reached {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("testdb: waited in vain for %s: %v", what, err)
		}
	}
}
