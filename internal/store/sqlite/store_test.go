package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) storetest.Backend {
		path := migrated(t)
		db := raw(t, path)
		return storetest.Backend{
			Store: open(t, path),
			Open:  func(t *testing.T) ledger.Store { return open(t, path) },
			Counts: func(t *testing.T) map[string]int {
				counts := make(map[string]int)
				for _, table := range tables {
					var n int
					must(t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
					counts[table] = n
				}
				return counts
			},
		}
	})
}

var tables = []string{"ledgers", "heads", "entries", "tiles", "checkpoints", "cosigned", "late", "decks", "slots",
	"access_records", "statements"}

// migrated makes a database and returns its path, one that an address must quote.
func migrated(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a dir?", "100%#1.sqlite")
	must(t, MigrateUp(t.Context(), path, Options{}))
	return path
}

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// raw opens the file as a stranger with a shell would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := connect(path, Options{}.withDefaults(), nil)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	storetest.Migrations(t, func(t *testing.T) storetest.Place {
		path := filepath.Join(t.TempDir(), "ledger.sqlite")
		must(t, makeFile(path))
		return storetest.Place{
			Up:      func(ctx context.Context) error { return MigrateUp(ctx, path, Options{}) },
			Version: func(ctx context.Context) (int, error) { return versionOf(ctx, path, Options{}) },
			Open:    func() (ledger.Store, error) { return Open(path, Options{}) },
			Read:    func() (*store.Evidence, error) { return OpenEvidence(path, Options{}) },
			Exec: func(sql string) error {
				db := raw(t, path)
				defer db.Close()
				_, err := db.Exec(sql)
				return err
			},
			Objects: func(t *testing.T) (names string) {
				t.Helper()
				db := raw(t, path)
				defer db.Close()
				err := db.QueryRow("SELECT coalesce(group_concat(name, ' '), '') FROM sqlite_schema").Scan(&names)
				must(t, err)
				return names
			},
			Old: "CREATE TABLE heads (ledger INTEGER) STRICT; PRAGMA user_version = 2",
		}
	})
}

func TestMigrateMakesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	if got, err := versionOf(t.Context(), path, Options{}); err != nil || got != 0 {
		t.Errorf("the version of no file: %d, %v", got, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("reading the version made a file")
	}
	must(t, MigrateUp(t.Context(), path, Options{}))
}

// versionOf returns the number of the schema of the database file at path, 0 for none. It changes nothing.
func versionOf(ctx context.Context, path string, o Options) (int, error) {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, nil
	}
	db, err := connect(path, o.withDefaults(), readerSettings)
	if err != nil {
		return 0, fmt.Errorf("opening the database: %w", err)
	}
	defer db.Close()
	return schemaVersion(ctx, db)
}

// envWriter makes the test binary append to a database until it is killed.
const envWriter = "SHUFFLED_SQLITE_WRITER"

// TestKilled kills a writer at no particular moment, again and again: what it
// had acknowledged is there, whole, and the next one goes on.
func TestKilled(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(envWriter); path != "" {
		writeUntilKilled(t, path)
		return
	}
	path := migrated(t)
	l := storetest.Create(t, open(t, path))
	for round := range 10 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), envWriter+"="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		acknowledged, lines := uint64(0), bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if _, err := fmt.Sscanf(lines.Text(), "size %d", &acknowledged); err != nil {
				t.Fatalf("the writer says %q", lines.Text())
			}
			if n == 3+round {
				must(t, cmd.Process.Kill())
			}
		}
		cmd.Wait()
		s := open(t, path)
		h, err := s.Head(t.Context(), l.ID)
		if err != nil || h.Size < acknowledged || acknowledged == 0 {
			t.Fatalf("head of size %d, acknowledged %d, %v", h.Size, acknowledged, err)
		}
		n := uint64(0)
		for row, err := range s.Rows(t.Context(), l.ID, 0, h.Size) {
			if err != nil || row.Index != n {
				t.Fatalf("entry %d at place %d, %v", row.Index, n, err)
			}
			n++
		}
		if n != h.Size {
			t.Fatalf("%d entries under a head of size %d", n, h.Size)
		}
		if c, err := s.CheckpointAfter(t.Context(), l.ID, h.Size-1); err != nil || c.Root != h.Root {
			t.Fatalf("newest checkpoint of size %d, %v", c.Size, err)
		}
		if c, err := s.CosignedAtMost(t.Context(), l.ID, h.Size); err != nil || c.Size < acknowledged {
			t.Fatalf("newest cosigned checkpoint of size %d, %v; acknowledged %d", c.Size, err, acknowledged)
		}
		s.Close()
	}
}

func writeUntilKilled(t *testing.T, path string) {
	s := open(t, path)
	l := storetest.Small{ID: ledger.IDOf(storetest.SmallInfo.Origin)}
	var err error
	if l.Head, err = s.Head(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
	for {
		b := l.Next(3)
		must(t, s.Append(t.Context(), l.ID, l.Head, b))
		l.Head = b.Head
		must(t, s.PutCosigned(t.Context(), l.ID, l.Head))
		fmt.Println("size", l.Head.Size)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
