package verify

import (
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/beacon"
)

// beacon checks the value of the plan's beacon: that it is the one signature that the chain makes of the planned round.
func (t *transcript) beacon() (string, error) {
	p, planned := t.commit.Context.Beacon()
	switch {
	case !planned:
		return "", notChecked("no beacon in the plan")
	case p.Chain != audit.Quicknet:
		return "", notChecked("a beacon chain that this version does not know: the value may be anything")
	case t.mix == nil:
		return "", notChecked("the value comes with the mix")
	}
	if err := beacon.Verify(p.Round, *t.mix.Beacon()); err != nil { // that there is one is a rule of the mix
		return "", err
	}
	t.round = p.Round
	return fmt.Sprintf("the value is quicknet's signature of round %d, which came out at %s", p.Round,
		timestamp(beacon.TimeOf(p.Round)*1000)), nil
}

// slots finds where in the plan the hashes of the given values stand. The values may still be secret: none is named.
// With a receipt of the commit, a player checks that before they give a value. That the mix has these very values is a
// rule (docs/SPEC.md section 9, mix).
func (e *evidence) slots() (string, error) {
	switch {
	case e.commit == nil:
		return "", notChecked("only a commit has a mix plan")
	case len(e.trust.given.Slots) == 0:
		return "", notChecked("no value of a slot was given")
	}
	ctx := e.commit.Context
	for _, value := range e.trust.given.Slots {
		hash := audit.SlotHash(ctx.Origin, ctx.Table, value)
		i := slices.IndexFunc(ctx.Plan,
			func(p audit.Planned) bool { return p.Source == audit.SourceSlot && p.Slot == hash })
		if i < 0 {
			return "", fmt.Errorf("the slot of hash %s, at table %s of %s, is not in the plan", encode(hash),
				ctx.Table, ctx.Origin)
		}
		e.mine = append(e.mine, i)
	}
	slices.Sort(e.mine)
	e.mine = slices.Compact(e.mine)
	return fmt.Sprintf("%d of the %d sources of the plan are the slots whose values were given", len(e.mine),
		len(ctx.Plan)), nil
}

// raise gives the level mixed to a file that holds, for everybody or for the holders of slots, and
// says in the steps why it does not.
func (t *transcript) raise() {
	if t.mix == nil {
		return
	}
	everybody := beacon.Steered(t.commit.Context)
	holders := everybody
	if everybody == nil {
		everybody, holders = t.raiseWitnessed()
	}
	if len(t.v.Mixed) > 0 {
		t.v.Level = LevelMixed
	}
	t.v.explain(stepBeacon, "it gives nobody the level mixed", everybody)
	t.v.explain(stepSlots, "it gives nobody the level mixed", holders)
}

// raiseWitnessed compares the time at which the quorum saw the commit with the beacon's round, and
// returns why beacon and slots give nothing.
func (t *transcript) raiseWitnessed() (everybody, holders error) {
	if t.v.Level != LevelWitnessed {
		none := errors.New("no quorum that the verifier trusts saw the commit in time")
		return none, none
	}
	seen, _ := t.trust.Policy.CompleteAt(t.seen) // witnesses was ok
	witnessed := timestamp(seen * 1000)
	if t.round > 0 {
		if at := beacon.TimeOf(t.round); seen < at {
			t.v.Mixed = append(t.v.Mixed,
				Mixed{For: ForEverybody, Witnessed: witnessed, Round: t.round, Time: timestamp(at * 1000)})
		} else {
			everybody = fmt.Errorf("the quorum saw the commit by %s, and not before the round came out", witnessed)
		}
	} else if _, planned := t.commit.Context.Beacon(); planned {
		return nil, errors.New("the beacon's value may be anything, and could be chosen when the slots were known")
	}
	for _, i := range t.mine {
		t.v.Mixed = append(t.v.Mixed, Mixed{For: ForSlot, Witnessed: witnessed,
			Slot: encode(t.commit.Context.Plan[i].Slot)})
	}
	return everybody, nil
}

// explain adds to the detail of a step that holds what does not follow from it, and why.
func (v *Verdict) explain(step, what string, why error) {
	for i, s := range v.Steps {
		if s.Name == step && s.Result == StepOK && why != nil {
			v.Steps[i].Detail += "; " + what + ": " + why.Error()
		}
	}
}
