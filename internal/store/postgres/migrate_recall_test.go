package postgres

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
)

// TestMigrateGameRefs takes the game references of commits from the index that
// recall had before schema 5, if that has them all, and leaves the entries as well
// guarded as before.
func TestMigrateGameRefs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		spoil string // what is amiss, "" for nothing
		fails bool
	}{
		{"whole", "", false},
		{"not begun", "DELETE FROM recall; DELETE FROM recall_marks", true},
		{"behind", "DELETE FROM recall WHERE id = 4", true},
		{"dropped by retention", "DELETE FROM recall WHERE id = 1", true},
		{"of another ledger", "UPDATE recall SET ledger = 8 WHERE id = 2", true},
		{"without a ledger", "DELETE FROM recall; DELETE FROM recall_marks; ALTER TABLE entries DISABLE TRIGGER insert_only; DELETE FROM entries; ALTER TABLE entries ENABLE ALWAYS TRIGGER insert_only", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dsn := migrated(t)
			migrateDown(t, dsn, 4)
			conn := connect(t, dsn)
			for _, sql := range []string{
				"INSERT INTO ledgers VALUES (7, 'main', 'example.org/main')",
				"INSERT INTO entries (ledger, idx, time, type, entry) VALUES (7, 0, 0, 1, 'genesis')",
				`INSERT INTO entries (ledger, idx, time, type, tbl, serial, key_tag, entry, sealed)
				 SELECT 7, n, 10 * n, 2, 't', n, sha256(n::text::bytea), 'commit', 'tape' FROM generate_series(1, 4) n`,
				"INSERT INTO entries (ledger, idx, time, type, shuffle, entry) VALUES (7, 5, 50, 5, 1, 'close')",
				`INSERT INTO recall (ledger, id, serial, committed, close_by, draw, tbl, game_ref)
				 SELECT 7, n, n, 10 * n, 99, false, 't', CASE WHEN n < 3 THEN 'game-' || n END FROM generate_series(1, 4) n`,
				"INSERT INTO recall_marks VALUES (7, 6, 0)",
			} {
				exec(t, dsn, sql)
			}
			if test.spoil != "" {
				exec(t, dsn, test.spoil)
			}
			const rows = `SELECT coalesce(string_agg(concat_ws(' ', ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, sealed), '|' ORDER BY idx), '') FROM entries`
			before := query[string](t, conn, rows)
			err := MigrateUp(t.Context(), dsn, Options{})
			if got := query[string](t, conn, "SELECT tgenabled::text FROM pg_trigger WHERE tgrelid = 'entries'::regclass AND tgname = 'insert_only'"); got != "A" {
				t.Errorf("the trigger of entries is enabled as %s", got)
			}
			if got := query[string](t, conn, rows); got != before {
				t.Errorf("entries changed:\n%s", cmp.Diff(before, got))
			}
			if test.fails {
				if err == nil || !strings.Contains(err.Error(), "recall does not hold all commits") {
					t.Errorf("migrated: %v", err)
				}
				wantVersion(t, dsn, 4)
				if n := query[int](t, conn, "SELECT count(*) FROM pg_attribute WHERE attrelid = 'entries'::regclass AND attname = 'game_ref'"); n != 0 {
					t.Error("a failed migration left its column")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if before == "" {
				return
			}
			const refs = "SELECT string_agg(idx || ' ' || coalesce(game_ref, '-'), ', ' ORDER BY idx) FROM entries"
			if got := query[string](t, conn, refs); got != "0 -, 1 game-1, 2 game-2, 3 -, 4 -, 5 -" {
				t.Errorf("game references: %s", got)
			}
			if _, err := conn.Exec(t.Context(), "UPDATE entries SET game_ref = 'x'"); err == nil {
				t.Error("entries can be changed after the migration")
			}
			list, err := open(t, dsn, Options{}).Commits(t.Context(), 7, ledger.CommitQuery{GameRef: "game-2", To: 9, Limit: 9})
			if err != nil || len(list) != 1 || list[0].Index != 2 {
				t.Errorf("commits of a game: %v, %v", list, err)
			}
		})
	}
}
