package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
	"shuffled/migrations"
)

// TestInsertOnly tries to change evidence over a connection that is not the store's, with SQLite's own defaults.
func TestInsertOnly(t *testing.T) {
	t.Parallel()
	path := migrated(t)
	s := open(t, path)
	l := storetest.Create(t, s)
	b := l.Next(2)
	r := &b.Rows[0]
	r.Type, r.Table, r.Serial, r.KeyTag = audit.TypeCommit, "table-1", 1, [32]byte{1}
	r.Slots = [][32]byte{{1}}
	b.Rows[1].Type, b.Rows[1].Shuffle = audit.TypeClose, r.Index
	b.Tiles = []ledger.Tile{{Data: make([]byte, 8192)}}
	b.Decks = []ledger.Deck{{Hash: [32]byte{1}, List: []byte("\x00\x02\x01a\x01b")}}
	must(t, s.Append(t.Context(), l.ID, l.Head, b))
	must(t, errors.Join(s.PutCosigned(t.Context(), l.ID, l.Head), s.PutLate(t.Context(), l.ID, l.Head)))
	must(t, s.PutAccess(t.Context(), l.ID, ledger.Access{Request: "a"}))
	must(t, s.PutStatement(t.Context(), l.ID, 1, 0, []byte("a note")))
	db := raw(t, path)
	refused := func(sql string) {
		t.Helper()
		if _, err := db.Exec(sql); err == nil || !strings.Contains(err.Error(), " is refused: ") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, table := range []string{"ledgers", "heads", "entries", "tiles", "checkpoints", "cosigned", "late", "decks",
		"slots", "statements"} {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n == 0 {
			t.Fatalf("%s has %d rows, %v", table, n, err)
		}
		refused("DELETE FROM " + table)
		refused("UPDATE " + table + " SET ledger = ledger + 1")
		refused("UPDATE OR REPLACE " + table + " SET ledger = ledger + 1")
		refused("INSERT OR REPLACE INTO " + table + " SELECT * FROM " + table)
		refused("INSERT INTO " + table + " SELECT * FROM " + table +
			" WHERE true ON CONFLICT DO UPDATE SET ledger = ledger")
	}
	// A row that is new except for one key would replace the row that has it.
	const entries = "INSERT OR REPLACE INTO entries (ledger, idx, time, type, tbl, serial, key_tag, shuffle, entry) SELECT "
	refused(entries + "ledger, 77, 0, 2, 'table-2', 1, key_tag, NULL, x'' FROM entries WHERE type = 2")
	refused(entries + "ledger, 77, 0, 2, tbl, serial, zeroblob(32), NULL, x'' FROM entries WHERE type = 2")
	refused(entries + "ledger, 77, 0, 5, NULL, NULL, NULL, shuffle, x'' FROM entries WHERE type = 5")
	refused("INSERT OR REPLACE INTO entries (rowid, ledger, idx, time, type, entry) SELECT rowid, ledger, 77, 0, 7, x'' FROM entries")
	refused("INSERT OR REPLACE INTO ledgers SELECT ledger + 1, name, 'example.org/new' FROM ledgers")
	refused("INSERT OR REPLACE INTO ledgers SELECT ledger + 1, 'new', origin FROM ledgers")
	refused("UPDATE access_records SET time = 0")
	refused("INSERT OR REPLACE INTO access_records SELECT ledger, seq, time, prev, request, 'another', method, path FROM access_records")
	refused("UPDATE heads SET size = size - 1")
	refused("UPDATE heads SET root = zeroblob(32)")
	for _, sql := range []string{
		"UPDATE heads SET checkpoint = zeroblob(9)", // a cosignature more
		"UPDATE heads SET size = size + 1, root = zeroblob(32)",
	} {
		if _, err := db.Exec(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestRecallPlans sees every question of recall look things up by its indexes, and answered in the order of one.
func TestRecallPlans(t *testing.T) {
	t.Parallel()
	db := raw(t, migrated(t))
	const (
		closes    = "SEARCH c USING INDEX entries_close (ledger=? AND shuffle=?)"
		searching = "SCAN search"
	)
	for text, want := range map[string][]string{
		store.RecallEntryAt: {"SCAN CONSTANT ROW", searching,
			"SEARCH e USING INDEX sqlite_autoindex_entries_1 (ledger=? AND idx=?)", searching},
		store.RecallByID: {"SEARCH e USING INDEX sqlite_autoindex_entries_1 (ledger=? AND idx>? AND idx<?)",
			closes},
		store.RecallByGameRef: {"SEARCH e USING INDEX entries_game_ref (ledger=? AND game_ref=? AND idx>? AND idx<?)",
			closes},
		store.RecallByTable: {"SEARCH e USING INDEX entries_serial (ledger=? AND tbl=? AND serial>? AND serial<?)",
			"SCAN CONSTANT ROW", searching,
			"SEARCH e USING INDEX entries_serial (ledger=? AND tbl=? AND serial=?)", searching, closes},
	} {
		rows, err := db.Query("EXPLAIN QUERY PLAN "+words.Replace(text), 1, 2, 3, 4, 5, 6, 7)
		must(t, err)
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var line string
			must(t, rows.Scan(&id, &parent, &unused, &line))
			if strings.HasPrefix(line, "SEARCH ") || strings.HasPrefix(line, "SCAN ") ||
				strings.Contains(line, "B-TREE") {
				plan = append(plan, line)
			}
		}
		must(t, rows.Err())
		if !slices.Equal(plan, want) {
			t.Errorf("%s\n%q", text, plan)
		}
	}
}

// TestShares: with all connections of readers taken, each in the middle of a statement, dealers read and the writer
// commits; a reader waits as long as it has patience for its first question, and is told why.
func TestShares(t *testing.T) {
	t.Parallel()
	path := migrated(t)
	s, err := Open(path, Options{Audience: 2})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	reader := ledger.AsReader(t.Context())
	// Each holds a snapshot of the file, as a statement does while it is read.
	var free func() error // ends the last one
	for range 2 {
		must(t, s.reads.Of(reader).enter(reader))
		conn, err := s.reads.Of(reader).db.Conn(t.Context())
		must(t, err)
		defer conn.Close()
		rows, err := conn.QueryContext(t.Context(), "SELECT name FROM sqlite_schema")
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
		defer rows.Close()
		free = func() error { return errors.Join(rows.Close(), conn.Close()) }
	}
	if _, err := s.Ledgers(ledger.WithPatience(reader, time.Now().Add(10*time.Millisecond))); !errors.Is(err,
		ledger.ErrOverloaded) ||
		!strings.Contains(err.Error(), "all 2 are taken") {
		t.Errorf("a reader, with all of their connections taken: %v", err)
	}
	if places := s.reads.Of(t.Context()).places; len(places) < cap(places) {
		t.Errorf("readers hold %d connections of dealers", cap(places)-len(places))
	}
	l := storetest.Create(t, s)
	if err := s.Append(t.Context(), l.ID, l.Head, l.Next(3)); err != nil {
		t.Errorf("the writer, with readers in their snapshots: %v", err)
	}
	if infos, err := s.Ledgers(t.Context()); err != nil || len(infos) != 1 {
		t.Errorf("a dealer reads %d ledgers: %v", len(infos), err)
	}
	if _, err := s.CheckpointAfter(t.Context(), l.ID, 2); err != nil {
		t.Error(err)
	}
	must(t, free())
	s.reads.Of(reader).leave()
	late := ledger.WithFirstPatience(reader, time.Now().Add(-time.Second))
	ledger.Began(late)
	if _, err := s.Ledgers(late); err != nil {
		t.Errorf("a reader that has begun: %v", err)
	}
}

func TestFileModes(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	path := filepath.Join(top, "a", "b", "ledger.sqlite")
	must(t, MigrateUp(t.Context(), path, Options{}))
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
	must(t, os.WriteFile(name("empty"), nil, 0o600))
	must(t, os.WriteFile(name("text"), []byte(strings.Repeat("this is no database\n", 500)), 0o600))
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
