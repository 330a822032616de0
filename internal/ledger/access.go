package ledger

import "context"

// Access is one request of a regulator. It is kept before the request is
// answered.
type Access struct {
	Time    int64  // UTC milliseconds
	Request string // request id, unique among those of its time
	Token   string // public id of the token or certificate
	Method  string // of HTTP
	Path    string // with its query, at most MaxAccessPath bytes
}

// MaxAccessPath is the length of the longest path that an Access keeps.
const MaxAccessPath = 500

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

// AccessStore keeps accesses beside the evidence. They are no evidence: they are
// dropped when their time is over, but never changed.
type AccessStore interface {
	// PutAccess adds an access. It returns nil only when it is durable, replicas
	// included; ErrExists when there is one of the same time and request;
	// ErrNotFound for an unknown ledger. Any other error means that it may not be
	// there.
	PutAccess(ctx context.Context, id ID, a Access) error
	// AccessRecords lists accesses by time, then by request.
	AccessRecords(ctx context.Context, id ID, q AccessQuery) ([]Access, error)
	// CountAccess returns how many accesses are older than a time, in UTC
	// milliseconds.
	CountAccess(ctx context.Context, id ID, before int64) (int, error)
	// DropAccess removes up to limit accesses that are older than a time, the
	// oldest first, and returns how many.
	DropAccess(ctx context.Context, id ID, before int64, limit int) (int, error)
}
