//go:build race

package shuffle

// raceEnabled cuts the enumerations short: the race detector makes them ten
// times slower, and they run in one goroutine each.
const raceEnabled = true
