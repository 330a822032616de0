// Package migrations holds the schemas of both stores as numbered SQL files, in postgres/ and sqlite/. Package store
// runs them.
//
// Every file runs as one transaction. Its last statement leaves its number in the database itself: in the comment of
// the relation heads in PostgreSQL, in user_version in SQLite. That number decides which schema the database has. A
// store checks it when it opens.
package migrations

import "embed"

// Files holds the directories postgres and sqlite.
//
//go:embed postgres/*.sql sqlite/*.sql
var Files embed.FS

// Latest is the number of the newest schema, which this program reads and writes.
const Latest = 2

// Guards is the number of the migration that only adds guards to the relations. A database whose engine cannot have the
// guards does without them: see Options.NoGuards of package postgres.
const Guards = 2
