package ledger

import (
	"context"

	"shuffled/internal/audit"
)

// Recalled is a shuffle as recall lists it: what its commit and close say.
// Package recall makes it from the entries.
type Recalled struct {
	ID        uint64 // index of its commit
	Table     string
	Serial    uint64
	Committed int64 // time of the commit, UTC milliseconds
	CloseBy   int64 // UTC milliseconds
	GameRef   string
	Draw      bool          // a draw list, not cards
	Parent    uint64        // id of the shuffle that it continues, 0 for none
	Closed    int64         // time of the close, UTC milliseconds; 0 while it is open
	Outcome   audit.Outcome // 0 while it is open
	Reason    audit.Reason  // of a void one
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
	State    string // RecallOpen or RecallClosed
	After    uint64 // ids above this one
	Limit    int    // how many at most, at least 1
}

// RecallMark says what a ledger's recall index holds. The zero value is that of
// an index that was never begun.
type RecallMark struct {
	Next    uint64 // entries below are in it
	Dropped int64  // of shuffles that were closed before, UTC milliseconds, it keeps none
}

// RecallClose is the close of a shuffle whose commit is in the index.
type RecallClose struct {
	ID      uint64
	Time    int64 // UTC milliseconds
	Outcome audit.Outcome
	Reason  audit.Reason
}

// RecallStep is what the entries from a mark up to Next add to the index.
type RecallStep struct {
	Next     uint64
	Commits  []Recalled    // a shuffle that the index has is replaced
	Closes   []RecallClose // of commits before the step; one that the index has not is ignored
	Outdated []uint64      // shuffles to remove: closed before the mark's Dropped
}

// RecallStore keeps an index of shuffles beside the evidence. It is no evidence,
// and may be removed and made again from the entries at any time.
type RecallStore interface {
	// RecallMark returns the mark, zero where there is none.
	RecallMark(ctx context.Context, id ID) (RecallMark, error)
	// PutRecall adds a step, all or nothing, and moves the mark's Next from old's to
	// the step's. It returns ErrStale when the mark is another one, and nothing was
	// written; ErrNotFound for an unknown ledger.
	PutRecall(ctx context.Context, id ID, old RecallMark, step RecallStep) error
	// Recall lists shuffles by id. Its cost is that of what it returns, however
	// long the ledger is.
	Recall(ctx context.Context, id ID, q RecallQuery) ([]Recalled, error)
	// CountRecall returns how many shuffles in the index were closed before a time,
	// in UTC milliseconds.
	CountRecall(ctx context.Context, id ID, before int64) (int, error)
	// DropRecall removes up to limit shuffles that were closed before a time, the
	// first closed first, and returns how many. It raises the mark's Dropped to that
	// time in any case.
	DropRecall(ctx context.Context, id ID, before int64, limit int) (int, error)
}
