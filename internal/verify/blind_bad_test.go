package verify

import (
	"fmt"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// blindCase adds the file of a pair that fails at a step, in spite of trust in both.
func blindCase(b *badAdder, step, name, about string, p *pair, change ...func(*openings.Transcript)) {
	f := p.transcript()
	for _, with := range change {
		with(f)
	}
	second := string(secondPolicy(p.by.h))
	b.file(step, "blind-"+name, about, marshal(b.T, f), func(v *vector) { v.Trust.CoDealer = second })
}

// misfits are orders that are not for their shuffle, of which nothing was dealt.
func misfits(b *badAdder) {
	add := func(name, about string, m misfit, deck []string) {
		blindCase(b, stepAsked, name, about, m.pair(open(b.T, withPin), coDealer(b.T), deck))
	}
	context := func(change func(*audit.Context)) misfit { return misfit{order: change} }
	add("other-index", "the plan names another index of the co-dealer's ledger",
		misfit{planned: func(p *audit.Planned) { p.Index++ }}, sixCards)
	blindCase(b, stepAsked, "other-plan-origin", "the plan names another ledger than the co-dealer's",
		misfit{planned: func(p *audit.Planned) { p.Origin = "other.example" }}.pair(open(b.T, withPin).cheating(),
			coDealer(b.T), sixCards))
	add("other-leaf", "the plan names another commit of the co-dealer, and no card is shown",
		misfit{planned: func(p *audit.Planned) { p.Leaf[0] ^= 1 }}, sixCards)
	add("for-another", "an order for another house",
		context(func(c *audit.Context) { c.ForLedger = "other.example" }), sixCards)
	add("for-nobody", "an order for nobody", context(func(c *audit.Context) { c.ForLedger = "" }), sixCards)
	add("other-production", "an order of a sandbox", context(func(c *audit.Context) { c.Production = false }), sixCards)
	add("other-disclosure", "an order whose tape goes to auditors",
		context(func(c *audit.Context) { c.Disclosure = audit.DisclosureAuditor }), sixCards)
	add("other-size", "an order of five positions for six cards", context(func(c *audit.Context) {
		c.Recipe.Cards, c.Recipe.Take = 5, 5
	}), sixCards)
	add("other-ranges", "an order of draws of which one has another range",
		context(func(c *audit.Context) { c.Recipe.Ranges = []uint32{6, 37, 99} }), nil)
	add("fewer-ranges", "an order of a draw less",
		context(func(c *audit.Context) { c.Recipe.Ranges = []uint32{6, 37} }), nil)
	add("other-kind", "an order of draws for cards", context(func(c *audit.Context) {
		c.Recipe.Cards, c.Recipe.Take, c.Recipe.Ranges, c.DeckHash = 0, 0, []uint32{6}, [32]byte{}
	}), sixCards)
	add("closes-early", "an order that closes a millisecond less than an hour behind the shuffle",
		misfit{closes: func(c, order *audit.Commit) { c.CloseBy = order.CloseBy - 3600_000 + 1 }}, sixCards)
}

// notAsked are deals and closes that are not those of the order.
func notAsked(b *badAdder) {
	two := []audit.Run{seat("a", 2)}
	add := func(name, about string, play func(*pair)) {
		p := hand(b.T)
		play(p)
		blindCase(b, stepAsked, name, about, p)
	}
	play := func(p *pair, change func(*audit.Blind)) {
		blind := p.given(p.ask(0, two))
		change(blind)
		p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: blind})
	}
	add("deal-index", "a deal that names another index of the order's ledger", func(p *pair) {
		play(p, func(b *audit.Blind) { b.Deal.Index, b.Head.Size = b.Deal.Index+1, b.Head.Size+1 })
	})
	add("deal-leaf", "a deal that names another hash of the order's deal", func(p *pair) {
		play(p, func(b *audit.Blind) { b.Deal.Leaf[0] ^= 1 })
	})
	add("last-deal-left-out", "the last deal of the co-dealer left out", func(p *pair) {
		p.play(two...).play(two...)
		p.proofs = p.proofs[:2]
	})
	add("other-place", "the same runs, asked for at another place", func(p *pair) {
		p.by.h.cheating()
		blind := p.given(p.ask(0, two, func(a *audit.Asked, d *audit.Deal) {
			d.First = 1
			a.Sign(audit.AskKey(p.commit.Commitment, p.tape), 1, two)
		}))
		blind.Values = p.by.values[:2]
		p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: blind})
	})
	continued := hand(b.T)
	continued.h.cheating()
	continued.play(two...).continuedAlone()
	blindCase(b, stepLegality, "continued", "a hand with a co-dealer continued: it has no child", continued)
	order := hand(b.T)
	order.by.h.cheating()
	order.play(two...).close(audit.OutcomeCompleted, 0)
	order.by.h.addBytes(seeded("where a child could stand", 20))
	order.by.closeAs(&audit.Close{Shuffle: order.by.id, Outcome: audit.OutcomeContinued, Follows: order.follows()})
	order.prove()
	blindCase(b, stepEntries, "order-continued", "an order continued: it has no child", order)
	unplayed := func(p *pair, d *audit.Deal, change func(*audit.Blind)) {
		blind := p.given(d)
		change(blind)
		p.gone(blind)
	}
	as := func(*audit.Blind) {}
	add("unplayed-left-out", "the close names a deal of the co-dealer that the file has not", func(p *pair) {
		unplayed(p, p.ask(0, two), as)
		p.proofs = p.proofs[:1]
	})
	add("unplayed-twice", "two openings that were not dealt on", func(p *pair) {
		p.ask(0, two)
		unplayed(p, p.ask(2, two), as)
	})
	add("unplayed-another", "the close names another hash of what was not played", func(p *pair) {
		unplayed(p, p.ask(0, two), func(b *audit.Blind) { b.Deal.Leaf[0] ^= 1 })
	})
	add("unplayed-not-asked", "what was not played was asked for without the tape",
		func(p *pair) { unplayed(p, p.ask(0, two, func(a *audit.Asked, _ *audit.Deal) { a.Ask[63] ^= 1 }), as) })
	elsewhere := func(name, about string, first int, runs ...audit.Run) {
		add(name, about, func(p *pair) { p.by.h.cheating(); unplayed(p, p.ask(first, runs), as) })
	}
	elsewhere("unplayed-behind-a-gap", "what was not played was asked for behind a place that was left out", 1, two...)
	elsewhere("unplayed-too-long", "what was not played was asked for behind the last place", 0,
		audit.Run{Count: 7, Purpose: audit.PurposeBurn})
	closed := func(name, about string, follows func(p *pair, f *audit.Follows) *audit.Follows) {
		add(name, about, func(p *pair) {
			p.play(two...).close(audit.OutcomeCompleted, audit.ReasonNone)
			p.by.h.cheating()
			p.ends(audit.OutcomeCompleted, follows(p, p.follows()))
		})
	}
	closed("closed-behind-nothing", "the order was closed, and follows nothing",
		func(*pair, *audit.Follows) *audit.Follows { return nil })
	closed("closed-at-another-index", "the order was closed behind another index than the shuffle's close",
		func(_ *pair, f *audit.Follows) *audit.Follows { f.Index--; return f })
	closed("closed-behind-another", "the order was closed behind another hash than the shuffle's close",
		func(_ *pair, f *audit.Follows) *audit.Follows { f.Leaf[0] ^= 1; return f })
	closed("closed-behind-deal", "the order was closed behind a deal of the shuffle",
		func(p *pair, f *audit.Follows) *audit.Follows {
			f.Foreign = *p.at(len(p.h.entries) - 2)
			return f
		})
	closed("closed-with-fewer", "the order's close names a place less than its deals in the file have",
		func(_ *pair, f *audit.Follows) *audit.Follows { f.Places--; return f })
	add("expired-with-fewer", "the order expired, and its close names a place less than its deals in the file have",
		func(p *pair) {
			p.play(two...).close(audit.OutcomeCompleted, audit.ReasonNone)
			p.by.h.cheating()
			f := p.follows()
			f.Places--
			p.ends(audit.OutcomeExpired, f)
		})
	p := hand(b.T).play(two...).end()
	blindCase(b, stepAsked, "house-close-left-out", "the order was closed behind a close that the file has not", p,
		func(f *openings.Transcript) { f.Receipts = f.Receipts[:len(f.Receipts)-1] })
}

