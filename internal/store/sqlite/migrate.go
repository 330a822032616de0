package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/migrations"
)

// MigrateUp brings the database file at path to the newest schema, in one transaction. If there is no file it makes
// one, and its directory, which only the owner can read.
func MigrateUp(ctx context.Context, path string, o Options) (err error) {
	defer func() { err = caused(err) }()
	if err := makeFile(path); err != nil {
		return fmt.Errorf("making the database: %w", err)
	}
	db, err := o.connectWriter(ctx, path)
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil) // one migration at a time
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	defer tx.Rollback()
	version, err := schemaVersion(ctx, tx)
	if err != nil {
		return err
	}
	if version > migrations.Latest {
		return store.CheckSchema(version)
	}
	if _, err := tx.ExecContext(ctx, migrations.Above("sqlite", version)); err != nil {
		return fmt.Errorf("migrating up: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("migrating up: %w", err)
	}
	return nil
}

// connectWriter connects, and tries again while another process makes the write-ahead log: SQLite itself does not wait
// for that.
func (o Options) connectWriter(ctx context.Context, path string) (*sql.DB, error) {
	o = o.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	for {
		db, err := connect(path, o, writerSettings)
		if codeOf(err) != sqlite3.SQLITE_BUSY || !ledger.Sleep(ctx, 10*time.Millisecond, nil) {
			return db, err
		}
	}
}

// OpenEvidence opens the database file at path for reading only. It accepts any rows, and takes no lock that a daemon
// would wait for.
func OpenEvidence(path string, o Options) (*store.Evidence, error) {
	o = o.withDefaults()
	if err := isFile(path); err != nil {
		return nil, err
	}
	db, err := connect(path, o, readerSettings)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	db.SetMaxOpenConns(o.Readers)
	db.SetMaxIdleConns(o.Readers)
	query := func(ctx context.Context, text string, args []any, each func([]any) error) error {
		rows, err := db.QueryContext(ctx, words.Replace(text), args...)
		if err != nil {
			return schemaError(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			if err := each(values); err != nil {
				return err
			}
		}
		return schemaError(rows.Err())
	}
	e := &store.Evidence{Query: query, Close: db.Close}
	version, err := schemaVersion(context.Background(), db)
	if err == nil {
		err = e.CheckSchema(context.Background(), version)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return e, nil
}

// schemaError wraps store.ErrSchema if a statement does not fit the tables. SQLite has one code for all errors of a
// statement's text.
func schemaError(err error) error {
	if codeOf(err) == sqlite3.SQLITE_ERROR && strings.Contains(err.Error(), "no such ") {
		return fmt.Errorf("%w: %w", store.ErrSchema, err)
	}
	return err
}
