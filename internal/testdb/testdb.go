// Package testdb gives tests a real PostgreSQL. It is imported by tests and
// benchmarks only; internal/arrows fails if it ever reaches the binary.
//
// The first test of a process that asks for a database starts one private cluster. It has a data directory below the
// temporary directory, a port of the loopback address, a random password, and full durability (fsync, full_page_writes,
// synchronous_commit), since tests check what survives a crash. Every test gets a new, empty database in it. Tests that
// stop, kill or misconfigure a server start a [Cluster] of their own.
//
// A package that uses testdb runs its tests through it in TestMain:
//
//	func TestMain(m *testing.M) { testdb.Main(m) }
//
// # Where the server comes from
//
// The binaries are looked for in PATH, in `pg_config --bindir`, and in /usr/lib/postgresql/*/bin, newest version first.
// Without them a test is skipped with the command that installs them, or fails if SHUFFLED_REQUIRE_POSTGRES=1.
// PostgreSQL refuses to run as root; for root the server runs as the user postgres, or as the user nobody if there is
// none.
//
// # What is left behind
//
// Nothing. A watchdog, a small shell in a process group of its own, has the read end of a pipe whose only write end
// belongs to the test process. When that end closes, because the tests ended or because the process crashed, timed out
// or was killed, the watchdog stops the server and removes the directory. On Linux the kernel also sends the server
// SIGQUIT when the test process dies. This covers two cases that the watchdog cannot: its own death, and the moment
// before the server has written its process id.
//
// # Proof that it ran
//
// If SHUFFLED_POSTGRES_PROOF names a file, one line is appended to it for every database created, beginning with the
// name of the test binary and the test, so that continuous integration can tell a suite that passed from one that was
// skipped. A test that cannot write the line fails.
package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Environment variables read by this package; see the package comment.
const (
	envRequire = "SHUFFLED_REQUIRE_POSTGRES"
	envProof   = "SHUFFLED_POSTGRES_PROOF"
)

// shared is the cluster that [DSN] uses. It is started once, by the first test that needs it, and closed by M.Run.
var shared struct {
	once    sync.Once
	cluster *Cluster // nil if err is set
	err     error
}

// Main runs the tests of a package, stops the shared cluster, and exits with the tests' exit code. It does not return.
func Main(m *testing.M) { os.Exit(M{m}.Run()) }

// M wraps testing.M so that Run also stops the shared cluster. It is for
// packages that check something after that, such as goroutine leaks:
//
//	goleak.VerifyTestMain(testdb.M{M: m})
type M struct{ *testing.M }

// Run runs the tests and then stops the shared cluster, if one was started, and whatever else the tests started.
// A cluster that cannot be cleaned up turns success into failure.
func (m M) Run() int {
	release, err := leash()
	if err != nil {
		fmt.Fprintf(os.Stderr, "testdb: starting the shell that ends what tests started: %v\n", err)
		return 1
	}
	defer release()
	code := m.M.Run()
	if shared.cluster == nil {
		return code
	}
	if err := shared.cluster.close(); err != nil {
		fmt.Fprintf(os.Stderr, "testdb: stopping the shared cluster: %v\n", err)
		return max(code, 1)
	}
	return code
}

// DSN returns the connection URL of a new, empty database in the shared cluster, as that cluster's superuser. The
// database is dropped, with its connections cut, when the test ends.
func DSN(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		shared.cluster, shared.err = newCluster(context.Background(), config{})
	})
	if shared.err != nil {
		unavailable(t, shared.err)
	}
	return shared.cluster.Database(t)
}

// Start starts a cluster that belongs to this test alone, and removes it when the test ends.
func Start(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	var cfg config
	for _, o := range opts {
		o(&cfg)
	}
	c, err := newCluster(context.Background(), cfg)
	if err != nil {
		unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Errorf("testdb: stopping the cluster: %v", err)
		}
	})
	return c
}

// unavailable ends a test that has no server. The test fails, or is skipped if PostgreSQL is not installed and not
// required.
func unavailable(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNoBinaries) && os.Getenv(envRequire) != "1" {
		t.Skipf("testdb: %v", err)
	}
	t.Fatalf("testdb: %v", err)
}

// prove appends a line to the proof file, if one is asked for. Processes may share the file: the kernel appends such
// short lines atomically.
func prove(test, database, version string) error {
	path := os.Getenv(envProof)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the proof file: %w", err)
	}
	binary := filepath.Base(os.Args[0]) // go test names it after the package
	_, err = fmt.Fprintf(f, "%s %s: %s on PostgreSQL %s\n", binary, test, database, version)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the proof file: %w", err)
	}
	return nil
}
