package fsck_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// TestLong tampers with a ledger of more than one tile of level 1, and more than two pages of checkpoints.
func TestLong(t *testing.T) {
	t.Parallel()
	m := madeBusy(t, 11_000)
	path, s := openSQLite(t)
	m.load(t, s, len(m.heads))
	must(t, s.Close())
	size := func(i int) string { return "size=" + number(int64(m.heads[i].Size)) }
	// The others keep their indexes: no check of this length is quick without.
	db := stripSQLite(t, path, []*store.Relation{store.CheckpointRows})
	db.with(t, nil, func(e *store.Evidence) { wantHonest(t, m, e) })
	for _, c := range []struct {
		name, sql string
		code      string
		where     string
	}{
		{"the tile above", "UPDATE tiles SET data = zeroblob(8192) WHERE level = 1", inspect.CodeTile,
			"tiles.data[level=1,idx=0]"},
		{"no tile above", "DELETE FROM tiles WHERE level = 1", fsck.CodeRowMissing, "tiles[level=1,idx=0]"},
		{"a tile", "UPDATE tiles SET data = zeroblob(8192) WHERE level = 0 AND idx = 100", inspect.CodeTile,
			"tiles.data[level=0,idx=100]"},
		{"an entry", "UPDATE entries SET entry = (SELECT entry FROM entries WHERE idx = 30001) WHERE idx = 30000",
			inspect.CodeEntry, "entries.entry[idx=30000]"},
		{"a size twice", "INSERT INTO checkpoints SELECT * FROM checkpoints WHERE size = " +
			number(int64(m.heads[511].Size)), fsck.CodeRowTwice, "checkpoints[" + size(511) + "]"},
		{"the size after it twice", "INSERT INTO checkpoints SELECT * FROM checkpoints WHERE size = " +
			number(int64(m.heads[512].Size)), fsck.CodeRowTwice, "checkpoints[" + size(512) + "]"},
		{"a checkpoint", "DELETE FROM checkpoints WHERE size = " + number(int64(m.heads[700].Size)),
			fsck.CodeRowMissing, "checkpoints[" + size(700) + "]"},
		{"the tapes of the last", "UPDATE entries SET kept = NULL WHERE idx > 65000", fsck.CodeSealedTape,
			"entries.kept[idx=" + number(int64(slices.Max(slices.Collect(maps.Keys(m.tapes))))) + "]"},
		{"most entries", "DELETE FROM entries WHERE idx > 1000", fsck.CodeRowMissing, "entries[idx=1001..1023]"},
	} {
		db.with(t, []change{{c.sql, nil}}, func(e *store.Evidence) {
			r := check(t, e, m.options())
			if !slices.ContainsFunc(r.Faults,
				func(f inspect.Fault) bool { return f.Code == c.code && f.Where == c.where }) {
				t.Errorf("%s: no %s at %s: %d faults, first %.2000v", c.name, c.code, c.where, r.FaultCount, r.Faults)
			}
		})
	}
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// TestEveryByte changes every single byte of signed checkpoints, to the next
// digit where it is one of base64, so that bits that nothing reads change too.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	w := newWriter(t.TempDir(), "bytes", true)
	w.round(0)
	m, err := w.finish()
	must(t, err)
	db := strippedSQLite(t, m)
	for _, table := range []*store.Relation{store.HeadRows, store.CheckpointRows, store.CosignedRows} {
		rows := db.rows(t, table)
		for _, v := range rows[len(rows)-1:] {
			signed, _ := v.Bytes("checkpoint")
			for i, b := range signed {
				if i%sparse() != 0 {
					continue
				}
				changed := slices.Clone(signed)
				if n := strings.IndexByte(base64Digits, b); n >= 0 {
					changed[i] = base64Digits[(n+1)%64]
				} else {
					changed[i] ^= 1
				}
				named := want{table: table.Name, key: keyText(v)}
				db.with(t, []change{update(v, "checkpoint", changed)}, func(e *store.Evidence) {
					if r := check(t, e, m.options()); !slices.ContainsFunc(r.Faults, named.is) {
						t.Errorf("%s, byte %d of %q: %s, %+v", table.Name, i, bytes.TrimSpace(signed[max(0, i-10):i+1]),
							r.Verdict, first(r.Faults))
					}
				})
			}
		}
	}
}

func first(faults []inspect.Fault) []inspect.Fault { return faults[:min(len(faults), 3)] }

func madeBusy(t testing.TB, n int) *material {
	t.Helper()
	m, err := busy(t.TempDir(), n)
	must(t, err)
	return m
}
