package verify

import (
	"shuffled/internal/audit"
	"shuffled/internal/terms"
)

// The four verdicts.
const (
	Proved      = "proved"       // every step that ran holds, under a key or policy that the caller trusts
	Consistent  = "consistent"   // every step that ran holds, but nothing was trusted: the file agrees with itself
	Failed      = "failed"       // a step fails: Verdict.Failed names it
	CannotJudge = "cannot judge" // Verdict.Unknown names what this version does not know
)

// Level says how much is proved (docs/SPEC.md section 10.2).
type Level string

// The levels, weakest first.
const (
	LevelKeyNotPinned Level = "key not pinned"
	LevelRecorded     Level = "recorded"
	LevelWitnessed    Level = "witnessed"
	LevelMixed        Level = "mixed"
)

// The kinds of file.
const (
	KindTranscript = "transcript"
	KindReceipt    = "receipt"
)

// The results of a step.
const (
	StepOK         = "ok"
	StepFailed     = "failed"
	StepNotChecked = "not checked"
)

// Step is one step of the check.
type Step struct {
	Name   string `json:"name"`
	Result string `json:"result"`           // StepOK, StepFailed or StepNotChecked
	Detail string `json:"detail,omitempty"` // what was found, or why it was not checked
	Cause  string `json:"cause,omitempty"`  // of a failed step: what it most often means
}

