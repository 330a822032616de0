// Package third runs the verifier of this directory, which was written in Python from
// docs/SPEC.md alone, on all vectors and on mutants of them, alongside shuffled verify. It
// has no code but tests.
package third
