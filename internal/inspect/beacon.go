package inspect

import (
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/beacon"
)

// roundCheck reports whether a beacon's value is the chain's signature of the round. All mixes with this round and
// value share it: a check costs milliseconds, and a busy house mixes many shuffles in one round. A worker calls it
// first. The fold asks it for that batch and later ones.
type roundCheck func() bool

// beaconValue is the value that a mix has for a round of a chain.
type beaconValue struct {
	round uint64
	value [beacon.Size]byte
}

// mixCheck is a mix whose beacon is to be checked.
type mixCheck struct {
	beaconValue
	holds     roundCheck
	id, index uint64 // of the shuffle, of the mix
}

// mixed sends the beacon of a mix to be checked. A mix that breaks a rule may have other
// values than its plan, and the rule named it.
func (f *fold) mixed(m *audit.Mix, index uint64, o rules.Opened, legal bool) {
	l := f.live[m.Shuffle]
	if !legal || o.ID == 0 || l == nil {
		return
	}
	if l.told != nil {
		l.told.Mix = m
	}
	p, planned := o.Commit().Context.Beacon()
	if !planned || p.Chain != audit.Quicknet {
		return
	}
	x := beaconValue{p.Round, *m.Beacon()}
	l.Beacon = f.check(x)
	f.batch.rounds = append(f.batch.rounds, mixCheck{x, l.Beacon, m.Shuffle, index})
}

// checkMemory is how many checks are remembered. If there are more, some are made again,
// which costs time and changes nothing.
const checkMemory = 1 << 12

func (f *fold) check(x beaconValue) roundCheck {
	if f.checks[x] == nil {
		if len(f.checks) >= checkMemory {
			clear(f.checks)
		}
		f.checks[x] = sync.OnceValue(func() bool { return beacon.Verify(x.round, x.value) == nil })
	}
	return f.checks[x]
}

// mixedForAll reports whether a witnessed shuffle whose beacon holds leaves nothing to the
// house (docs/SPEC.md section 10.5).
func (l *live) mixedForAll(o rules.Opened) bool {
	return l.InTime && l.Beacon != nil && beacon.Steered(o.Commit().Context) == nil
}
