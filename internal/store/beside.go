package store

import (
	"math"

	"shuffled/internal/ledger"
)

// What is kept beside the evidence, as both stores write and read it.

// Scanner is one row of a result.
type Scanner interface{ Scan(dest ...any) error }

// ScanAccess reads time, request, token, method and path.
func ScanAccess(row Scanner) (a ledger.Access, err error) {
	err = row.Scan(&a.Time, &a.Request, &a.Token, &a.Method, &a.Path)
	return a, err
}

// Until returns the upper bound of a time range, where 0 is none.
func Until(to int64) int64 {
	if to == 0 {
		return math.MaxInt64
	}
	return to
}
