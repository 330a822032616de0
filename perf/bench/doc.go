// Package bench compares shuffled with other software for the same task, on one machine in one run. It
// holds only tests; `make bench` runs them. Times are printed, never asserted.
package bench
