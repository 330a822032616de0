package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"shuffled/migrations"
)

// ErrNotEmpty reports an attempt to migrate evidence away.
var ErrNotEmpty = errors.New("the database holds entries: it is not migrated down")

// A Schema is the schema of one database. The number that a migration leaves as its last
// act is all that is known of it.
type Schema struct {
	Store   string                 // the directory: "postgres" or "sqlite"
	Version func() (int, error)    // the number that the last migration left, 0 for none
	Entries func() (bool, error)   // whether there are any
	Exec    func(sql string) error // runs statements as one transaction
}

// Up brings the schema to that of this program. A failed migration changes
// nothing. Two migrations at once are safe: what the second one repeats fails as a whole.
func (s Schema) Up() error {
	at, err := s.Version()
	for err == nil && at < migrations.Latest {
		before := at
		failed := s.run(at+1, "up")
		if at, err = s.Version(); err == nil && at == before {
			return fmt.Errorf("migrating up: %w", cmp.Or(failed, errors.New("the migration left no number")))
		}
	}
	if err != nil {
		return err
	}
	return CheckSchema(at)
}

// Down undoes the newest migration. It returns ErrNotEmpty while there are
// entries; the migration itself would refuse as well.
func (s Schema) Down() error {
	at, err := s.Version()
	if err != nil {
		return err
	}
	if at == 0 {
		return errors.New("migrating down: there is no schema")
	}
	if some, err := s.Entries(); err != nil {
		return err
	} else if some {
		return ErrNotEmpty
	}
	if err := s.run(at, "down"); err != nil {
		return fmt.Errorf("migrating down: %w", err)
	}
	return nil
}

// run runs one migration.
func (s Schema) run(number int, way string) error {
	names, err := fs.Glob(migrations.Files, fmt.Sprintf("%s/%04d_*.%s.sql", s.Store, number, way))
	if err != nil || len(names) != 1 {
		return fmt.Errorf("this program has %d files for schema %d", len(names), number)
	}
	text, err := migrations.Files.ReadFile(names[0])
	if err != nil {
		return err
	}
	return s.Exec(string(text))
}

// CheckSchema returns an error unless version is that of this program.
func CheckSchema(version int) error {
	switch {
	case version == migrations.Latest:
		return nil
	case version > migrations.Latest:
		return fmt.Errorf("the database has schema %d and this program knows %d: the program is too old",
			version, migrations.Latest)
	}
	return fmt.Errorf("the database has schema %d and this program needs %d: run \"shuffled migrate up\"",
		version, migrations.Latest)
}
