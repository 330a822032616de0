package store

import (
	"iter"
	"math"

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

// Heads yields the heads of at least size in ascending order, in parts as Rows
// does. read returns the first n of them, or all if there are fewer.
func Heads(size uint64, read func(size uint64, n int) ([]ledger.Head, error)) iter.Seq2[ledger.Head, error] {
	return func(yield func(ledger.Head, error) bool) {
		for size <= math.MaxInt64 {
			heads, err := read(size, chunk)
			if err != nil {
				yield(ledger.Head{}, err)
				return
			}
			for _, h := range heads {
				if !yield(h, nil) {
					return
				}
				size = h.Size + 1
			}
			if len(heads) < chunk {
				return
			}
		}
	}
}
