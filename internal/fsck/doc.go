// Package fsck compares the rows of a store with the evidence in them. It checks the whole ledger as package inspect
// does, and compares every other column with what follows from an entry, a checkpoint or an available key. The owner of
// a database can drop every trigger and constraint. So fsck assumes nothing: not that a key is unique, that a column is
// filled or of its type, that rows are there, or that there are no others.
//
// It reads alongside a running daemon, without its locks. The head is read first, and rows
// below it are final. Rows above it are compared with the head as it is at the end.
//
// It cannot find these changes, because nothing says how the rows were:
//
//   - the name of a ledger, unless the caller knows it
//   - a sealed tape without its sealing key, except for its length
//   - a missing checkpoint between two others, if both batches have the same millisecond
//   - a missing cosigned checkpoint on which no entry relies: later ones cover the same entries
//   - the order of rows
//   - access records after the last head of their chain that is an entry
//   - whether the beginning of that chain was dropped before its time was over
package fsck
