package ledger

import (
	"crypto/sha256"
	"encoding/binary"

	"shuffled/internal/audit"
)

// Recalled is a shuffle as recall lists it: what its commit and close say. Package recall makes it from the entries.
type Recalled struct {
	ID        uint64 // index of its commit
	Table     string
	Serial    uint64
	Committed int64 // time of the commit, UTC milliseconds
	CloseBy   int64 // UTC milliseconds
	GameRef   string
	Owner     string        // the identity that committed it
	Deck      [32]byte      // hash of the deck, zero for draws; of a child that of its root ancestor
	Draw      bool          // a draw list, not cards
	Parent    uint64        // id of the shuffle that it continues, 0 for none
	Closed    int64         // time of the close, UTC milliseconds; 0 while it is open
	Outcome   audit.Outcome // 0 while it is open
	Reason    audit.Reason  // of a void one
	Continued bool          // closed as continued, and its tape is not disclosed yet
}

// The states for which recall can be asked.
const (
	RecallOpen   = "open"
	RecallClosed = "closed"
)

// RecallQuery asks for shuffles. Zero members ask nothing; all others must hold.
type RecallQuery struct {
	Table    string
	Tables   []string // one of these; nil for any, empty for none
	From, To int64    // UTC milliseconds: from ≤ time of the commit < to
	Serial   uint64   // of Table, which must be given with it
	GameRef  string
	Owner    string
	Deck     [32]byte // hash
	Outcome  audit.Outcome
	Reason   audit.Reason
	State    string // RecallOpen or RecallClosed
	After    uint64 // ids above this one
	Limit    int    // how many at most, at least 1
}

// RecallPage is a part of the answer, by id. A page without shuffles need not be the last.
type RecallPage struct {
	Shuffles []Recalled
	Next     uint64 // the next page is after this id; 0 on the last
}

// CommitQuery asks for commits by their index. At most one of Table and GameRef is given.
type CommitQuery struct {
	Table    string // of this table
	Serial   uint64 // with this serial, of Table
	GameRef  string // with this game reference
	From, To uint64 // from ≤ index < to
	Limit    int    // how many at most, at least 1
}

// CommitEntry is a commit and its close, as the entries that they are.
type CommitEntry struct {
	Index  uint64
	Commit []byte
	Close  []byte // nil while there is none
}

// Access is one request of a regulator or an administrator. It is stored before the request is answered.
type Access struct {
	Time    int64  // UTC milliseconds
	Request string // request id, unique among those of its time
	Token   string // public id of the token or certificate
	Method  string // of HTTP
	Path    string // with its query, at most MaxAccessPath bytes
}

// MaxAccessPath is the length of the longest path that an Access keeps.
const MaxAccessPath = 500

// AccessHead is the end of a ledger's chain of accesses: how many there ever were, and the hash
// of the newest. The zero value is the head of an empty chain.
type AccessHead struct {
	Count uint64
	Hash  [32]byte
}

// labelAccess keeps the hashes of accesses apart from all others.
const labelAccess = "shuffled/v1/access\x00"

// Next returns the head after one more access. Its hash is SHA-256 of label ‖ hash of the access before ‖ u64 number,
// from 1 ‖ u64 time ‖ request, token, method and path, each behind its length in two bytes.
func (h AccessHead) Next(a Access) AccessHead {
	b := append([]byte(labelAccess), h.Hash[:]...)
	b = binary.BigEndian.AppendUint64(b, h.Count+1)
	b = binary.BigEndian.AppendUint64(b, uint64(a.Time))
	for _, s := range []string{a.Request, a.Token, a.Method, a.Path} {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	return AccessHead{h.Count + 1, sha256.Sum256(b)}
}

// AccessCursor says where an Access stands in its ledger: by time, then by request.
// The zero value is before all accesses.
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
