package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/testdb"
)

// hands commits to shuffles and closes them.
func (d *daemon) hands(from, to int) {
	d.t.Helper()
	for i := from; i < to; i++ {
		var c struct{ ID uint64 }
		d.mustPost("/v1/main/shuffles", fmt.Sprintf("hand-%d", i), map[string]any{"table": "t", "deck": "short-36"}, &c)
		d.mustPost(fmt.Sprintf("/v1/main/shuffles/%d/close", c.ID), "", map[string]any{"outcome": "completed"}, nil)
	}
}

// keep writes the newest checkpoint to a file, as somebody does who keeps it elsewhere.
func (d *daemon) keep(path string) {
	d.t.Helper()
	status, text, err := d.get("/log/main/checkpoint", "")
	if err != nil || status != http.StatusOK {
		d.t.Fatalf("%d, %v", status, err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// tryCopy runs the restore drill of docs/operations/backup.md on a copy of the database of
// a running daemon: the copy holds what the first checkpoint covers, and says that it lacks
// what the second does; nothing that is started on it signs anything.
func (d *daemon) tryCopy(database, first, second string) {
	t := d.t
	t.Helper()
	fsck := func(since string) (string, int) {
		t.Helper()
		out, errs, code := command(t, "audit", "fsck", "--database", database, "--since", since,
			"--key", filepath.Join(d.data, "main.vkey"))
		return out + errs, code
	}
	if out, code := fsck(first); code != 0 {
		t.Errorf("the copy with the checkpoint of before: %d\n%s", code, out)
	}
	if out, code := fsck(second); code != 1 || !strings.Contains(out, "covers") {
		t.Errorf("the copy with the checkpoint of after: %d\n%s", code, out)
	}
	data := filepath.Join(t.TempDir(), "data")
	must(t, os.CopyFS(data, os.DirFS(d.data)))
	for _, name := range []string{"main.key", "sealing.key", "dealer.token", "admin.token", "auditor.key"} {
		must(t, os.Chmod(filepath.Join(data, name), 0o600))
	}

	// With its mark a daemon sees that the database is an old one, and signs nothing.
	marked := newDaemon(t, database)
	marked.data = data
	marked.launchUntil(marked.url+"/readyz", func(resp *http.Response) bool {
		return resp.StatusCode == http.StatusServiceUnavailable && resp.ContentLength > 200
	}, []string{"serve", "--dev", "--data", data, "--listen", marked.addr, "--database", database})
	eventually(t, "readiness to say why", func() bool {
		_, text, err := marked.get("/readyz", "")
		return err == nil && strings.Contains(string(text), "where the high-water mark has")
	})
	marked.kill()

	// Without it none starts, and the hint names the drill.
	must(t, os.Remove(filepath.Join(data, "main.mark")))
	_, errs, code := command(t, "serve", "--dev", "--data", data, "--listen", marked.addr, "--database", database)
	if code != 3 || !strings.Contains(errs, "audit fsck --since") || !strings.Contains(errs, "would be a fork") {
		t.Errorf("a start without a mark: %d\n%s", code, errs)
	}
	if out, code := fsck(first); code != 0 {
		t.Errorf("the copy afterwards: %d\n%s", code, out)
	}
}

// TestRestoreDrill: pg_dump and pg_restore while the daemon deals.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newDaemon(t, testdb.DSN(t))
	d.start()
	d.hands(0, 5)
	d.keep(filepath.Join(dir, "first"))
	dump, copied := filepath.Join(dir, "dump"), testdb.DSN(t)
	for _, args := range [][]string{
		{"pg_dump", "--format=custom", "--file=" + dump, d.database},
		{"pg_restore", "--no-owner", "--exit-on-error", "--dbname=" + copied, dump},
	} {
		path, err := testdb.Bin(args[0])
		must(t, err)
		if out, err := exec.Command(path, args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
		d.hands(len(args)*100, len(args)*100+2)
	}
	d.keep(filepath.Join(dir, "second"))
	d.tryCopy(copied, filepath.Join(dir, "first"), filepath.Join(dir, "second"))
	d.hands(900, 901)
	d.stop()
}

// TestPointInTime: a server that replays the write-ahead log to a named point, and opens there.
func TestPointInTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	primary := testdb.Start(t)
	dsn := primary.Database(t)
	d := newDaemon(t, dsn)
	d.start()
	d.hands(0, 5)
	d.keep(filepath.Join(dir, "first"))
	copied := primary.NewStandby(t, testdb.Setting("recovery_target_name", "kept"),
		testdb.Setting("recovery_target_action", "promote"))
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "SELECT pg_create_restore_point('kept')"); err != nil {
		t.Fatal(err)
	}
	d.hands(5, 8)
	d.keep(filepath.Join(dir, "second"))
	database := copied.Same(t, dsn)
	eventually(t, "the point in time", func() bool {
		c, err := pgx.Connect(t.Context(), database)
		if err != nil {
			return false
		}
		defer c.Close(context.Background())
		var recovering bool
		return c.QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&recovering) == nil && !recovering
	})
	d.tryCopy(database, filepath.Join(dir, "first"), filepath.Join(dir, "second"))
	d.hands(8, 9)
	d.stop()
}

// TestOnlineBackup: SQLite's own copy of a database that a daemon writes to.
func TestOnlineBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newDaemon(t, "")
	d.start()
	d.hands(0, 5)
	d.keep(filepath.Join(dir, "first"))
	db, err := sql.Open("sqlite", filepath.Join(d.data, "shuffled.db"))
	must(t, err)
	defer db.Close()
	copied := filepath.Join(dir, "copy.db")
	if _, err := db.Exec("VACUUM INTO ?", copied); err != nil {
		t.Fatal(err)
	}
	d.hands(5, 8)
	d.keep(filepath.Join(dir, "second"))
	d.tryCopy("sqlite:"+copied, filepath.Join(dir, "first"), filepath.Join(dir, "second"))
	d.hands(8, 9)
	d.stop()
}

// TestSuccessor: a ledger whose newest entries are gone for good is followed by another one,
// which names the head that was kept of it, and cannot be created over that of another key.
func TestSuccessor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newDaemon(t, "")
	d.start()
	d.hands(0, 3)
	d.keep(filepath.Join(dir, "last"))
	d.stop()
	next := filepath.Join(dir, "next")
	create := func(key string) (string, int) {
		t.Helper()
		out, errs, code := command(t, "ledger", "create", "--house", "casino", "--data", next, "--name", "main-2",
			"--origin", "sandbox.example/main-2", "--succeeds", filepath.Join(dir, "last"), "--succeeds-key", key)
		return out + errs, code
	}
	for _, args := range [][]string{{"migrate", "up", "--data", next},
		{"key", "generate", "sealing", "--out", filepath.Join(next, "sealing.key")},
		{"key", "generate", "signing", "--origin", "elsewhere.example/x", "--out", filepath.Join(dir, "other.key")}} {
		must(t, os.MkdirAll(next, 0o700))
		if _, errs, code := command(t, args...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
	}
	for file, want := range map[string]bool{filepath.Join(dir, "other.vkey"): false,
		filepath.Join(d.data, "main.vkey"): true} {
		vkey := contents(t, file)
		if out, code := create(strings.TrimSpace(string(vkey))); (code == 0) != want || want == strings.Contains(out, "in force then") {
			t.Errorf("with %s: %d\n%s", file, code, out)
		}
		if !want {
			continue
		}
		out, errs, code := command(t, "audit", "fsck", "--data", next, "--ledger", "main-2")
		if code != 0 {
			t.Errorf("the successor: %d\n%s%s", code, out, errs)
		}
	}
}
