package sqlite

import (
	"database/sql"
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
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := migrated(t)
			migrateDown(t, path, 4)
			db := raw(t, path)
			for _, sql := range []string{
				"INSERT INTO ledgers VALUES (7, 'main', 'example.org/main')",
				"INSERT INTO entries (ledger, idx, time, type, entry) VALUES (7, 0, 0, 1, x'00')",
				`INSERT INTO entries (ledger, idx, time, type, tbl, serial, key_tag, entry, sealed)
				 SELECT 7, value, 10 * value, 2, 't', value, CAST(printf('%032d', value) AS BLOB), x'01', randomblob(9000) FROM json_each('[1, 2, 3, 4]')`,
				"INSERT INTO entries (ledger, idx, time, type, shuffle, entry) VALUES (7, 5, 50, 5, 1, x'02')",
				`INSERT INTO recall (ledger, id, serial, committed, close_by, draw, tbl, game_ref)
				 SELECT 7, value, value, 10 * value, 99, 0, 't', CASE WHEN value < 3 THEN 'game-' || value END FROM json_each('[1, 2, 3, 4]')`,
				"INSERT INTO recall_marks VALUES (7, 6, 0)",
				test.spoil,
			} {
				if _, err := db.Exec(sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			const rows = `SELECT group_concat(concat_ws(' ', ledger, idx, time, serial, shuffle, type, tbl, hex(key_tag), hex(entry), hex(sealed)), '|') FROM (SELECT * FROM entries ORDER BY idx)`
			triggers := `SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'entries' ORDER BY name)`
			before, guards := text(t, db, rows), text(t, db, triggers)
			err := MigrateUp(t.Context(), path, Options{})
			if got := text(t, db, triggers); got != guards || strings.Count(got, "CREATE TRIGGER") != 3 {
				t.Errorf("the triggers of entries:\n%s", got)
			}
			if got := text(t, db, rows); got != before {
				t.Errorf("entries changed:\n%s", cmp.Diff(before, got))
			}
			if test.fails {
				if err == nil || !strings.Contains(err.Error(), "recall does not hold all commits") || strings.Contains(err.Error(), "CREATE") {
					t.Errorf("migrated: %v", err)
				}
				wantVersion(t, path, 4)
				if got := text(t, db, "SELECT count(*) FROM pragma_table_info('entries') WHERE name = 'game_ref'"); got != "0" {
					t.Error("a failed migration left its column")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, db, "SELECT group_concat(idx || ' ' || coalesce(game_ref, '-'), ', ') FROM (SELECT * FROM entries ORDER BY idx)"); got != "0 -, 1 game-1, 2 game-2, 3 -, 4 -, 5 -" {
				t.Errorf("game references: %s", got)
			}
			if _, err := db.Exec("UPDATE entries SET game_ref = 'x'"); err == nil {
				t.Error("entries can be changed after the migration")
			}
			list, err := open(t, path).Commits(t.Context(), 7, ledger.CommitQuery{GameRef: "game-2", To: 9, Limit: 9})
			if err != nil || len(list) != 1 || list[0].Index != 2 {
				t.Errorf("commits of a game: %v, %v", list, err)
			}
		})
	}
}

func text(t *testing.T, db *sql.DB, query string) (s string) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&s); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return s
}
