package audit

// The rules of legality, by code, in the order they are checked (docs/SPEC.md section 9).
const (
	RuleGenesisFirst  = "genesis_first"  // entry 0 is the genesis, no other is
	RuleTime          = "time"           // time never decreases
	RulePair          = "pair"           // what belongs to the entry below follows it
	RuleOrigin        = "origin"         // a commit's context is of this ledger: origin, genesis, production bit
	RuleInstance      = "instance"       // it names a daemon that started below
	RuleLatch         = "latch"          // no commit while the entropy latch is set; a set latch is cleared once
	RuleKill          = "kill"           // no commit while a kill switch covers it
	RuleTable         = "table"          // no commit at a closed table; tables open and close in turn
	RuleSerial        = "serial"         // serials count by one and name the previous commit
	RuleCloseBy       = "close_by"       // close-by is after the commit, within the cap after the root's commit
	RuleMixModes      = "mix_modes"      // only sources that the genesis declares
	RuleBeacon        = "beacon"         // the beacon's round comes out after the commit
	RuleOwner         = "owner"          // only its owner mixes, deals, continues and closes a shuffle
	RuleTwoPersons    = "two_persons"    // an act that needs two administrators approves the entry
	RuleAct           = "act"            // an act is signed by administrators in force, in time, and in order
	RuleAdmins        = "administrators" // two are in force if two are asked for
	RuleCredential    = "credential"     // the header names a credential in force that covers the entry
	RuleParent        = "parent"         // the parent is open, at this table, of this deck, and has the positions
	RuleTerms         = "terms"          // the terms fit what is committed, and a child has its parent's
	RuleDisclosureKey = "disclosure_key" // auditor disclosure needs a disclosure key for the auditors in force
	RuleNotOpen       = "not_open"       // the shuffle is open
	RuleDeadline      = "deadline"       // before close-by, except expired, which comes at or after it
	RuleSetAside      = "set_aside"      // a close of the table did not set the shuffle aside
	RuleEarlier       = "earlier_serial" // earlier serials of the table were dealt from or closed
	RuleMix           = "mix"            // a plan is revealed once, whole, before the first deal
	RulePlace         = "place"          // a deal starts at the next place
	RulePlaces        = "places"         // a deal ends at the last place at the latest, an order there
	RuleRound         = "round"          // a run is of the round of the run before, or of the next
	RuleCheckpoint    = "checkpoint"     // a checkpoint, cosigned if asked for, covers the commit
	RuleReveal        = "reveal"         // what is revealed was dealt and is not public
	RuleOutcome       = "outcome"        // continued follows the commit of a child that it can have
	RuleEntries       = "entries"        // a close or disclosure counts the entries of its shuffle
	RuleForm          = "form"           // the close discloses as the commit declared
	RuleCoDealer      = "co_dealer"      // what ties a shuffle to another ledger is given exactly when needed
	// keys are sound, new, wrapped to all auditors, retired once; policies can be read
	RuleKey = "key"
)

// RuleSlot is not checked by State: a slot hash stands in one commit of a ledger only. The
// sequencer's store and an audit of the whole ledger check it.
const RuleSlot = "slot"

// Illegal is a rule that an entry breaks (docs/SPEC.md section 9). Code is one
// of the Rule constants; it is stable and goes to callers.
type Illegal struct {
	Code   string
	Detail string
}

func (e *Illegal) Error() string { return e.Code + ": " + e.Detail }
