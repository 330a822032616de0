package audit

import "slices"

// Attempts at entries of shuffles with a co-dealer, and of orders for another ledger.

// pin names a co-dealer, or none.
func (a attempts) pin() *Key {
	k := &Key{Subject: SubjectCoDealer}
	if a.pick(0, 5) == 0 {
		return k
	}
	k.Every, k.Origin = a.pick(0, 5) == 0, "lab"
	k.Public, k.Policy = attemptKey(SubjectSigning, 39), []byte(witnessPolicy("w1"))
	if a.odd() {
		k.Origin = attemptOrigin
	}
	if a.odd() {
		k.Public = attemptKey(SubjectSigning, []int{0, 40}[a.pick(0, 1)])
	}
	if a.odd() {
		k.Policy = a.policy() // of which two quorums share no witness, or none
	}
	return k
}

// coDealer puts a co-dealer in front of the plan, or makes an order for another ledger.
func (a attempts) coDealer(c *Commit, now int64) {
	ctx, pin := c.Context, a.m.pinned()
	named := pin != nil && pin.Origin != "" && a.m.genesis().MixModes&8 != 0
	orders := !a.guarded() || len(a.held("a", RoleBlind, now)) > 0
	switch {
	case named && (pin.Every || a.pick(0, 2) == 0) || a.pick(1, 625) == 1:
		ctx.Plan = slices.Concat([]Planned{{Source: SourceCoDealer, Origin: "lab", Index: 7}}, ctx.Plan)
		c.AskKey = attemptKey(SubjectSigning, 38)[1:]
		if a.odd() {
			c.AskKey = attemptKey(SubjectSigning, 40)[1:]
		}
		if a.odd() {
			ctx.Plan[0].Origin = "another"
		}
	case orders && a.pick(0, 5) == 0 || a.pick(1, 625) == 1:
		ctx.ForLedger = "house"
		if a.odd() {
			ctx.ForLedger = attemptOrigin
		}
		if !a.odd() {
			ctx.Plan = nil
		}
		if !ctx.IsDraw() && !a.odd() {
			ctx.DeckHash = [32]byte(refPositionsDeck(ctx.Recipe.Cards))
		}
	default:
		if a.odd() {
			c.AskKey = attemptKey(SubjectSigning, 38)[1:]
		}
		return
	}
	if a.odd() {
		c.AskKey = nil
	}
	if !a.odd() {
		ctx.Parent, ctx.Terms = nil, nil
	}
	if !ctx.IsDraw() && !a.odd() {
		ctx.Recipe.Take = ctx.Recipe.Cards
	}
}

// give makes of a deal one with a co-dealer, or of an order, where the shuffle is one.
func (a attempts) give(d *Deal, ctx *Context) {
	if (blind(ctx) || ctx.ForLedger != "") && !a.odd() {
		for i := range d.Runs {
			d.Runs[i].Recipient = "s"
			d.Final = d.Final && (blind(ctx) || a.odd())
			if d.Runs[i].Purpose == PurposeOrder && !a.odd() {
				d.Runs[i].Purpose = PurposeBoard
			}
		}
	}
	if (ctx.ForLedger != "") != a.odd() {
		d.Asked = &Asked{Commit: Foreign{Index: 7}, Head: Head{Size: 8 - uint64(a.one())}}
	}
	if blind(ctx) == a.odd() {
		return
	}
	d.Blind = a.blind(true)
	gave, place := a.m.gave(d.Shuffle), d.First
	for _, r := range d.Runs {
		for range r.Count {
			if !r.Aside() != a.odd() {
				v := a.value(ctx, place, gave)
				gave, d.Blind.Values = append(gave, v), append(d.Blind.Values, v)
			}
			place++
		}
	}
}

// blind is what a close says of a co-dealer's order, or a deal with its values to come.
func (a attempts) blind(named bool) *Blind {
	b := &Blind{Head: Head{Size: 9}}
	if named {
		b.Deal.Index = 8 - uint64(a.one())
	}
	if a.odd() {
		b.Head.Size = uint64(a.pick(6, 9))
	}
	return b
}

// value is one that a co-dealer may give for a place, most often.
func (a attempts) value(ctx *Context, place int, gave []uint32) uint32 {
	n := ctx.Recipe.Take
	if ctx.IsDraw() {
		return uint32(a.pick(1, int(ctx.Recipe.Ranges[min(place, len(ctx.Recipe.Ranges)-1)]))) + a.one() - a.one()
	}
	for v := range uint32(n) {
		if !slices.Contains(gave, v) && !a.odd() {
			return v
		}
	}
	return uint32(a.pick(0, n))
}

// one is 1 once in a while.
func (a attempts) one() uint32 {
	if a.odd() {
		return 1
	}
	return 0
}

// follow makes of a close one with a co-dealer, or of an order, where the shuffle is one.
func (a attempts) follow(c *Close, ctx *Context) {
	if c.Reason == ReasonCoDealer && !blind(ctx) && !a.odd() {
		c.Reason = ReasonMisdeal
	}
	over := c.Outcome == OutcomeVoid || c.Outcome == OutcomeExpired
	if blind(ctx) != a.odd() {
		c.Blind = a.blind(over && a.pick(0, 2) == 0 || a.odd())
		for gave := a.m.gave(c.Shuffle); c.Blind.Deal.Index > 0 && a.pick(0, 2) == 0; {
			v := a.value(ctx, 0, gave)
			gave, c.Blind.Values = append(gave, v), append(c.Blind.Values, v)
		}
	}
	if ctx.ForLedger != "" && a.pick(0, 5) > 0 || a.odd() {
		c.Follows = &Follows{Places: a.m.dealt(c.Shuffle)}
		if a.odd() {
			c.Follows.Places++
		}
	}
}
