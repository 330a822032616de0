package rules

import (
	"cmp"

	"shuffled/internal/audit"
)

func (s *State) checkCommit(c *audit.Commit, e audit.Entry) error {
	ctx, now, t := c.Context, e.Time, s.tables[c.Context.Table]
	switch serial, previous := s.Next(ctx.Table); {
	case ctx.Origin != s.genesis.Origin || ctx.Genesis != s.persons.genesis || ctx.Production != s.genesis.Production:
		return illegal(audit.RuleOrigin, "the context is of %q, genesis %x, production %t", ctx.Origin, ctx.Genesis,
			ctx.Production)
	case !s.instances[c.Instance]:
		return illegal(audit.RuleInstance, "entry %d is no instance_start", c.Instance)
	case s.Latched():
		return illegal(audit.RuleLatch, "the entropy latch is set")
	case s.covers(ctx):
		return illegal(audit.RuleKill, "a kill switch covers the commit")
	case t != nil && t.Closed:
		return illegal(audit.RuleTable, "table %s is closed", ctx.Table)
	case c.Serial != serial || c.Previous != previous:
		return illegal(audit.RuleSerial, "serial %d after %d where table %s is at %d after %d",
			c.Serial, c.Previous, ctx.Table, serial, previous)
	}
	if err := s.checkCloseBy(c, now); err != nil {
		return err
	}
	for _, p := range ctx.Plan {
		if s.genesis.MixModes>>(p.Source-1)&1 == 0 {
			return illegal(audit.RuleMixModes, "the ledger declares no %s", p.Source)
		}
	}
	if p, ok := ctx.Beacon(); ok {
		// Rounds that are out could be chosen by what they do.
		if at, known := audit.BeaconTime(p.Chain, p.Round); known && at <= now/1000 {
			return illegal(audit.RuleBeacon, "round %d came out at %s, and the commit is of %s", p.Round, audit.Instant(at*1000),
				audit.Instant(now))
		}
	}
	if !s.seals(ctx) {
		return illegal(audit.RuleDisclosureKey, "no disclosure key for the auditors in force")
	}
	if err := s.checkParent(ctx, now); err != nil {
		return err
	}
	return cmp.Or(s.checkTerms(ctx), s.checkBlindCommit(c), s.checkCommitter(ctx, e.Actor))
}

func (s *State) checkCloseBy(c *audit.Commit, now int64) error {
	if life := c.CloseBy - now; life <= 0 || life > int64(s.genesis.MaxCloseBy)*1000 {
		return illegal(audit.RuleCloseBy, "close_by must be later than %s, at the latest %s, and is %s", audit.Instant(now),
			audit.Instant(now+int64(s.genesis.MaxCloseBy)*1000), audit.Instant(c.CloseBy))
	}
	if c.Context.Parent == nil {
		return nil
	}
	if p, ok := s.open.find(c.Context.Parent.ID); ok && c.CloseBy > p.latest {
		return illegal(audit.RuleCloseBy, "close_by must be at the latest %s, which is the latest of the chain, and is %s",
			audit.Instant(p.latest), audit.Instant(c.CloseBy))
	}
	return nil
}

func (s *State) checkParent(ctx *audit.Context, now int64) error {
	if ctx.Parent == nil {
		return nil
	}
	p, ok := s.open.find(ctx.Parent.ID)
	switch {
	case !ok || p.stage != playing:
		return illegal(audit.RuleParent, "shuffle %d is not open, or was continued", ctx.Parent.ID)
	case p.depth >= audit.MaxChain:
		return illegal(audit.RuleParent, "shuffle %d is the last of a chain of %d", ctx.Parent.ID, audit.MaxChain)
	case now >= p.closeBy:
		return illegal(audit.RuleParent, "shuffle %d had to close by %s, and can only expire", ctx.Parent.ID, audit.Instant(p.closeBy))
	case p.setAside():
		return illegal(audit.RuleParent, "a close of table %s set shuffle %d aside", ctx.Table, ctx.Parent.ID)
	case !p.continues():
		return illegal(audit.RuleParent, "shuffle %d has no child: it is of draws, or tied to one of another ledger", ctx.Parent.ID)
	}
	switch of := p.commit().Context; {
	case of.Table != ctx.Table:
		return illegal(audit.RuleParent, "shuffle %d is at table %s", ctx.Parent.ID, of.Table)
	case of.DeckHash != ctx.DeckHash:
		return illegal(audit.RuleParent, "shuffle %d is of another deck", ctx.Parent.ID)
	}
	for _, pos := range ctx.Parent.Positions {
		if int(pos) >= p.m {
			return illegal(audit.RuleParent, "shuffle %d has no position %d", ctx.Parent.ID, pos)
		}
	}
	return nil
}

