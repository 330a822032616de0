package fsck_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"shuffled/internal/disclosure"
	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/store"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
)

var scratch string // the directory of those that tempDir makes, removed by TestMain

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "fsck"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(testdb.M{M: m}, goleak.Cleanup(func(code int) {
		os.RemoveAll(scratch)
		os.Exit(code)
	}))
}

func tempDir() (string, error) { return os.MkdirTemp(scratch, "") }

func made(t testing.TB) *material {
	t.Helper()
	m, err := honest()
	must(t, err)
	return m
}

func (m *material) options() fsck.Options {
	return fsck.Options{Ledger: name, Keys: m.keys,
		Options: inspect.Options{VKey: m.vkey, Auditors: []*disclosure.Auditor{inspecttest.Auditor()}}}
}

func check(t testing.TB, e *store.Evidence, o fsck.Options) *fsck.Report {
	t.Helper()
	r, err := fsck.Run(t.Context(), e, o)
	must(t, err)
	return r
}

func openSQLite(t testing.TB) (path string, s *sqlite.Store) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "shuffled.db")
	must(t, sqlite.MigrateUp(t.Context(), path, sqlite.Options{}))
	s, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return path, s
}

func evidenceOfSQLite(t testing.TB, path string) *store.Evidence {
	t.Helper()
	e, err := sqlite.OpenEvidence(path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { e.Close() })
	return e
}

func openPostgres(t testing.TB) (dsn string, s *postgres.Store) {
	t.Helper()
	dsn = testdb.DSN(t)
	must(t, postgres.MigrateUp(t.Context(), dsn, postgres.Options{}))
	s, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return dsn, s
}

func evidenceOfPostgres(t testing.TB, dsn string) *store.Evidence {
	t.Helper()
	e, err := postgres.OpenEvidence(t.Context(), dsn, postgres.Options{})
	must(t, err)
	t.Cleanup(func() { e.Close() })
	return e
}

func wantHonest(t *testing.T, m *material, e *store.Evidence) {
	t.Helper()
	r := check(t, e, m.options())
	if r.Verdict != inspect.Proved || r.FaultCount != 0 {
		b, _ := json.MarshalIndent(r, "", " ")
		t.Fatalf("an honest ledger:\n%s", b)
	}
	if r.Size != uint64(len(m.entries)) || r.Store.TapesOpened != uint64(len(m.tapes)) ||
		r.Store.Decks != uint64(len(m.decks)) || r.Store.Terms != uint64(len(m.terms)) ||
		r.Store.Statements != 2*uint64(len(m.stated)) ||
		r.Store.Checkpoints != uint64(len(m.heads)) || r.Store.Cosigned != uint64(len(m.cosigned)) ||
		r.Store.Entries != r.Size || r.Store.Tiles != r.Size>>8+r.Size>>16 || r.Store.UnusedDecks != 0 {
		t.Errorf("counts %+v of %d entries", r.Store, len(m.entries))
	}
}
