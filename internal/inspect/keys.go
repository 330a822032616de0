package inspect

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
)

// key follows what a key entry changes.
func (f *fold) key(k *audit.Key, e audit.Entry, index uint64, legal bool) {
	f.keys = append(f.keys, KeyEntry{index, e})
	switch k.Subject {
	case audit.SubjectSigning:
		f.rotated = &rotation{index: index, old: f.signers.Load().key}
		f.checkSigning(k.Public, index)
		f.judgePolicy()
		f.publish()
	case audit.SubjectPolicy:
		f.policy(index, k.Policy, legal)
	case audit.SubjectDisclosure:
		for _, err := range f.unwrap(k, index) {
			if errors.Is(err, audit.ErrUnknown) {
				f.cannot(index, err)
			} else {
				f.faults.add(fault(CodeWrap, "", "%v", err).at(index))
			}
		}
	}
}

func (f *fold) checkSigning(public []byte, index uint64) {
	if _, err := audit.Verifier(f.state.Genesis().Origin, public); errors.Is(err, audit.ErrUnknown) {
		f.cannot(index, err)
	} else if err != nil {
		f.faults.add(fault(CodeKey, "", "%v", err).at(index))
	}
}

// cannot keeps what an entry has that cannot be judged, once.
func (f *fold) cannot(index uint64, err error) {
	line := fmt.Sprintf("entry %d: %s", index, audit.Printable(err.Error()))
	if n := len(f.unknown); n < MaxListed && (n == 0 || f.unknown[n-1] != line) {
		f.unknown = append(f.unknown, line)
	}
}

func (f *fold) policy(index uint64, text []byte, legal bool) {
	f.witnesses.Policies++
	switch err := f.policies.Change(index, text); {
	case errors.Is(err, audit.ErrUnknown):
		f.cannot(index, err)
		return
	case err != nil:
		if legal { // otherwise the rule said so
			f.faults.add(fault(CodePolicy, "", "%v", err).at(index))
		}
		return
	}
	f.pending = true
	f.publish()
}

// unwrap opens a disclosure key with the auditors' keys that the caller gave.
func (f *fold) unwrap(k *audit.Key, index uint64) (problems []error) {
	for _, a := range f.opts.Auditors {
		o, err := a.Unwrap(f.state.Genesis().Origin, k)
		switch {
		case err == nil:
			f.openers[index] = o
			return nil
		case !errors.Is(err, disclosure.ErrNoWrap):
			problems = append(problems, err)
		}
	}
	return problems
}

// genesis begins the ledger.
func (f *fold) genesis(g *audit.Genesis, e audit.Entry, index uint64) {
	f.keys = append(f.keys, KeyEntry{index, e})
	if len(f.keys) > 1 {
		return // a second one: named by its rule
	}
	f.checkSigning(g.SigningKey, index)
	if g.Origin != f.newest.Origin {
		f.faults.add(fault(CodeOrigin, "", "the ledger is %s, its newest checkpoint is of %s", g.Origin,
			f.newest.Origin).at(index))
	}
	if len(g.Predecessor) > 0 {
		if _, err := audit.CheckpointText(g.Predecessor); err != nil {
			f.faults.add(fault(CodePredecessor, "", "%v", err).at(index))
		}
	}
	if len(g.Policy) > 0 {
		f.witnesses.Policies++
	}
	policies, err := audit.NewPolicies(g.Policy)
	if errors.Is(err, audit.ErrUnknown) {
		f.cannot(index, err)
	} else if err != nil {
		f.faults.add(fault(CodePolicy, "", "%v", err).at(index))
	}
	if err == nil {
		f.policies = policies
	}
	f.judgePolicy()
	f.publish()
}

// publish tells the workers which key and policy are in force.
func (f *fold) publish() {
	now := &signers{policy: f.policies.Current()}
	if g := f.state.Genesis(); g != nil {
		now.key, _ = audit.Verifier(g.Origin, f.state.SigningKey())
	}
	f.signers.Store(now)
}
