// Package api has the requests of the dealer and its answers, as the contract has them (internal/httpapi/openapi.yaml),
// what is wrong with a request whatever the state of the ledger is, and the errors that callers are told.
//
// A nil or zero member is absent, if it may be. Two requests are the same only if the same members are absent.
package api

import (
	"errors"
	"fmt"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/wire"
)

// ShuffleRequest asks for a shuffle. Exactly one of Deck, Cards and Parent is set.
type ShuffleRequest struct {
	Table      string           `json:"table"`
	Deck       string           `json:"deck,omitzero"`       // published name
	Cards      []string         `json:"cards,omitzero"`      // custom deck, 2..4,096 names
	Take       *int             `json:"take,omitzero"`       // cards to commit, absent: all
	EndAt      *EndAt           `json:"end_at,omitzero"`     // cut-card place
	Parent     *Parent          `json:"parent,omitzero"`     // cards of an open shuffle, in place of Deck and Cards
	Plan       *MixPlan         `json:"mix,omitzero"`        // absent: none
	Disclosure audit.Disclosure `json:"disclosure,omitzero"` // absent: the ledger's
	CloseBy    *Time            `json:"close_by,omitzero"`   // absent: the ledger's default
	GameRef    string           `json:"game_ref,omitzero"`
	Terms      *audit.Terms     `json:"terms,omitzero"`      // absent: none; a child has its parent's
	ForLedger  string           `json:"for_ledger,omitzero"` // an order for the ledger of this origin; absent: none
}

// Parent asks for cards of an open shuffle of the same table to be shuffled again.
type Parent struct {
	ID        uint64   `json:"id"`
	Positions []uint16 `json:"positions,omitzero"` // committed positions, distinct; nil: those that were not dealt
}

// MixPlan asks for outside randomness: at least one source.
type MixPlan struct {
	CoDealer wire.True   `json:"co_dealer,omitzero"` // the places go through the order of the ledger's co-dealer
	Slots    [][32]byte  `json:"slots,omitzero"`     // hashes of players' values
	Beacon   *BeaconPlan `json:"beacon,omitzero"`
	Cut      wire.True   `json:"cut,omitzero"`
}

// BeaconPlan names a round of the beacon.
type BeaconPlan struct {
	Round *uint64 `json:"round,omitzero"` // absent: the dealer chooses
}

// DrawsRequest asks for drawn values. Exactly one of Ranges, Numbers and Wheel is set.
type DrawsRequest struct {
	Table      string           `json:"table"`
	Ranges     []uint32         `json:"ranges,omitzero"` // a value 1..k for each k, independent
	Numbers    *Numbers         `json:"numbers,omitzero"`
	Wheel      []Stop           `json:"wheel,omitzero"` // one spin
	Plan       *MixPlan         `json:"mix,omitzero"`
	Disclosure audit.Disclosure `json:"disclosure,omitzero"` // absent: the ledger's
	CloseBy    *Time            `json:"close_by,omitzero"`   // absent: the ledger's default
	GameRef    string           `json:"game_ref,omitzero"`
	Terms      *audit.Terms     `json:"terms,omitzero"`      // absent: none
	ForLedger  string           `json:"for_ledger,omitzero"` // an order for the ledger of this origin; absent: none
}

// Numbers asks for Take of the numbers 1..Of, none twice: the beginning of a shuffle of them all.
// So the commit fixes every number before the first one is known. Reservoir sampling, which is
// made for lists of unknown length, could not do that.
type Numbers struct {
	Of   int `json:"of"`
	Take int `json:"take"`
}

// Stop is one stop of a wheel. Its probability is its weight over the sum of all weights.
type Stop struct {
	Label  string `json:"label"`  // a card name
	Weight int    `json:"weight"` // from 1
}

// EndAt is a cut-card place: fixed when Lo == Hi, else drawn from Lo..Hi.
type EndAt = wire.EndAt

// Answered is the part that all answers have.
type Answered struct {
	Time     Time `json:"time"`              // of the entry
	Repeated bool `json:"repeated,omitzero"` // the request was answered before, and the rest of the answer is the same
}

