package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
)

// Access is one request of a regulator or an administrator. It is kept before the
// request is answered.
type Access struct {
	Time    int64  // UTC milliseconds
	Request string // request id, unique among those of its time
	Token   string // public id of the token or certificate
	Method  string // of HTTP
	Path    string // with its query, at most MaxAccessPath bytes
}

// MaxAccessPath is the length of the longest path that an Access keeps.
const MaxAccessPath = 500

// AccessHead is the end of a ledger's chain of accesses: how many there ever were, and
// the hash of the newest. The zero value is that of an empty chain.
type AccessHead struct {
	Count uint64
	Hash  [32]byte
}

// labelAccess keeps the hashes of accesses apart from all others.
const labelAccess = "shuffled/v1/access\x00"

// Next returns the head with one access more: SHA-256 of label ‖ hash of the one before
// ‖ u64 number, from 1 ‖ u64 time ‖ request, token, method and path, each with its
// length in two bytes.
func (h AccessHead) Next(a Access) AccessHead {
	b := append([]byte(labelAccess), h.Hash[:]...)
	b = binary.BigEndian.AppendUint64(b, h.Count+1)
	b = binary.BigEndian.AppendUint64(b, uint64(a.Time))
	for _, s := range []string{a.Request, a.Token, a.Method, a.Path} {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	return AccessHead{h.Count + 1, sha256.Sum256(b)}
}

// AccessCursor is the place of an Access in the order of a ledger's: by time,
// then by request. The zero value is before all of them.
type AccessCursor struct {
	Time    int64
	Request string
}

// AccessQuery asks for the accesses of a time range behind a place.
type AccessQuery struct {
	From, To int64 // UTC milliseconds: from ≤ time < to; 0 for no bound
	After    AccessCursor
	Limit    int // how many at most, at least 1
}

// AccessStore keeps accesses alongside the evidence, as a chain: each is stored with the
// hash of the one before, none is changed, and only the oldest are dropped, when their
// time is over.
type AccessStore interface {
	// PutAccess adds an access to the end of the chain. It returns nil only when it is
	// durable, replicas included; ErrExists when there is one of the same time and
	// request; ErrNotFound for an unknown ledger. Any other error means that it may not
	// be there.
	PutAccess(ctx context.Context, id ID, a Access) error
	// AccessHead returns the end of the chain as it is stored.
	AccessHead(ctx context.Context, id ID) (AccessHead, error)
	// AccessRecords lists accesses by time, then by request.
	AccessRecords(ctx context.Context, id ID, q AccessQuery) ([]Access, error)
	// CountAccess returns how many accesses DropAccess would remove, without a limit.
	CountAccess(ctx context.Context, id ID, before int64) (int, error)
	// DropAccess removes up to limit accesses from the beginning of the chain, up to the
	// first that is of the time before, in UTC milliseconds, or later, and returns how
	// many. The newest of all stays: the chain goes on from it. The daemon's role in
	// PostgreSQL may not; it is for the owner of the tables.
	DropAccess(ctx context.Context, id ID, before int64, limit int) (int, error)
}
