package testdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// envVictim makes the test binary start a cluster and wait to be killed.
const envVictim = "SHUFFLED_TESTDB_VICTIM"

func TestMain(m *testing.M) {
	if kind := os.Getenv(envVictim); kind != "" {
		victim(kind)
	}
	goleak.VerifyTestMain(M{m})
}

// victim starts a cluster, or just a child with its attributes, says so, and never ends by itself.
func victim(kind string) {
	var err error
	switch kind {
	case "unwatched":
		cmd := (&Cluster{bin: "/bin", dir: "/"}).command("sh", "-c", "sleep 20 >&2; echo outlived its parent")
		cmd.Stdout = os.Stdout
		if _, err = spawn(cmd); err == nil {
			fmt.Println("started")
		}
	case "leash":
		if _, err = leash(); err == nil {
			cmd := exec.Command("sh", "-c", "(sleep 60 >&2; echo outlived its grandparent) & echo started; wait")
			cmd.Stdout = os.Stdout
			err = cmd.Start()
		}
	default:
		var c *Cluster
		if c, err = newCluster(context.Background(), config{}); err == nil {
			fmt.Printf("%s\n%d\n", c.dir, c.port)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func query(t *testing.T, conn *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	var v string
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func mustExec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestDatabasesAreFreshAndDropped(t *testing.T) {
	const exists = "SELECT count(*)::text FROM pg_database WHERE datname = $1"
	admin := connect(t, DSN(t))
	var names []string
	for range 2 {
		t.Run("one", func(t *testing.T) {
			conn := connect(t, DSN(t))
			name := query(t, conn, "SELECT current_database()")
			mustExec(t, conn, "CREATE TABLE here (x int)") // fails if the last one is still there
			if got := query(t, admin, exists, name); got != "1" {
				t.Fatalf("databases named %s: %s, want 1", name, got)
			}
			names = append(names, name)
		})
	}
	if names[0] == names[1] {
		t.Fatalf("both databases are %s", names[0])
	}
	for _, name := range names {
		if got := query(t, admin, exists, name); got != "0" {
			t.Errorf("databases named %s after the test: %s, want 0", name, got)
		}
	}
}

func TestSettings(t *testing.T) {
	conn := connect(t, DSN(t))
	for name, want := range map[string]string{
		"fsync":              "on",
		"full_page_writes":   "on",
		"synchronous_commit": "on",
		"listen_addresses":   "127.0.0.1",
		"server_encoding":    "UTF8",
	} {
		if got := query(t, conn, "SHOW "+name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

func TestOthersAreRefused(t *testing.T) {
	u, err := url.Parse(DSN(t))
	must(t, err)
	u.User = url.UserPassword(superuser, "guess")
	if conn, err := pgx.Connect(t.Context(), u.String()); err == nil {
		conn.Close(t.Context())
		t.Fatal("connected with a wrong password")
	}
}

func TestSettingOverrides(t *testing.T) {
	t.Parallel()
	c := Start(t, Setting("synchronous_commit", "off"), Setting("work_mem", "1MB"))
	conn := connect(t, c.Database(t))
	if got := query(t, conn, "SHOW synchronous_commit"); got != "off" {
		t.Errorf("synchronous_commit = %s, want off", got)
	}
	if got := query(t, conn, "SHOW work_mem"); got != "1MB" {
		t.Errorf("work_mem = %s, want 1MB", got)
	}
}

func TestBadSettingIsExplained(t *testing.T) {
	t.Parallel()
	if _, err := binDir(); err != nil {
		unavailable(t, err)
	}
	_, err := newCluster(t.Context(), config{settings: []string{"-c", "fsync=perhaps"}})
	if err == nil || !strings.Contains(err.Error(), "fsync") {
		t.Fatalf("error %v, want one that quotes the server on fsync", err)
	}
}

func TestStopAndStart(t *testing.T) {
	t.Parallel()
	c := Start(t)
	dsn := c.Database(t)
	mustExec(t, connect(t, dsn), "CREATE TABLE said (x int PRIMARY KEY)")
	for i, mode := range []Mode{Fast, Immediate, Kill} {
		mustExec(t, connect(t, dsn), fmt.Sprintf("INSERT INTO said VALUES (%d)", i))
		c.Stop(t, mode)
		if _, err := pgx.Connect(t.Context(), dsn); err == nil {
			t.Fatalf("mode %d: connected to a stopped server", mode)
		}
		c.Start(t)
		conn := connect(t, dsn)
		if got, want := query(t, conn, "SELECT count(*)::text FROM said"), fmt.Sprint(i+1); got != want {
			t.Fatalf("mode %d: %s rows after the restart, want %s", mode, got, want)
		}
		if got := query(t, conn, "SHOW fsync"); got != "on" {
			t.Fatalf("mode %d: fsync = %s after the restart", mode, got)
		}
	}
	if _, err := os.Stat(filepath.Join(c.DataDir(), "PG_VERSION")); err != nil {
		t.Errorf("data directory: %v", err)
	}
	log, err := os.ReadFile(c.LogFile())
	must(t, err)
	if !strings.Contains(string(log), "redo") {
		t.Error("the log does not tell of a recovery after Immediate and Kill")
	}
}

func TestKilledClusterLeavesNothing(t *testing.T) {
	t.Parallel()
	var dir string
	t.Run("cluster", func(t *testing.T) {
		c := Start(t)
		dir = c.dir
		c.Stop(t, Kill)
	})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the directory is still there: %v", err)
	}
}

func TestStandby(t *testing.T) {
	t.Parallel()
	c := Start(t)
	dsn := c.Database(t)
	c.Standby(t)
	conn := connect(t, dsn)
	if got := query(t, conn, "SELECT pg_is_in_recovery()::text"); got != "true" {
		t.Errorf("pg_is_in_recovery() = %s", got)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE x ()"); err == nil {
		t.Error("a standby took a write")
	}
	conn.Close(t.Context())
	c.Stop(t, Fast) // Database's cleanup has nothing to drop it from
}

func TestTakenPortIsLeft(t *testing.T) {
	t.Parallel()
	if _, err := binDir(); err != nil {
		unavailable(t, err)
	}
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	asked := 0
	c, err := newCluster(t.Context(), config{port: func() (int, error) {
		asked++
		if asked == 1 {
			return taken.Addr().(*net.TCPAddr).Port, nil
		}
		return FreePort()
	}})
	must(t, err)
	if asked < 2 {
		t.Errorf("asked for %d ports", asked)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

// TestKilledTestProcess kills a test process that owns a cluster and sees the server and its directory go.
func TestKilledTestProcess(t *testing.T) {
	t.Parallel()
	if _, err := binDir(); err != nil {
		unavailable(t, err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envVictim+"=cluster")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	dir := lines.Text()
	lines.Scan()
	addr := net.JoinHostPort("127.0.0.1", lines.Text())
	if _, err := os.Stat(filepath.Join(dir, "data", "postmaster.pid")); err != nil {
		t.Fatalf("before the kill: %v", err)
	}
	must(t, cmd.Process.Kill())
	cmd.Wait()
	wait(t, "the directory to go", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
	wait(t, "the server to stop listening", func() bool {
		conn, err := net.Dial("tcp4", addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

// TestServerDiesWithParent sees to the kernel's part alone: a child that nothing
// watches dies with the process that started it.
func TestServerDiesWithParent(t *testing.T) { diesWithParent(t, "unwatched") }

// TestAllDieWithTests: a process whose parent ended before the killed tests is killed, too.
func TestAllDieWithTests(t *testing.T) { diesWithParent(t, "leash") }

func diesWithParent(t *testing.T, kind string) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux signals the child of a dead process, and shows what environment it has")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envVictim+"="+kind)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("the victim said %q, %v", line, err)
	}
	must(t, cmd.Process.Kill())
	// The pipe ends when the last process that holds it is gone.
	rest, err := io.ReadAll(lines)
	if err != nil || len(rest) > 0 {
		t.Errorf("after the kill: %q, %v", rest, err)
	}
	cmd.Wait()
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func TestProof(t *testing.T) {
	proof := filepath.Join(t.TempDir(), "proof")
	t.Setenv(envProof, proof)
	DSN(t)
	DSN(t)
	text, err := os.ReadFile(proof)
	must(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("the proof has %d lines, want 2:\n%s", len(lines), text)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "testdb.test "+t.Name()+": test_") || !strings.Contains(line, " on PostgreSQL ") {
			t.Errorf("proof line %q", line)
		}
	}
	t.Setenv(envProof, filepath.Join(t.TempDir(), "no", "such", "directory"))
	if err := prove("test", "database", "1"); err == nil {
		t.Error("a proof that cannot be written is no error")
	}
}

// verdict records how a test ended.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper() {}
func (v *verdict) Skipf(format string, args ...any) {
	v.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestWithoutPostgreSQL(t *testing.T) {
	for _, test := range []struct {
		name, require string
		err           error
		fails         bool
	}{
		{"not installed", "", errNoBinaries, false},
		{"not installed but required", "1", errNoBinaries, true},
		{"installed but broken", "", errors.New("broken"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(envRequire, test.require)
			v := &verdict{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				unavailable(v, test.err)
			}()
			<-done
			if (v.failed != "") != test.fails || (v.skipped != "") == test.fails {
				t.Errorf("skipped %q, failed %q", v.skipped, v.failed)
			}
			if got := v.failed + v.skipped; !strings.Contains(got, test.err.Error()) {
				t.Errorf("%q does not give the reason", got)
			}
		})
	}
	if !strings.Contains(errNoBinaries.Error(), "apt-get install postgresql") {
		t.Error("the reason to skip does not say what to install")
	}
}

func TestNewStandby(t *testing.T) {
	t.Parallel()
	c := Start(t)
	dsn := c.Database(t)
	admin := connect(t, dsn)
	mustExec(t, admin, "CREATE TABLE marks (x int)")
	s := c.NewStandby(t)
	c.Synchronous(t, true)
	mustExec(t, admin, "INSERT INTO marks VALUES (1)") // and waits for the standby
	other := connect(t, s.Same(t, dsn))
	if n := query(t, other, "SELECT count(*)::text || pg_is_in_recovery() FROM marks"); n != "1true" {
		t.Errorf("%s at the standby", n)
	}
	s.Detach(t)
	ctx, cancel := context.WithCancel(t.Context())
	committed := make(chan error, 1)
	go func() {
		_, err := admin.Exec(ctx, "INSERT INTO marks VALUES (2)")
		committed <- err
	}()
	look := connect(t, dsn)
	shows := func(want, q string) {
		t.Helper()
		for end := time.Now().Add(patience); query(t, look, q) != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the primary never answers %s to %s", want, q)
			}
		}
	}
	shows("1", "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	cancel() // with it the driver cancels the wait
	if err := <-committed; err == nil {
		t.Error("a commit did not wait for a standby that is detached")
	}
	shows("2", "SELECT count(*)::text FROM marks")
	c.Stop(t, Kill)
	s.Promote(t)
	if n := query(t, other, "SELECT count(*)::text || pg_is_in_recovery() FROM marks"); n != "1false" {
		t.Errorf("%s after the promotion", n)
	}
	mustExec(t, other, "INSERT INTO marks VALUES (3)")
}

func TestPause(t *testing.T) {
	t.Parallel()
	c := Start(t)
	dsn := c.Database(t)
	admin := connect(t, dsn)
	resume := c.Pause(t)
	for _, ask := range []func(context.Context) error{
		admin.Ping,
		func(ctx context.Context) error { _, err := pgx.Connect(ctx, dsn); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := ask(ctx); err == nil {
			t.Error("a server that is paused answers")
		}
		cancel()
	}
	resume()
	connect(t, dsn)
}

// TestProxy spoils an INSERT in every way, and holds what became of it against the fault.
func TestProxy(t *testing.T) {
	t.Parallel()
	dsn := DSN(t)
	admin := connect(t, dsn)
	mustExec(t, admin, "CREATE TABLE marks (x int)")
	p := NewProxy(t, dsn)
	next := make(chan Fault, 1)
	p.Fault = func(sql string) Fault {
		if strings.HasPrefix(sql, "INSERT") {
			return <-next
		}
		return Pass
	}
	for f := Pass; f < faults; f++ {
		for range 2 { // a close and a reset
			conn := connect(t, p.DSN)
			mustExec(t, admin, "TRUNCATE marks")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			next <- f
			struck := p.Struck(f)
			if f == HoldReply { // the caller leaves once the reply is held
				go func() {
					for p.Struck(f) == struck && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			var got int
			err := conn.QueryRow(ctx, "INSERT INTO marks VALUES ($1) RETURNING x", 7).Scan(&got)
			cancel()
			passes := f == Pass || f == DelayRequest || f == DelayReply
			if passes != (err == nil) || passes && got != 7 || f != Pass && p.Struck(f) != struck+1 {
				t.Errorf("%v: %d, %v, struck %d times", f, got, err, p.Struck(f)-struck)
			}
			n := query(t, admin, "SELECT count(*)::text FROM marks")
			switch f {
			case LoseBoth: // as it comes
			case LoseRequest, LoseSync:
				if n != "0" {
					t.Errorf("%v: %s rows", f, n)
				}
			default:
				if n != "1" {
					t.Errorf("%v: %s rows", f, n)
				}
			}
		}
	}
}

func TestProxyRewrites(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, DSN(t))
	p.Rewrite = func(sql string) string { return strings.ReplaceAll(sql, "cabbage", "king") }
	if got := query(t, connect(t, p.DSN), "SELECT 'cabbage'::text || $1", "s"); got != "kings" {
		t.Errorf("got %s", got)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
