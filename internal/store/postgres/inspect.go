package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/store"
)

// OpenEvidence connects to the database at dsn for reading only. It accepts any rows and any settings of the server:
// evidence is read from a standby or a restored copy as well. The role needs SELECT on the tables of evidence, and
// nothing else.
func OpenEvidence(ctx context.Context, dsn string, o Options) (*store.Evidence, error) {
	o = o.withDefaults()
	cfg, err := o.parse(dsn)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = int32(o.Readers)
	if o.Pooler {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	} else {
		// It is not set with the connection, because an address with target_session_attrs=read-write would then find
		// no server.
		cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SET default_transaction_read_only = on")
			return err
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", clean(err))
	}
	query := func(ctx context.Context, sql string, args []any, each func([]any) error) error {
		rows, err := pool.Query(ctx, sql, args...)
		if err != nil {
			return schemaError(err)
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return clean(err)
			}
			if err := each(values); err != nil {
				return err
			}
		}
		return schemaError(rows.Err())
	}
	var comment any
	err = query(ctx, sqlVersion, nil, func(values []any) error {
		comment = values[0]
		return nil
	})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	text, _ := comment.(string)
	version, _, err := parseVersion(text) // 0 if it cannot be read
	e := &store.Evidence{Query: query, Close: func() error { pool.Close(); return nil }}
	if !errors.Is(err, store.ErrOldSchema) {
		err = e.CheckSchema(ctx, version)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return e, nil
}

// SQLSTATE codes of statements that do not fit the tables.
const (
	codeUndefinedTable    = "42P01"
	codeUndefinedColumn   = "42703"
	codeUndefinedFunction = "42883" // a comparison with a column of another type
	codeDatatypeMismatch  = "42804"
)

// schemaError wraps store.ErrSchema if a statement does not fit the tables.
func schemaError(err error) error {
	if err == nil {
		return nil
	}
	for _, code := range []string{codeUndefinedTable, codeUndefinedColumn, codeUndefinedFunction,
		codeDatatypeMismatch} {
		if isCode(err, code) {
			return fmt.Errorf("%w: %w", store.ErrSchema, clean(err))
		}
	}
	return clean(err)
}
