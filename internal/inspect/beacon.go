package inspect

import (
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/beacon"
)

// roundCheck is a beacon's value to be checked. All mixes with this round and value share
// it: a check costs milliseconds, and a busy house mixes many shuffles in one round. A
// worker sets Holds. It is read for that batch and later ones.
type roundCheck struct {
	Holds bool // the value is the chain's signature of the round

	once  sync.Once
	light light
}

// light is the value that a mix has for a round of a chain.
type light struct {
	round uint64
	value [beacon.Size]byte
}

// mixCheck is a mix whose beacon is to be checked.
type mixCheck struct {
	*roundCheck
	id, index uint64 // of the shuffle, of the mix
}

func (c *roundCheck) check() {
	c.once.Do(func() { c.Holds = beacon.Verify(c.light.round, c.light.value) == nil })
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
	c := o.Commit().Context
	plan, i := c.Plan, c.Find(audit.SourceBeacon)
	if i < 0 || i >= len(m.Values) || m.Values[i].Source != audit.SourceBeacon {
		return
	}
	if plan[i].Chain != audit.Quicknet {
		return
	}
	checked := f.check(light{plan[i].Round, m.Values[i].Beacon})
	f.batch.rounds = append(f.batch.rounds, mixCheck{checked, m.Shuffle, index})
	l.Beacon = checked
}

// checkMemory is how many checks are remembered. If there are more, some are made again,
// which costs time and changes nothing.
const checkMemory = 1 << 12

func (f *fold) check(x light) *roundCheck {
	if f.checks[x] == nil {
		if len(f.checks) >= checkMemory {
			clear(f.checks)
		}
		f.checks[x] = &roundCheck{light: x}
	}
	return f.checks[x]
}

// mixedForAll reports whether a witnessed shuffle whose beacon holds leaves nothing to the
// house (docs/SPEC.md section 10.5).
func (l *live) mixedForAll(o rules.Opened) bool {
	return l.InTime && l.Beacon != nil && beacon.Steered(o.Commit().Context) == nil
}
