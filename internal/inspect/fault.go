package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"shuffled/internal/audit"
)

// Codes of faults (docs/SPEC.md section 14.3). They are stable. The code of a broken rule
// of legality is RulePrefix and the code of the rule.
const (
	CodeCheckpoint  = "checkpoint"       // a signed checkpoint is malformed or of another ledger
	CodeSignature   = "signature"        // a checkpoint is not signed by the key in force
	CodeRoot        = "root"             // the root of a checkpoint is not that of the entries
	CodeSize        = "checkpoint_size"  // a checkpoint is larger than the newest, and the key in force did not sign it
	CodeRotation    = "rotation"         // no checkpoint carries the signatures of old and new key
	CodePinned      = "key_not_in_force" // no trusted key of an algorithm signed while it was in force
	CodeQuorum      = "quorum"           // a checkpoint was cosigned by too few
	CodeCosigned    = "cosigned_missing" // a deal or mix names a cosigned checkpoint that is not there
	CodeSince       = "since"            // the ledger does not extend the older checkpoint
	CodeEntry       = "entry"            // bytes that are not those in the tree
	CodeMissing     = "entries_missing"  // entries that are not there
	CodeMalformed   = "malformed"        // an entry that no writer of this version makes
	CodeFile        = "file"             // a file that cannot be read as what it should be
	CodeTile        = "tile"             // a tile that is not that of the entries
	CodeOrigin      = "origin"           // the checkpoint is of another origin than the genesis
	CodeWrap        = "wrap"             // a disclosure key that the auditor's key does not open
	CodePredecessor = "predecessor"      // the genesis names a predecessor, but no checkpoint of one
	CodeBeacon      = "beacon"           // a mix with another value than the beacon's
	CodeTerms       = "terms"            // a document of terms is missing or not the one committed to
	CodeDeck        = "deck"             // a deck is missing or not the one committed to
	CodeTapeLost    = "tape_lost"        // a close without a tape
	CodeTape        = "tape"             // the tape does not open the commitment
	CodeSealed      = "sealed"           // the sealed tape does not open
	CodeOrder       = "order"            // the tape gives no order
	CodeDeckRoot    = "deck_root"        // the recomputed order does not lead to the deck root
	CodeCommitment  = "commitment_twice" // two commits with one commitment
	CodeKeyTag      = "key_tag_twice"    // two commits under one idempotency key
	CodeSlot        = "slot_twice"       // one slot hash in two commits
	CodeActHead     = "act_head"         // the head that an act or an adoption names is not that of the entries
	CodeManifest    = "manifest"         // the manifest is malformed, or older than what was exported

	// Of a pair of ledgers (docs/SPEC-BLIND.md section 9).
	CodeLooked          = "looked"           // the house had more places opened, or others, than it dealt
	CodeLookedElsewhere = "looked_elsewhere" // the house had places opened behind an entry that is not in its ledger
	CodeUnasked         = "unasked"          // the co-dealer's deal is not what the holder of the tape asked for
	CodeOtherRuns       = "other_runs"       // the house dealt its places in other runs
	CodeOtherValue      = "co_dealer_value"  // the house dealt a place with another value than the order's tape gives
	CodeOrderCommit     = "co_dealer_commit" // the order is not one for the shuffle, or is for two shuffles
	CodeOtherDeal       = "co_dealer_deal"   // two entries of the house name one deal of the co-dealer, or one has none
	CodeCoDealerForked  = "co_dealer_forked" // what the house holds of the co-dealer's ledger is not in it
	CodeHouseForked     = "house_forked"     // what the co-dealer holds of the house's ledger is not in it
	CodeDisclosedEarly  = "disclosed_early"  // the order was closed before the shuffle
	CodeNotInTime       = "not_in_time"      // a shuffle is open long after its close-by, with places opened
	CodeNotApart        = "not_apart"        // a key of one ledger is also a key or a witness's key of the other

	RulePrefix = "rule_"
)

// Fault is one thing that is wrong, with its place.
type Fault struct {
	Code    string  `json:"code"`
	Entry   *uint64 `json:"entry,omitempty"`   // index of the entry
	Shuffle *uint64 `json:"shuffle,omitempty"` // id of the shuffle
	Where   string  `json:"where,omitempty"`   // file, or table and column
	Detail  string  `json:"detail"`            // in plain words; may change

	Size uint64 `json:"-"` // of the checkpoint that it is about; for root and cosigned_missing
}

func fault(code, where, format string, args ...any) Fault {
	return Fault{Code: code, Where: where, Detail: audit.Printable(fmt.Sprintf(format, args...))}
}

// at returns f with the index of its entry.
func (f Fault) at(index uint64) Fault {
	f.Entry = &index
	return f
}

// of returns f with the id of its shuffle.
func (f Fault) of(id uint64) Fault {
	f.Shuffle = &id
	return f
}

// compareFaults sorts faults: those of entries first, by index.
func compareFaults(a, b Fault) int {
	index := func(p *uint64) uint64 {
		if p == nil {
			return 1 << 63
		}
		return *p
	}
	return cmp.Or(cmp.Compare(index(a.Entry), index(b.Entry)), cmp.Compare(a.Where, b.Where),
		cmp.Compare(a.Code, b.Code), cmp.Compare(index(a.Shuffle), index(b.Shuffle)), cmp.Compare(a.Detail, b.Detail))
}

