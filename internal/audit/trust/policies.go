package trust

import (
	"fmt"
	"slices"

	"shuffled/internal/audit"
)

// Policies says which witness policy of a ledger governs its cosigned checkpoints (docs/SPEC.md section 7.3). The
// policy of a key entry takes force after the first checkpoint that covers the entry and is cosigned under the policy
// then in force, so that the old witnesses see their successors. If the policy in force asks for no witness, or there
// is none, the new policy governs every checkpoint that covers its entry. Of several policies that wait, the newest
// that a checkpoint covers takes force.
type Policies struct {
	past    []interval      // of the policies that are or were in force, ascending; empty: none yet
	waiting []WaitingPolicy // by index
}

// interval is a policy that governs the checkpoints above a size, up to the size of the next interval.
type interval struct {
	above  uint64
	policy *Policy
}

// WaitingPolicy is a policy that no accepted checkpoint covers yet.
type WaitingPolicy struct {
	Index  uint64 // of its entry
	Policy *Policy
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
	return &Policies{past: []interval{{0, p}}}, nil
}

// Change takes the policy of the key entry at index, ascending. It comes before Accept of a checkpoint that covers the
// entry, and may come before smaller ones. A text that cannot be read is an error and changes nothing.
func (p *Policies) Change(index uint64, text []byte) error {
	next, err := ParsePolicy(text)
	if err != nil {
		return err
	}
	if n := len(p.waiting); n > 0 && p.waiting[n-1].Index >= index {
		return fmt.Errorf("the policy of entry %d comes after that of entry %d", index, p.waiting[n-1].Index)
	}
	p.waiting = append(p.waiting, WaitingPolicy{index, next})
	return nil
}

// InForce returns the policy under which the last checkpoint was accepted, or what that let take over; nil for none.
func (p *Policies) InForce() *Policy {
	if len(p.past) == 0 {
		return nil
	}
	return p.past[len(p.past)-1].policy
}

// Current returns the policy that governs the next checkpoint, if it covers every change so far; nil for none.
func (p *Policies) Current() *Policy { return p.At(audit.MaxInteger) }

// At returns the policy that governs a checkpoint of that size of at least 1, nil for none. Above the first policy that
// waits it may be another after a smaller checkpoint was accepted.
func (p *Policies) At(size uint64) *Policy {
	if n := p.covered(size); n > 0 && !p.InForce().Asks() {
		return p.waiting[n-1].Policy
	}
	for _, i := range slices.Backward(p.past) {
		if i.above < size {
			return i.policy
		}
	}
	return nil
}

// Ask reports whether any of the policies that govern a checkpoint asks for witnesses.
func (p *Policies) Ask() bool {
	return slices.ContainsFunc(p.past, func(i interval) bool { return i.policy.Asks() }) ||
		!p.InForce().Asks() && slices.ContainsFunc(p.waiting, func(w WaitingPolicy) bool { return w.Policy.Asks() })
}

// Next returns the policy that is in force once a checkpoint of that size is accepted: the newest
// waiting policy that it covers, or the one in force now.
func (p *Policies) Next(size uint64) *Policy {
	if n := p.covered(size); n > 0 {
		return p.waiting[n-1].Policy
	}
	return p.InForce()
}

// Waiting returns the policies that wait, by index.
func (p *Policies) Waiting() []WaitingPolicy { return slices.Clone(p.waiting) }

// covered counts the waiting policies below size.
func (p *Policies) covered(size uint64) (n int) {
	for n < len(p.waiting) && p.waiting[n].Index < size {
		n++
	}
	return n
}

// Accept reports whether a checkpoint of that size is cosigned under the policy that governs it. If it is, the newest
// waiting policy that it covers takes force. Sizes ascend. Without a policy no checkpoint is cosigned. Accept does not
// check that the checkpoint has this size and the log's signature: OpenCheckpoint does.
func (p *Policies) Accept(size uint64, signed []byte) bool {
	policy := p.At(size)
	if policy == nil || !policy.Satisfied(signed) {
		return false
	}
	n, asked := p.covered(size), p.InForce().Asks()
	for i, w := range p.waiting[:n] {
		switch {
		case !asked:
			p.past = append(p.past, interval{w.Index, w.Policy})
		case i == n-1:
			p.past = append(p.past, interval{size, w.Policy})
		}
	}
	p.waiting = p.waiting[n:]
	return true
}
