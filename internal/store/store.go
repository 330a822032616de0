// Package store holds what the two stores have in common: their interface, the methods and statements that need nothing
// of one database alone, the check of a batch before any of it is sent, the encoding of decks, reads of rows that are
// not believed yet, and migrations. The stores are store/postgres, the system of record, and store/sqlite, the embedded
// one. Both pass store/storetest.
package store

import (
	"time"

	"shuffled/internal/ledger"
)

// Database is an open store: the evidence, which is appended to and read, and the access records, on which no proof
// rests.
type Database interface {
	ledger.Store
	ledger.CommitFinder
	ledger.AccessStore
	Close() error
}

// Pool is how the connections of one pool to the database are used.
type Pool struct {
	Name  string // appends, reads or public
	Limit int    // connections that it may have
	Used  int    // connections that are at work
	Open  int
	Waits uint64        // how often a call waited for one
	Wait  time.Duration // for how long all of these calls together
}

// Standbys is what the server says of its synchronous replication.
type Standbys struct {
	Wanted bool // the server's settings name synchronous standbys
	Known  bool // the role may count them (deploy/roles.sql)
	Synced int  // how many are connected as sync or quorum
}
