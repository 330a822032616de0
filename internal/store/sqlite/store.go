// Package sqlite keeps ledgers in one SQLite file: the embedded store, with nothing to install. The schema and the
// guarantees are those of store/postgres.
//
// The database is in WAL mode with synchronous=FULL: a commit returns when the write-ahead log is on disk, and other
// connections see it only then. So whatever can be read is as durable as what was acknowledged, and no lock is needed
// for the barrier.
//
// One connection writes. Its transactions begin with BEGIN IMMEDIATE, which takes the write lock of the file and so
// keeps other daemons out until COMMIT. After an error before COMMIT the transaction is rolled back, and nothing was
// written. An error of COMMIT itself leaves the outcome unknown: the log may hold the commit although it could not be
// synced, and a crash would bring it back. Then the store writes and acknowledges nothing until it is opened anew,
// which recovers from the log. The exceptions are a full disk, since a commit that did not fit cannot be whole, and a
// lock.
//
// Other connections read, each statement in a snapshot of its own. They hold nothing that the writer needs: in WAL mode
// a commit waits for no snapshot, and since every statement is short, the log can be emptied between them. What is
// asked under ledger.AsReader has connections of its own.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"modernc.org/sqlite"

	"shuffled/internal/ledger"
	"shuffled/internal/process"
	"shuffled/internal/store"
	"shuffled/migrations"
)

// Options are the settings of a store. The zero value is good for production.
type Options struct {
	// Readers is the largest number of connections for reading, 8 if it is 0.
	Readers int
	// Audience is the largest number of connections for what is asked under ledger.AsReader, 4 if it is 0. They are
	// apart from those of Readers.
	Audience int
	// Timeout is how long a transaction waits for one of another process, 5 s if it is 0.
	Timeout time.Duration
}

func (o Options) withDefaults() Options {
	o.Readers = cmp.Or(o.Readers, 8)
	o.Audience = cmp.Or(o.Audience, 4)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	return o
}

// Store is a ledger.Store in one SQLite file. All methods are safe for concurrent use.
type Store struct {
	store.Common
	*store.Joint // appends

	writer *writer
	turn   *semaphore.Weighted   // of 1: the goroutine that holds it owns writer
	failed atomic.Pointer[error] // why the store acknowledges nothing any more; nil while it does
	held   process.Held          // the files of the database; owned as writer is

	reads ledger.Apart[*readers]
}

var _ ledger.Store = (*Store)(nil)

// errClosed answers every call of a closed store.
var errClosed = errors.New("the store is closed")

// Open opens the database file at path, which MigrateUp made. It checks that the schema is that of this program, and
// that every setting on which durability rests is in force.
func Open(path string, o Options) (_ *Store, err error) {
	o = o.withDefaults()
	defer func() { err = caused(err) }()
	if err := isFile(path); err != nil {
		return nil, err
	}
	s := &Store{turn: semaphore.NewWeighted(1)}
	shuffles := func(ctx context.Context, _ ledger.Standing, args []any, each func(scanner) error) error {
		return s.query(ctx, sqlByShuffle, args, each)
	}
	s.Common = store.NewCommon(store.DB{Query: s.query, Keep: s.exec, Note: s.exec, Shuffles: shuffles,
		ByKeyTags: sqlByKeyTag, DropAccess: sqlDropAccess})
	s.Joint = store.NewJoint(1, s.append)
	if s.writer, err = newWriter(path, o); err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("opening the database: %w", err), s.Close())
		}
	}()
	dealers, err := newReaders(path, o, o.Readers)
	if err != nil {
		return nil, err
	}
	public, err := newReaders(path, o, o.Audience)
	s.reads = ledger.NewApart(dealers, public)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if _, err := s.writer.conn.ExecContext(context.Background(), "BEGIN IMMEDIATE; COMMIT"); err != nil {
		return nil, err // with it SQLite makes the two files next to the database
	}
	if err := s.held.Add(path, path+"-wal", path+"-shm"); err != nil {
		return nil, err
	}
	return s, nil
}

// prepare checks the schema and prepares every statement.
func (s *Store) prepare() error {
	reads := s.reads.Both()
	version, err := schemaVersion(context.Background(), reads[0].db)
	if err != nil {
		return err
	}
	if err := store.CheckSchema(version); err != nil {
		return err
	}
	return errors.Join(reads[0].stmts.prepare(reads[0].db, sqlReads), reads[1].stmts.prepare(reads[1].db, sqlReads),
		s.writer.stmts.prepare(s.writer.conn, sqlWrites))
}

// Close ends the store. It waits for a write that is under way.
func (s *Store) Close() error {
	s.turn.Acquire(context.Background(), 1) // never an error: this context does not end
	defer s.turn.Release(1)
	s.failed.CompareAndSwap(nil, &errClosed)
	reads := s.reads.Both()
	return errors.Join(s.writer.close(), reads[0].close(), reads[1].close())
}

// sound returns why the store no longer acknowledges anything, or nil if it does.
func (s *Store) sound() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// setting is a PRAGMA, its value, and what it must answer after it was set.
type setting struct{ name, value, want string }

var (
	commonSettings = []setting{
		{"synchronous", "FULL", "2"},
		{"fullfsync", "1", "1"}, // on macOS, fsync alone does not reach the disk
		{"checkpoint_fullfsync", "1", "1"},
		{"foreign_keys", "1", "1"},
		{"trusted_schema", "0", "0"},  // functions in a foreign schema are not run
		{"cell_size_check", "1", "1"}, // a torn page is noticed when it is read
	}
	writerSettings = append([]setting{{"journal_mode", "WAL", "wal"}, {"cache_size", "-16384", "-16384"}},
		commonSettings...)
	readerSettings = append([]setting{{"query_only", "1", "1"}}, commonSettings...)
)

// isFile returns an error unless there is a regular file. SQLite itself would make an empty database.
func isFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database %s: %w", path, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("opening the database: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("the database %s is not a regular file", path)
	}
	return nil
}

// connect opens an existing file, and checks its settings over the first connection.
func connect(path string, o Options, settings []setting) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	settings = append([]setting{{"busy_timeout", strconv.FormatInt(o.Timeout.Milliseconds(), 10),
		strconv.FormatInt(o.Timeout.Milliseconds(), 10)}}, settings...)
	q := url.Values{"mode": {"rw"}, "_defensive": {"1"}, "_txlock": {"immediate"}}
	for _, s := range settings {
		q.Add("_pragma", s.name+"("+s.value+")")
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	for _, s := range settings {
		var got string
		if err := db.QueryRow("PRAGMA " + s.name).Scan(&got); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		if !strings.EqualFold(got, s.want) {
			return nil, errors.Join(fmt.Errorf("%s is %s and cannot be set to %s here", s.name, got, s.value),
				db.Close())
		}
	}
	return db, nil
}

// makeFile makes an empty file that only its owner can read, and the directories above it that are missing, with the
// same restriction. It syncs the file, its directory and the one above. SQLite gives its other files the same mode.
func makeFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), process.SyncDir(dir), process.SyncDir(filepath.Dir(dir)))
}

// schemaVersion returns the number of the schema, 0 for none.
func schemaVersion(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, sql string, args ...any) *sql.Row
}) (version int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the schema version: %w", err)
	}
	if version != 0 && version < migrations.UserVersion {
		return 0, store.OldSchema(version)
	}
	return version &^ migrations.UserVersion, nil
}
