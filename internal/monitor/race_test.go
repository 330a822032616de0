//go:build race

package monitor

// raceEnabled cuts the statistics short: the race detector makes them ten times
// slower, and they run in one goroutine each.
const raceEnabled = true
