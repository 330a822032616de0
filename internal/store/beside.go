package store

import (
	"cmp"
	"errors"
	"math"
	"slices"
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

// ScanRecalled reads id, tbl, serial, committed, close_by, game_ref, draw, parent,
// closed, outcome and reason, with 0 or "" for NULL.
func ScanRecalled(row Scanner) (r ledger.Recalled, err error) {
	err = row.Scan(&r.ID, &r.Table, &r.Serial, &r.Committed, &r.CloseBy, &r.GameRef, &r.Draw, &r.Parent,
		&r.Closed, (*uint8)(&r.Outcome), (*uint8)(&r.Reason))
	return r, err
}

// Until returns the upper bound of a time range, where 0 is none.
func Until(to int64) int64 {
	if to == 0 {
		return math.MaxInt64
	}
	return to
}

// RecallBy names the index that answers a question of recall: each has the ids of
// its answer in order.
type RecallBy int

// The indexes of recall.
const (
	RecallByID RecallBy = iota
	RecallByTable
	RecallBySerial
	RecallByGameRef
	RecallByOpen
)

// Recall asks read the question q, of one table at a time where q names several,
// and returns the first of all answers by id. read gets a question without Tables.
func Recall(q ledger.RecallQuery, read func(by RecallBy, q ledger.RecallQuery) ([]ledger.Recalled, error)) (list []ledger.Recalled, err error) {
	tables := []string{q.Table}
	if q.Tables != nil {
		tables = slices.Compact(slices.Sorted(slices.Values(q.Tables)))
		if q.Table != "" {
			tables = slices.DeleteFunc(tables, func(name string) bool { return name != q.Table })
		}
		tables = slices.DeleteFunc(tables, func(name string) bool { return name == "" })
	}
	switch {
	case q.Limit < 1:
		return nil, errors.New("recall of less than one shuffle")
	case q.Serial != 0 && q.Table == "":
		return nil, errors.New("recall of a serial without its table")
	case q.State != "" && q.State != ledger.RecallOpen && q.State != ledger.RecallClosed:
		return nil, errors.New("recall of an unknown state")
	case max(q.After, q.Serial) >= math.MaxInt64:
		return nil, nil
	}
	for _, table := range tables {
		one := q
		one.Table, one.Tables, one.To = table, nil, Until(q.To)
		part, err := read(recallBy(one), one)
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
	}
	slices.SortFunc(list, func(a, b ledger.Recalled) int { return cmp.Compare(a.ID, b.ID) })
	return list[:min(len(list), q.Limit)], nil
}

// recallBy chooses the index that has the least to leave out.
func recallBy(q ledger.RecallQuery) RecallBy {
	switch {
	case q.Serial != 0:
		return RecallBySerial
	case q.GameRef != "":
		return RecallByGameRef
	case q.State == ledger.RecallOpen:
		return RecallByOpen
	case q.Table != "":
		return RecallByTable
	}
	return RecallByID
}
