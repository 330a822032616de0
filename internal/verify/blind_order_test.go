package verify

import (
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// otherOrders are files of a house that shows another order than the plan names, a ledger of the
// co-dealer that has two histories, or runs that leave open whose cards they are.
func otherOrders(b *badAdder) {
	two := []audit.Run{seat("a", 2)}
	add := func(step, name, about string, p *pair, f *openings.Transcript) {
		b.file(step, "blind-"+name, about, marshal(b.T, f), func(v *vector) {
			v.Trust.CoDealer = string(secondPolicy(p.by.h))
		})
	}

	p := hand(b.T)
	p.another()
	add(stepAsked, "undealt-other-commit", "another commit of the co-dealer, and nothing dealt", p, p.transcript())

	for name, run := range map[string]audit.Run{
		"board-for-nobody":  {Count: 6, Purpose: audit.PurposeBoard},
		"rabbit-for-nobody": {Count: 6, Purpose: audit.PurposeRabbit},
	} {
		p = hand(b.T)
		p.h.cheating()
		p.by.h.cheating()
		add(stepLegality, name, "cards that are not public, and for nobody", p, p.play(run).transcript())
	}

	var given *audit.Blind
	head := func(step, name, about string, change func(*audit.Head)) {
		p = hand(b.T)
		given = p.given(p.ask(0, two))
		change(&given.Head)
		p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: given})
		add(step, name, about, p, p.transcript())
	}
	head(stepAsked, "other-root", "the house's deal has another root of the co-dealer's ledger at its size",
		func(h *audit.Head) { h.Root = hash32("root") })
	head(stepAsked, "other-head", "the house's deal has a size of the co-dealer's ledger of which the file has no checkpoint",
		func(h *audit.Head) { *h = audit.Head{Size: h.Size + 1, Root: hash32("root")} })
	p = hand(b.T).play(two...)
	p.closeAs(&audit.Close{Shuffle: p.id, Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: p.tape,
		Blind: &audit.Blind{Head: audit.Head{Size: p.by.h.top().Size, Root: hash32("root")}}})
	add(stepCoDealer, "close-other-root", "the house's close has another root of the co-dealer's ledger at its size", p,
		p.transcript())

	for name, more := range map[string]uint64{"witnessed": 0, "file": 1} { // entries that the house has not written yet
		p = hand(b.T)
		p.early = string(p.h.head())
		p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: p.given(p.ask(0, two, func(a *audit.Asked, _ *audit.Deal) {
			a.Head = audit.Head{Size: uint64(len(p.h.entries)) + more, Root: hash32("root")}
		}))})
		add(stepCoDealer, "house-two-roots-"+name, "the co-dealer's deal has another root of the house's ledger", p,
			p.transcript())
	}
	p, fork := hand(b.T), hand(b.T)
	fork.by.h.hireAs(service("house-b"), audit.RoleBlind)
	p.proofs[0] = fork.by.h.receipt(fork.by.id).Text()
	f := p.play(two...).transcript()
	f.CoDealer.Heads = nil
	add(stepCoDealer, "two-roots", "the co-dealer's ledger has two roots at one size", p, f)

	unplayed := func(step, name, about string, change func(*pair, *audit.Blind)) {
		p := hand(b.T).play(two...)
		opened := p.given(p.ask(2, []audit.Run{board(2)}))
		change(p, opened)
		p.h.cheating()
		p.gone(opened)
		add(step, "unplayed-"+name, about, p, p.transcript())
	}
	unplayed(stepLegality, "out-of-range", "an opening that was not played, out of range",
		func(_ *pair, o *audit.Blind) { o.Values[1] = 6 })
	unplayed(stepLegality, "same-position", "an opening that was not played has one position twice",
		func(_ *pair, o *audit.Blind) { o.Values[1] = o.Values[0] })
	unplayed(stepLegality, "dealt-before", "an opening that was not played has a position that was dealt",
		func(p *pair, o *audit.Blind) { o.Values[1] = p.by.values[0] })
	unplayed(stepAsked, "too-few", "an opening that was not played, and one value left out",
		func(_ *pair, o *audit.Blind) { o.Values = o.Values[:1] })

	opened := func(name, about string, change func(f *openings.Transcript)) {
		p := hand(b.T).play(two...)
		p.gone(p.given(p.ask(2, []audit.Run{burn, board(2)})))
		f := p.transcript()
		f.CoDealer.Unplayed = slices.Clone(f.CoDealer.Unplayed)
		change(f)
		add(stepAsked, "unplayed-"+name, about, p, f)
	}
	opened("not-opened", "what was not played is not opened",
		func(f *openings.Transcript) { f.CoDealer.Unplayed = nil })
	opened("one-opened", "one of two places that were not played is not opened",
		func(f *openings.Transcript) { f.CoDealer.Unplayed = f.CoDealer.Unplayed[:1] })
	opened("other-place", "a place that was not played is the burn in front of it",
		func(f *openings.Transcript) { f.CoDealer.Unplayed[0].Place-- })
	opened("other-card", "a place that was not played has another card",
		func(f *openings.Transcript) { f.CoDealer.Unplayed[0].Card = "Joker" })
	opened("without-co-dealer", "a place that was not played without the co-dealer's opening",
		func(f *openings.Transcript) { f.CoDealer.Unplayed[1].By = nil })
	opened("other-salt", "a place that was not played is opened by another salt",
		func(f *openings.Transcript) { f.CoDealer.Unplayed[1].Salt = encode(hash32("salt")) })
	p = hand(b.T).play(two...)
	p.gone(p.given(p.ask(2, []audit.Run{board(1)})))
	f = p.transcript()
	for position := range p.values { // the card of a place that nobody saw
		at := func(c openings.Card) bool { return c.Position == position }
		if !slices.ContainsFunc(slices.Concat(p.cards, p.after), at) {
			other := openings.NewCard(2, p.tree.Open(position), p.deck[p.values[position]])
			other.By = p.after[0].By
			f.CoDealer.Unplayed = []openings.Card{other}
			break
		}
	}
	add(stepAsked, "unplayed-other-position", "a place that was not played is opened at another position", p, f)
	p = hand(b.T).play(two...)
	f = p.gone(nil).transcript()
	f.CoDealer.Unplayed = p.cards
	add(stepAsked, "nothing-unplayed", "openings of what was not played, where the close names nothing", p, f)
	p = hand(b.T).play(two...)
	f = p.gone(p.given(p.ask(2, []audit.Run{board(2)}))).transcript()
	f.CoDealer.Unplayed = slices.Repeat(f.CoDealer.Unplayed, 33)
	add(stepFormat, "unplayed-65", "openings of more places than a deal has", p, f)

	p = blind(open(b.T, withPin), coDealer(b.T), nil).play(board(1))
	given = p.given(p.ask(1, []audit.Run{board(1)}))
	given.Values[0] = 38
	p.gone(given)
	add(stepAsked, "unplayed-draw-out-of-range", "a draw that was not played, out of its range", p, p.transcript())

	a := open(b.T, withPin)
	next := newKey(b.T, "lab.example.org/orders", "second ledger key")
	second := openAs(b.T, next)
	second.witnesses, second.dealer = coDealer(b.T).witnesses, service("house-a")
	second.hireAs(second.dealer, audit.RoleBlind)
	p = blind(a, second, sixCards)
	a.cheating().rotate("second ledger key").handed = nil // which the file leaves out
	b.file(stepCoDealer, "blind-trusted-key", "the house's key that is trusted is the co-dealer's",
		marshal(b.T, p.play(two...).transcript()), func(v *vector) {
			v.Trust = vectorTrust{VKey: newKey(b.T, a.key.name, "second ledger key").vkey,
				CoDealer: string(secondPolicy(second))}
		})
}

// another puts the receipt of another order of the co-dealer in the place of the plan's.
func (p *pair) another() {
	context := *p.by.commit.Context
	context.Table = "table-2"
	p.by, p.proofs = p.by.h.commitTo(&context, p.by.deck, func(c *audit.Commit, _ *game) { c.CloseBy += 7200_000 }), nil
	p.prove()
}
