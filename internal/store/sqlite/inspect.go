package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"shuffled/internal/store"
)

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
			values := make([]any, len(columns))
			into := make([]any, len(columns))
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