// notSeen are files whose evidence of the co-dealer is not that of its log and witnesses.
func notSeen(b *badAdder) {
	two := seat("a", 2)
	handed := func(next keyPair, by ...keyPair) *pair {
		lab := coDealer(b.T)
		p := blind(open(b.T, withPin), lab, sixCards)
		trusted := lab.key
		lab.rotateAs(next, by...)
		p.play(two)
		lab.key = trusted // in the policy
		return p
	}
	first, next := coDealer(b.T).key, newKey(b.T, "lab.example.org/orders", "second co-dealer key")
	blindCase(b, stepCoDealer, "unknown-key", "a key of the co-dealer that nothing hands on to", handed(next, first, next),
		func(f *openings.Transcript) { f.CoDealer.Keys = nil })
	blindCase(b, stepCoDealer, "not-handed-on", "a key of the co-dealer that its first key did not sign",
		handed(next, next))
	blindCase(b, stepCoDealer, "not-taken-over", "a key of the co-dealer that did not sign", handed(next, first))
	blindCase(b, stepCoDealer, "handed-to-house", "the co-dealer handed its ledger on to the house's key",
		handed(newKey(b.T, "lab.example.org/orders", "ledger key"), first,
			newKey(b.T, "lab.example.org/orders", "ledger key")))
	co := coDealer(b.T)
	gone := blind(open(b.T, withPin), co, sixCards)
	long := newLongKey(b.T, co.key.name, "long key of the co-dealer")
	long.add(co, long)
	co.long = nil
	blindCase(b, stepCoDealer, "mldsa-gone", "the co-dealer's key of ML-DSA-44 does not sign what it covers",
		gone.play(two))
	astray := func(text string) string {
		r, err := audit.ParseReceipt(text)
		must(b.T, err)
		r.Proof[0][0] ^= 1
		return r.Text()
	}
	blindCase(b, stepCoDealer, "not-included", "a proof of the co-dealer's that leads elsewhere", hand(b.T).play(two),
		func(f *openings.Transcript) { f.CoDealer.Receipts[1] = astray(f.CoDealer.Receipts[1]) })
	blindCase(b, stepCoDealer, "key-not-included", "a proof of the co-dealer's key that leads elsewhere",
		handed(next, first, next),
		func(f *openings.Transcript) { f.CoDealer.Keys[0].Receipt = astray(f.CoDealer.Keys[0].Receipt) })
	notOneHistory(b, next)
	p := hand(b.T)
	common := newKey(b.T, p.h.key.name, "co-dealer key")
	p.h.cheating().rotateAs(common, p.h.key, common)
	blindCase(b, stepCoDealer, "handed-to-co-dealer", "the house handed its ledger on to the co-dealer's key",
		p.play(two))
	house := openAs(b.T, newKey(b.T, "example.com/main", "co-dealer key"))
	house.witnesses = coDealer(b.T).witnesses
	house.cheating()
	blindCase(b, stepCoDealer, "one-origin", "the co-dealer has the house's origin",
		misfit{}.pair(open(b.T, withPin).cheating(), house, sixCards))
}

