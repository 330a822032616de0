// Package golden keeps what version 1 wrote. testdata/v1 of the tree has ledgers with their bundles, transcripts and
// receipts, and what each verifier must always find in them. The tests of this package compare the directory with one
// digest, and audit every ledger. All verifiers judge the files, together with the vectors of internal/verify.
//
//	SHUFFLED_WRITE_GOLDEN=1 go test -C test -count=1 -v -run 'TestPlay$' ./golden
//
// adds the ledgers that the directory lacks. They are written by the daemon's own packages, with keys
// and tapes from a seed, and with a clock that the test moves. A ledger that is there stays as it is.
package golden
