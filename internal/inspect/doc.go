// Package inspect checks a whole ledger, offline: that its entries are those of the signed and witnessed checkpoints,
// that they follow the rules, and that every disclosed tape gives the order committed to (docs/SPEC.md section 14).
//
// A fault does not end the check: all faults are found, each once. A Source says
// where the evidence is kept: in a bundle (Bundle), or in the rows of a store.
//
// One goroutine, that of the caller of Run, does everything that has an order. It is called the fold: it cuts the
// ledger into chunks of 256 entries, takes them in order, and owns the live state (rules.State), the tree and all
// counts. Workers, one for each core, do the rest. They read, hash and parse chunks ahead of the fold, and behind it
// recompute the shuffles that a chunk closed. A worker waits for nothing that was sent after its own work.
//
// The queues to the workers are short, so that memory does not grow with the ledger.
// Run ends the workers before it returns.
package inspect
