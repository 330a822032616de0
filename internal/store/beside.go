package store

import (
	"errors"
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

// ScanAccessHead reads seq, prev, time, request, token, method and path of the newest
// access, and returns the end of the chain.
func ScanAccessHead(row Scanner) (ledger.AccessHead, error) {
	var (
		seq  int64
		prev []byte
		a    ledger.Access
	)
	if err := row.Scan(&seq, &prev, &a.Time, &a.Request, &a.Token, &a.Method, &a.Path); err != nil {
		return ledger.AccessHead{}, err
	}
	if seq < 1 || len(prev) != 32 {
		return ledger.AccessHead{}, errors.New("the newest access record has no number or no hash")
	}
	return ledger.AccessHead{Count: uint64(seq) - 1, Hash: [32]byte(prev)}.Next(a), nil
}

// Until returns the upper bound of a time range, where 0 is none.
func Until(to int64) int64 {
	if to == 0 {
		return math.MaxInt64
	}
	return to
}
