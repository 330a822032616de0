// Package dealer is the lifecycle of shuffles: it turns requests into entries of a ledger. It draws a tape, turns it
// into an order, commits to the order, and then gives out cards with their openings. The rules of package audit decide
// which entry may follow; the sequencer of the ledger asks them.
//
// No answer has a tape or an undealt card before the close is durable. Under disclosure to
// auditors a tape leaves this package only sealed: for the database, and to the auditors.
package dealer

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// ShuffleRequest asks for a shuffle. Exactly one of Deck, Cards and Parent is set. Nil and zero
// members are absent. Two requests are the same only if the same members are absent.
type ShuffleRequest struct {
	Table      string
	Deck       string           // published name
	Cards      []string         // custom deck, 2..4,096 names
	Take       *int             // cards to commit, absent: all
	EndAt      *EndAt           // cut-card place
	Parent     *Parent          // cards of an open shuffle, in place of Deck and Cards
	Plan       *MixPlan         // absent: none
	Disclosure audit.Disclosure // absent: the ledger's
	CloseBy    *int64           // UTC milliseconds, absent: the ledger's default
	GameRef    string
	Terms      *audit.Terms // absent: none; a child has its parent's
	ForLedger  string       // an order for the ledger of this origin; "": none
}

// Parent asks for cards of an open shuffle of the same table to be shuffled again.
type Parent struct {
	ID        uint64
	Positions []uint16 // committed positions, distinct; nil: those that were not dealt
}

// MixPlan asks for outside randomness: at least one source.
type MixPlan struct {
	CoDealer bool       // the places go through the order of the ledger's co-dealer
	Slots    [][32]byte // hashes of players' values
	Beacon   bool
	Round    uint64 // of the beacon; 0: the dealer chooses
	Cut      bool
}

// DrawsRequest asks for drawn values. Exactly one of Ranges, Numbers and Wheel is set; nil and zero members are absent.
type DrawsRequest struct {
	Table      string
	Ranges     []uint32 // a value 1..k for each k, independent
	Numbers    *Numbers
	Wheel      []Stop // one spin
	Plan       *MixPlan
	Disclosure audit.Disclosure // absent: the ledger's
	CloseBy    *int64           // UTC milliseconds, absent: the ledger's default
	GameRef    string
	Terms      *audit.Terms // absent: none
	ForLedger  string       // an order for the ledger of this origin; "": none
}

// Numbers asks for Take of the numbers 1..Of, none twice: the beginning of a shuffle of them all.
// So the commit fixes every number before the first one is known. Reservoir sampling, which is
// made for lists of unknown length, could not do that.
type Numbers struct{ Of, Take int }

// Stop is one stop of a wheel. Its probability is its weight over the sum of all weights.
type Stop struct {
	Label  string // a card name
	Weight int    // from 1
}

// EndAt is a cut-card place: fixed when Lo == Hi, else drawn from Lo..Hi.
type EndAt struct{ Lo, Hi int }

// Answered is the part that all answers have.
type Answered struct {
	Time     int64 // of the entry, UTC milliseconds
	Repeated bool  // the request was answered before, and the rest of the answer is the same
}

// Shuffle is the answer to a ShuffleRequest, the same for ever, except Repeated.
type Shuffle struct {
	Answered
	ID         uint64
	Table      string
	Serial     uint64
	Commitment [32]byte
	DeckRoot   [32]byte
	CloseBy    int64  // UTC milliseconds
	Receipt    string // C2SP tlog-proof of the commit
	CoDealer   string // with a co-dealer, the receipt of its commit
}

// MixRequest reveals the values of a plan.
type MixRequest struct {
	Slots  [][32]byte
	Beacon *[48]byte // absent: the dealer fetches the round, if the plan has a beacon
	Cut    *int
}

// Mix is the answer to a MixRequest, the same for ever, except Repeated.
type Mix struct {
	Answered
	Receipt string
}

// DealRequest asks for the next places of a shuffle.
type DealRequest struct {
	First int
	Runs  []audit.Run
	Close *CloseRequest // close it in the same batch
	State [32]byte      // with a co-dealer: hash of the game's history, or zeros
	Asked *Asking       // of an order for another ledger
}

