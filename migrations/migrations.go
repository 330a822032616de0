// Package migrations holds the schemas of both stores: in postgres/ and sqlite/ a numbered SQL file for each migration,
// and in postgres/guards.sql what an engine that speaks PostgreSQL's protocol may lack. Package store runs them.
//
// The last statement of each file leaves the number of the schema in the database itself: in PostgreSQL in the comment
// of the relation heads, behind Comment; in SQLite in user_version, with UserVersion. A store checks it when it opens.
// Programs up to 1.0.0-rc.1 counted their schemas otherwise, as "shuffled schema 2" and as 2: neither they nor this
// program take a number for one of the other's.
package migrations

import (
	"embed"
	"fmt"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// Latest is the number of the newest schema, which this program reads and writes.
const Latest = 1

// What stands in a database alongside the number of its schema.
const (
	Comment     = "shuffled/v1 schema "
	UserVersion = 0x7631 << 16 // "v1"
)

// Above returns the migrations of a store, "postgres" or "sqlite", that come after the schema of a number. They run in
// one transaction.
func Above(store string, number int) (sql string) {
	for n := number + 1; n <= Latest; n++ {
		sql += file(fmt.Sprintf("%s/%04d.sql", store, n))
	}
	return sql
}

// Guards returns what guards the tables of PostgreSQL.
func Guards() string { return file("postgres/guards.sql") }

func file(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic("migrations: " + err.Error()) // it is embedded
	}
	return string(b)
}
