package sqlite

import (
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

	"modernc.org/sqlite"

	"shuffled/internal/process"
	"shuffled/internal/store"
	"shuffled/migrations"
)

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
