// Package verify judges transcripts and receipts: the steps of docs/SPEC.md
// section 10, in their order, each with a result and, when it fails, its likely
// cause. It takes bytes from strangers. It has no network, no clock, no database
// and no secret, never panics, and bounds its work before it does it.
//
// What the entries of a shuffle may say is decided by package audit, by the same
// rules that the sequencer obeys.
package verify
