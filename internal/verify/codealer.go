package verify

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// coDealer holds the co-dealer's evidence against what the caller trusts for it.
func (t *transcript) coDealer() (string, error) {
	o, p := t.second, t.trust.second
	switch {
	case o == nil:
		return "", notChecked("the shuffle has no co-dealer")
	case p == nil:
		return "", notChecked("no policy for the co-dealer is given")
	case len(p.Logs) == 0:
		return "", notChecked("the co-dealer's policy pins no key")
	case p.Overlap() == 0:
		return "", notChecked("two quorums of the co-dealer's policy share no witness")
	}
	origin := o.proofs[0].head.Origin
	if err := t.apartFrom(p, origin); err != nil {
		return "", err
	}
	chain, err := o.handedOn(p.Logs)
	if err != nil {
		return "", err
	}
	for _, r := range append(slices.Clone(o.proofs), o.keyProofs()...) {
		if err := r.CheckInclusion(r.head); err != nil {
			return "", fmt.Errorf("entry %d of the co-dealer: %w", r.Index, err)
		}
	}
	if err := t.oneHistory(); err != nil {
		return "", err
	}
	for _, r := range o.proofs {
		if _, err := chain.signed(r.Checkpoint, r.head.Size); err != nil {
			return "", fmt.Errorf("entry %d of the co-dealer: %w", r.Index, err)
		}
		if !p.Satisfied(r.Checkpoint) {
			return "", fmt.Errorf("entry %d of the co-dealer: the quorum of its policy did not cosign the checkpoint", r.Index)
		}
	}
	o.holds = true
	return fmt.Sprintf("%d entries of %s", len(o.proofs), origin), nil
}

// oneHistory: at each size the co-dealer's ledger has one root, in its checkpoints and in what the
// house wrote of them.
func (t *transcript) oneHistory() error {
	var heads []audit.Head
	for _, r := range append(slices.Clone(t.second.proofs), t.second.keyProofs()...) {
		heads = append(heads, audit.Head{Size: r.head.Size, Root: r.head.Root})
	}
	for _, d := range t.deals {
		heads = append(heads, d.Blind.Head)
	}
	if t.closed != nil && t.closed.Blind != nil {
		heads = append(heads, t.closed.Blind.Head)
	}
	roots := make(map[uint64][32]byte)
	for _, h := range heads {
		if root, ok := roots[h.Size]; ok && root != h.Root {
			return fmt.Errorf("%d entries of the co-dealer have two roots: its ledger was forked, or the house wrote another "+
				"root", h.Size)
		}
		roots[h.Size] = h.Root
	}
	return nil
}

// apartFrom: the co-dealer is no part of the house, as far as keys and names show it.
func (t *transcript) apartFrom(p *audit.Policy, origin string) error {
	if origin == t.head.Origin {
		return fmt.Errorf("%s is the house's own ledger", origin)
	}
	second := slices.Clone(p.LogKeys)
	for _, h := range t.second.keys {
		second = append(second, h.key.Public)
	}
	own := func(public []byte) bool {
		return bytes.Equal(public, t.genesis.SigningKey) ||
			slices.ContainsFunc(t.keys, func(h handover) bool { return bytes.Equal(h.key.Public, public) }) ||
			holds(t.trust.own, public)
	}
	if slices.ContainsFunc(second, own) {
		return errors.New("a key of the co-dealer is the house's")
	}
	if err := p.CheckWitnesses(t.head.Origin, own); err != nil {
		return fmt.Errorf("the co-dealer's policy, where the ledger is the house's: %w", err)
	}
	others := func(public []byte) bool { return holds(second, public) }
	if err := t.trust.Policy.CheckWitnesses(origin, others); err != nil {
		return fmt.Errorf("the house's policy, where the ledger is the co-dealer's: %w", err)
	}
	return nil
}

func holds(keys [][]byte, public []byte) bool {
	return slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, public) })
}

func (o *order) keyProofs() (all []apart) {
	for _, h := range o.keys {
		all = append(all, h.apart)
	}
	return all
}

// handedOn follows the member keys from the trusted ones, forwards only.
func (o *order) handedOn(trusted []note.Verifier) (*succession, error) {
	s := &succession{trusted: trusted}
	for _, h := range o.keys {
		next, err := audit.Verifier(h.head.Origin, h.key.Public)
		if err != nil {
			return nil, fmt.Errorf("the co-dealer's key of entry %d: %w", h.Index, err)
		}
		if _, err := audit.OpenCheckpoint(h.Checkpoint, next); err != nil {
			return nil, fmt.Errorf("the co-dealer's key of entry %d: %w", h.Index, err)
		}
		_, err = s.signed(h.Checkpoint, h.Index)
		s.later = append(s.later, successor{h.Index, next, err == nil})
	}
	return s, nil
}
