// Package controls holds shufflers that are wrong on purpose, to show that the battery finds their faults.
// Each has one fault that real houses, sites or devices had, and is otherwise right. Each names the test of
// the battery that must reject it, and the number of outcomes; the true shuffler must be accepted.
//
// A fault is in one of four places, each in its own file: the bytes of the generator (seeds.go), how bytes become
// numbers (numbers.go), how numbers move cards (orders.go), and the use of a finished order (games.go). All of them
// take their bytes from the entropy source through internal/outcome, like the daemon.
//
// Some faults need a sample that is too large to make; Unseen lists them with that sample. The exhaustive
// proof, shuffled lab prove, covers them.
//
// No package that deals may import this one; a test of internal/arrows checks this.
package controls
