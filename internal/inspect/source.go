package inspect

import (
	"context"
	"iter"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/shuffle"
)

// Width is the number of entries in a chunk: those of one tile (C2SP tlog-tiles).
const Width = 256

// A Source holds the evidence of one ledger. Chunk, Tile, Deck and Terms are called by
// several goroutines at once; what they return is not changed afterwards.
//
// If the evidence is not as it should be, the error is a *Damage. It becomes a fault,
// and the check goes on without that piece. Any other error ends the check.
type Source interface {
	// Newest returns the newest checkpoint: what the ledger is judged up to.
	Newest(ctx context.Context) (Checkpoint, error)

	// Chunk returns the entries from n·Width on, width of them.
	Chunk(ctx context.Context, n uint64, width int) (Chunk, error)

	// Tile returns width hashes of a tile, and where they are kept. For a tile that the
	// source does not keep it returns nil and no error.
	Tile(ctx context.Context, level int, index uint64, width int) (hashes []byte, where string, err error)

	// Checkpoints returns the checkpoints of a kind, by ascending size, from
	// size from on. It ends with the first error.
	Checkpoints(ctx context.Context, kind Kind, from uint64) iter.Seq2[Checkpoint, error]

	// Deck returns the deck with a hash.
	Deck(ctx context.Context, hash [32]byte) (shuffle.Deck, error)

	// Terms returns a document of terms, and where it is kept. The caller checks that it has the hash.
	Terms(ctx context.Context, hash [32]byte) (document []byte, where string, err error)

	// Finish is called once, at the end. It compares everything else that the source
	// keeps with what the entries say. Notes say what could not be compared. If the
	// error matches audit.ErrUnknown, the ledger cannot be judged, and faults count, too.
	Finish(ctx context.Context, s Summary) (faults []Fault, notes []string, err error)
}

// Chunk is consecutive entries.
type Chunk struct {
	Where   string   // the file or table
	Entries [][]byte // exact bytes; nil for one that the source does not have
	Faults  []Fault  // what reading them showed

	// Parsed, if not nil, returns what else is wrong with an entry. It is called in order
	// for each entry that parses and is the ledger's, by one goroutine.
	Parsed func(index uint64, e audit.Entry) []Fault
}

// Checkpoint is a signed checkpoint and where it is kept.
type Checkpoint struct {
	Signed []byte
	Where  string
}

// Kind says what a checkpoint is kept for.
type Kind int

// The kinds of checkpoints that a source may keep.
const (
	KindCosigned Kind = iota // cosigned by witnesses
	KindSigned               // first to cover the entry of a signing key
	KindHead                 // signed with a batch
	kinds
)

// Of these kinds there is one checkpoint each: the ledger's newest, and that of Options.Since.
const (
	kindNewest Kind = kinds + iota
	kindSince
)

// Summary is what a ledger's entries say, for Source.Finish.
type Summary struct {
	Keys *trust.History // as entries say them
	// Newest is the time of the newest entry, in UTC milliseconds. If the newest quorum that
	// the caller trusts was complete later, it is that time.
	Newest   int64
	From, To int64 // the report's period, as in Options
}

// Damage is evidence that is not as it should be, as the error of a Source.
type Damage struct{ Fault }

func (d *Damage) Error() string { return d.Code + " " + d.Where + ": " + d.Detail }
