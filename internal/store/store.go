// Package store holds what the stores below it have in common: their interface, the reads that both do alike with the
// statements of these, the check of a batch before any of it is sent, the encoding of deck lists, the reading of stored
// rows that are not believed yet, and the running of migrations. The stores themselves are store/postgres, the system
// of record, and store/sqlite, the embedded one. Both pass store/storetest.
package store

import "shuffled/internal/ledger"

// Database is an open store: the evidence, which is appended to and read, and the accesses
// alongside it, on which no proof rests.
type Database interface {
	ledger.Store
	ledger.CommitFinder
	ledger.AccessStore
	Close() error
}
