package fsck_test

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/fsck"
	"shuffled/internal/inspect/inspecttest"
)

// TestBothAlgorithms: the checkpoints of a ledger that signs with ML-DSA-44 as well have two
// lines, and three where either key changes. A line more is named.
func TestBothAlgorithms(t *testing.T) {
	t.Parallel()
	dir, err := tempDir()
	must(t, err)
	w := newWriter(dir, "both", true)
	first, second := inspecttest.NewLongKey(inspecttest.Origin, "1"), inspecttest.NewLongKey(inspecttest.Origin, "2")
	rotate := func(k, old *inspecttest.LongKey) {
		w.l.RotateLong(k, old != nil)
		w.batch()
		last := &w.m.heads[len(w.m.heads)-1]
		last.Checkpoint = old.Sign(last.Checkpoint, w.l.Text())
	}
	w.round(0)
	rotate(first, nil)
	for i := 1; i < 6; i++ {
		w.round(i) // of which one rotates the key of Ed25519
	}
	rotate(second, first)
	w.round(6)
	m, err := w.finish()
	must(t, err)
	path, s := openSQLite(t)
	m.load(t, s, len(m.heads))
	e := evidenceOfSQLite(t, path)
	if r := check(t, e, m.options()); r.FaultCount != 0 {
		t.Fatalf("%d faults: %+v", r.FaultCount, r.Faults)
	}
	lines := map[int]int{}
	file := rawSQLite(t, path)
	defer file.Close()
	if _, err := file.Exec("DROP TRIGGER checkpoints_no_update"); err != nil {
		t.Fatal(err)
	}
	for _, h := range m.heads[:len(m.heads)-1] { // the newest stands in heads, too
		n := bytes.Count(h.Checkpoint, []byte("\n— "))
		if lines[n]++; lines[n] > 2 {
			continue
		}
		thief := inspecttest.Sign(string(h.Checkpoint[:bytes.Index(h.Checkpoint, []byte("\n\n"))+1]),
			ed25519.NewKeyFromSeed(make([]byte, 32)))
		more := append(bytes.Clone(h.Checkpoint), thief[bytes.Index(thief, []byte("\n\n"))+2:]...)
		put := func(checkpoint []byte) {
			t.Helper()
			if _, err := file.Exec("UPDATE checkpoints SET checkpoint = ? WHERE size = ?", checkpoint, h.Size); err != nil {
				t.Fatal(err)
			}
		}
		put(more)
		r := check(t, e, m.options())
		wantFault(t, r, fsck.CodeSignatures, "checkpoints.checkpoint[size="+number(int64(h.Size))+"]")
		if r.FaultCount != 1 {
			t.Errorf("a line more at size %d: %+v", h.Size, r.Faults)
		}
		put(h.Checkpoint)
	}
	if _, err := file.Exec("DROP TRIGGER entries_no_update"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := check(t, e, m.options())
		said := slices.ContainsFunc(r.Notes, func(n string) bool {
			return strings.HasPrefix(n, "signature lines of signed checkpoints were not counted: entries.entry[idx=")
		})
		if said != (r.FaultCount > 0) {
			t.Errorf("%d faults, notes %q", r.FaultCount, r.Notes)
		}
		if _, err := file.Exec("UPDATE entries SET entry = x'01' WHERE type = ?", audit.TypeKey); err != nil {
			t.Fatal(err)
		}
	}
	if lines[1] == 0 || lines[2] == 0 || lines[3] != 2 {
		t.Errorf("void: checkpoints by their lines %v", lines)
	}
}
