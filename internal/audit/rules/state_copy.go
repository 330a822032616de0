package rules

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"shuffled/internal/audit"
)

// savedVersion is the version of Saved and SavedShuffle. It changes with what they
// hold, and with what State makes of it.
const savedVersion = 8

// Saved is what a state keeps, except its open shuffles, as values that the caller may write down.
// It is no evidence: Restore believes it, so the caller must know where it comes from.
type Saved struct {
	Version     uint8
	Size        uint64
	Time        int64
	Genesis     []byte   // its body
	GenesisHash [32]byte // of the entry
	Latched     bool
	Switches    []Switch
	Instances   []uint64   // in no order
	Tables      []Table    // in no order: sorting many would hold the state up
	Keys        []KeyEntry // from which follows all that stands of keys and administrators
	Holders     []Holder
	NewestAct   uint64
	Waiting     []WaitingAct
}

// Copy begins a copy and returns all of the state except its open shuffles. The state has a genesis and is Complete,
// nothing was applied with Force, and everything is final (Commit). A copy that was begun before ends.
func (s *State) Copy() (*Copy, *Saved) {
	s.copies = s.copies%math.MaxUint8 + 1 // a new slot has the mark 0
	s.copy = &Copy{s: s, below: s.size, left: len(s.open.slots), turn: s.copies}
	saved := &Saved{Version: savedVersion, Size: s.size, Time: s.time, Genesis: audit.EncodeBody(s.genesis),
		GenesisHash: s.persons.genesis, Latched: s.Latched(), Switches: s.Switches(),
		Instances: slices.Collect(maps.Keys(s.instances)), Tables: make([]Table, 0, len(s.tables)),
		Keys: s.KeyEntries(), Holders: s.Holders(), NewestAct: s.persons.newest,
		Waiting: slices.Clone(s.persons.waiting)}
	for _, t := range s.tables {
		saved.Tables = append(saved.Tables, *t)
		saved.Tables[len(saved.Tables)-1].Waiting = slices.Clone(t.Waiting)
	}
	return s.copy, saved
}

// Restore makes a state of what Copy returned first; every open shuffle follows with Reopen. It returns an ErrUnknown
// for what another version wrote. It does not check that a ledger has such a state.
func Restore(saved *Saved) (*State, error) {
	if saved.Version != savedVersion {
		return nil, fmt.Errorf("version %d of the saved state: %w", saved.Version, audit.ErrUnknown)
	}
	genesis, err := audit.ParseBody(audit.TypeGenesis, saved.Genesis)
	if err != nil {
		return nil, err
	}
	s := NewState()
	s.applyGenesis(genesis.(*audit.Genesis))
	for _, k := range saved.Keys {
		s.applyKey(k.Key, k.Index, k.Time)
	}
	s.size, s.time, s.stops = saved.Size, saved.Time, stopsOf(saved.Latched, saved.Switches)
	s.persons.genesis, s.persons.newest, s.persons.waiting = saved.GenesisHash, saved.NewestAct, saved.Waiting
	for _, index := range saved.Instances {
		s.instances[index] = true
	}
	for _, t := range saved.Tables {
		s.tables[t.Name] = &t
	}
	for _, h := range saved.Holders {
		s.holders.known[h.ID] = &h
	}
	s.Commit()
	return s, nil
}

// Reopen puts an open shuffle into a state that Restore made. It keeps no part of the saved shuffle.
func (s *State) Reopen(saved SavedShuffle) error {
	body, err := audit.ParseBody(audit.TypeCommit, saved.Commit)
	if err != nil {
		return fmt.Errorf("shuffle %d: %w", saved.ID, err)
	}
	c := body.(*audit.Commit)
	t := s.tables[c.Context.Table]
	if t == nil || saved.ID > t.Last || s.open.has(saved.ID) {
		return fmt.Errorf("%w state: shuffle %d stands twice, or its table does not know it", audit.ErrMalformed, saved.ID)
	}
	o := s.open.describe(saved.ID, c, saved.Commit, t)
	if o.shown = shown(saved.Shown); !o.shown.sound(int(saved.Next)) {
		return fmt.Errorf("%w state: shuffle %d shows what places it has not", audit.ErrMalformed, saved.ID)
	}
	if depth := saved.Chain.Depth; depth < 1 || depth > audit.MaxChain || depth > 1 && c.Context.Parent == nil {
		return fmt.Errorf("%w state: shuffle %d has depth %d in its chain", audit.ErrMalformed, saved.ID, depth)
	}
	o.next, o.round, o.mixed, o.takeovers = saved.Next, saved.Round, saved.Mixed, saved.Takeovers
	o.entries, o.given = saved.Entries, slices.Clone(saved.Given)
	o.restore(saved.Chain)
	o.owner = s.identity(audit.Actor{Identity: saved.Owner})
	s.open.insert(o)
	return nil
}
