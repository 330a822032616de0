package inspect

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/inspect/inspecttest"
)

// TestRecomputed: an auditor may sign for the shuffles whose tape led to the deck root in
// this very run, with the leaf hashes that the ledger has, and for no other.
func TestRecomputed(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	closeOf := map[uint64]uint64{}
	closed := func(s *inspecttest.Shuffle, body audit.Body) *inspecttest.Shuffle {
		closeOf[s.ID] = l.Append(body)
		return s
	}
	sealed := l.commit("t1", inspecttest.ForAuditors)
	closed(sealed, sealed.Closing(completed, none))
	public := l.commit("t2")
	closed(public, public.Closing(completed, none))
	other := l.commit("t3", inspecttest.ForAuditors) // a tape that is not the one committed to
	other.Tape = l.Bytes(len(other.Tape))
	other.Close(completed, none)
	lost := l.commit("t4")
	lost.Close(audit.OutcomeVoid, audit.ReasonTapeLost)
	l.commit("t5") // open
	l.see()
	l.Finish()

	hashes := make(map[uint64]tlog.Hash)
	for i, e := range entriesOf(t, l.Dir) {
		hashes[uint64(i)] = tlog.RecordHash(e)
	}
	statement := func(s *inspecttest.Shuffle) openings.Statement {
		return openings.Statement{Origin: inspecttest.Origin, ID: s.ID, Commit: hashes[s.ID],
			Disclosed: hashes[closeOf[s.ID]]}
	}
	orders := map[uint64][]uint32{}
	ask := func(change func(*Options)) (got []openings.Statement) {
		opts := trusting()
		opts.Recomputed = func(of Recomputed) {
			orders[of.ID], got = of.Values, append(got, of.Statement)
		}
		change(&opts)
		inspectDir(t, l.Dir, opts)
		return got
	}
	ask(func(*Options) {})
	if len(orders) != 2 || !slices.Equal(orders[public.ID], public.Values) ||
		!slices.Equal(orders[sealed.ID], sealed.Values) {
		t.Errorf("orders of shuffles %v", slices.Collect(maps.Keys(orders)))
	}
	for name, test := range map[string]struct {
		change func(*Options)
		want   []openings.Statement
	}{
		"all":                      {func(*Options) {}, []openings.Statement{statement(sealed), statement(public)}},
		"without an auditor's key": {func(o *Options) { o.Auditors = nil }, []openings.Statement{statement(public)}},
		"of a later period":        {func(o *Options) { o.From = l.Now + 1 }, nil},
	} {
		if diff := cmp.Diff(test.want, ask(test.change)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// entriesOf reads the entries of a small bundle: u16 length and bytes of each.
func entriesOf(t *testing.T, dir string) (entries [][]byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "tile", "entries", "000*", "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	b, err := os.ReadFile(names[0])
	must(t, err)
	for len(b) > 0 {
		n := int(b[0])<<8 | int(b[1])
		entries, b = append(entries, b[2:2+n]), b[2+n:]
	}
	return entries
}
