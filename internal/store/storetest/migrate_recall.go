package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
)

// testMigrateGameRefs takes the game references of commits from the index that recall had before schema 5, if that has
// them all, and leaves the entries as well guarded as before.
func testMigrateGameRefs(t *testing.T, d Dialect, at func(t *testing.T) Place) {
	const id ledger.ID = 7
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
		{"without a ledger", d.Empty, false},
	} {
		empty := test.name == "without a ledger"
		if empty && d.Empty == "" {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := at(t)
			p.up(t)
			p.down(t, 4)
			entry := p.Bytes([]byte("entry"))
			p.exec(t, "INSERT INTO ledgers VALUES (%d, 'main', 'example.org/main')", id)
			p.exec(t, "INSERT INTO entries (ledger, idx, time, type, entry) VALUES (%d, 0, 0, 1, %s)", id, entry)
			for n := 1; n <= 4; n++ {
				key := tag(n)
				p.exec(t, `INSERT INTO entries (ledger, idx, time, type, tbl, serial, key_tag, entry, kept)
					VALUES (%d, %d, %d, 2, 't', %d, %s, %s, %s)`,
					id, n, 10*n, n, p.Bytes(key[:]), entry, p.Bytes(noise(uint64(n), 9000)))
				game := "NULL"
				if n < 3 {
					game = fmt.Sprintf("'game-%d'", n)
				}
				p.exec(t, `INSERT INTO recall (ledger, id, serial, committed, close_by, draw, tbl, game_ref)
					VALUES (%d, %d, %d, %d, 99, false, 't', %s)`, id, n, n, 10*n, game)
			}
			p.exec(t, "INSERT INTO entries (ledger, idx, time, type, shuffle, entry) VALUES (%d, 5, 50, 5, 1, %s)", id,
				entry)
			p.exec(t, "INSERT INTO recall_marks VALUES (%d, 6, 0)", id)
			if test.spoil != "" {
				p.exec(t, "%s", test.spoil)
			}
			before, guards := p.Text(t, d.Entries), p.Text(t, d.Guards)
			err := p.Up(t.Context())
			if got := p.Text(t, d.Guards); got != guards || guards == "" {
				t.Errorf("the guards of entries:\n%s", cmp.Diff(guards, got))
			}
			if got := p.Text(t, d.Entries); got != before || empty != (before == "") {
				t.Errorf("entries changed:\n%s", cmp.Diff(before, got))
			}
			if test.fails {
				if err == nil || !strings.Contains(err.Error(), "recall does not hold all commits") ||
					strings.Contains(err.Error(), "CREATE") {
					t.Errorf("migrated: %v", err)
				}
				p.is(t, 4)
				if p.Exec("SELECT game_ref FROM entries") == nil {
					t.Error("a failed migration left its column")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if empty {
				return
			}
			s := p.open(t)
			var refs []string
			for row, err := range s.Rows(t.Context(), id, 0, 6) {
				if err != nil {
					t.Fatal(err)
				}
				refs = append(refs, row.GameRef)
			}
			if diff := cmp.Diff([]string{"", "game-1", "game-2", "", "", ""}, refs); diff != "" {
				t.Errorf("game references:\n%s", diff)
			}
			if p.Exec("UPDATE entries SET game_ref = 'x'") == nil {
				t.Error("entries can be changed after the migration")
			}
			list, err := s.Commits(t.Context(), id, ledger.CommitQuery{GameRef: "game-2", To: math.MaxInt64, Limit: 9})
			if err != nil || len(list) != 1 || list[0].Index != 2 {
				t.Errorf("commits of a game: %v, %v", list, err)
			}
		})
	}
}
