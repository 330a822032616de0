package store

import (
	"iter"

	"shuffled/internal/ledger"
)

// chunk is how many entries are read at a time.
const chunk = 512

// Rows yields the entries from ≤ index < to in parts, each read by one short
// statement and held in memory before it is yielded. One long statement would
// keep an old snapshot alive, so that PostgreSQL could not clean up the heads
// table nor SQLite reset its write-ahead log, and hold a connection while the
// caller works. A range longer than one part is cut at the ledger's size as it
// is now: entries below that are never changed and none are added, so the parts
// are those of one snapshot.
func Rows(from, to uint64, size func() (uint64, error), read func(from, to uint64) ([]ledger.Row, error)) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		if to > from && to-from > chunk {
			n, err := size()
			if err != nil {
				yield(ledger.Row{}, err)
				return
			}
			to = min(to, n)
		}
		for from < to {
			next := from + min(chunk, to-from)
			rows, err := read(from, next)
			if err != nil {
				yield(ledger.Row{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			from = next
		}
	}
}
