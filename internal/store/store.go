// Package store holds what the two stores have in common: their interface, the methods and statements that need nothing
// of one database alone, the check of a batch before any of it is sent, the encoding of decks, reads of rows that are
// not believed yet, and migrations. The stores are store/postgres, the system of record, and store/sqlite, the embedded
// one. Both pass store/storetest.
package store

import "shuffled/internal/ledger"

// Database is an open store: the evidence, which is appended to and read, and the access records, on which no proof
// rests.
type Database interface {
	ledger.Store
	ledger.CommitFinder
	ledger.AccessStore
	Close() error
}