func (s *State) applyCommit(c *audit.Commit, id uint64, e audit.Entry) {
	t := s.table(c.Context.Table)
	before := *t
	s.push(func() {
		s.open.remove(id)
		*t = before
	})
	s.open.insert(s.opening(id, c, t, e))
	t.Serial, t.Last, t.Waiting = c.Serial, id, append(t.Waiting, id)
	if c.Context.Parent != nil {
		s.pair = &pair{shuffle: c.Context.Parent.ID, continued: true, child: id}
	}
}

// opening makes the shuffle that c opens as entry id. It keeps no part of c.
func (s *State) opening(id uint64, c *audit.Commit, t *Table, e audit.Entry) opened {
	s.scratch = audit.AppendBody(s.scratch[:0], c)
	o := s.open.describe(id, c, s.scratch, t)
	o.owner, o.extent, o.latest = s.identity(e.Actor), audit.ExtentPlay, e.Time+int64(s.genesis.MaxCloseBy)*1000
	return o
}

// playable returns the open shuffle if the actor of e may mix or deal it now.
func (s *State) playable(id uint64, e audit.Entry) (o opened, err error) {
	o, err = s.running(id)
	if err != nil {
		return o, err
	}
	if e.Time >= o.closeBy {
		return o, illegal(audit.RuleDeadline, "shuffle %d had to close by %s", id, audit.Instant(o.closeBy))
	}
	if err := s.plays(o, e.Actor); err != nil {
		return o, err
	}
	switch {
	case o.setAside():
		return o, illegal(audit.RuleSetAside, "a close of table %s set shuffle %d aside: it can only be closed", o.table.Name, id)
	// The commits of another ledger name the orders for it in any sequence.
	case o.next == 0 && o.table.Waiting[0] != id && !o.forLedger:
		return o, illegal(audit.RuleEarlier, "shuffle %d of table %s has not begun: deal from it or close it first", o.table.Waiting[0], o.table.Name)
	}
	return o, nil
}

func (s *State) checkMix(m *audit.Mix, e audit.Entry) error {
	o, err := s.playable(m.Shuffle, e)
	if err != nil {
		return err
	}
	ctx := o.commit().Context
	plan := ctx.Mixed()
	switch {
	case o.mixed || o.next > 0:
		return illegal(audit.RuleMix, "shuffle %d is mixed already, or was dealt from", m.Shuffle)
	case len(m.Values) != len(plan):
		return illegal(audit.RuleMix, "%d values for a plan of %d", len(m.Values), len(plan))
	}
	for i, v := range m.Values {
		switch p := plan[i]; {
		case v.Source != p.Source:
			return illegal(audit.RuleMix, "value %d is a %s where the plan has a %s", i, v.Source, p.Source)
		case v.Source == audit.SourceSlot && audit.SlotHash(ctx.Origin, ctx.Table, v.Slot) != p.Slot:
			return illegal(audit.RuleMix, "value %d does not open its slot", i)
		case v.Source == audit.SourceCut && int(v.Cut) >= o.m:
			return illegal(audit.RuleMix, "the cut must be 0 to %d", o.m-1)
		}
	}
	return s.checkCheckpoint(m.Shuffle, m.Checkpoint)
}

// checkCheckpoint: the checkpoint that a mix or deal names lies below it and covers the commit. So the commit was fixed
// before anybody saw a value or a card, and a commit and its first deal are never appended together.
func (s *State) checkCheckpoint(id, size uint64) error {
	switch {
	case size > s.size:
		return illegal(audit.RuleCheckpoint, "a checkpoint of size %d at entry %d", size, s.size)
	case size <= id:
		return illegal(audit.RuleCheckpoint, "the checkpoint of size %d does not cover shuffle %d", size, id)
	}
	return nil
}

func (s *State) checkDeal(d *audit.Deal, e audit.Entry) error {
	o, err := s.dealable(d, e)
	if err != nil {
		return err
	}
	return cmp.Or(checkBlindDeal(o, d), s.checkCheckpoint(d.Shuffle, d.Checkpoint))
}

// dealable returns the open shuffle if its next places are those of the deal.
func (s *State) dealable(d *audit.Deal, e audit.Entry) (o opened, err error) {
	if o, err = s.playable(d.Shuffle, e); err != nil {
		return o, err
	}
	switch {
	case o.planned && !o.mixed:
		return o, illegal(audit.RuleMix, "shuffle %d is dealt only after its mix", d.Shuffle)
	case d.First != int(o.next):
		return o, illegal(audit.RulePlace, "the next place is %d, not %d", o.next, d.First)
	case d.First+d.Count() > o.m:
		return o, illegal(audit.RulePlaces, "%d places are left, not %d", o.m-int(o.next), d.Count())
	}
	for i, r := range d.Runs {
		if o.numbers && !r.Public {
			return o, illegal(audit.RulePlaces, "numbers are dealt for everybody to see: run %d is not public", i)
		}
		if r.Purpose == audit.PurposeOrder && (i < len(d.Runs)-1 || d.First+d.Count() < o.m) {
			return o, illegal(audit.RulePlaces, "an order must be the last run, and end at place %d", o.m-1)
		}
	}
	last := o.round
	if o.child && o.next == 0 && s.holders.supposed { // the parent's runs are in another file: any round may be next
		last = d.Runs[0].Round
	}
	for i, r := range d.Runs {
		if r.Round != last && int(r.Round) != int(last)+1 {
			return o, illegal(audit.RuleRound, "run %d is of round %d (0 for none), and comes after one of round %d", i, r.Round, last)
		}
		last = r.Round
	}
	return o, nil
}

