package testdb

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	superuser = "shuffled"

	// patience bounds every wait for the server: start, recovery, stop. It ends a run that hangs, and measures nothing.
	patience = 2 * time.Minute
	// pause is the time between two checks of a condition.
	pause = 20 * time.Millisecond
)

// A Cluster is a private PostgreSQL server and its data directory.
//
// Database may be called concurrently while the server runs. Methods that change the server, such as Stop, Start and
// Promote, are for one goroutine, that of the test.
type Cluster struct {
	bin      string              // directory of the server programs
	dir      string              // holds data, log and password; removed at the end
	as       *syscall.Credential // the user that the server runs as; nil for the caller's
	password string
	settings []string // -c arguments, in order; the last one wins
	port     int
	version  string // server_version, known after the first start
	dog      *watchdog

	server *process // nil while stopped; owned like Stop and Start
	killed bool     // stopped by Kill and not started since

	databases atomic.Uint32 // number of databases ever created
}

type config struct {
	settings []string
	port     func() (int, error) // nil is FreePort; replaced by this package's tests
}

// An Option changes how [Start] sets a cluster up.
type Option func(*config)

// Setting sets a parameter of the server for as long as the cluster exists, in place of this package's own choice.
func Setting(name, value string) Option {
	return func(c *config) { c.settings = append(c.settings, "-c", name+"="+value) }
}

// ownSettings use little memory and keep full durability. Dynamic shared memory is in files below the data directory,
// so that it is removed with the directory.
var ownSettings = []string{
	"-c", "listen_addresses=127.0.0.1",
	"-c", "unix_socket_directories=",
	"-c", "fsync=on",
	"-c", "full_page_writes=on",
	"-c", "synchronous_commit=on",
	"-c", "shared_buffers=16MB",
	"-c", "dynamic_shared_memory_type=mmap",
	"-c", "max_connections=400",
	"-c", "timezone=UTC",
	"-c", "log_timezone=UTC",
}

// newCluster creates a cluster and starts it.
func newCluster(ctx context.Context, cfg config) (_ *Cluster, err error) {
	bin, err := binDir()
	if err != nil {
		return nil, err
	}
	as, err := serverUser()
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, as: as, password: rand.Text()}
	c.settings = append(append(c.settings, ownSettings...), cfg.settings...)
	if c.dir, err = makeDir(as); err != nil {
		return nil, err
	}
	// The watchdog comes first: from here on, the clean-up does not need this process.
	if c.dog, err = newWatchdog(bin, c.dir, as); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if err := c.initialize(); err != nil {
		return nil, err
	}
	choose := cfg.port
	if choose == nil {
		choose = FreePort
	}
	return c, c.launch(ctx, choose)
}

// initialize makes the data directory. It is not synced to disk, which would take longer than the rest: a power cut
// ends the test as well.
func (c *Cluster) initialize() error {
	pwfile := filepath.Join(c.dir, "password")
	if err := c.writeFile(pwfile, []byte(c.password+"\n")); err != nil {
		return err
	}
	cmd := c.command("initdb", "-D", c.DataDir(), "-U", superuser, "--pwfile", pwfile,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := spawn(cmd)
	if err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return fmt.Errorf("running initdb: %w\n%s", err, out.String())
	}
	return nil
}

// command prepares a server program that runs in the cluster's directory, as its user, and in a process group of its
// own: a Ctrl-C at the terminal must reach the test and not the server.
func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.Env = cleanEnv()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.as}
	dieWithParent(cmd.SysProcAttr)
	return cmd
}

// writeFile writes a private file that belongs to the server's user.
func (c *Cluster) writeFile(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return chown(path, c.as)
}

// url is the connection URL of a database.
func (c *Cluster) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, c.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Database is [DSN] for this cluster. If the cluster is stopped when the test ends, the database is removed with the
// cluster.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", c.databases.Add(1))
	if err := c.exec("CREATE DATABASE " + name + " TEMPLATE template0"); err != nil {
		t.Fatalf("testdb: creating a database: %v", err)
	}
	t.Cleanup(func() {
		if c.server == nil {
			return
		}
		if err := c.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("testdb: dropping a database: %v", err)
		}
	})
	if err := prove(t.Name(), name, c.version); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	return c.url(name)
}

// exec runs one statement over a connection of its own.
func (c *Cluster) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// DataDir returns the data directory, for tests that search its files.
func (c *Cluster) DataDir() string { return filepath.Join(c.dir, "data") }

// LogFile returns the file with everything that the server has logged.
func (c *Cluster) LogFile() string { return filepath.Join(c.dir, "log") }

// FreeAddress returns a loopback address with a port from [FreePort].
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// FreePort returns a loopback port that was free a moment ago. It is below the ranges from which systems take the ports
// of outgoing connections (Linux: from 32768), so that no other process takes it while a server restarts.
func FreePort() (int, error) {
	var err error
	for range 100 {
		var b [2]byte
		rand.Read(b[:])
		port := 10240 + int(binary.BigEndian.Uint16(b[:]))%(32768-10240)
		var l net.Listener
		if l, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("finding a free port: %w", err)
}
