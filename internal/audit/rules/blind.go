package rules

import (
	"cmp"
	"errors"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/shuffle"
)

// checkCoDealer: what commits may name as co-dealer is another ledger, with keys of its own.
func (s *State) checkCoDealer(k *audit.Key) error {
	if k.Origin == "" {
		return nil
	}
	if err := soundKey(audit.SubjectSigning, k.Public); err != nil {
		return err
	}
	if k.Origin == s.genesis.Origin {
		return illegal(audit.RuleCoDealer, "a ledger is not its own co-dealer")
	}
	p, err := trust.ParsePolicy(k.Policy)
	switch {
	case errors.Is(err, audit.ErrUnknown):
		return err
	case err != nil:
		return illegal(audit.RuleCoDealer, "the co-dealer's policy: %s", err)
	case s.genesis.Production && p.Overlap() == 0:
		return illegal(audit.RuleCoDealer, "no two quorums of the co-dealer's policy need share a witness")
	}
	return apartFrom(k, p, s.genesis.Origin, s.IsSigningKey)
}

// apartFrom: no key of a co-dealer is the ledger's own, and none of its witnesses is the ledger.
func apartFrom(pin *audit.Key, p *trust.Policy, origin string, own func(public []byte) bool) error {
	if own(pin.Public) || slices.ContainsFunc(p.LogKeys, own) {
		return illegal(audit.RuleCoDealer, "a signing key of the ledger is the co-dealer's")
	}
	if err := p.CheckWitnesses(origin, own); err != nil {
		return illegal(audit.RuleCoDealer, "the co-dealer's policy: %s", err)
	}
	return nil
}

// checkApart is apartFrom of the co-dealer in force, for a new signing key.
func (s *State) checkApart(public []byte) error {
	pin := s.keys.coDealer
	if pin == nil || pin.Origin == "" {
		return nil
	}
	p, err := trust.ParsePolicy(pin.Policy)
	if err != nil {
		return nil // checked when it was named; then of a later type
	}
	return apartFrom(pin, p, s.genesis.Origin, func(k []byte) bool { return slices.Equal(k, public) })
}

// checkBlindCommit is the rule co_dealer of a commit.
func (s *State) checkBlindCommit(c *audit.Commit) error {
	ctx := c.Context
	of, named := ctx.CoDealer()
	pin := s.keys.coDealer
	switch {
	case ctx.ForLedger != "":
		return s.checkForLedger(c)
	case named != (c.AskKey != nil):
		return illegal(audit.RuleCoDealer, "a commit has an ask key if its plan names a co-dealer, and only then")
	case !named && pin != nil && pin.Every:
		return illegal(audit.RuleCoDealer, "every commit names the co-dealer %s", pin.Origin)
	case !named:
		return nil
	case !s.holders.supposed && (pin == nil || pin.Origin == ""):
		return illegal(audit.RuleCoDealer, "the ledger names no co-dealer")
	case !s.holders.supposed && pin.Origin != of.Origin:
		return illegal(audit.RuleCoDealer, "the ledger's co-dealer is %s, and not %s", pin.Origin, of.Origin)
	case ctx.Parent != nil:
		return illegal(audit.RuleCoDealer, "a child has no co-dealer: who made it knew the order of its parent")
	case !ctx.IsDraw() && ctx.Recipe.Take != ctx.Recipe.Cards:
		return illegal(audit.RuleCoDealer, "with a co-dealer all %d cards are taken, not %d", ctx.Recipe.Cards, ctx.Recipe.Take)
	case audit.CheckEd25519(c.AskKey) != nil:
		return illegal(audit.RuleCoDealer, "the ask key is no Ed25519 key")
	}
	return nil
}

// checkForLedger: an order for another ledger has an order of all positions or a draw list, and
// nothing else that a shuffle may have.
func (s *State) checkForLedger(c *audit.Commit) error {
	ctx := c.Context
	switch {
	case ctx.ForLedger == s.genesis.Origin:
		return illegal(audit.RuleCoDealer, "an order is for another ledger than this one")
	case ctx.Parent != nil || len(ctx.Plan) > 0 || ctx.EndAt != 0 || ctx.Recipe.EndHi != 0 || ctx.Terms != nil ||
		c.AskKey != nil:
		return illegal(audit.RuleCoDealer, "an order for another ledger has no parent, plan, end_at, terms or ask key")
	case ctx.IsNumbers():
		return illegal(audit.RuleCoDealer, "an order for numbers of another ledger is a draw list of their ranges")
	case ctx.IsDraw():
		return nil
	case ctx.Recipe.Take != ctx.Recipe.Cards:
		return illegal(audit.RuleCoDealer, "an order for another ledger is of all %d positions, not of %d", ctx.Recipe.Cards,
			ctx.Recipe.Take)
	}
	if shuffle.Positions(ctx.Recipe.Cards).Hash() != ctx.DeckHash {
		return illegal(audit.RuleCoDealer, "the deck of an order for another ledger is positions-%d", ctx.Recipe.Cards)
	}
	return nil
}

// MayAsk returns the first rule that a deal breaks, before the co-dealer has given anything for it:
// a house asks only for what it may deal. e has the time and actor of the deal.
func (s *State) MayAsk(d *audit.Deal, e audit.Entry) error {
	o, err := s.dealable(d, e)
	if err != nil {
		return err
	}
	return cmp.Or(checkAsking(o, d), s.checkHolder(e))
}

