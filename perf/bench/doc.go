// Package bench compares shuffled with what a user would pick instead, side by
// side on one machine in one run. It holds tests only; `make bench` runs them.
// Times are printed, never asserted.
package bench