// applyDeal makes the place after the deal the next one, at most m and never back.
func (s *State) applyDeal(d *audit.Deal) {
	o := s.change(d.Shuffle)
	s.give(o, d)
	next := min(o.m, max(int(o.next), d.First+d.Count()))
	s.open.show(o, o.shown.dealt(int(o.next), next, d))
	o.next, o.round = uint16(next), d.Runs[len(d.Runs)-1].Round
	s.begun(o)
	if d.Final {
		s.pair = &pair{shuffle: d.Shuffle}
	}
}

func (s *State) checkReveal(r *audit.Reveal, e audit.Entry) error {
	o, ok := s.open.find(r.Shuffle)
	switch {
	case !ok || o.stage == due:
		return illegal(audit.RuleNotOpen, "shuffle %d is not open", r.Shuffle)
	case e.Time >= o.closeBy && !s.elsewhere(o):
		return illegal(audit.RuleDeadline, "shuffle %d had to close by %s", r.Shuffle, audit.Instant(o.closeBy))
	}
	if err := s.plays(o, e.Actor); err != nil {
		return err
	}
	if r.Final && o.stage == continued {
		return illegal(audit.RuleReveal, "shuffle %d was continued: no close of it follows a final reveal", r.Shuffle)
	}
	if o.forLedger {
		return illegal(audit.RuleReveal, "shuffle %d is an order for another ledger, and shows nothing by itself", r.Shuffle)
	}
	places := o.shown.places(int(o.next))
	for _, p := range r.Places {
		switch {
		case int(p) >= len(places):
			return illegal(audit.RuleReveal, "place %d of shuffle %d was not dealt: the next is %d", p, r.Shuffle, o.next)
		case places[p] == placePublic:
			return illegal(audit.RuleReveal, "place %d of shuffle %d is public already", p, r.Shuffle)
		case places[p] == placeAside && o.blind:
			return illegal(audit.RuleReveal, "place %d of shuffle %d is a burn or discard, which the co-dealer did not open", p,
				r.Shuffle)
		case places[p] == placeAside && !r.Final && !r.Exposed:
			return illegal(audit.RuleReveal, "place %d of shuffle %d is a burn or discard: it is revealed as exposed, or "+
				"in front of the close", p, r.Shuffle)
		}
	}
	return nil
}

func (s *State) applyReveal(r *audit.Reveal) {
	o := s.change(r.Shuffle)
	s.open.show(o, o.shown.revealed(int(o.next), r.Places))
	if r.Final {
		s.pair = &pair{shuffle: r.Shuffle, revealed: true}
	}
}

func (s *State) checkClose(c *audit.Close, e audit.Entry) error {
	now := e.Time
	o, err := s.running(c.Shuffle)
	if err != nil {
		return err
	}
	if err := s.closes(o, c, e.Actor); err != nil {
		return err
	}
	// At or after close-by only expired, and expired only then. A shuffle without
	// its tape cannot expire: what was lost is told at any time.
	if overdue := now >= o.closeBy; overdue != (c.Outcome == audit.OutcomeExpired) && c.Reason != audit.ReasonTapeLost {
		return illegal(audit.RuleDeadline, "the outcome %s comes at %s, and shuffle %d closes by %s", c.Outcome, audit.Instant(now),
			c.Shuffle, audit.Instant(o.closeBy))
	}
	if c.Outcome == audit.OutcomeContinued && (s.pair == nil || s.pair.child == 0 && !o.continues()) {
		return illegal(audit.RuleOutcome, "the outcome continued follows the commit of a child that the shuffle can have")
	}
	disclosed, _ := audit.DisclosedBy(c)
	return cmp.Or(checkBlindClose(o, c), s.checkDisclosed(disclosed))
}

// applyClose ends the shuffle. If expected is the pair of its child, it continues the shuffle instead.
func (s *State) applyClose(c *audit.Close, expected *pair, by audit.Actor) {
	o, _ := s.open.find(c.Shuffle)
	s.begun(o)
	if c.Outcome == audit.OutcomeContinued && expected != nil && expected.continued && expected.shuffle == c.Shuffle {
		s.link(c.Shuffle, expected.child)
		return
	}
	s.unchain(c.Shuffle, by)
	s.end(c.Shuffle)
}
