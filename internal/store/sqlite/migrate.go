package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	driver "github.com/golang-migrate/migrate/v4/database/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"shuffled/internal/store"
)

// MigrateUp brings the database file at path to the newest schema. If there is no file it makes one, and its directory,
// which only the owner can read.
func MigrateUp(ctx context.Context, path string, o Options) error {
	if err := makeFile(path); err != nil {
		return fmt.Errorf("making the database: %w", err)
	}
	return o.migrate(ctx, path, store.Schema.Up)
}

// MigrateDown undoes the newest migration. It returns store.ErrNotEmpty if there are entries.
func MigrateDown(ctx context.Context, path string, o Options) error {
	if err := isFile(path); err != nil {
		return err
	}
	return o.migrate(ctx, path, store.Schema.Down)
}

// SchemaVersion returns the number of the schema of the database file at path, 0 for none. It changes nothing.
func SchemaVersion(ctx context.Context, path string, o Options) (int, error) {
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

func (o Options) migrate(ctx context.Context, path string, do func(store.Schema) error) error {
	db, err := o.connectWriter(ctx, path)
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	d, err := driver.WithInstance(db, &driver.Config{})
	if err != nil {
		return fmt.Errorf("preparing to migrate: %w", err)
	}
	return do(store.Schema{
		Store:   "sqlite",
		Driver:  d,
		Version: func() (int, error) { return schemaVersion(ctx, db) },
		Entries: func() (some bool, err error) {
			if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM entries)").Scan(&some); err != nil {
				return false, fmt.Errorf("looking for entries: %w", err)
			}
			return some, nil
		},
	})
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