// Verdict is what Transcript and Receipt answer, `shuffled verify --json` prints and POST /v1/verify sends. The JSON
// names are stable; what does not apply is absent. Verdict, Steps and Production are always there.
//
// The members after Steps are what the file says. They are worth what the verdict is
// worth: of a file that failed, none is to be believed, and no cards are given.
type Verdict struct {
	Verdict string `json:"verdict"`           // Proved, Consistent, Failed or CannotJudge
	Level   Level  `json:"level,omitempty"`   // with Proved and Consistent
	Kind    string `json:"kind,omitempty"`    // KindTranscript or KindReceipt; absent for neither
	Failed  string `json:"failed,omitempty"`  // with Failed: the name of the step
	Unknown string `json:"unknown,omitempty"` // with CannotJudge: what is not known
	Steps   []Step `json:"steps"`             // all of them, in order

	Ledger string `json:"ledger,omitempty"` // origin of the checkpoint
	// genesis or commit says so; false: a sandbox, or the file does not say
	Production bool        `json:"production"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// with LevelWitnessed: witnesses on the checkpoint that the level rests on, as the policy lists them
	Witnesses []Cosigned `json:"witnesses,omitempty"`
	// with Proved, under a policy with a quorum: its other witnesses on the file's checkpoint; they give no level
	Late []Cosigned `json:"late,omitempty"`
	// with LevelWitnessed: witnesses that two histories at this level would need to lie (docs/SPEC.md section 7.3, d)
	Overlap int    `json:"overlap,omitempty"`
	Entry   *Entry `json:"entry,omitempty"` // of a receipt

	// KeyNotShown with Proved and Consistent, if the file has no member keys
	KeyInForce string `json:"key_in_force,omitempty"`

	Mixed []Mixed `json:"mixed,omitempty"` // with LevelMixed: for whom, everybody first

	PassedOver []audit.Passed `json:"passed_over,omitempty"` // by list and code

	ID         uint64 `json:"id,omitempty"`         // of the shuffle
	Recipient  string `json:"recipient,omitempty"`  // whose file it is, when it is one recipient's
	Table      string `json:"table,omitempty"`      //
	Serial     uint64 `json:"serial,omitempty"`     // of the table, from 1
	GameRef    string `json:"game_ref,omitempty"`   //
	Owner      string `json:"owner,omitempty"`      // identity that committed to it
	Commitment string `json:"commitment,omitempty"` // base64
	DeckRoot   string `json:"deck_root,omitempty"`  // base64
	Disclosure string `json:"disclosure,omitempty"` // "public" or "auditor"
	// times are RFC 3339 in UTC, with milliseconds; beyond 9999 they are absent
	CommittedAt string `json:"committed_at,omitempty"`
	CloseBy     string `json:"close_by,omitempty"`     //
	Places      int    `json:"places,omitempty"`       // m: positions committed
	Next        int    `json:"next,omitempty"`         // places dealt, as far as the file shows
	Shown       int    `json:"shown,omitempty"`        // of these, those that are public or were revealed
	LastRound   uint16 `json:"last_round,omitempty"`   // of the newest run in the file; absent for none
	LastGoesOn  bool   `json:"last_goes_on,omitempty"` // later entries may deal more cards of that round
	EndAt       int    `json:"end_at,omitempty"`       // place of the cut card; a drawn one once the tape is known
	State       string `json:"state,omitempty"`        // "closed"; "open": no close; "continued": no disclosure
	ClosedAt    string `json:"closed_at,omitempty"`    //
	Outcome     string `json:"outcome,omitempty"`      // of a closed shuffle, as in docs/SPEC.md section 5.6
	Reason      string `json:"reason,omitempty"`       // of a void one

	Shuffled *Shuffled `json:"shuffled,omitempty"` // of a transcript whose step deck holds
	Terms    *Terms    `json:"terms,omitempty"`    // what gives the values their meaning

	Takeovers []Takeover `json:"takeovers,omitempty"` // changes of the owner, in order

	Cards []CardShown `json:"cards,omitempty"` // opened cards, by place

	Blind *Blind `json:"blind,omitempty"` // another organisation gave the order, place by place
	// why it is not blind, if a co-dealer is trusted: NotNamed, NotPinned, NotShared, NotDealt or NotOneHistory
	NotBlind string `json:"not_blind,omitempty"`

	// of a closed shuffle with a co-dealer: OpenedOnly or DealtOnNotShown; absent: what was opened was dealt, or named
	DealtOn    string `json:"dealt_on,omitempty"`
	NotDealtOn int    `json:"not_dealt_on,omitempty"` // with OpenedOnly: how many places

	Statements []Stated `json:"statements,omitempty"` // of auditors, in order, a line of a signature each
}

// KeyNotShown says that the file does not show whether the key that signed it was still in force, or had been replaced.
const KeyNotShown = "not_shown"

// Whether all that a co-dealer opened of a closed shuffle was dealt on.
const (
	OpenedOnly      = "opened_only" // the order's close names more places than the file shows as dealt or not played
	DealtOnNotShown = "not_shown"   // no close of the order in the file shows it
)

// Blind says that a co-dealer gave the order of the places, each when it was asked for, and that the
// house could not know what they show before (docs/SPEC-BLIND.md section 8).
type Blind struct {
	CoDealer string    `json:"co_dealer"`        // origin of its ledger
	Requests []Request `json:"requests"`         // by place
	Closed   bool      `json:"closed,omitempty"` // the order's close is in the file
	// the tape in the file shows that the house's deck held each card once
	OrderChecked bool `json:"order_checked"`
}

// Request is one deal of a co-dealer.
type Request struct {
	Place  int    `json:"place"`           // the first
	Places int    `json:"places"`          //
	Runs   []Run  `json:"runs"`            // which of them are for whom
	Time   string `json:"time,omitempty"`  // by the co-dealer's clock
	State  string `json:"state,omitempty"` // base64 of a hash that is said to be of the game's history; absent: none
	// if the caller gave a history: HistoryChecked or HistoryDiffers, and behind how many of its
	// lines the request was made
	History string `json:"history,omitempty"`
	Line    *int   `json:"line,omitempty"`

	Unplayed bool `json:"unplayed,omitempty"` // the shuffle ended without a deal of these places
	// of these, what those that are not aside would have shown; absent if none of them was opened to the house
	Cards []CardShown `json:"cards,omitempty"`
}

// The results of comparing the hash in a request with the history that the caller gave.
const (
	HistoryChecked = "checked" // it is of a beginning of that history
	HistoryDiffers = "differs" // it is of no beginning
)

// Run is what a co-dealer was told of some of the places that it opened.
type Run struct {
	Places    int    `json:"places"`
	Purpose   string `json:"purpose"`
	Recipient string `json:"recipient,omitempty"`
	Public    bool   `json:"public,omitempty"`
	Round     uint16 `json:"round,omitempty"`
}

// Why a shuffle that holds is not blind, for a caller who trusts a co-dealer.
const (
	NotNamed  = "no_co_dealer"      // its plan names none
	NotPinned = "key_not_pinned"    // nothing is trusted for the house, or no key for the co-dealer
	NotShared = "no_common_witness" // two quorums of the co-dealer's policy share no witness
	NotDealt  = "not_dealt"         // its plan names one, which opened nothing in this file

	NotOneHistory = "not_one_history" // its checkpoints in the file are not tied to each other
)

// Stated names a signer of a statement that the tape was opened and leads to the deck root
// (docs/SPEC.md section 8.1). The statement of an auditor who is not trusted proves nothing.
type Stated struct {
	Name    string `json:"name"`
	Trusted bool   `json:"trusted"` // the verifier trusts the key, and its signature holds
}

// Checkpoint is the head of the ledger that the file was held against.
type Checkpoint struct {
	Origin string `json:"origin"`
	Size   uint64 `json:"size"` // entries
}

// Cosigned is a valid cosignature of one of the policy's witnesses.
type Cosigned struct {
	Name string `json:"name"` // in the policy
	Time string `json:"time"` // by the witness's clock
}

// For whom a shuffle has the level mixed.
const (
	ForEverybody = "everybody" // by a beacon
	ForSlot      = "slot"      // for the player alone who chose the slot's value
)

// Mixed says for whom the level mixed is given, and what it rests on (docs/SPEC.md section 10.5).
type Mixed struct {
	For       string `json:"for"`             // ForEverybody or ForSlot
	Witnessed string `json:"witnessed"`       // by then the quorum had cosigned the commit, by its own clocks
	Round     uint64 `json:"round,omitempty"` // everybody: of the beacon
	Time      string `json:"time,omitempty"`  // everybody: when the round came out, after Witnessed
	Slot      string `json:"slot,omitempty"`  // slot: base64 of the slot's hash
}

// Entry is what a receipt proves.
type Entry struct {
	Index uint64 `json:"index"`
	Type  string `json:"type"` // as in docs/SPEC.md section 15
	Time  string `json:"time,omitempty"`

	Identity   string `json:"identity"`   // the service that caused it
	Credential string `json:"credential"` // that it showed
}

// Terms are what the commit binds, and the document in the file. Labels and text are to be shown as text.
type Terms struct {
	Kind   string        `json:"kind"`             // "wheel", "pay_table" or "ticket_list"
	Hash   string        `json:"hash"`             // base64: of the document, or the root of the list
	Count  uint64        `json:"count,omitempty"`  // tickets in the list
	Labels []terms.Label `json:"labels,omitempty"` // of the wheel in the file, in the order of the values
	Text   string        `json:"text,omitempty"`   // the pay table in the file
	// of a list of tickets that is not mixed for everybody: the house could choose the winner
	HouseCouldChoose bool `json:"house_could_choose,omitempty"`
}

// Takeover is a change of the shuffle's owner.
type Takeover struct {
	Index      uint64 `json:"index"`
	Time       string `json:"time,omitempty"`
	Identity   string `json:"identity"` // the owner from here on
	Credential string `json:"credential"`
	From       string `json:"from"`   // the owner before
	Place      int    `json:"place"`  // the next place to deal then
	Extent     string `json:"extent"` // "close" or "play": what the owner may do
	Reason     string `json:"reason"`
}

// CardShown is one opened card, one value of a draw list, or one number.
type CardShown struct {
	Place     int    `json:"place"`
	Position  int    `json:"position"`            // committed position that the place shows
	Value     uint32 `json:"value"`               // index in the deck, or committed draw
	Shows     uint32 `json:"shows,omitempty"`     // of draws: Value moved by the mix; of numbers the one that it takes
	Name      string `json:"card,omitempty"`      // the card's name; absent for draws
	Label     string `json:"label,omitempty"`     // what Shows means, by the wheel in the file
	Purpose   string `json:"purpose"`             // of the run: "seat", "board", "burn", "discard" or "rabbit"
	Recipient string `json:"recipient,omitempty"` // of the run
	Public    bool   `json:"public"`              // of the run
	Round     uint16 `json:"round,omitempty"`     // of the run, from 1; absent for none
	Revealed  bool   `json:"revealed,omitempty"`  // made public by a reveal
}
