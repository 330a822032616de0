package fsck_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit/trust"
	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/seal"
	"shuffled/internal/store"
	"shuffled/internal/witness/gateway"
)

// markOf writes a high-water mark as a daemon does.
func markOf(t *testing.T, checkpoint []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "main.mark")
	b := make([]byte, 2048)
	copy(b[1024:], checkpoint)
	must(t, os.WriteFile(path, b, 0o600))
	return path
}

// older loads all but the newest batches: a database that was set back.
func (m *material) older(t *testing.T, back int) *store.Evidence {
	t.Helper()
	path, s := openSQLite(t)
	m.load(t, s, len(m.heads)-back)
	return evidenceOfSQLite(t, path)
}

func wantFault(t *testing.T, r *fsck.Report, code, where string) {
	t.Helper()
	for _, f := range r.Faults {
		if f.Code == code && f.Where == where {
			return
		}
	}
	t.Errorf("no fault %s at %s in %+v", code, where, r.Faults)
}

// TestSetBack: nothing in a whole database that was set back says so. What was kept elsewhere does.
func TestSetBack(t *testing.T) {
	t.Parallel()
	m := made(t)
	e, whole := m.older(t, 3), m.older(t, 0)
	newest := m.heads[len(m.heads)-1]
	head := "heads.size[ledger=" + number(int64(m.id)) + "]"
	marked := m.options()
	marked.Mark = markOf(t, newest.Checkpoint)
	since := m.options()
	since.Since = newest.Checkpoint
	asked := m.options()
	cosigned := m.cosigned[len(m.cosigned)-1]
	asked.Latest = told(cosigned.Checkpoint, nil)
	silent := m.options()
	silent.Latest = told(nil, gateway.ErrNone)
	rotated := m.options() // the database is from before a change of keys
	rotated.Latest = told(underAnotherKey(t, newest.Checkpoint), nil)

	wantFault(t, check(t, e, marked), fsck.CodeRollback, head)
	wantFault(t, check(t, e, since), inspect.CodeSince, "the older checkpoint")
	if r := check(t, m.older(t, 5), asked); len(m.cosigned) > 0 {
		wantFault(t, r, fsck.CodeRollback, head)
	}
	// Without any of them it holds, and says what was not there.
	none := m.options()
	none.Mark = filepath.Join(t.TempDir(), "none")
	if r := check(t, e, none); r.FaultCount != 0 || len(r.Notes) == 0 {
		t.Errorf("no mark: %+v, notes %q", r.Faults, r.Notes)
	}
	if r, err := fsck.Run(t.Context(), e, silent); err == nil {
		t.Errorf("witnesses were to be asked, and none showed a checkpoint: %+v", r)
	}
	wantFault(t, check(t, e, rotated), fsck.CodeRollback, "the witness w3")
	for _, o := range []fsck.Options{marked, since, asked} {
		if r := check(t, whole, o); r.FaultCount != 0 {
			t.Errorf("the whole ledger: %+v", r.Faults)
		}
	}
	marked.Mark = markOf(t, []byte("no checkpoint"))
	wantFault(t, check(t, whole, marked), fsck.CodeMark, marked.Mark)
}

// TestFork: a ledger with the same keys and other entries agrees with itself, and not with what was seen.
func TestFork(t *testing.T) {
	t.Parallel()
	m := made(t)
	dir, err := tempDir()
	must(t, err)
	w := newWriter(dir, "another", true)
	for i := range 4 {
		w.round(i)
	}
	fork, err := w.finish()
	must(t, err)
	path, s := openSQLite(t)
	fork.load(t, s, len(fork.heads))
	e := evidenceOfSQLite(t, path)
	o := fork.options()
	if r := check(t, e, o); r.FaultCount != 0 {
		t.Fatalf("the fork alone: %+v", r.Faults)
	}
	seen := m.heads[0]
	o.Mark = markOf(t, seen.Checkpoint)
	wantFault(t, check(t, e, o), fsck.CodeFork, "checkpoints.root[size="+number(int64(seen.Size))+"]")
}

