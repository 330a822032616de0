package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/testdb"
)

// fsckOf runs audit fsck and returns what it says.
func fsckOf(t *testing.T, d *daemon, want int, args ...string) fsck.Report {
	t.Helper()
	stdout, stderr, code := command(t, append(append([]string{"audit", "fsck", "--json"}, d.place()...), args...)...)
	if code != want {
		t.Fatalf("exit code %d, want %d: %s\n%.3000s", code, want, stderr, stdout)
	}
	var r fsck.Report
	if want <= 1 {
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("%v: %s", err, stdout)
		}
	}
	return r
}

// exec changes the database as somebody does who owns it.
func (d *daemon) exec(statements ...string) {
	d.t.Helper()
	if d.database == "" {
		db, err := sql.Open("sqlite", filepath.Join(d.data, "shuffled.db"))
		if err != nil {
			d.t.Fatal(err)
		}
		defer db.Close()
		for _, text := range statements {
			if _, err := db.Exec(text); err != nil {
				d.t.Fatalf("%s: %v", text, err)
			}
		}
		return
	}
	conn, err := pgx.Connect(d.t.Context(), d.database)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, text := range statements {
		if _, err := conn.Exec(d.t.Context(), text); err != nil {
			d.t.Fatalf("%s: %v", text, err)
		}
	}
}

// TestFsck checks the database of a daemon that has dealt, then one that somebody has changed a table name in.
// Package fsck tries what is found, also while a daemon writes.
func TestFsck(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, d *daemon) {
		d.start()
		fill(t, d)
		r := fsckOf(t, d, 0)
		if r.Verdict != inspect.Proved || r.Store.Tapes == 0 || r.Store.TapesOpened != r.Store.Tapes ||
			r.Store.Entries != r.Size {
			t.Errorf("%s, %+v", r.Verdict, r.Store)
		}
		d.stop()
		if d.database == "" {
			d.exec("DROP TRIGGER entries_no_update", "UPDATE entries SET tbl = tbl || 'x' WHERE tbl IS NOT NULL")
		} else {
			d.exec("ALTER TABLE entries DISABLE TRIGGER ALL",
				"UPDATE entries SET tbl = tbl || 'x' WHERE tbl IS NOT NULL")
		}
		stdout, _, code := command(t, append([]string{"audit", "fsck"}, d.place()...)...)
		if code != 1 || !strings.Contains(stdout, "entries.tbl[idx=") || !strings.Contains(stdout, "FAILED") {
			t.Errorf("exit code %d:\n%s", code, stdout)
		}
		fsckOf(t, d, 3, "--ledger", "none")
		fsckOf(t, d, 2, "--key", "a", "--policy", "b")
		fsckOf(t, d, 3, "--sealing-key", filepath.Join(t.TempDir(), "none"))
	})
}

var exportEntries = flag.Uint64("export-entries", 50_000, "entries of the ledger that BenchmarkExport exports")

// BenchmarkExport measures the real binary on a generated ledger: a whole export, and one that finds 300 entries more.
func BenchmarkExport(b *testing.B) {
	for _, store := range []string{"sqlite", "postgres"} {
		b.Run(store, func(b *testing.B) {
			dir := b.TempDir()
			d := &daemon{data: filepath.Join(dir, "data")}
			if store == "postgres" {
				d.database = testdb.DSN(b)
			}
			g := newGenerated(b, d)
			g.grow(*exportEntries)
			var whole, more time.Duration
			var peak int64
			for b.Loop() {
				took, rss := exportOnce(b, d, g.dir)
				whole, peak = took, max(peak, rss)
				g.grow(g.head.Size + 300)
				more, _ = exportOnce(b, d, g.dir)
				g.dir = filepath.Join(b.TempDir(), "bundle")
			}
			b.ReportMetric(float64(g.head.Size)/whole.Seconds(), "entries/s")
			b.ReportMetric(float64(peak)/1024, "MiB")
			b.ReportMetric(more.Seconds(), "s/more")
		})
	}
}

// exportOnce returns how long an export took and its largest resident set in KiB.
func exportOnce(b *testing.B, d *daemon, dir string) (time.Duration, int64) {
	b.Helper()
	c := exec.Command(builtBinary(b), append([]string{"audit", "export", "--out", dir}, d.place()...)...)
	begin := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() { c.Wait(); close(done) }()
	// The kernel's own figure at the end is of this process if it is the larger.
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	peak := int64(0)
	for {
		select {
		case <-done:
			if !c.ProcessState.Success() {
				b.Fatal(c.ProcessState)
			}
			return time.Since(begin), peak
		case <-tick.C:
			peak = max(peak, highWater(c.Process.Pid))
		}
	}
}

// highWater returns the largest resident set so far of a process that is not this
// one, in KiB; 0 where that cannot be read.
func highWater(pid int) (kib int64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || bytes.HasPrefix(b, []byte("Name:\tshuffled.test")) {
		return 0
	}
	_, line, _ := bytes.Cut(b, []byte("\nVmHWM:"))
	fmt.Sscan(string(line), &kib)
	return kib
}
