package audit

import "fmt"

// State is the live state of a ledger: the fold over its entries. It keeps only what
// later entries may still depend on: keys in force, switches, tables, open shuffles. It
// decides what may come next, for the sequencer and for every verifier.
//
// A State belongs to one goroutine.
type State struct {
	restored
	faulty    bool            // an entry was forced in
	instances map[uint64]bool // indexes of instance_start events
	tables    map[string]*table
	open      openShuffles
	holders   holders

	undo  []func()   // how to take back what was applied since the last Commit
	saved []restored // of each entry since the last Commit, which undo puts back
	copy  *Copy      // that is being made, nil for none

	copies uint8 // that were begun

	scratch coder // of opening
}

// restored is what fold saves before each entry, for Rollback to put back as a whole. Any other
// change pushes its own undo, also a change of a map in keys.
type restored struct {
	size    uint64 // entries folded, so the index of the next
	time    int64  // of the last entry
	genesis *Genesis
	stops
	keys    keys
	persons persons
	pair    *pair // set when the next entry must be one that belongs to the newest
}

type table struct {
	name    string
	closed  bool
	serial  uint64   // of its newest commit
	last    uint64   // index of its newest commit
	waiting []uint64 // ids of open shuffles that were not dealt from or set aside, ascending
}

// pair is what must follow the newest entry: the close of a shuffle, or the disclosures of a chain.
type pair struct {
	shuffle   uint64 // 0: disclosures
	continued bool   // the outcome must be continued; otherwise it must not
	child     uint64 // continued: whose commit stands below; 0 if that is not known
	revealed  bool   // a final reveal stands below, and no other may follow

	disclose []uint64 // ancestors, root first
	by       string   // identity of the chain's close
}

// takes reports whether an entry may follow: the close, after a final deal one final
// reveal in front of it, or the next disclosure by the identity of the close.
func (p *pair) takes(e Entry) bool {
	if len(p.disclose) > 0 {
		d, ok := e.Body.(*DisclosureEntry)
		return ok && d.Shuffle == p.disclose[0] && e.Actor.Identity == p.by
	}
	switch b := e.Body.(type) {
	case *Close:
		return b.Shuffle == p.shuffle && (b.Outcome == OutcomeContinued) == p.continued
	case *Reveal:
		return b.Shuffle == p.shuffle && b.Final && !p.continued && !p.revealed
	}
	return false
}

func (p *pair) broken() error {
	if len(p.disclose) > 0 {
		return illegal(RulePair, "the disclosure of shuffle %d by %s must follow", p.disclose[0], p.by)
	}
	return illegal(RulePair, "the close of shuffle %d must follow", p.shuffle)
}

// NewState returns the state before entry 0.
func NewState() *State {
	return &State{
		restored:  restored{stops: stops{killed: make(map[Switch]bool)}},
		instances: make(map[uint64]bool),
		tables:    make(map[string]*table),
		open:      newOpenShuffles(),
		scratch:   coder{writing: true},
		holders:   holders{known: make(map[string]*Holder), numbers: make(map[string]uint32)},
	}
}

// Apply applies e as the next entry; e was parsed, or Encode took it. If e breaks a rule,
// Apply changes nothing and returns an *Illegal, or an ErrUnknown if a policy has a key that
// this version cannot judge. It keeps no part of a commit.
func (s *State) Apply(e Entry) error {
	if err := s.check(e); err != nil {
		return err
	}
	s.fold(e)
	return nil
}

// fold is Apply of an entry that was checked.
func (s *State) fold(e Entry) {
	index, expected := s.size, s.pair
	s.saved = append(s.saved, s.restored)
	s.push(s.restore)
	s.size, s.time, s.pair = index+1, e.Time, nil
	s.spend(e)
	s.take(e, index, expected)
}

// restore puts back what fold saved last.
func (s *State) restore() {
	last := len(s.saved) - 1
	s.restored = s.saved[last]
	s.saved[last], s.saved = restored{}, s.saved[:last]
}

// take changes the state as the entry with this index says. expected is the pair that it completes, nil for none.
func (s *State) take(e Entry, index uint64, expected *pair) {
	switch b := e.Body.(type) {
	case *Genesis:
		s.applyGenesis(b)
		s.persons.genesis = e.hash()
	case *Commit:
		s.applyCommit(b, index, e)
	case *Mix:
		s.change(b.Shuffle).mixed = true
	case *Deal:
		s.applyDeal(b)
	case *Close:
		s.applyClose(b, expected, e.Actor)
	case *Key:
		s.applyKey(b, index, e.Time)
	case *Event:
		s.applyEvent(b, index, e.Time)
	case *Takeover:
		s.applyTakeover(b, e.Actor)
	case *Credential:
		s.applyCredential(b, index, e.Time)
	case *ActEntry:
		s.applyAct(b, index, e.Time)
	case *Reveal:
		s.applyReveal(b)
	case *DisclosureEntry:
		s.applyDisclosure(b, expected)
	}
}

// Mark returns a point to which Rollback can go back.
func (s *State) Mark() int { return len(s.undo) }

// Rollback takes back everything applied since mark, newest first.
func (s *State) Rollback(mark int) {
	for len(s.undo) > mark {
		last := len(s.undo) - 1
		s.undo[last]()
		s.undo[last], s.undo = nil, s.undo[:last]
	}
}

// Commit makes everything applied so far final. Marks taken before are void.
func (s *State) Commit() {
	clear(s.undo) // they hold shuffles that were closed
	clear(s.saved)
	s.undo, s.saved = s.undo[:0], s.saved[:0]
}

// push notes how to take back a change, which every change does.
func (s *State) push(undo func()) { s.undo = append(s.undo, undo) }

// Complete reports whether the newest entry may be the last of a batch. It may not if the entry that it is a pair with
// is missing: the close after a final deal or reveal, the parent's close after a child's commit, the disclosures after
// the close of a chain, or the entry that an act approves.
func (s *State) Complete() bool { return s.pair == nil && s.persons.approved == nil }

// Size returns the number of entries folded.
func (s *State) Size() uint64 { return s.size }

// Time returns the time of the newest entry, UTC milliseconds.
func (s *State) Time() int64 { return s.time }

// Genesis returns entry 0, nil before it. The caller does not change it.
func (s *State) Genesis() *Genesis { return s.genesis }

// Illegal is a rule that an entry breaks (docs/SPEC.md section 9). Code is one
// of the Rule constants; it is stable and goes to callers.
type Illegal struct {
	Code   string
	Detail string
}

func (e *Illegal) Error() string { return e.Code + ": " + e.Detail }

func illegal(code, format string, args ...any) error {
	return &Illegal{Code: code, Detail: fmt.Sprintf(format, args...)}
}