// notOneHistory are files whose checkpoints of the co-dealer are not of one history, though its keys signed and its
// witnesses cosigned each of them.
func notOneHistory(b *badAdder, next keyPair) {
	blindCase(b, stepCoDealer, "fork", "the order's commit stands in another history than the deals", forkedPair(b.T))
	heads := func(step, name, about string, change func([]audit.Last) []audit.Last) {
		blindCase(b, step, name, about, hand(b.T).play(seat("a", 1)).play(seat("b", 1)),
			func(f *openings.Transcript) { f.CoDealer.Heads = change(f.CoDealer.Heads) })
	}
	path := func(step, name, about string, change func(l *audit.Last)) {
		heads(step, name, about, func(h []audit.Last) []audit.Last { change(&h[0]); return h })
	}
	path(stepCoDealer, "head-path-short", "the path of a checkpoint's last entry lacks a hash",
		func(l *audit.Last) { l.Proof = l.Proof[1:] })
	path(stepCoDealer, "head-path-long", "the path of a checkpoint's last entry has a hash more",
		func(l *audit.Last) { l.Proof = append(l.Proof, l.Leaf) })
	path(stepFormat, "head-path-64", "the path of a checkpoint's last entry has 64 hashes",
		func(l *audit.Last) { l.Proof = slices.Repeat(tlog.RecordProof{l.Leaf}, 64) })
	heads(stepCoDealer, "head-exchanged", "the path of another checkpoint's last entry",
		func(h []audit.Last) []audit.Last { return []audit.Last{h[1], h[0]} })
	heads(stepFormat, "head-left-out", "one of two checkpoints has no path",
		func(h []audit.Last) []audit.Last { return h[:1] })
	heads(stepFormat, "head-more", "more paths than checkpoints",
		func(h []audit.Last) []audit.Last { return append(h, h[0]) })
	late := hand(b.T).play(seat("a", 1))
	late.by.h.rotateAs(next, late.by.h.key, next)
	blindCase(b, stepCoDealer, "key-above", "a key of the co-dealer above each checkpoint of the file", late,
		func(f *openings.Transcript) { // which pair leaves out
			h := late.by.h
			f.CoDealer.Keys = h.firstHanded()
			h.key = coDealer(b.T).key
		})
	spliced, other := hand(b.T), hand(b.T)
	other.by.h.hireAs(service("house-b"), audit.RoleBlind)
	for _, p := range []*pair{spliced, other} {
		first := p.by.h.key
		p.by.h.rotateAs(next, first, next)
		p.play(seat("a", 1))
		p.by.h.key = first
	}
	blindCase(b, stepCoDealer, "keys-spliced", "the keys of another history of the co-dealer", spliced,
		func(f *openings.Transcript) { f.CoDealer.Keys = other.transcript().CoDealer.Keys })

	mldsa := func(name string, p *pair, play func()) {
		h := p.by.h
		long := newLongKey(b.T, h.key.name, "long key of the co-dealer")
		long.add(h, long)
		play()
		f := p.transcript()
		f.CoDealer.Keys = h.firstHanded()
		b.file(stepCoDealer, "blind-"+name, "a trusted key of ML-DSA-44 signed nothing that begins with these checkpoints",
			marshal(b.T, f), func(v *vector) { v.Trust.CoDealer = "log " + long.vkey + "\n" + string(secondPolicy(h)) })
	}
	fork := forkedPair(b.T)
	mldsa("mldsa-fork", fork, func() { fork.play(seat("c", 1)) })
	mldsa("mldsa-above", hand(b.T).play(seat("a", 1)), func() {})
}

