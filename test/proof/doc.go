// Package proof compares the program that is extracted from the machine-checked proof in proof/ with the published
// vectors, with internal/shuffle and with internal/audit. It also compares the theorems that docs/PROOF.md names with
// those of the proof. The package contains only tests.
package proof
