package storetest

import (
	"fmt"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Small is a ledger of entries that are no entries, for tests of one store that need no more.
type Small struct {
	ID       ledger.ID
	Head     ledger.Head
	Cosigned uint64 // the newest size of which a cosigned checkpoint was acknowledged
}

// SmallInfo is what Create creates.
var SmallInfo = ledger.Info{Name: "main", Origin: "example.org/main"}

// Create creates a ledger with one entry.
func Create(t testing.TB, s ledger.Store) Small {
	t.Helper()
	l := Small{ID: ledger.IDOf(SmallInfo.Origin)}
	first := l.Next(1)
	if err := s.Create(t.Context(), SmallInfo, first); err != nil {
		t.Fatal(err)
	}
	l.Head = first.Head
	return l
}

// Next is a batch of n entries after the head.
func (l Small) Next(n int) (b ledger.Batch) {
	for i := range n {
		index := l.Head.Size + uint64(i)
		b.Rows = append(b.Rows, ledger.Row{Index: index, Entry: fmt.Appendf(nil, "entry %d", index),
			Type: audit.TypeEvent})
	}
	b.Head = ledger.Head{Size: l.Head.Size + uint64(n), Checkpoint: []byte("checkpoint")}
	b.Head.Root[0], b.Head.Root[1] = byte(b.Head.Size>>8), byte(b.Head.Size)
	return b
}
