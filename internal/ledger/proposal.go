package ledger

import (
	"sync/atomic"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
)

// Proposal asks for entries that stand together in one batch, all or none. The
// sequencer fills in what depends on their place: the time; of a commit the serial, the
// previous index, the instance and, if it is 0, the close-by; of a deal or mix the checkpoint.
type Proposal struct {
	Actor  audit.Actor
	Bodies []audit.Body // not changed
	Kept   [][]byte     // for each body what its Row keeps alongside it, or nil; may be shorter
	Decks  []Deck       // named by its commits, unless the store is known to hold them
	Rests  []Rest       // what it needs alongside the rules
}

// Rest is what a proposal rests on: what was read of a shuffle before the proposal was made. The next place to deal is
// Next, and Public of the dealt places are public. If that is no longer so, nothing is written, and the error is Moved.
type Rest struct {
	Shuffle uint64
	Next    int
	Public  int
	Body    int // index of the body in front of which it holds
	Moved   error
}

// Holds reports whether the shuffle is as it was read.
func (r Rest) Holds(o rules.Opened) bool { return o.Next == r.Next && o.Public() == r.Public }

// Appended is one entry that is durable.
type Appended struct {
	Index   uint64
	Entry   audit.Entry
	Receipt audit.Receipt
}

// Answer is what Append returns of one proposal.
type Answer struct {
	Appended []Appended
	Err      error
}

// A BodyError is the refusal of a proposal because of one of its bodies.
type BodyError struct {
	Body int // index
	Err  error
}

// Request is a proposal on its way through the sequencer.
type Request struct {
	Proposal
	claim atomic.Int32 // waiting, then claimed by the sequencer or withdrawn by its caller
	Reply chan Answer  // of capacity 1

	// Fields of the sequencer's goroutine.
	Tries uint64 // how often it lost the compare-and-swap
	Stale bool   // its newest append was refused although the head had not moved
}

// NewRequest makes a request of a proposal.
func NewRequest(p Proposal) *Request { return &Request{Proposal: p, Reply: make(chan Answer, 1)} }

// Answer gives the caller its answer, once.
func (r *Request) Answer(a Answer) { r.Reply <- a }

// Take claims the request for the sequencer, unless its caller has withdrawn it.
func (r *Request) Take() bool { return r.claim.CompareAndSwap(waiting, claimed) }

// Size is about how many bytes the request adds to a batch.
func (r *Request) Size() (n int) {
	for _, s := range r.Kept {
		n += len(s)
	}
	for _, b := range r.Bodies {
		if d, ok := audit.DisclosedBy(b); ok {
			n += len(d.Tape)
		}
	}
	for _, deck := range r.Decks {
		n += len(deck.List)
	}
	return n
}

func (e *BodyError) Error() string { return e.Err.Error() }

func (e *BodyError) Unwrap() error { return e.Err }

const (
	waiting = iota
	claimed
	withdrawn
)

// Limits of one batch, which bound the memory that it takes. A batch is what arrived while
// the batch before it was being written.
const (
	MaxBatchEntries = 1024
	MaxBatchBytes   = 8 << 20
)
