// Package migrations holds the schemas of both stores as numbered SQL files, in
// postgres/ and sqlite/. Package store runs them.
//
// Every file runs as one transaction and, as its last act, leaves its number in
// the database itself: in the comment of table heads in PostgreSQL, in
// user_version in SQLite. That number is the truth about the schema; stores check
// it when they open.
package migrations

import "embed"

// Files holds the directories postgres and sqlite.
//
//go:embed postgres/*.sql sqlite/*.sql
var Files embed.FS

// Latest is the number of the newest schema, the one that this program reads
// and writes.
const Latest = 2

// Guards is the number of the migration that only guards what is there. A database whose engine
// cannot take the guards goes without them: package postgres, Options.NoGuards.
const Guards = 2
