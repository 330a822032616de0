package fsck_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// TestEveryByte changes every single byte of signed checkpoints, to the next
// digit where it is one of base64, so that bits that nothing reads change too.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	w := newWriter(t.TempDir(), "bytes", true)
	w.round(0)
	m, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
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
