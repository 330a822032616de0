package store

import (
	"errors"
	"math"
	"strings"

	"shuffled/internal/ledger"
)

// What is kept beside the evidence, as both stores write and read it.

// Scanner is one row of a result.
type Scanner interface{ Scan(dest ...any) error }

// TokenTables returns the form in which the tables of a token are kept: nil, for
// NULL, for all of them, else their names with a comma between any two, which no
// name has.
func TokenTables(t ledger.Token) (*string, error) {
	if t.Tables == nil {
		return nil, nil
	}
	for _, name := range t.Tables {
		if name == "" || strings.Contains(name, ",") {
			return nil, errors.New("a table of the token has no name that a table can have")
		}
	}
	if len(t.Tables) == 0 {
		return nil, errors.New("a token without a table could do nothing")
	}
	list := strings.Join(t.Tables, ",")
	return &list, nil
}

// ScanToken reads id, role, hash, created, expires, revoked and tables, with 0 or
// "" for NULL.
func ScanToken(row Scanner) (t ledger.Token, err error) {
	var hash []byte
	var tables string
	if err := row.Scan(&t.ID, (*uint8)(&t.Role), &hash, &t.Created, &t.Expires, &t.Revoked, &tables); err != nil {
		return ledger.Token{}, err
	}
	if len(hash) != len(t.Hash) {
		return ledger.Token{}, errors.New("the stored hash of a token has not 32 bytes")
	}
	copy(t.Hash[:], hash)
	if tables != "" {
		t.Tables = strings.Split(tables, ",")
	}
	return t, nil
}

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
