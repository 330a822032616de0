package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// ID is the number under which a store keeps a ledger: the first 63 bits of SHA-256 of its origin. Every primary key
// begins with it. Because no sequence gives it out, a ledger can be moved to another database without a change.
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

// Head is a checkpoint of a ledger with its size and root, mostly the newest one.
type Head = gateway.Head

// Row is one entry as a store keeps it. The fields after Kept are for the store's indexes:
// Columns computes them from the entry.
type Row struct {
	Index uint64
	Entry []byte // exact bytes, stored once, never re-encoded
	// Kept belongs to some entries. Of a commit it is the sealed tape, followed by the receipt of the co-dealer's order
	// if the shuffle is blind. Of a blind shuffle's deal or close it is what the co-dealer gave; of an order's deal or
	// close the house's receipt that it comes behind. Of another close or disclosure to auditors it is the openings of
	// public places. For every other entry it is nil.
	Kept []byte

	Time    int64 // UTC milliseconds
	Type    audit.Type
	Table   string   // commit: its table, else ""
	Serial  uint64   // commit: its serial, else 0
	KeyTag  [32]byte // commit: its key tag
	Shuffle uint64   // mix, deal, takeover, close: the id of the shuffle, else 0
	GameRef string   // commit: its game reference, "" for none

	// Slots are the slot hashes of a commit's mix plan, in plan order. A store writes them; a row
	// that it reads has none.
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

// Tile is a full tile of the ledger's tree in the C2SP tlog-tiles geometry: 256 hashes of 32 bytes.
type Tile struct {
	Level int    // 0 holds the leaf hashes of 256 entries
	Index uint64 // counted from 0 in its level
	Data  []byte // 8,192 bytes
}

// Batch is what one append writes, all of it or nothing.
type Batch struct {
	Rows  []Row  // with successive indexes, from the old head's size on
	Tiles []Tile // that the rows complete
	Decks []Deck // that its commits name, each once; a deck that the store has stays as it is
	Head  Head   // the new head
}

// Deck is a list of card names under its hash.
type Deck struct {
	Hash [32]byte
	List []byte // as it is hashed after a label (docs/SPEC.md section 3.1), and stored
}

// Store keeps ledgers: the evidence, which is appended to and read, and the access records, on which no proof rests.
// There are two, on PostgreSQL and on SQLite, which pass store/storetest. All methods are safe for concurrent use.
//
// Other errors than those named here are of the connection or the database. They never hold parameter values. The
// barrier is that of Head.
type Store interface {
	// Create makes a ledger with its first entries. It returns ErrExists if the name or origin is taken.
	Create(ctx context.Context, info Info, first Batch) error
	// Ledgers lists all ledgers by name.
	Ledgers(ctx context.Context) ([]Info, error)
	// Head reads the newest head with a lock that conflicts with the head's update, and commits. So the result is as
	// durable as an acknowledged append, replicas included: this is the barrier of docs/OPERATIONS.md. It returns
	// ErrNotFound for an unknown ledger.
	Head(ctx context.Context, id ID) (Head, error)
	// Rows reads the entries from ≤ index < to in order, in one snapshot.
	Rows(ctx context.Context, id ID, from, to uint64) iter.Seq2[Row, error]
	// Append writes b in one transaction, whose update of the head is a compare-and-swap from old's size and root. It
	// returns nil only if the batch is durable. It returns ErrStale if the head is another one, or a *DuplicateError if
	// key tags or slots of the batch stand in commits of the ledger: then nothing was written. It returns
	// ErrUnknownOutcome, wrapped, if the batch may have been written, or may still be.
	Append(ctx context.Context, id ID, old Head, b Batch) error

	// The next seven look single things up. If nothing is found, they return ErrNotFound or an empty list.

	// ByKeyTags returns the commits with these key tags, which are distinct: one for each that is in the ledger, in no
	// order. It reads behind the barrier, because the result is acknowledged again.
	ByKeyTags(ctx context.Context, id ID, tags ...[32]byte) ([]Row, error)
	// TakenSlots returns those of the slots that stand in commits of the ledger, in the order of the slots. It reads
	// without the barrier, because an append decides.
	TakenSlots(ctx context.Context, id ID, slots ...[32]byte) ([][32]byte, error)
	// ByShuffles returns for each of the shuffles, which are distinct, its commit, followed by its mix, deals,
	// takeovers and close in order; nothing for a shuffle without commit.
	ByShuffles(ctx context.Context, id ID, s Standing, shuffles ...uint64) ([][]Row, error)
	// CheckpointAfter returns the first head whose size is above index: the head of the batch that has this entry.
	CheckpointAfter(ctx context.Context, id ID, index uint64) (Head, error)
	// Tile returns the data of a full tile.
	Tile(ctx context.Context, id ID, level int, index uint64) ([]byte, error)
	// Deck returns the stored card names of a deck.
	Deck(ctx context.Context, id ID, hash [32]byte) ([]string, error)
	// Terms returns a stored document of terms.
	Terms(ctx context.Context, id ID, hash [32]byte) (Terms, error)

	// The next three are what recall asks, without the barrier. Their cost grows as the logarithm of the ledger's size.

	// Size returns how many entries can be read; 0 for an unknown ledger.
	Size(ctx context.Context, id ID) (uint64, error)
	// EntryAt returns the index of the first entry below size that is of this time, in UTC milliseconds, or later; size
	// if there is none.
	EntryAt(ctx context.Context, id ID, size uint64, time int64) (uint64, error)
	// Commits returns commits by index. If it returns fewer than q.Limit, there are no more. The cost of a query
	// without table and game reference grows with its range of indexes.
	Commits(ctx context.Context, id ID, q CommitQuery) ([]CommitEntry, error)

	// A cosigned checkpoint has the cosignatures of witnesses in Head.Checkpoint. The caller checks what it says.

	// PutCosigned adds a cosigned checkpoint. It returns nil only if h is durable, replicas included. It returns
	// ErrExists if there is one of this size, which stays and is as durable; ErrNotFound for an unknown ledger;
	// ErrUnknownOutcome, wrapped, if h may have been written, or may still be. It may be called again.
	PutCosigned(ctx context.Context, id ID, h Head) error
	// PutHandover is PutCosigned for a checkpoint that lets a witness policy take over. It returns ErrStale, and adds
	// nothing, if a cosigned checkpoint of at least the size from is stored. Of two calls at the same time one sees the
	// other's checkpoint.
	PutHandover(ctx context.Context, id ID, h Head, from uint64) error
	// CosignedAtMost returns the newest one whose size is at most size, behind the barrier, or ErrNotFound.
	CosignedAtMost(ctx context.Context, id ID, size uint64) (Head, error)
	// CosignedFrom reads those of at least size in ascending order, without the barrier. It may return checkpoints that
	// are added while it reads.
	CosignedFrom(ctx context.Context, id ID, size uint64) iter.Seq2[Head, error]
	// PutLate adds a late checkpoint: a cosigned one with the cosignatures of witnesses that are asked at an interval.
	// It returns nil only if h is durable; ErrExists if there is one of this size, which stays; ErrNotFound for an
	// unknown ledger.
	PutLate(ctx context.Context, id ID, h Head) error
	// LateFrom reads the first n late checkpoints of at least size, ascending, without the barrier.
	LateFrom(ctx context.Context, id ID, size uint64, n int) ([]Head, error)
	// NewestLate reads the n largest late checkpoints, largest first, without the barrier.
	NewestLate(ctx context.Context, id ID, n int) ([]Head, error)

	// PutTerms stores a document, before the first commit that names it, and returns when it is durable. A document
	// that is there stays as it is. It returns ErrNotFound for an unknown ledger.
	PutTerms(ctx context.Context, id ID, t Terms) error
	// PutStatement adds statement n about a shuffle, counted from 0, that an auditor signed (docs/SPEC.md section 8.1),
	// or under the index of a shuffle's close, as 0, the close of its co-dealer's order. The caller checks what it
	// says. It returns when it is durable; ErrExists if there is a statement n, which stays; ErrNotFound for an unknown
	// ledger.
	PutStatement(ctx context.Context, id ID, shuffle uint64, n int, note []byte) error
	// Statements returns the statements about a shuffle in their order.
	Statements(ctx context.Context, id ID, shuffle uint64) ([][]byte, error)

	// Accesses are a chain: each is stored with the hash of the access before it, and is never changed. Only the oldest
	// are dropped, after their retention time.

	// PutAccess adds an access to the end of the chain. It returns nil only if the access is durable, replicas
	// included; ErrExists if there is one of the same time and request; ErrNotFound for an unknown ledger. After any
	// other error it may not be there.
	PutAccess(ctx context.Context, id ID, a Access) error
	// AccessHead returns the stored end of the chain.
	AccessHead(ctx context.Context, id ID) (AccessHead, error)
	// AccessRecords lists accesses by time, then by request.
	AccessRecords(ctx context.Context, id ID, q AccessQuery) ([]Access, error)
	// CountAccess returns how many accesses DropAccess would remove, without a limit.
	CountAccess(ctx context.Context, id ID, before int64) (int, error)
	// DropAccess removes accesses from the beginning of the chain, at most limit, and returns how many. It ends in
	// front of the first access at or after the time before, in UTC milliseconds. The newest access stays, because the
	// chain goes on from it. In PostgreSQL only the owner of the tables may do this, and not the daemon's role.
	DropAccess(ctx context.Context, id ID, before int64, limit int) (int, error)

	// Close closes the connections to the database.
	Close() error
}

// Standing is how durable the result of a look-up has to be.
type Standing bool

const (
	// Visible: the result may yet be lost in a failover. No request may be answered from it. An
	// append may rest on it, because the append becomes durable only together with it.
	Visible Standing = false
	// Durable: the result is read behind the barrier of Head, so that requests may be answered
	// from it. That holds also for what was not found.
	Durable Standing = true
)

// Terms are a document that says what values mean (docs/SPEC.md section 16.1).
type Terms struct {
	Hash  [32]byte
	Kind  audit.TermsKind
	Bytes []byte
}

// The errors of a store.
var (
	ErrExists         = errors.New("the ledger exists")
	ErrNotFound       = errors.New("not found")
	ErrStale          = errors.New("the head moved")
	ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")
)

// DuplicateError lists the key tags and slots of a batch that stand in the ledger, in the batch's order. At least one
// of the lists has a member. A commit with slots that is sent a second time is in both.
type DuplicateError struct {
	Tags  [][32]byte
	Slots [][32]byte
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%d idempotency keys and %d slots of the batch are already in the ledger", len(e.Tags), len(e.Slots))
}

// SlotTaken is the refusal of a slot that stands in another commit.
func SlotTaken() error {
	return &audit.Illegal{Code: audit.RuleSlot, Detail: "a slot hash stands in another commit of the ledger"}
}
