package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
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