// Deal is the answer to a DealRequest, the same for ever, except Repeated.
type Deal struct {
	Answered
	Cards    []audit.Card // of runs that are not Aside, by place
	Unopened []Unopened   // the other places
	Shows    []uint32     // of draws, what the places of Cards show, moved by a mix
	Labels   []string     // of a wheel, what Shows mean
	Next     int          // the next place to deal
	LastHand bool         // the cut card has come out
	Receipt  string
	CoDealer string // with a co-dealer, the receipt of its deal
	Close    *Close // with DealRequest.Close
}

// Unopened is a place that was dealt and opens nothing.
type Unopened struct {
	Place     int
	Purpose   audit.Purpose
	Recipient string
}

// CloseRequest asks for the end of a shuffle.
type CloseRequest struct {
	Outcome audit.Outcome // completed, ended_early or void
	Reason  audit.Reason  // with void
	Reveal  []int         // places that become public in front of it; nil: none
	Follows string        // of an order for another ledger: receipt of the close of its shuffle; "": none

	follows *audit.Follows  // of Follows, checked
	blind   *audit.Blind    // what the house knows of the co-dealer's order; nil: nothing
	end     keptEnd         // what is kept with the close
	given   []byte          // what is kept with a deal in the same batch
	silent  map[string]bool // origins of co-dealers that just gave no answer, and are not asked; nil: ask all
}

// Close is the answer to a CloseRequest, the same for ever, except Repeated.
type Close struct {
	Answered
	Tape    []byte // when it is disclosed to everybody, else nil
	Receipt string
	Reveal  *Reveal // with CloseRequest.Reveal
}

// TakeoverRequest asks for a shuffle of another identity, to close it.
type TakeoverRequest struct {
	Reason string // written to the ledger for ever
}

// Takeover is the answer to a TakeoverRequest.
type Takeover struct {
	Answered
	From    string // the owner before
	Receipt string
}

// Status is the public state of a shuffle: what its commit's entry does not say.
type Status struct {
	Shuffle
	Owner    string       // identity
	Extent   audit.Extent // what the owner may do
	Planned  bool         // it has a mix plan
	Mixed    bool         // its plan was revealed
	CutCard  bool         // it has a cut card
	LastHand bool         // the cut card has come out
	Next     int          // next place to deal
	Overdue  bool         // close-by passed and it is open
	Closed   bool
	// Continued: closed as continued, and its tape is not disclosed yet.
	Continued bool
	ClosedAt  int64 // when Closed
	Outcome   audit.Outcome
	Reason    audit.Reason
}

// RequestError refuses a request that is wrong whatever the state of the ledger is. Field is the
// JSON member, Rule what it must be.
type RequestError struct {
	Field string
	Rule  string
}

func (e *RequestError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Rule) }

// What the dealer reports alongside *RequestError, *audit.Illegal and the ledger's errors.
var (
	// ErrKeyReused: another request was made under this idempotency key.
	ErrKeyReused = errors.New("the idempotency key was used for another request")
	// ErrRepeated: another request dealt these places, mixed the shuffle or closed it.
	ErrRepeated = errors.New("another request did this before")
	// ErrNotFound: no shuffle has this id, or no entry this index.
	ErrNotFound = errors.New("not found")
	// ErrBeaconEarly: the beacon's round is not out, or no relay has it.
	ErrBeaconEarly = errors.New("the beacon's round is not available yet")
	// ErrCoDealer: the co-dealer did not answer, or its answer proves nothing.
	ErrCoDealer = errors.New("the co-dealer does not answer")
	// ErrCoDealerForked: the co-dealer's checkpoints contradict each other, and no operator has cleared this.
	ErrCoDealerForked = errors.New("the co-dealer showed two histories")
	// ErrEntropy: the generator is in doubt, and the latch is set.
	ErrEntropy = errors.New("the entropy latch is set")
	// ErrSealed: the sealing key of this tape is not available.
	ErrSealed = errors.New("the tape cannot be opened with the sealing keys available")
)

// illegal refuses what a rule of the ledger forbids, before the ledger is asked.
func illegal(rule, format string, args ...any) error {
	return &audit.Illegal{Code: rule, Detail: fmt.Sprintf(format, args...)}
}
