// Package third runs the verifier of this directory, which was written in Python from
// docs/SPEC.md alone, on all vectors and on mutants of them. It compares its verdicts with
// those of shuffled verify. The Go package contains only tests.
package third
