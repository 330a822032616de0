//go:build !race

package fsck_test

const sparse = 1
