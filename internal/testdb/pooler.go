package testdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pooler starts a PgBouncer in front of the cluster, in transaction mode, until the test ends. It returns a function
// that gives an address through it. The test is skipped if PgBouncer is not installed.
func (c *Cluster) Pooler(t testing.TB) (through func(dsn string) string) {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		if path = "/usr/sbin/pgbouncer"; !executable(path) { // not in everybody's PATH
			t.Skip("testdb: no PgBouncer: on Debian, apt-get install pgbouncer")
		}
	}
	port, err := c.startPooler(t, path)
	if err != nil {
		t.Fatalf("testdb: starting PgBouncer: %v", err)
	}
	return func(dsn string) string {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatalf("testdb: %v", err)
		}
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		return u.String()
	}
}

func (c *Cluster) startPooler(t testing.TB, path string) (port int, err error) {
	dir, err := makeDir(c.as)
	if err != nil {
		return 0, err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if port, err = FreePort(); err != nil {
		return 0, err
	}
	ini, users, log := filepath.Join(dir, "ini"), filepath.Join(dir, "users"), filepath.Join(dir, "log")
	settings := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
		"unix_socket_dir =\nauth_type = scram-sha-256\nauth_file = %s\nlogfile = %s\npool_mode = transaction\n"+
		"max_client_conn = 400\nquery_wait_timeout = 5\n", c.port, port, users, log)
	if err := c.writeFile(ini, []byte(settings)); err != nil {
		return 0, err
	}
	if err := c.writeFile(users, fmt.Appendf(nil, "%q %q\n", superuser, c.password)); err != nil {
		return 0, err
	}
	cmd := c.command("postgres", "-q", ini)
	cmd.Path, cmd.Args[0], cmd.Dir = path, path, dir
	p, err := spawn(cmd)
	if err != nil {
		return 0, err
	}
	t.Cleanup(func() { p.cmd.Process.Signal(syscall.SIGQUIT); <-p.done })
	address := strings.Replace(c.url("postgres"), fmt.Sprint(":", c.port, "/"), fmt.Sprint(":", port, "/"), 1)
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		if conn, err := pgx.Connect(context.Background(), address); err == nil {
			return port, conn.Close(context.Background())
		} else if time.Now().After(deadline) {
			return 0, err
		}
		select {
		case <-p.done:
			text, _ := os.ReadFile(log)
			return 0, errors.Join(fmt.Errorf("it ended: %v\n%s", p.err, text))
		default:
		}
	}
}
