//go:build race

package controls

// raceEnabled leaves the large samples out: the race detector makes them ten
// times slower.
const raceEnabled = true
