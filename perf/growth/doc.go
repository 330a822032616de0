// Package growth writes a ledger of any size through the sequencer, signed like any
// other, and measures what the size costs: start-up, reads, disk. Its tests do nothing
// unless they are asked to (docs/SCALE.md has the commands). Times are printed, never
// asserted.
package growth
