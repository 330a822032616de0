// Package fsck holds the rows of a store against the evidence in them: the check
// of a whole ledger that package inspect makes, and of every other column what
// can be computed from an entry, a checkpoint or an available key. Somebody who owns
// the database can drop every trigger and constraint, so nothing is taken for
// granted: not that a key is unique, that a column is filled or of its type, that
// rows are there, or that there are no others.
//
// It reads alongside a running daemon, without its locks. The head is read first and
// rows below it are final; what stands above it is held against the head as it is
// at the end.
//
// What it cannot see, because nothing says how it was: the name of a ledger,
// unless the caller knows it; a sealed tape without its sealing key, except for its
// length; a checkpoint between two that stayed when both batches have the same
// millisecond, and a cosigned checkpoint on which no entry relies, for later ones
// vouch for the same entries; the order of rows; access
// records that are newer than the last head of their chain that is an entry, and whether
// the beginning of the chain was dropped because its time was over.
package fsck
