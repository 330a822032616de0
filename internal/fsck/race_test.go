//go:build race

package fsck_test

// sparse: with the race detector a case takes ten times as long, and one of many shows a race as well as all of them.
func sparse() int { return 9 }
