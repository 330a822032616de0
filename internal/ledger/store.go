package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"iter"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// ID is the number under which a store keeps a ledger: the first 63 bits of
// SHA-256 of its origin. It starts every primary key, and needs no sequence, so
// that a ledger can be moved to another database as it is.
type ID int64

// IDOf returns the ID of the ledger with this origin.
func IDOf(origin string) ID {
	h := sha256.Sum256([]byte(origin))
	return ID(binary.BigEndian.Uint64(h[:8]) >> 1)
}

// Info is what a store lists of a ledger. It never changes.
type Info struct {
	Name   string // in addresses: /v1/{name}/…, unique in a store
	Origin string
}

// Head is the newest checkpoint of a ledger.
type Head struct {
	Size       uint64
	Root       tlog.Hash
	Checkpoint []byte // signed note
}

// Row is one entry as a store keeps it. The fields after Kept are computed
// from Entry, for the store's indexes; Columns fills them.
type Row struct {
	Index uint64
	Entry []byte // exact bytes, stored once, never re-encoded
	// Kept is, of a commit, the sealed tape, and of a close or disclosure to auditors the
	// openings of places that are public; what a co-dealer gave, with its commit, a deal or a
	// close; of an order the house's receipt that a deal or close comes behind; nil for every other entry.
	Kept []byte

	Time    int64 // UTC milliseconds
	Type    audit.Type
	Table   string   // commit: its table, else ""
	Serial  uint64   // commit: its serial, else 0
	KeyTag  [32]byte // commit: its key tag
	Shuffle uint64   // mix, deal, takeover, close: the id of the shuffle, else 0
	GameRef string   // commit: its game reference, "" for none

	// Slots are the slot hashes of a commit's mix plan, in plan order. They are
	// only written: what a store reads has none.
	Slots [][32]byte
}

// Columns fills the fields of r that are computed from e, the parsed r.Entry.
func (r *Row) Columns(e audit.Entry) {
	r.Time, r.Type, r.Shuffle = e.Time, e.Body.Type(), audit.ShuffleOf(e.Body)
	if c, ok := e.Body.(*audit.Commit); ok {
		r.Table, r.Serial, r.KeyTag, r.Slots = c.Context.Table, c.Serial, c.KeyTag, c.Context.Slots()
		r.GameRef = c.GameRef
	}
}

// Tile is a full tile of the ledger's tree in the C2SP tlog-tiles geometry:
// 256 hashes of 32 bytes.
type Tile struct {
	Level int    // 0 holds the leaf hashes of 256 entries
	Index uint64 // counted from 0 in its level
	Data  []byte // 8,192 bytes
}

// Batch is what one append writes, all of it or nothing.
type Batch struct {
	Rows  []Row  // adjacent, the first at the old head's size
	Tiles []Tile // that the rows complete
	Decks []Deck // that commits of it name, each once; one that the store holds stays as it is
	Head  Head   // the new one
}

// Deck is a list of card names under its hash.
type Deck struct {
	Hash  [32]byte
	Cards []string
}

// Store keeps ledgers. PostgreSQL and SQLite implement it and pass
// store/storetest. All methods are safe for concurrent use.
//
// Errors other than the ones named are of the connection or the database;
// wrapped, they never carry parameter values.
type Store interface {
	// Create makes a ledger with its first entries. It returns ErrExists when
	// the name or origin is taken.
	Create(ctx context.Context, info Info, first Batch) error

	// Ledgers lists all ledgers by name.
	Ledgers(ctx context.Context) ([]Info, error)

	// Head reads the newest head with a lock that conflicts with the head's
	// update, and commits: the result is as durable as an acknowledged append,
	// replicas included (the barrier of docs/OPERATIONS.md). It returns
	// ErrNotFound for an unknown ledger.
	Head(ctx context.Context, id ID) (Head, error)

	// Rows reads the entries from ≤ index < to in order, in one snapshot.
	Rows(ctx context.Context, id ID, from, to uint64) iter.Seq2[Row, error]

	Appender
	Finder
	Cosigned
	TermsKeeper
	Statements
}

// Statements keeps what auditors signed about shuffles (docs/SPEC.md section 8.1). What
// a statement says is the caller's to check.
type Statements interface {
	// PutStatement adds statement n about a shuffle, from 0, and returns when it is
	// durable. It returns ErrExists if there is a statement n, which stays, and
	// ErrNotFound for an unknown ledger.
	PutStatement(ctx context.Context, id ID, shuffle uint64, n int, note []byte) error

	// Statements returns those about a shuffle in order.
	Statements(ctx context.Context, id ID, shuffle uint64) ([][]byte, error)
}

