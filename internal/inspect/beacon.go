package inspect

import (
	"shuffled/internal/audit"
	"shuffled/internal/beacon"
)

// roundCheck is a mix whose beacon is to be checked. A worker sets Holds and
// fault; who comes behind it in the order of batches reads them.
type roundCheck struct {
	Holds bool // the value is the chain's signature of the planned round

	chain     *beacon.Chain
	round     uint64
	value     [beacon.Size]byte
	id, index uint64 // of the shuffle, of the mix
	fault     *Fault
}

func (c *roundCheck) check() {
	if err := c.chain.Verify(c.round, c.value); err != nil {
		f := fault(CodeBeacon, "", "the mix of shuffle %d has another value than the beacon's: %v", c.id, err).at(c.index).of(c.id)
		c.fault = &f
		return
	}
	c.Holds = true
}

// planned takes note of a beacon that a commit plans.
func (f *fold) planned(c *audit.Context, index uint64) {
	if i := beacon.In(c.Plan); i >= 0 {
		if chain, known := beacon.ByHash(c.Plan[i].Chain); known {
			f.rounds[index] = chain.TimeOf(c.Plan[i].Round)
		}
	}
}

// inTime takes note of whose commit the trusted quorum saw before its round came
// out. Clocks differ, so that a later checkpoint may have been there first.
func (f *fold) inTime(p *point) {
	if len(f.rounds) == 0 {
		return
	}
	seen, ok := beacon.SeenBy(f.trust.policy, p.Signed)
	for id, out := range f.rounds {
		if l := f.live[id]; ok && l != nil && seen < out && p.head.Size > id {
			l.InTime = true
			delete(f.rounds, id)
		}
	}
}

// mixed sends the beacon of a mix to be checked. A mix that breaks a rule may have
// other values than its plan, and was named for it.
func (f *fold) mixed(m *audit.Mix, index uint64, o audit.Opened, legal bool) {
	if !legal || o.Commit == nil {
		return
	}
	plan := o.Commit.Context.Plan
	i := beacon.In(plan)
	if i < 0 || i >= len(m.Values) || m.Values[i].Source != audit.SourceBeacon {
		return
	}
	chain, known := beacon.ByHash(plan[i].Chain)
	if !known {
		return
	}
	c := &roundCheck{chain: chain, round: plan[i].Round, value: m.Values[i].Beacon, id: m.Shuffle, index: index}
	f.batch.rounds = append(f.batch.rounds, c)
	if l := f.live[m.Shuffle]; l != nil {
		l.Beacon = c
	}
}

// unsteered reports whether nothing is left to the house of a witnessed shuffle,
// provided that its beacon holds (docs/SPEC.md section 10.5).
func (l *live) unsteered(c *audit.Context) bool {
	return l.InTime && l.Beacon != nil && beacon.Steered(c) == nil
}
