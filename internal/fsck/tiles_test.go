package fsck_test

import (
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// TestEveryTile changes each tile of a ledger at its beginning, in its middle and at
// its end, and takes it away. The last full ones, over which no tile of level 1 is
// complete, are compared as all others are.
func TestEveryTile(t *testing.T) {
	t.Parallel()
	m := madeBusy(t, 140)
	tiles := len(m.entries) / inspect.Width
	if tiles < 3 || len(m.entries)%inspect.Width == 0 {
		t.Fatalf("void: %d entries", len(m.entries))
	}
	path, s := openSQLite(t)
	m.load(t, s, len(m.heads))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := stripSQLite(t, path, nil)
	db.with(t, nil, func(e *store.Evidence) { wantHonest(t, m, e) })
	rows := db.rows(t, store.TileRows)
	if len(rows) != tiles {
		t.Fatalf("%d tiles of %d entries", len(rows), len(m.entries))
	}
	for i, row := range rows {
		at := fmt.Sprintf("[level=0,idx=%d]", i)
		named := func(what string, c change, code, where string) {
			t.Helper()
			db.with(t, []change{c}, func(e *store.Evidence) {
				r := check(t, e, m.options())
				if r.FaultCount != 1 || r.Faults[0].Code != code || r.Faults[0].Where != where {
					t.Errorf("tile %d of %d, %s: no %s at %s: %.2000v", i, tiles, what, code, where, r.Faults)
				}
			})
		}
		data, ok := row.Bytes("data")
		if !ok {
			t.Fatal("no data")
		}
		for _, n := range []int{0, len(data) / 2, len(data) - 1} {
			flipped := slices.Clone(data)
			flipped[n] ^= 1
			named(fmt.Sprintf("byte %d", n), update(row, "data", flipped), inspect.CodeTile, "tiles.data"+at)
		}
		named("taken away", remove(row), fsck.CodeRowMissing, "tiles"+at)
	}
}
