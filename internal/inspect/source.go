package inspect

import (
	"context"
	"iter"

	"shuffled/internal/audit"
)

// Width is the number of entries in a chunk: those of one tile (C2SP tlog-tiles).
const Width = 256

// A Source holds the evidence of one ledger. Chunk, Tile and Deck are called by
// several goroutines at once; what they return is not changed afterwards.
//
// A *Damage as error says that the evidence is not as it should be: it becomes a
// fault, and the check goes on without that piece. An error that matches
// audit.ErrUnknown cannot be judged. Any other ends the check.
type Source interface {
	// Newest returns the newest checkpoint: what the ledger is judged up to.
	Newest(ctx context.Context) (Checkpoint, error)

	// Chunk returns the entries from n·Width on, width of them.
	Chunk(ctx context.Context, n uint64, width int) (Chunk, error)

	// Tile returns width hashes of a tile, and where they are kept. A nil tile
	// without an error is one that the source does not keep.
	Tile(ctx context.Context, level int, index uint64, width int) (hashes []byte, where string, err error)

	// Checkpoints returns the checkpoints of a kind, by ascending size, from
	// size from on. It ends with the first error.
	Checkpoints(ctx context.Context, kind Kind, from uint64) iter.Seq2[Checkpoint, error]

	// Deck returns the names of a deck, and where they are kept. That they have
	// the hash is for the caller to check.
	Deck(ctx context.Context, hash [32]byte) (cards []string, where string, err error)

	// Terms returns a document of terms, and where it is kept. That it has the hash is
	// checked by the caller.
	Terms(ctx context.Context, hash [32]byte) (document []byte, where string, err error)

	// Finish is called once, at the end, with what the entries say, to hold
	// everything else that the source keeps against it. Notes say what could not
	// be compared. With an error that matches audit.ErrUnknown faults count, too.
	Finish(ctx context.Context, s Summary) (faults []Fault, notes []string, err error)
}

// Chunk is a run of entries.
type Chunk struct {
	Where   string   // the file or table
	Entries [][]byte // exact bytes; nil for one that the source does not have
	Faults  []Fault  // what reading them showed

	// Parsed, if not nil, is called in order for each entry that parses and is
	// the ledger's, by one goroutine, and returns what else is wrong with it.
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

// The kinds that the caller of Run brings, or that there is one of.
const (
	kindNewest Kind = kinds + iota
	kindSince
)

// Summary is what a ledger's entries say, for Source.Finish.
type Summary struct {
	Keys []audit.KeyRecord // as entries say them
	// UTC milliseconds of the newest entry, or of the newest quorum that the caller trusts if it was complete later
	Newest   int64
	From, To int64 // the report's period, as in Options
}

// Damage is evidence that is not as it should be, as the error of a Source.
type Damage struct{ Fault }

func (d *Damage) Error() string { return d.Code + " " + d.Where + ": " + d.Detail }
