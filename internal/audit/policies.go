package audit

import "fmt"

// Policies follows which witness policy of a ledger governs its cosigned
// checkpoints (docs/SPEC.md section 7.3). A policy of a key entry takes over
// after the first checkpoint that covers the entry and is cosigned under the
// policy then in force, so that the old witnesses see their successors. Where
// that one asks for no witness, or there is none, the new one governs every
// checkpoint that covers its entry. Of several that wait, the newest that a
// checkpoint covers takes over.
type Policies struct {
	current *Policy         // under which the last checkpoint was accepted, or what it let take over
	waiting []waitingPolicy // by index
}

type waitingPolicy struct {
	index  uint64
	policy *Policy
}

// NewPolicies begins with the policy of a genesis, which may be empty.
func NewPolicies(genesis []byte) (*Policies, error) {
	if len(genesis) == 0 {
		return &Policies{}, nil
	}
	p, err := ParsePolicy(genesis)
	if err != nil {
		return nil, err
	}
	return &Policies{current: p}, nil
}

// Change takes the policy of the key entry at index, ascending. It comes before
// Accept of a checkpoint that covers the entry, and may come before smaller ones.
// A text that cannot be read is an error and changes nothing.
func (p *Policies) Change(index uint64, text []byte) error {
	next, err := ParsePolicy(text)
	if err != nil {
		return err
	}
	if n := len(p.waiting); n > 0 && p.waiting[n-1].index >= index {
		return fmt.Errorf("the policy of entry %d comes after that of entry %d", index, p.waiting[n-1].index)
	}
	p.waiting = append(p.waiting, waitingPolicy{index, next})
	return nil
}

// Current returns the policy that governs the next checkpoint, if it covers every
// change so far; nil for none.
func (p *Policies) Current() *Policy { return p.at(MaxInteger) }

// at returns the policy that governs a checkpoint of that size.
func (p *Policies) at(size uint64) *Policy {
	if n := p.covered(size); n > 0 && !p.current.Asks() {
		return p.waiting[n-1].policy
	}
	return p.current
}

// covered counts the waiting policies below size.
func (p *Policies) covered(size uint64) (n int) {
	for n < len(p.waiting) && p.waiting[n].index < size {
		n++
	}
	return n
}

// Accept reports whether a checkpoint of that size is cosigned under the policy
// that governs it, and then lets the newest one that it covers take over. Sizes
// ascend. Without a policy no checkpoint is cosigned. That the checkpoint has this
// size and the log's signature is not checked: OpenCheckpoint does that.
func (p *Policies) Accept(size uint64, signed []byte) bool {
	policy := p.at(size)
	if policy == nil || !policy.Satisfied(signed) {
		return false
	}
	if n := p.covered(size); n > 0 {
		p.current, p.waiting = p.waiting[n-1].policy, p.waiting[n:]
	}
	return true
}
