package store

import (
	"errors"
	"fmt"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"shuffled/migrations"
)

// ErrNotEmpty reports an attempt to migrate evidence away.
var ErrNotEmpty = errors.New("the database holds entries: it is not migrated down")

// A Schema is the schema of one database. The caller that makes one closes Driver.
//
// golang-migrate notes a version before it runs a file, and notes that it is whole afterwards, each in a transaction of
// its own. After a crash in between, the noted version may or may not be there. The number that the migration itself
// left decides, and the note is repaired from it. Two migrations at once are safe: what the second one repeats fails as
// a whole.
type Schema struct {
	Store   string              // the directory: "postgres" or "sqlite"
	Driver  database.Driver     // over a connection of its own
	Version func() (int, error) // the number that the last migration left, 0 for none
	Entries func() (bool, error)
	// Unguarded leaves the number of migrations.Guards without running that migration. If it is nil the
	// migration runs as the others.
	Unguarded func() error
}

// Up brings the schema to that of this program. A migration that fails changes nothing.
func (s Schema) Up() error {
	err := s.run(s.up)
	if err != nil {
		if at, verr := s.Version(); verr == nil && at == migrations.Latest {
			return nil // another migration was faster
		}
	}
	return err
}

// upTries is how often a migration is tried. It may fail while other processes migrate.
const upTries = 10

// up runs one migration at a time: golang-migrate reads ahead, and if a migration fails, the goroutine that reads the
// next one never ends.
//
// Another process that migrates may be faster, or may have noted a version that the database does not have yet or no
// longer has. So after a failure the note is repaired and the migration tried again.
func (s Schema) up(m *migrate.Migrate) error {
	for tries := 1; ; {
		at, err := s.Version()
		if err != nil {
			return err
		}
		if at >= migrations.Latest {
			return CheckSchema(at)
		}
		if s.Unguarded != nil && at+1 == migrations.Guards {
			err = errors.Join(s.Unguarded(), s.repair(m))
		} else {
			err = m.Steps(1)
		}
		switch {
		case err == nil:
			tries = 1
			continue
		case tries == upTries:
			return fmt.Errorf("migrating up: %w", plain(err))
		}
		tries++
		if err := s.repair(m); err != nil {
			return err
		}
	}
}

// Down undoes the newest migration. It returns ErrNotEmpty if there are entries. The migration itself would also
// refuse.
func (s Schema) Down() error {
	return s.run(func(m *migrate.Migrate) error {
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
		if err := m.Steps(-1); err != nil {
			return fmt.Errorf("migrating down: %w", plain(err))
		}
		return nil
	})
}

// run calls do after it has repaired golang-migrate's note, and repairs it again if do fails.
func (s Schema) run(do func(*migrate.Migrate) error) error {
	source, err := iofs.New(migrations.Files, s.Store)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	defer source.Close()
	m, err := migrate.NewWithInstance("iofs", source, s.Store, s.Driver)
	if err != nil {
		return fmt.Errorf("preparing to migrate: %w", plain(err))
	}
	if err := s.repair(m); err != nil {
		return err
	}
	if err := do(m); err != nil {
		return errors.Join(err, s.repair(m))
	}
	return nil
}

// repair makes golang-migrate's version that of the database.
func (s Schema) repair(m *migrate.Migrate) error {
	at, err := s.Version()
	if err != nil {
		return err
	}
	// m itself does not report a note of no version at all.
	noted, dirty, err := s.Driver.Version()
	if err != nil {
		return fmt.Errorf("reading the noted schema version: %w", plain(err))
	}
	force := at
	if at == 0 {
		force = database.NilVersion
	}
	if noted == force && !dirty {
		return nil
	}
	if err := m.Force(force); err != nil {
		return fmt.Errorf("repairing the noted schema version: %w", plain(err))
	}
	return nil
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

// plain removes the text of the migration, which golang-migrate puts into its errors.
func plain(err error) error {
	if value, ok := errors.AsType[database.Error](err); ok && value.OrigErr != nil {
		return value.OrigErr
	}
	if pointer, ok := errors.AsType[*database.Error](err); ok && pointer.OrigErr != nil {
		return pointer.OrigErr
	}
	return err
}