// Cosigned keeps the cosigned checkpoints of ledgers: for some of their sizes
// the checkpoint with the cosignatures of witnesses, which Head.Checkpoint then
// holds. What a checkpoint says is the caller's to check.
type Cosigned interface {
	// PutCosigned adds a cosigned checkpoint. It returns nil only when it is
	// durable, replicas included; ErrExists when there is one of this size: that
	// one stays, and is as durable; ErrNotFound for an unknown ledger;
	// ErrUnknownOutcome, wrapped, when h may or may not have been written or may
	// still be. To call it again is safe.
	PutCosigned(ctx context.Context, id ID, h Head) error

	// PutHandover is PutCosigned for a checkpoint that lets a witness policy take over:
	// it adds h if no cosigned checkpoint of size from or above is stored, else it
	// returns ErrStale. Of two calls at once one sees the other's checkpoint.
	PutHandover(ctx context.Context, id ID, h Head, from uint64) error

	// CosignedAtMost returns the newest one whose size is at most size, behind the
	// barrier of Head, or ErrNotFound.
	CosignedAtMost(ctx context.Context, id ID, size uint64) (Head, error)

	// CosignedFrom reads those of at least size in ascending order, without the
	// barrier. It may see those that are added while it reads.
	CosignedFrom(ctx context.Context, id ID, size uint64) iter.Seq2[Head, error]

	// PutLate adds a late checkpoint: a cosigned one with the cosignatures of witnesses that
	// are asked at an interval. It returns nil only when it is durable; ErrExists when there is
	// one of this size, which stays; ErrNotFound for an unknown ledger.
	PutLate(ctx context.Context, id ID, h Head) error

	// LateFrom reads the first n late checkpoints of at least size, ascending, without the
	// barrier.
	LateFrom(ctx context.Context, id ID, size uint64, n int) ([]Head, error)

	// NewestLate reads the n largest late checkpoints, largest first, without the barrier.
	NewestLate(ctx context.Context, id ID, n int) ([]Head, error)
}

// Standing is what a reader asks of what it finds.
type Standing bool

const (
	// Visible: it may yet be lost in a failover. Nothing may be answered from it,
	// but an append may rest on it, which is durable only together with it.
	Visible Standing = false
	// Durable: read behind the barrier of Head, and so fit to be acknowledged; also
	// what was not found.
	Durable Standing = true
)

// Finder looks single things up. Nothing found is ErrNotFound, or an empty list.
type Finder interface {
	// ByKeyTags returns the commits with these key tags, which are distinct: one for
	// each that is in the ledger, in no order. The result is read behind the same
	// barrier as Head's, for it is acknowledged again.
	ByKeyTags(ctx context.Context, id ID, tags ...[32]byte) ([]Row, error)

	// TakenSlots returns those of the slots that stand in commits of the ledger, in
	// their order. It has no barrier: an append decides.
	TakenSlots(ctx context.Context, id ID, slots ...[32]byte) ([][32]byte, error)

	// ByShuffles returns for each of the shuffles, which are distinct, its commit,
	// then its mix, deals, takeovers and close in order; nothing for one that has no commit.
	ByShuffles(ctx context.Context, id ID, s Standing, shuffles ...uint64) ([][]Row, error)

	// CheckpointAfter returns the first head whose size is above index: the one
	// that the batch of this entry signed.
	CheckpointAfter(ctx context.Context, id ID, index uint64) (Head, error)

	// Tile returns the data of a full tile.
	Tile(ctx context.Context, id ID, level int, index uint64) ([]byte, error)

	// Deck returns the names of a deck as they are stored.
	Deck(ctx context.Context, id ID, hash [32]byte) ([]string, error)

	// Terms returns a document of terms as it is stored.
	Terms(ctx context.Context, id ID, hash [32]byte) (Terms, error)
}

// Terms are a document that says what values mean (docs/SPEC.md section 16.1).
type Terms struct {
	Hash  [32]byte
	Kind  audit.TermsKind
	Bytes []byte
}

// TermsKeeper keeps the documents of terms: commits name them by their hashes, and each is
// there before the first commit that does.
type TermsKeeper interface {
	// PutTerms keeps a document, and is durable when it returns. One that is there
	// stays as it is. It is ErrNotFound where there is no such ledger.
	PutTerms(ctx context.Context, id ID, t Terms) error
}

// What a store reports.
var (
	ErrExists         = errors.New("the ledger exists")
	ErrNotFound       = errors.New("not found")
	ErrStale          = errors.New("the head moved")
	ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")
)
