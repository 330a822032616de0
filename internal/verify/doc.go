// Package verify judges transcripts and receipts. It takes the steps of docs/SPEC.md section 10 in their order and
// gives each a result and, if it fails, its likely cause. Its input is bytes from strangers. It has no network, no
// clock, no database and no secret of the house, never panics, and bounds its work before it does it.
//
// What the entries of a shuffle may say is decided by package audit, by the same rules that the sequencer obeys.
package verify