// TestForgedNewest: a later checkpoint that no key of the ledger signed is a row too many, and nothing is judged by it.
func TestForgedNewest(t *testing.T) {
	t.Parallel()
	m := made(t)
	path, s := openSQLite(t)
	m.load(t, s, len(m.heads))
	file := rawSQLite(t, path)
	defer file.Close()
	newest := m.heads[len(m.heads)-1]
	forged := bytes.Replace(newest.Checkpoint, []byte("\n"+number(int64(newest.Size))+"\n"), []byte("\n9999\n"), 1)
	if _, err := file.Exec("INSERT INTO checkpoints (ledger, size, root, checkpoint) VALUES (?, 9999, ?, ?)",
		int64(m.id), newest.Root[:], forged); err != nil {
		t.Fatal(err)
	}
	r := check(t, evidenceOfSQLite(t, path), m.options())
	wantFault(t, r, fsck.CodeRowExtra, "checkpoints[size=9999]")
	if r.FaultCount != 1 || r.Size != newest.Size {
		t.Errorf("%d entries are judged, faults %+v", r.Size, r.Faults)
	}
}

// TestAnotherSealingKey: a sealing key that opens no tape is not the ledger's, and a drill with it must not pass.
func TestAnotherSealingKey(t *testing.T) {
	t.Parallel()
	o := made(t).options()
	key, err := seal.NewKey([]byte("another key of exactly 32 bytes."))
	must(t, err)
	o.Keys, err = seal.NewKeyring(key)
	must(t, err)
	wantFault(t, check(t, made(t).older(t, 0), o), fsck.CodeSealedTape, "entries.kept")
}

// underAnotherKey is a checkpoint as a later key of its ledger signed it.
func underAnotherKey(t *testing.T, checkpoint []byte) []byte {
	t.Helper()
	text, _, _ := strings.Cut(string(checkpoint), "\n\n")
	origin, _, _ := strings.Cut(text, "\n")
	secret, _, err := note.GenerateKey(nil, origin)
	must(t, err)
	key, err := note.NewSigner(secret)
	must(t, err)
	signed, err := note.Sign(&note.Note{Text: text + "\n"}, key)
	must(t, err)
	return signed
}

// told is what each witness answers.
func told(signed []byte, err error) func(context.Context, trust.Witness, string) ([]byte, error) {
	return func(context.Context, trust.Witness, string) ([]byte, error) { return signed, err }
}

// TestSchema: tables that are not there, or of another shape, are a fault and not a failure to run.
func TestSchema(t *testing.T) {
	t.Parallel()
	m := made(t)
	path, s := openSQLite(t)
	m.load(t, s, 3)
	file := rawSQLite(t, path)
	defer file.Close()
	wantSchema(t, m, evidenceOfSQLite(t, path), func(sql string) error { _, err := file.Exec(sql); return err })
	dsn, p := openPostgres(t)
	m.load(t, p, 3)
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(t.Context())
	e := evidenceOfPostgres(t, dsn)
	wantSchema(t, m, e, func(sql string) error { _, err := conn.Exec(t.Context(), sql); return err })
	if _, err := conn.Exec(t.Context(), "DROP TABLE decks; CREATE TABLE decks (ledger text, hash text, cards text)"); err != nil {
		t.Fatal(err)
	}
	if r := check(t, e, m.options()); r.FaultCodes[fsck.CodeSchema] == 0 {
		t.Errorf("columns of other types: %+v", r.Faults)
	}
}

func wantSchema(t *testing.T, m *material, e *store.Evidence, exec func(string) error) {
	t.Helper()
	do := func(sql string) {
		t.Helper()
		if err := exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, table := range store.Relations() {
		// The comment of heads is the schema's number.
		do("ALTER TABLE " + table.Name + " RENAME TO gone")
		wantFault(t, check(t, e, m.options()), fsck.CodeSchema, table.Name)
		do("ALTER TABLE gone RENAME TO " + table.Name)
		for _, column := range table.Columns {
			do("ALTER TABLE " + table.Name + " RENAME COLUMN " + column + " TO gone")
			wantFault(t, check(t, e, m.options()), fsck.CodeSchema, table.Name)
			do("ALTER TABLE " + table.Name + " RENAME COLUMN gone TO " + column)
		}
	}
}

// TestNothingToCheck: what was not meant is no fault.
func TestNothingToCheck(t *testing.T) {
	t.Parallel()
	m := made(t)
	e := m.older(t, 0)
	other := m.options()
	other.VKey = ""
	other.Ledger = "another"
	if _, err := fsck.Run(t.Context(), e, other); err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("a ledger that is not there: %v", err)
	}
	foreign := m.options()
	foreign.VKey = strings.Replace(m.vkey, "inspect", "spectre", 1)
	if _, err := fsck.Run(t.Context(), e, foreign); err == nil {
		t.Error("a key of no ledger was accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fsck.Run(ctx, e, m.options()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
