// Package inspect checks a whole ledger, offline: that its entries are those of
// the signed and witnessed checkpoints, that they follow the rules, and that
// every disclosed tape gives the order committed to (docs/SPEC.md section 14).
//
// It goes on after a fault: all faults are found, each once. Where the evidence
// lies is the Source's business: a bundle (Bundle), or a store's rows.
//
// The work is a pipeline of goroutines, all started and awaited by Run:
//
//	dispatch   one; cuts the ledger into chunks of 256 entries, in order
//	workers    one per core; read, hash and parse chunks, and recompute shuffles;
//	           they wait for nothing that is behind them in either queue
//	fold       one, the caller's; takes the chunks in order, owns the live state
//	           (audit.State), the tree and all that is counted along the way
//	collect    one; takes the results of the recomputing in order
//
// The queues between them are short, so that memory does not grow with the
// ledger. Cancelling the context ends all of them.
package inspect
