// Package golden has what version 1 wrote: testdata/v1 of the tree, ledgers with their bundles,
// transcripts and receipts, and what each verifier must find in them for ever. Its tests hold the
// directory against one digest, and judge every ledger. The files are judged with the vectors of
// internal/verify, by all verifiers.
//
//	SHUFFLED_WRITE_GOLDEN=1 go test -C test -count=1 -v -run 'TestPlay$' ./golden
//
// adds the ledgers that the directory does not have, from the daemon's own packages, with keys and
// tapes from a seed and a clock that a test moves. A ledger that stands there stays as it is.
package golden