// Shuffle is the answer to a ShuffleRequest, the same for ever, except Repeated.
type Shuffle struct {
	Answered
	ID         uint64   `json:"id"`
	Table      string   `json:"table"`
	Serial     uint64   `json:"serial"`
	Commitment [32]byte `json:"commitment"`
	DeckRoot   [32]byte `json:"deck_root"`
	CloseBy    Time     `json:"close_by"`
	Receipt    string   `json:"receipt"`            // C2SP tlog-proof of the commit
	CoDealer   string   `json:"co_dealer,omitzero"` // with a co-dealer, the receipt of its commit
}

// MixRequest reveals the values of a plan.
type MixRequest struct {
	Slots  [][32]byte `json:"slots,omitzero"`
	Beacon *[48]byte  `json:"beacon,omitzero"` // absent: the dealer fetches the round, if the plan has a beacon
	Cut    *int       `json:"cut,omitzero"`
}

// Mix is the answer to a MixRequest, the same for ever, except Repeated.
type Mix struct {
	Answered
	Receipt string `json:"receipt"`
}

// DealRequest asks for the next places of a shuffle.
type DealRequest struct {
	First int           `json:"first"` // below 0: not given
	Runs  []audit.Run   `json:"runs"`
	Close *CloseRequest `json:"close,omitzero"` // close it in the same batch
	State [32]byte      `json:"state,omitzero"` // with a co-dealer: hash of the game's history, or zeros
	Asked *Asking       `json:"asked,omitzero"` // of an order for another ledger
}

// Deal is the answer to a DealRequest, the same for ever, except Repeated.
type Deal struct {
	Answered
	Cards    []openings.Card `json:"cards"`              // of runs that are not Aside, by place
	Unopened []Unopened      `json:"unopened,omitzero"`  // the other places
	Shows    []uint32        `json:"shows,omitzero"`     // of draws, what the places of Cards show, moved by a mix
	Labels   []string        `json:"labels,omitzero"`    // of a wheel, what Shows mean
	Next     int             `json:"next"`               // the next place to deal
	LastHand bool            `json:"last_hand,omitzero"` // the cut card has come out
	Receipt  string          `json:"receipt"`
	CoDealer string          `json:"co_dealer,omitzero"` // with a co-dealer, the receipt of its deal
	Last     *audit.Last     `json:"last,omitzero"`      // with Asking.Since
	Close    *Close          `json:"close,omitzero"`     // with DealRequest.Close
}

// Unopened is a place that was dealt and opens nothing.
type Unopened struct {
	Place     int    `json:"place"`
	Purpose   string `json:"purpose"`
	Recipient string `json:"recipient,omitzero"`
}

// CloseRequest asks for the end of a shuffle.
type CloseRequest struct {
	Outcome audit.Outcome `json:"outcome"`          // completed, ended_early or void
	Reason  audit.Reason  `json:"reason,omitzero"`  // with void
	Reveal  []int         `json:"reveal,omitzero"`  // places that become public in front of it; nil: none
	Follows string        `json:"follows,omitzero"` // of an order for another ledger: receipt of its shuffle's close
}

// Close is the answer to a CloseRequest, the same for ever, except Repeated.
type Close struct {
	Answered
	Tape    []byte  `json:"tape,omitzero"` // when it is disclosed to everybody, else nil
	Receipt string  `json:"receipt"`
	Reveal  *Reveal `json:"reveal,omitzero"` // with CloseRequest.Reveal
}

// TakeoverRequest asks for a shuffle of another identity, to close it.
type TakeoverRequest struct {
	Reason string `json:"reason"` // written to the ledger for ever
}

// Takeover is the answer to a TakeoverRequest.
type Takeover struct {
	Answered
	From    string `json:"from"` // the owner before
	Receipt string `json:"receipt"`
}

