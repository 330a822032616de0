package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

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
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		db, err := connect(path, o, writerSettings)
		if codeOf(err) != sqlite3.SQLITE_BUSY {
			return db, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-again.C:
		}
	}
}
