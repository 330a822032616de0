package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/store/storetest"
	"shuffled/migrations"
)

func TestFileModes(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	path := filepath.Join(top, "a", "b", "ledger.sqlite")
	if err := MigrateUp(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	storetest.Create(t, s)
	modes := map[string]os.FileMode{
		"a": os.ModeDir | 0o700, "a/b": os.ModeDir | 0o700, "a/b/ledger.sqlite": 0o600,
		"a/b/ledger.sqlite-wal": 0o600, "a/b/ledger.sqlite-shm": 0o600,
	}
	for name, want := range modes {
		info, err := os.Stat(filepath.Join(top, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if found, err := filepath.Glob(filepath.Join(top, "a", "b", "*")); err != nil || len(found) != 3 {
		t.Errorf("files %v, %v", found, err)
	}
}

func TestOpenRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	if err := os.WriteFile(name("empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name("text"), []byte(strings.Repeat("this is no database\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := migrated(t)
	if _, err := raw(t, newer).Exec(fmt.Sprint("PRAGMA user_version = ", migrations.UserVersion+migrations.Latest+1)); err != nil {
		t.Fatal(err)
	}
	for path, reason := range map[string]string{
		name("none"): "there is no database", dir: "not a regular file", "": "there is no database",
		":memory:":    "there is no database",
		name("empty"): "the tables are older than this program", name("text"): "not a database", newer: "the program is too old",
	} {
		s, err := Open(path, Options{})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("opening %q: %v, want an error with %q", path, err, reason)
		}
	}
	if _, err := os.Stat(name("none")); err == nil {
		t.Error("opening made a file")
	}
}

// TestSettings asks the connections themselves, and sees that a setting that is not taken is noticed.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := open(t, migrated(t))
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1",
		"busy_timeout": "5000"} {
		var w, r string
		if err := s.writer.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&w); err != nil || w != want {
			t.Errorf("writer: %s is %s, %v; want %s", pragma, w, err, want)
		}
		if err := s.reads.Of(t.Context()).db.QueryRow("PRAGMA " + pragma).Scan(&r); err != nil || r != want {
			t.Errorf("reader: %s is %s, %v; want %s", pragma, r, err, want)
		}
	}
	if _, err := s.reads.Of(t.Context()).db.Exec("DELETE FROM access_records"); err == nil {
		t.Error("a reader wrote")
	}
	for _, bad := range []setting{{"synchronous", "NORMAL", "2"}, {"journal_mode", "DELETE", "wal"},
		{"foreign_keys", "0", "1"}} {
		db, err := connect(migrated(t), Options{}.withDefaults(), []setting{bad})
		if err == nil {
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), bad.name) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestMissingTable opens a file that has the number of the schema and lacks a part of it.
func TestMissingTable(t *testing.T) {
	t.Parallel()
	path := migrated(t)
	if _, err := raw(t, path).Exec("DROP TABLE slots"); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "no such table: slots") {
		s.Close()
		t.Errorf("opened without slots: %v", err)
	}
}
