// Package controls holds shufflers that are wrong on purpose, so that the
// battery is seen to find what it is there to find: a test that never failed
// proves nothing. Each has one fault that real houses, sites or devices had, and
// is right in everything else. Each says at how many outcomes which test of the
// battery must reject it; the true shuffler must be accepted.
//
// A fault sits in one of four places, and so do the files: what the generator
// gives (seeds.go), how bytes become numbers (numbers.go), how numbers move
// cards (orders.go), what becomes of a finished order (games.go). All of them
// take their bytes from the entropy source through internal/outcome, as the
// daemon does.
//
// Some faults no sample can show; Unseen lists them with the sample that it
// would take. Those are for the exhaustive proof, shuffled lab prove.
//
// Nothing that deals may import this package; internal/arrows holds it to that.
package controls