// checkBlindDeal is the rule co_dealer of a deal.
func checkBlindDeal(o opened, d *audit.Deal) error {
	switch {
	case o.blind != (d.Blind != nil):
		return illegal(audit.RuleCoDealer, "a deal holds what the co-dealer gave if the plan names one, and only then")
	case o.forLedger != (d.Asked != nil):
		return illegal(audit.RuleCoDealer, "a deal holds what was asked for if it is of an order for another ledger, and only then")
	case !o.blind && !o.forLedger:
		return nil
	}
	if err := checkAsking(o, d); err != nil {
		return err
	}
	if o.forLedger {
		return checkHead(d.Asked.Commit, d.Asked.Head)
	}
	return cmp.Or(behindOrder(o, d.Blind), checkGiven(o, d))
}

// checkHead: a checkpoint covers the entry that it is named for.
func checkHead(of audit.Foreign, head audit.Head) error {
	if of.Index >= head.Size {
		return illegal(audit.RuleCoDealer, "a checkpoint of %d entries does not cover entry %d of the other ledger", head.Size,
			of.Index)
	}
	return nil
}

// behindOrder: the deal of a co-dealer stands behind its commit, and its checkpoint covers it.
func behindOrder(o opened, b *audit.Blind) error {
	if planned, _ := o.commit().Context.CoDealer(); b.Deal.Index <= planned.Index {
		return illegal(audit.RuleCoDealer, "the co-dealer's deal is entry %d, and its commit entry %d", b.Deal.Index, planned.Index)
	}
	return checkHead(b.Deal, b.Head)
}

// checkAsking is the part of checkBlindDeal that depends on the runs alone.
func checkAsking(o opened, d *audit.Deal) error {
	if d.Count() > audit.MaxBlindPlaces {
		return illegal(audit.RuleCoDealer, "a deal with a co-dealer has at most %d places, not %d", audit.MaxBlindPlaces, d.Count())
	}
	for i, r := range d.Runs {
		nobodys := r.Recipient == "" && (r.Purpose == audit.PurposeSeat || !r.Public && !r.Aside())
		if r.Purpose == audit.PurposeOrder || nobodys {
			return illegal(audit.RuleCoDealer, "run %d leaves open who gets its cards", i)
		}
	}
	if o.forLedger && d.Final {
		return illegal(audit.RuleCoDealer, "the close of an order follows the close of the shuffle that it is for")
	}
	return nil
}

// checkGiven: one value for each place that is not aside, in its range; of cards none twice.
func checkGiven(o opened, d *audit.Deal) error {
	values, places := d.Blind.Values, d.Opens()
	if len(values) != len(places) {
		return illegal(audit.RuleCoDealer, "%d values of the co-dealer for %d places", len(values), len(places))
	}
	c := o.commit().Context
	for i, place := range places {
		if err := audit.MayGive(c, place, values[i], o.given, values[:i]); err != nil {
			return illegal(audit.RuleCoDealer, "%v", err)
		}
	}
	return nil
}

// checkBlindClose is the rule co_dealer of a close.
func checkBlindClose(o opened, c *audit.Close) error {
	unplayed := c.Unplayed()
	switch {
	case c.Reason == audit.ReasonCoDealer && !o.blind:
		return illegal(audit.RuleCoDealer, "shuffle %d has no co-dealer", o.id)
	case c.Blind != nil && !o.blind, c.Blind == nil && o.blind && c.Reason != audit.ReasonTapeLost:
		return illegal(audit.RuleCoDealer, "a close holds what the house knew of the co-dealer's order if the plan names one, "+
			"and only then")
	case unplayed != nil && c.Outcome != audit.OutcomeVoid && c.Outcome != audit.OutcomeExpired:
		return illegal(audit.RuleCoDealer, "a close as void or expired names what was not played, and no other")
	case c.Follows != nil && !o.forLedger:
		return illegal(audit.RuleCoDealer, "shuffle %d is not for another ledger", o.id)
	case c.Follows != nil && c.Follows.Places != int(o.next):
		return illegal(audit.RuleCoDealer, "%d places of order %d were dealt, and its close names %d", o.next, o.id,
			c.Follows.Places)
	case o.forLedger && c.Follows == nil && c.Outcome != audit.OutcomeExpired && c.Reason != audit.ReasonTapeLost &&
		(c.Outcome != audit.OutcomeVoid || o.next > 0):
		return illegal(audit.RuleCoDealer, "an order that was dealt from closes behind the shuffle that it is for, or expires")
	case unplayed != nil:
		return checkUnplayed(o, unplayed)
	case c.Blind != nil:
		planned, _ := o.commit().Context.CoDealer()
		return checkHead(audit.Foreign{Index: planned.Index}, c.Blind.Head)
	}
	return nil
}

// checkUnplayed is checkGiven for a close, which does not hold the runs.
func checkUnplayed(o opened, b *audit.Blind) error {
	if err := behindOrder(o, b); err != nil {
		return err
	}
	c := o.commit().Context
	if left := c.Recipe.Positions() - int(o.next); len(b.Values) > left {
		return illegal(audit.RuleCoDealer, "%d values of the co-dealer were not played, where %d places are left", len(b.Values), left)
	}
	for i, v := range b.Values {
		if err := audit.MayGive(c, int(o.next), v, o.given, b.Values[:i]); err != nil && !c.IsDraw() {
			return illegal(audit.RuleCoDealer, "what was not played: %v", err)
		}
	}
	return nil
}

// give adds the positions that the co-dealer gave for cards, each once. A deal that Force applies
// may have a position twice, or out of range.
func (s *State) give(o opened, d *audit.Deal) {
	if d.Blind == nil || !o.blind {
		return
	}
	given := slices.Clip(o.given)
	for _, v := range d.Blind.Values {
		if v < uint32(o.m) && !slices.Contains(given, v) {
			given = append(given, v)
		}
	}
	if given != nil {
		s.open.given[o.id] = given
	}
}