// MaxFaults is how many faults a report lists. All are counted.
const MaxFaults = 100_000

// Findings are the faults of a report or of one stage of a check. They keep the first MaxFaults, in the order of the
// stage, which does not depend on timing.
type Findings struct {
	Faults     []Fault           `json:"faults"` // of a report: by place; of a pair Where is an origin
	FaultCount uint64            `json:"fault_count"`
	FaultCodes map[string]uint64 `json:"fault_codes"`
}

func newFindings() Findings { return Findings{Faults: []Fault{}, FaultCodes: map[string]uint64{}} }

func (f *Findings) add(faults ...Fault) {
	f.FaultCount += uint64(len(faults))
	for _, x := range faults {
		f.FaultCodes[x.Code]++
		if len(f.Faults) < MaxFaults {
			f.Faults = append(f.Faults, x)
		}
	}
}

// merge returns the findings of all stages, by place.
func merge(stages ...*Findings) Findings {
	all := newFindings()
	for _, s := range stages {
		all.Faults = append(all.Faults, s.Faults...)
		sum(&all, s)
	}
	slices.SortFunc(all.Faults, compareFaults)
	all.Faults = all.Faults[:min(len(all.Faults), MaxFaults)]
	return all
}

// lostEntries are the indexes of entries whose bytes are not known. If a later entry
// seems to break a rule because of them, that is no fault of its own.
type lostEntries []span // ascending

type span struct{ From, To uint64 } // From ≤ index < To

func (l *lostEntries) add(index uint64) {
	if n := len(*l); n > 0 && (*l)[n-1].To == index {
		(*l)[n-1].To++
		return
	}
	*l = append(*l, span{index, index + 1})
}

// has reports whether the entry was lost.
func (l lostEntries) has(index uint64) bool { return l.between(index, index+1) }

// between reports whether an entry of from ≤ index < to was lost.
func (l lostEntries) between(from, to uint64) bool {
	i := sort.Search(len(l), func(i int) bool { return l[i].To > from })
	return i < len(l) && l[i].From < to
}

// explain reports whether a lost entry can be why e seems to break a rule. So many entries of its shuffle are below.
func (f *fold) explain(rule *audit.Illegal, e audit.Entry, index uint64, below int) bool {
	l, id := f.lost, audit.ShuffleOf(e.Body)
	if len(l) == 0 {
		return false
	}
	switch rule.Code {
	case audit.RuleTime:
		return false
	case audit.RuleCredential, audit.RuleRound: // created there, or dealt from a parent
		return true
	case audit.RuleOwner: // taken over there
		return l.between(id, index)
	case audit.RuleEntries: // a lost one is one more
		d, _ := audit.DisclosedBy(e.Body)
		return d.Entries > below && l.between(id, index)
	case audit.RuleEarlier:
		return l.between(f.firstWaiting(id), index)
	case audit.RuleGenesisFirst:
		return l.has(0) && index > 0
	case audit.RulePair:
		_, disclosure := e.Body.(*audit.DisclosureEntry) // its chain may have been linked there
		return l.has(index-1) || disclosure && l.between(id, index)
	}
	switch b := e.Body.(type) {
	case *audit.Commit:
		switch rule.Code {
		case audit.RuleInstance:
			return l.has(b.Instance)
		case audit.RuleSerial:
			return l.has(b.Previous)
		case audit.RuleParent:
			return b.Context.Parent != nil && l.between(b.Context.Parent.ID, index)
		case audit.RuleLatch, audit.RuleKill, audit.RuleTable, audit.RuleDisclosureKey, audit.RuleCoDealer:
			return true
		}
		return false
	case *audit.Mix, *audit.Deal, *audit.Reveal:
		switch rule.Code {
		case audit.RuleNotOpen:
			return l.has(id)
		case audit.RuleSetAside, audit.RulePlace, audit.RuleMix, audit.RuleReveal:
			return l.between(id, index)
		}
		return false
	case *audit.Close:
		switch rule.Code {
		case audit.RuleNotOpen:
			return l.has(b.Shuffle)
		case audit.RuleOutcome:
			return l.has(index - 1)
		case audit.RuleCoDealer: // it was dealt from there
			return l.between(b.Shuffle, index)
		case audit.RuleDisclosureKey:
			return l.between(b.Key, index)
		}
		return false
	case *audit.DisclosureEntry:
		return rule.Code == audit.RuleNotOpen && l.between(b.Shuffle, index) ||
			rule.Code == audit.RuleDisclosureKey && l.between(b.Key, index)
	}
	return true // a lost entry may have changed keys, switches, tables or the latch
}

// firstWaiting returns the id of the first open shuffle at the table of this one that is not known to be dealt from.
func (f *fold) firstWaiting(id uint64) (first uint64) {
	first = id
	this := f.live[id]
	for other, l := range f.live {
		if this != nil && l.Table == this.Table && !l.Dealt {
			first = min(first, other)
		}
	}
	return first
}
