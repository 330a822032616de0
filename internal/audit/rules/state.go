// Package rules has the rules of legality of docs/SPEC.md section 9, and the state of a ledger that they are about. The
// sequencer and every verifier call the same functions, so that a rule stands in one place.
package rules

import (
	"fmt"

	"shuffled/internal/audit"
)

// State is the live state of a ledger: the fold over its entries. It keeps only what
// later entries may still depend on: keys in force, switches, tables, open shuffles. It
// decides what may come next, for the sequencer and for every verifier.
//
// A State belongs to one goroutine.
type State struct {
	restored
	faulty    bool            // an entry was forced in
	instances map[uint64]bool // indexes of instance_start events
	tables    map[string]*Table
	open      openShuffles
	holders   holders

	undo  []func()   // how to take back what was applied since the last Commit
	saved []restored // of each entry since the last Commit, which undo puts back
	copy  *Copy      // that is being made, nil for none

	copies uint8 // that were begun

	scratch []byte // of opening
}

// restored is what fold saves before each entry, for Rollback to put back as a whole. Any other
// change pushes its own undo, also a change of a map in keys.
type restored struct {
	size    uint64 // entries folded, so the index of the next
	time    int64  // of the last entry
	genesis *audit.Genesis
	stops
	keys    keys
	persons persons
	pair    *pair // set when the next entry must be one that belongs to the newest
}

// keys are the keys and the witness policy of a ledger.
type keys struct {
	signing    []byte                // in force, of Ed25519
	mldsa      []byte                // in force, of ML-DSA-44; nil: none
	known      map[[32]byte]standing // every signing, disclosure and auditor key, by KeyID
	auditors   map[[32]byte][]byte   // in force, by KeyID
	disclosure disclosure            // the newest
	policy     []byte
	coDealer   *audit.Key // the newest that named one, or named none
	entries    []KeyEntry // that took effect, by index
}

// KeyEntry is a key entry that took effect. Its body has no wraps: they are for
// auditors, and nothing in a ledger depends on them.
type KeyEntry struct {
	Index uint64
	Time  int64      // UTC milliseconds
	Key   *audit.Key // not changed
}

// standing is what became of a key.
type standing struct {
	subject audit.Subject
	retired bool
}

// persons are the administrators of a ledger and what they approved. The maps and slices
// in it are never changed in place: a copy of the struct (restored) takes a change back.
type persons struct {
	genesis  [32]byte          // SHA-256 of the genesis entry
	inForce  map[string][]byte // key by name
	stood    map[string]bool   // names and keys of every administrator there was
	acts     []audit.Act       // that need two administrators
	delay    uint32            // seconds
	newest   uint64            // index of the newest act, 0 for none
	approved *approval         // what the next entry must be
	waiting  []WaitingAct      // by index
}

// approval is what administrators signed. It has the act, because the digest alone could be that of
// an entry that needs another act, and more signatures.
type approval struct {
	act    audit.Act
	digest [32]byte
}

// WaitingAct is an act that one administrator signed although two are asked for (break-glass). It
// is in force from the end of the delay until it expires.
type WaitingAct struct {
	Act     audit.Act
	Digest  [32]byte // of what it approves
	Index   uint64   // of its entry
	At      int64    // time of its entry, UTC milliseconds
	Due     int64    // of WaitingActs: UTC milliseconds from when on what it approves may be written
	Expires int64    // UTC milliseconds from when on it may not
}

// holders are the credentials of a ledger.
type holders struct {
	known      map[string]*Holder // every one that was created, by id
	numbers    map[string]uint32  // of identities that own or owned a shuffle: see State.identity
	identities []string           // by number
	changes    uint64             // see State.HolderChanges
	supposed   bool               // of a file that holds no credentials: all are taken to be in order
}

// Holder is a credential as its entry made it.
type Holder struct {
	audit.Credential
	Index   uint64 // of its entry
	Created int64  // time of its entry, UTC milliseconds
	Revoked int64  // UTC milliseconds, 0 while it is in force
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
func (p *pair) takes(e audit.Entry) bool {
	if len(p.disclose) > 0 {
		d, ok := e.Body.(*audit.DisclosureEntry)
		return ok && d.Shuffle == p.disclose[0] && e.Actor.Identity == p.by
	}
	switch b := e.Body.(type) {
	case *audit.Close:
		return b.Shuffle == p.shuffle && (b.Outcome == audit.OutcomeContinued) == p.continued
	case *audit.Reveal:
		return b.Shuffle == p.shuffle && b.Final && !p.continued && !p.revealed
	}
	return false
}

func (p *pair) broken() error {
	if len(p.disclose) > 0 {
		return illegal(audit.RulePair, "the disclosure of shuffle %d by %s must follow", p.disclose[0], p.by)
	}
	return illegal(audit.RulePair, "the close of shuffle %d must follow", p.shuffle)
}

// NewState returns the state before entry 0.
func NewState() *State {
	return &State{
		restored:  restored{stops: stops{killed: make(map[Switch]bool)}},
		instances: make(map[uint64]bool),
		tables:    make(map[string]*Table),
		open:      newOpenShuffles(),
		holders:   holders{known: make(map[string]*Holder), numbers: make(map[string]uint32)},
	}
}

// restore puts back what fold saved last.
func (s *State) restore() {
	last := len(s.saved) - 1
	s.restored = s.saved[last]
	s.saved[last], s.saved = restored{}, s.saved[:last]
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

// change returns an open shuffle that the caller changes in place. Rollback puts it back as it was,
// also if it was closed.
func (s *State) change(id uint64) opened {
	o, _ := s.open.find(id)
	if s.copy != nil && s.copy.wants(o.open) { // it does not have the shuffle yet
		s.copy.changed = append(s.copy.changed, s.copy.take(o))
	}
	before := &struct {
		opened opened
		slot   open
	}{o, *o.open} // one allocation, as every entry of a shuffle comes here
	before.opened.open = &before.slot
	s.push(func() {
		if s.open.has(id) {
			s.open.remove(id)
		}
		s.open.insert(before.opened)
	})
	return o
}

// push notes how to take back a change, which every change does.
func (s *State) push(undo func()) { s.undo = append(s.undo, undo) }

// set changes what a map of the state has for a key, or takes the key out if there is to be nothing.
func set[K comparable, V any](s *State, m map[K]V, key K, now V, there bool) {
	before, was := m[key]
	put := func(v V, there bool) {
		if m[key] = v; !there {
			delete(m, key)
		}
	}
	put(now, there)
	s.push(func() { put(before, was) })
}

// Complete reports whether the newest entry may be the last of a batch. It may not if the entry that it is a pair with
// is missing: the close after a final deal or reveal, the parent's close after a child's commit, the disclosures after
// the close of a chain, or the entry that an act approves.
func (s *State) Complete() bool { return s.pair == nil && s.persons.approved == nil }

// Size returns the number of entries folded.
func (s *State) Size() uint64 { return s.size }

// Time returns the time of the newest entry, UTC milliseconds.
func (s *State) Time() int64 { return s.time }

// Genesis returns entry 0, nil before it. The caller does not change it.
func (s *State) Genesis() *audit.Genesis { return s.genesis }

func illegal(code, format string, args ...any) error {
	return &audit.Illegal{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// disclosure is the newest disclosure key.
type disclosure struct {
	index  uint64 // of its entry, 0 for none
	at     int64  // time of its entry
	public []byte
	stale  bool // the auditors in force changed after it, or it was retired
}