// Status is the public state of a shuffle: what its commit's entry does not say.
type Status struct {
	CloseBy    Time     `json:"close_by"`
	ClosedAt   Time     `json:"closed_at,omitzero"`
	Commitment [32]byte `json:"commitment"`
	DeckRoot   [32]byte `json:"deck_root"`
	Extent     string   `json:"extent,omitzero"` // what the owner may do, if that is not everything
	ID         uint64   `json:"id"`
	LastHand   *bool    `json:"last_hand,omitzero"` // the cut card has come out; nil: there is none
	Mixed      *bool    `json:"mixed,omitzero"`     // the plan was revealed; nil: there is none
	Next       int      `json:"next"`               // place to deal
	Outcome    string   `json:"outcome,omitzero"`
	Owner      string   `json:"owner"` // identity
	Reason     string   `json:"reason,omitzero"`
	Receipt    string   `json:"receipt"` // of the commit
	Serial     uint64   `json:"serial"`
	State      string   `json:"state"`
	Table      string   `json:"table"`
}

// The values of Status.State.
const (
	StateOpen      = "open"
	StateOverdue   = "overdue"   // open after its close-by
	StateContinued = "continued" // closed, and its tape is not disclosed yet
	StateClosed    = "closed"
)

// RequestError refuses a request that is wrong whatever the state of the ledger is.
type RequestError struct {
	Field   string // the JSON member
	Rule    string // what it must be
	NoValue bool   // the value is not there, or no request may have it
}

func (e *RequestError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Rule) }

// Invalid is a RequestError.
func Invalid(field, rule string) error { return &RequestError{field, rule, false} }

// NoValue is a RequestError about a value that is not there, or that no request may have.
func NoValue(field, rule string) error { return &RequestError{field, rule, true} }

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

// Illegal refuses what a rule of the ledger forbids, before the ledger is asked.
func Illegal(rule, format string, args ...any) error {
	return &audit.Illegal{Code: rule, Detail: fmt.Sprintf(format, args...)}
}

// RevealRequest asks that dealt places become public.
type RevealRequest struct {
	Places  []int `json:"places"`
	Exposed bool  `json:"exposed,omitzero"` // they were seen by mistake
}

// Reveal is the answer to a RevealRequest, the same for ever, except Repeated.
type Reveal struct {
	Answered
	Places  []int           `json:"places"` // ascending
	Cards   []openings.Card `json:"cards"`
	Shows   []uint32        `json:"shows,omitzero"`  // of draws, what the places show, moved by a mix
	Labels  []string        `json:"labels,omitzero"` // of a wheel, what Shows mean
	Receipt string          `json:"receipt"`
}

// Asking is a request of a house to its co-dealer, without the runs.
type Asking struct {
	Commit string   `json:"commit"`         // receipt of the commit of the house's shuffle
	After  string   `json:"after,omitzero"` // receipt of the mix or deal before it; absent: the commit comes before it
	State  [32]byte `json:"state,omitzero"` // hash of the game's history, or zeros
	Ask    [64]byte `json:"ask"`            // signature under the commit's ask key
	Since  uint64   `json:"since,omitzero"` // entries of the checkpoint that the house's shuffle has; absent: not told
}

// NoTime refuses what is no time.
const NoTime wire.Rule = "must be a time in UTC since 1970, such as 2026-03-14T15:09:26.535Z"

// Time is a time in UTC milliseconds since 1970. It is written with milliseconds, and read with or without them.
type Time int64

const (
	millisLayout  = "2006-01-02T15:04:05.000Z"
	secondsLayout = "2006-01-02T15:04:05Z"
)

// MarshalText returns t as RFC 3339 in UTC.
func (t Time) MarshalText() ([]byte, error) {
	return time.UnixMilli(int64(t)).UTC().AppendFormat(nil, millisLayout), nil
}

// UnmarshalText reads a time in one of its two spellings and no other.
func (t *Time) UnmarshalText(text []byte) error {
	s := string(text)
	for _, layout := range []string{millisLayout, secondsLayout} {
		// time.Parse is lenient, so what it read is written again.
		at, err := time.Parse(layout, s)
		if err == nil && at.Format(layout) == s && at.Year() >= 1970 {
			*t = Time(at.UnixMilli())
			return nil
		}
	}
	return NoTime
}

// View is the viewer of a transcript.
type View struct {
	// Identity of a dealer, "" for other viewers. It sees every dealt card of its own shuffles that is not aside.
	Identity  string
	Auditor   bool   // has the role auditor, and sees what is disclosed to auditors
	Recipient string // limits the view to this recipient's cards and public ones; "": no limit
}
