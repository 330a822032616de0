package inspect

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// sighting is the size of a cosigned checkpoint with the trusted quorum, and when the
// quorum was complete, in seconds since 1970.
type sighting struct {
	Size uint64
	At   int64
}

// sightingsKept is the least number of sightings at which those that no open shuffle needs are dropped.
const sightingsKept = 1 << 12

// saw keeps a sighting. Sizes and seconds of the sightings ascend: if a larger checkpoint
// was complete at the same second or before, it takes the place of smaller ones. So there
// is at most one for each second since the oldest shuffle that can still be played.
func (f *fold) saw(size uint64, at int64) {
	n := sort.Search(len(f.sightings), func(i int) bool { return f.sightings[i].At >= at })
	f.sightings = append(f.sightings[:n], sighting{size, at})
	if len(f.sightings) >= max(sightingsKept, 2*f.needed) {
		oldest := size
		for id, l := range f.live {
			if !l.Played && l.CloseBy > f.times[1] {
				oldest = min(oldest, id)
			}
		}
		f.sightings = slices.Delete(f.sightings, 0, f.covering(oldest))
		f.needed = len(f.sightings)
	}
}

// covering returns the number of the first sighting that covers an entry.
func (f *fold) covering(index uint64) int {
	return sort.Search(len(f.sightings), func(i int) bool { return f.sightings[i].Size > index })
}

// seenAt returns the earliest second at which the trusted quorum had seen a commit. It is called at the entry that
// first mixes or deals from the shuffle: the sightings so far do not cover more.
func (f *fold) seenAt(id uint64) (second int64, seen bool) {
	i := f.covering(id)
	if i == len(f.sightings) {
		return 0, false
	}
	return f.sightings[i].At, true
}

// judgePolicy finds out whether the trusted policy can give the level witnessed
// (docs/SPEC.md section 7.3). It is called when the signing keys of the ledger change.
func (f *fold) judgePolicy() {
	if f.noLevel != "" || !f.trust.Policy.Asks() || f.state.Genesis() == nil {
		return
	}
	if err := f.trust.Policy.CheckLevel(f.state.Genesis().Origin, f.state.IsSigningKey); err != nil {
		f.noLevel = err.Error()
		f.noteOnce("no shuffle has the level witnessed: " + f.noLevel)
	}
}

// beginPolicies takes the policy of the genesis.
func (f *fold) beginPolicies(g *audit.Genesis, index uint64) {
	if len(g.Policy) > 0 {
		f.report.Witnesses.Policies++
	}
	policies, err := trust.NewPolicies(g.Policy)
	if errors.Is(err, audit.ErrUnknown) {
		f.cannot(index, err)
	}
	if err == nil { // otherwise the rule key said so
		f.policies = policies
	}
}

// policy takes the policy of a key entry. It waits for its first checkpoint.
func (f *fold) policy(index uint64, text []byte) {
	f.report.Witnesses.Policies++
	switch err := f.policies.Change(index, text); {
	case errors.Is(err, audit.ErrUnknown):
		f.cannot(index, err)
		return
	case err != nil: // the rule key said so
		return
	}
	f.publish()
}

// undecided says that it depends on lines of unknown types whether there is a quorum.
func undecided(size uint64) string {
	return fmt.Sprintf("checkpoint of size %d: whether the quorum cosigned it hangs on lines of an unknown type", size)
}

// quorum judges the cosignatures of a checkpoint whose signature and root hold.
func (f *fold) quorum(p *point) {
	own := p.own
	if len(f.policies.Waiting()) > 0 { // the checkpoint covers them
		if own = f.policies.Accept(p.head.Size, p.Signed); own {
			f.publish()
		}
	}
	f.cosigned.named = !own
	if !own && len(f.lost) > 0 {
		f.noteOnce("quorums above a lost entry are not checked: it may have changed the policy")
	} else if !own && f.policies.At(p.head.Size).Undecided(p.Signed) {
		f.cannotJudge(undecided(p.head.Size))
	} else if !own {
		f.faults.add(fault(CodeQuorum, p.Where,
			"the checkpoint of size %d is not cosigned by the quorum of the ledger's policy", p.head.Size))
	}
	if p.complete == 0 && f.trust.Policy.Undecided(p.Signed) {
		f.cosigned.undecided = p.head.Size
	}
	if p.complete != 0 {
		f.cosigned.pinned = p.head.Size
		f.report.Witnesses.Pinned++
		f.saw(p.head.Size, p.complete)
		f.opts.side.saw(p)
	}
}
