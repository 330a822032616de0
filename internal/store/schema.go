package store

import (
	"errors"
	"fmt"

	"shuffled/migrations"
)

// ErrOldSchema reports a database that a program up to 1.0.0-rc.1 made.
var ErrOldSchema = errors.New("it cannot be migrated: read and export it with the program that made it, " +
	"and make a new database for this program")

// OldSchema returns the error of a database with the schema of a number, made by a program up to 1.0.0-rc.1.
func OldSchema(number int) error {
	return fmt.Errorf("the database has schema %d of shuffled 1.0.0-rc.1 or older, and %w", number, ErrOldSchema)
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
