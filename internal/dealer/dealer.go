// Package dealer is the lifecycle of shuffles: requests in, entries out. It
// draws a tape, turns it into an order, commits to it, and gives out cards with
// their openings, in this order and no other; what may follow what is decided by
// the rules in package audit, in the ledger's sequencer.
//
// No tape and no undealt card leaves this package before the close is durable,
// and under disclosure to auditors no tape ever does but sealed to them.
package dealer

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// ShuffleRequest asks for a shuffle. Exactly one of Deck and Cards is set; nil
// and zero members are absent, and absent members are part of what makes two
// requests the same.
type ShuffleRequest struct {
	Table      string
	Deck       string           // published name
	Cards      []string         // custom deck, 2..4,096 names
	Take       *int             // cards to commit, absent: all
	EndAt      *EndAt           // cut-card place
	Mix        bool             // a mix plan was given: not served yet
	Parent     bool             // a parent was given: not served yet
	Disclosure audit.Disclosure // absent: the ledger's
	CloseBy    *int64           // UTC milliseconds, absent: the ledger's default
	GameRef    string
}

// EndAt is a cut-card place: fixed when Lo == Hi, else drawn from Lo..Hi.
type EndAt struct{ Lo, Hi int }

// Shuffle is the answer to a ShuffleRequest, the same for ever.
type Shuffle struct {
	ID         uint64
	Table      string
	Serial     uint64
	Commitment [32]byte
	DeckRoot   [32]byte
	CloseBy    int64  // UTC milliseconds
	Receipt    string // C2SP tlog-proof of the commit
}

// DealRequest asks for the next places of a shuffle.
type DealRequest struct {
	First int
	Runs  []audit.Run
	Close *CloseRequest // close it in the same batch
}

// Deal is the answer to a DealRequest, the same for ever.
type Deal struct {
	Cards   []audit.Card
	Next    int // the next place to deal
	Receipt string
	Close   *Close // with DealRequest.Close
}

// CloseRequest asks for the end of a shuffle.
type CloseRequest struct {
	Outcome audit.Outcome // completed, ended_early or void
	Reason  audit.Reason  // with void
}

// Close is the answer to a CloseRequest, the same for ever.
type Close struct {
	Outcome audit.Outcome
	Reason  audit.Reason
	Tape    []byte // when it is disclosed to everybody, else nil
	Receipt string
}

// Status is the public state of a shuffle.
type Status struct {
	Shuffle
	Production  bool
	Disclosure  audit.Disclosure
	GameRef     string
	DeckHash    [32]byte // zero for a draw list
	Cards       int      // n
	Places      int      // m
	Next        int      // next place to deal
	CommittedAt int64    // UTC milliseconds
	Overdue     bool     // close-by passed and it is open
	Closed      bool
	ClosedAt    int64 // when Closed
	Outcome     audit.Outcome
	Reason      audit.Reason
}

// RequestError is a request that breaks a rule of its own, whatever the state:
// Field is the JSON member, Rule what it must be.
type RequestError struct {
	Field string
	Rule  string
}

func (e *RequestError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Rule) }

// What the dealer reports beside *RequestError, *audit.Illegal and the ledger's
// errors.
var (
	// ErrKeyReused: another request was made under this idempotency key.
	ErrKeyReused = errors.New("the idempotency key was used for another request")
	// ErrRepeated: these places were dealt by another request, or the close was
	// another one.
	ErrRepeated = errors.New("this was answered before for another request")
	// ErrNotFound: no shuffle has this id, or no entry this index.
	ErrNotFound = errors.New("not found")
	// ErrNotAvailable: the ledger does not serve this (yet).
	ErrNotAvailable = errors.New("not available")
	// ErrEntropy: the generator is in doubt, and the latch is set.
	ErrEntropy = errors.New("the entropy latch is set")
	// ErrSealed: the sealing key of this tape is not at hand.
	ErrSealed = errors.New("the tape cannot be opened with the sealing keys at hand")
)