// firstHanded is the first key that was handed on to, in the tree of now.
func (h *house) firstHanded() []audit.Handover {
	return []audit.Handover{{Receipt: h.bare(h.handed[0].Index), Checkpoint: string(h.handed[0].Checkpoint)}}
}

// mixedPolicies are policies by one of which house or co-dealer is the other's witness or log.
func mixedPolicies(t testing.TB, p *pair, add func(name, about, vkey, policy, coDealer string)) {
	witness := func(key keyPair) string {
		vkey, _ := key.witnessKey()
		return fmt.Sprintf("witness more %s\n", vkey)
	}
	second, house := string(secondPolicy(p.by.h)), fmt.Sprintf("log %s\n", p.h.key.vkey)
	named := func(key keyPair, seed string) string { return witness(newKey(t, key.name, seed)) }
	with := func(key keyPair) string { key.name = "w3.example.org"; return witness(key) }
	add("house-names-witness", "a witness of the co-dealer has the house's name", p.h.key.vkey, "",
		named(p.h.key, "another")+second)
	add("house-key-witness", "a witness of the co-dealer has the house's key", p.h.key.vkey, "", with(p.h.key)+second)
	add("co-dealer-names-witness", "a witness of the house has the co-dealer's name", "",
		house+named(p.by.h.key, "another")+"quorum none\n", second)
	add("co-dealer-key-witness", "a witness of the house has the co-dealer's key", "",
		house+with(p.by.h.key)+"quorum none\n", second)
	add("co-dealer-log", "a log line for the house has the co-dealer's key", "",
		house+fmt.Sprintf("log %s\nquorum none\n", p.by.h.key.vkey), second)
}
