//go:build race

package controls

const raceEnabled = true
