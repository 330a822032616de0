package main

// labCmd is what a test lab needs: raw output, final outcomes, statistics, proofs
// and what is handed in.
type labCmd struct {
}
