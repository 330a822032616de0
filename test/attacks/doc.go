// Package attacks tries what an insider, a thief, a database administrator, a stranger or the house itself would try,
// against the real binary: over HTTP, through its commands and with SQL. Each test states the defence, and fails if the
// attack gets through. Run the tests with
//
//	make attacks
//
// The binary is built from this tree. SHUFFLED_ATTACKS_BINARY names another one, and SHUFFLED_ATTACKS_ROLES the
// deploy/roles.sql of that binary, so that the same suite shows which attacks an older build lets through. An attack
// that has no defence yet is listed in the table pending, and is skipped unless SHUFFLED_ATTACKS_ALL=1. The package
// contains only tests.
package attacks
