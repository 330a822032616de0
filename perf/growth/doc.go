// Package growth writes a ledger of any size through the sequencer, signed like any other, and measures the
// cost of its size: start-up, reads, disk. Its tests do nothing without their flags (docs/SCALE.md has the
// commands). Times are printed, never asserted.
package growth
