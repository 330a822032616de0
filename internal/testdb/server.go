package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Mode is a way to stop a server.
type Mode int

const (
	// Fast cuts the connections, writes a checkpoint and ends, as in a planned restart.
	Fast Mode = iota
	// Immediate ends at once, without a checkpoint. The next start recovers from the write-ahead log, as after a crash.
	Immediate
	// Kill sends SIGKILL to the postmaster. Its backends notice this and end by themselves. One with a commit under way
	// may finish the commit before.
	Kill
)

var modeSignals = map[Mode]syscall.Signal{
	Fast: syscall.SIGINT, Immediate: syscall.SIGQUIT, Kill: syscall.SIGKILL,
}

// Stop stops the server and waits until its main process is gone.
func (c *Cluster) Stop(t testing.TB, mode Mode) {
	t.Helper()
	if err := c.stop(mode); err != nil {
		t.Fatalf("testdb: stopping the server: %v", err)
	}
}

// Start starts a stopped server again, at the same address, and waits until it has recovered and answers.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	if c.server != nil {
		t.Fatal("testdb: Start: the server is running")
	}
	if err := c.relaunch(); err != nil {
		t.Fatalf("testdb: starting the server again: %v", err)
	}
}

// Restart stops the server in the given way and starts it again.
func (c *Cluster) Restart(t testing.TB, mode Mode) {
	t.Helper()
	c.Stop(t, mode)
	c.Start(t)
}

// Standby restarts the server as a hot standby without a primary: read-only, and in recovery for as long as the cluster
// exists.
func (c *Cluster) Standby(t testing.TB) {
	t.Helper()
	c.Stop(t, Fast)
	if err := c.writeFile(filepath.Join(c.DataDir(), "standby.signal"), nil); err != nil {
		t.Fatalf("testdb: making a standby: %v", err)
	}
	c.Start(t)
}

func (c *Cluster) stop(mode Mode) error {
	if c.server == nil {
		return errors.New("the server is not running")
	}
	if err := c.server.cmd.Process.Signal(modeSignals[mode]); err != nil {
		return fmt.Errorf("signalling the server: %w", err)
	}
	select {
	case <-c.server.done:
	case <-time.After(patience):
		return fmt.Errorf("the server still runs %v after %v", patience, modeSignals[mode])
	}
	c.server, c.killed = nil, mode == Kill
	return nil
}

// relaunch starts the server at the address it had.
func (c *Cluster) relaunch() error {
	return c.launch(context.Background(), func() (int, error) { return c.port, nil })
}

// errTryAgain marks a start that failed for a temporary reason.
var errTryAgain = errors.New("try again")

// launch starts the server on a port that port chooses. It tries again as long as the port is taken, or an earlier
// server is still ending.
func (c *Cluster) launch(ctx context.Context, port func() (int, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var err error
		if c.port, err = port(); err != nil {
			return err
		}
		err = c.launchOnce(ctx)
		if !errors.Is(err, errTryAgain) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

func (c *Cluster) launchOnce(ctx context.Context) error {
	log, err := os.OpenFile(c.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	before, err := log.Stat()
	if err != nil {
		return err
	}
	args := append([]string{"-D", c.DataDir(), "-p", fmt.Sprint(c.port)}, c.settings...)
	cmd := c.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := spawn(cmd)
	if err != nil {
		return err
	}
	// Another program on the port may accept the connection and never answer: the attempt ends with the server.
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-p.done:
		case <-asking.Done():
		}
	}()
	for {
		if c.version, err = c.answer(asking); err == nil {
			c.server, c.killed = p, false
			return nil
		}
		select {
		case <-p.done:
			return c.startFailure(p.err, before.Size())
		case <-ctx.Done():
			p.cmd.Process.Signal(syscall.SIGQUIT)
			<-p.done
			return fmt.Errorf("waiting for the server to answer: %w", err)
		case <-time.After(pause):
		}
	}
}

// answer connects and asks for the version. Another server on the same port does not know the password.
func (c *Cluster) answer(ctx context.Context) (version string, err error) {
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return "", err
	}
	version = conn.PgConn().ParameterStatus("server_version")
	return version, conn.Close(ctx)
}

// startFailure explains why a server ended instead of starting, with what it logged after offset from.
func (c *Cluster) startFailure(exit error, from int64) error {
	log, err := os.ReadFile(c.LogFile())
	if err != nil {
		return errors.Join(exit, err)
	}
	text := string(log[from:])
	err = fmt.Errorf("the server ended at its start: %v\n%s", exit, text)
	// The messages are PostgreSQL's, in English because LC_ALL is C.
	for _, passing := range []string{
		"Address already in use",
		"pre-existing shared memory block",
		`lock file "postmaster.pid" already exists`,
	} {
		if strings.Contains(text, passing) {
			return fmt.Errorf("%w: %w", errTryAgain, err)
		}
	}
	return err
}

// close stops the server, removes the directory, and waits for both.
func (c *Cluster) close() error {
	if c.killed {
		// A killed postmaster leaves a small System V memory segment, which only the next server in the same directory
		// removes. If that one cannot start any more, the segment (56 bytes) stays until the machine restarts.
		_ = c.relaunch()
	}
	err := c.dog.release()
	if c.server != nil {
		<-c.server.done
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}
