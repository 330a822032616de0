package bundle

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Source is what an export reads of a store. It gives evidence and nothing else. It is not trusted: entries are hashed
// again, and nothing is published that does not lead to the signed checkpoint.
type Source interface {
	// Head returns the newest signed checkpoint.
	Head(ctx context.Context) ([]byte, error)

	// Entries reads the entries from ≤ index < to in order.
	Entries(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error]

	// CheckpointAfter returns the first signed checkpoint whose size is above index.
	CheckpointAfter(ctx context.Context, index uint64) ([]byte, error)

	// Cosigned reads the cosigned checkpoints of at least size, ascending.
	Cosigned(ctx context.Context, size uint64) iter.Seq2[[]byte, error]

	// Deck returns the card names stored under a deck hash, or ErrNoDeck.
	Deck(ctx context.Context, hash [32]byte) ([]string, error)

	// Terms returns the document of terms stored under a hash, or ErrNoDeck.
	Terms(ctx context.Context, hash [32]byte) ([]byte, error)
}

// ErrNoDeck is a Source's answer for a deck or a document of terms that it does not have.
var ErrNoDeck = errors.New("the store does not have it")

// Reasons why nothing is published.
var (
	// ErrContradiction: what the store holds does not lead to its own checkpoint.
	ErrContradiction = errors.New("the store contradicts itself")
	// ErrDiverged: the store's ledger does not extend the one in the directory.
	ErrDiverged = errors.New("the store's ledger does not continue the bundle")
	// ErrDamaged: the directory does not hold what its checkpoint says.
	ErrDamaged = errors.New("the bundle in the directory is damaged")
)

// Options are what an export is asked for.
type Options struct {
	Origin   string // of the ledger
	From, To int64  // the period of the report, in UTC milliseconds; 0: no bound
	Now      func() time.Time

	// Progress, if not nil, is called from time to time, by the goroutine of Export, with
	// the number of entries that were written and of all that are to be written.
	Progress func(done, total uint64)
}

// Result is what an export did.
type Result struct {
	Size         uint64    `json:"size"`          // entries of the bundle
	Added        uint64    `json:"added"`         // of those, entries that the bundle did not have
	Resumed      uint64    `json:"resumed"`       // of those, entries that an earlier export had left in the directory
	Cosigned     uint64    `json:"cosigned"`      // checkpoints under cosigned/
	MissingDecks uint64    `json:"missing_decks"` // decks and documents of terms that the store does not have
	Manifest     *Manifest `json:"manifest"`
}
