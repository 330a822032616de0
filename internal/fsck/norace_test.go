//go:build !race

package fsck_test

import "testing"

// sparse: -short tries one case of this many, of those that damage a database in every way there is.
func sparse() int {
	if testing.Short() {
		return 7
	}
	return 1
}
