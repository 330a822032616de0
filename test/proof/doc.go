// Package proof runs the program that is extracted from the machine-checked proof in
// proof/ against the published vectors and alongside internal/shuffle, and holds
// docs/PROOF.md against the theorems that it names. It has no code but tests.
package proof
