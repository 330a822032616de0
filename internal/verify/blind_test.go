package verify

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// pair is a shuffle of a house and the order of its co-dealer.
type pair struct {
	*game        // of the house
	by     *game // of the co-dealer
	proofs []string
	state  [32]byte
	before tlog.Hash
	cards  []audit.Card
}

// coDealer opens the co-dealer's ledger: its witnesses are common ones.
func coDealer(t testing.TB) *house {
	h := openAs(t, newKey(t, "lab.example.org/orders", "co-dealer key"))
	h.witnesses = []keyPair{newKey(t, "w1.example.org", "witness 1"), newKey(t, "w2.example.org", "witness 2")}
	h.dealer = service("house-a")
	h.hireAs(h.dealer, audit.RoleBlind)
	return h
}

func (h *house) hireAs(who audit.Actor, role audit.Role) {
	h.hired[who] = true
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: who.Credential, Form: audit.FormToken, Role: role,
		Identity: who.Identity}
	c.Digest = c.Opens(hash32("secret of " + who.Credential))
	h.add(c)
}

// secondPolicy is what a reader trusts for the co-dealer.
func secondPolicy(h *house) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "log %s\n", h.key.vkey)
	for i, w := range h.witnesses {
		vkey, _ := w.witnessKey()
		fmt.Fprintf(&b, "witness w%d %s\n", i+1, vkey)
	}
	b.WriteString("group g all w1 w2\nquorum g\n")
	return []byte(b.String())
}

// blind commits to a shuffle of the deck with a co-dealer, whose order is made before.
func blind(a, b *house, deck []string, change ...func(*audit.Context)) *pair {
	a.t.Helper()
	if a.state != nil {
		a.add(&audit.Key{Subject: audit.SubjectCoDealer, Origin: b.key.name, Public: b.key.public(),
			Policy: secondPolicy(b)})
	}
	var positions []string
	for i := range deck {
		positions = append(positions, fmt.Sprint(i))
	}
	order, of := b.draws(6, 37, 100), a.draws(6, 37, 100)
	if deck != nil {
		order, of = b.cards(positions), a.cards(deck)
	}
	order.ForLedger = a.key.name
	for _, f := range change {
		f(of)
	}
	order.Disclosure = of.Disclosure
	p := &pair{by: b.commitTo(order, positions, func(c *audit.Commit, _ *game) { c.CloseBy += 7200_000 })}
	p.prove()
	of.Plan = slices.Concat([]audit.Planned{{Source: audit.SourceCoDealer, Index: p.by.id,
		Leaf: tlog.RecordHash(b.entries[p.by.id])}}, of.Plan)
	p.game = a.commitTo(of, deck, func(c *audit.Commit, g *game) {
		c.AskKey = audit.AskKey(c.Commitment, g.tape).Public().(ed25519.PublicKey)
	})
	p.before = tlog.RecordHash(a.entries[p.id])
	if len(of.Mixed()) == 0 {
		p.reorder(nil)
	}
	return p
}

// prove keeps the receipt of the co-dealer's newest entry.
func (p *pair) prove() {
	p.proofs = append(p.proofs, p.by.h.receipt(uint64(len(p.by.h.entries)-1)).Text())
}

func (p *pair) reorder(m *audit.Mix) {
	order, err := audit.NewOrder(tlog.RecordHash(p.h.entries[p.id]), p.commit, m)
	must(p.h.t, err)
	p.order = order
}

// mixed writes the mix.
func (p *pair) mixed(values ...audit.MixValue) *pair {
	p.mix(values...)
	p.before = tlog.RecordHash(p.h.entries[len(p.h.entries)-1])
	return p
}

// ask has the co-dealer deal the next places; change may make the request dishonest.
func (p *pair) ask(first int, runs []audit.Run, change ...func(*audit.Asked, *audit.Deal)) *audit.Deal {
	p.h.t.Helper()
	root, err := tlog.TreeHash(int64(len(p.h.entries)), p.h.reader())
	must(p.h.t, err)
	a := &audit.Asked{Commit: audit.Foreign{Index: p.id, Leaf: tlog.RecordHash(p.h.entries[p.id])}, After: p.before,
		Head: audit.Head{Size: uint64(len(p.h.entries)), Root: root}, State: p.state}
	a.Sign(audit.AskKey(p.commit.Commitment, p.tape), first, runs)
	d := &audit.Deal{Shuffle: p.by.id, First: first, Runs: runs, Asked: a}
	for _, f := range change {
		f(a, d)
	}
	p.by.dealAs(d)
	p.prove()
	return d
}

// given is what the co-dealer's newest deal opens.
func (p *pair) given(d *audit.Deal) *audit.Blind {
	p.h.t.Helper()
	h := p.by.h
	root, err := tlog.TreeHash(int64(len(h.entries)), h.reader())
	must(p.h.t, err)
	index := uint64(len(h.entries) - 1)
	b := &audit.Blind{Deal: audit.Foreign{Index: index, Leaf: tlog.RecordHash(h.entries[index])},
		Head: audit.Head{Size: uint64(len(h.entries)), Root: root}}
	place := d.First
	for _, r := range d.Runs {
		for range r.Count {
			if !r.Aside() {
				b.Values = append(b.Values, p.by.tree.Open(place).Value)
			}
			place++
		}
	}
	return b
}

// play deals the runs at the next place in both ledgers.
func (p *pair) play(runs ...audit.Run) *pair {
	p.h.t.Helper()
	d := p.ask(p.next(), runs)
	return p.dealt(&audit.Deal{Shuffle: p.id, First: p.next(), Runs: runs, Blind: p.given(d)})
}

func (p *pair) dealt(d *audit.Deal) *pair {
	p.h.t.Helper()
	first := d.First
	p.dealAs(d)
	p.order.Give(d)
	p.before = tlog.RecordHash(p.h.entries[len(p.h.entries)-1])
	place := first
	for _, r := range d.Runs {
		for range r.Count {
			if !r.Aside() {
				c := p.card(place)
				o := p.by.tree.Open(place)
				by := audit.NewCard(place, o, "")
				c.By = &audit.By{Value: o.Value, Salt: by.Salt, Proof: by.Proof}
				p.cards = append(p.cards, c)
			}
			place++
		}
	}
	return p
}

// end closes both, the order behind the shuffle.
func (p *pair) end() *pair {
	p.h.t.Helper()
	p.close(audit.OutcomeCompleted, audit.ReasonNone)
	index := uint64(len(p.h.entries) - 1)
	c := &audit.Close{Shuffle: p.by.id, Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: p.by.tape,
		Follows: &audit.Foreign{Index: index, Leaf: tlog.RecordHash(p.h.entries[index])}}
	if p.commit.Context.Disclosure == audit.DisclosureAuditor {
		c.Form, c.Key, c.Tape = audit.FormSealed, 2, seeded("sealed", len(p.by.tape)+1169)
	}
	p.by.closeAs(c)
	p.prove()
	return p
}

// transcript is the file of the pair for everybody, with the cards that were opened.
func (p *pair) transcript() *audit.Transcript {
	f := p.game.transcript("")
	f.Cards = slices.Clone(p.cards)
	f.CoDealer = &audit.CoDealer{Receipts: p.proofs}
	return f
}

func (p *pair) trust() Trust {
	return Trust{VKey: p.h.key.vkey, CoDealer: secondPolicy(p.by.h)}
}

func hand(t testing.TB) *pair {
	return blind(open(t, withPin), coDealer(t), sixCards)
}

// withPin declares co-dealers among the sources of mixes.
func withPin(g *audit.Genesis) { g.MixModes = 15 }

var burn = audit.Run{Count: 1, Purpose: audit.PurposeBurn}

func resultOf(v *Verdict, name string) string {
	for _, s := range v.Steps {
		if s.Name == name {
			return s.Result
		}
	}
	return "no such step"
}

// TestBlind: an honest hand is blind under a policy for the co-dealer, and only then.
func TestBlind(t *testing.T) {
	slot := hash32("slot")
	cases := map[string]func() *pair{
		"a hand":  func() *pair { return hand(t).play(seat("a", 1), seat("b", 1)).play(burn, board(2)).end() },
		"open":    func() *pair { return hand(t).play(seat("a", 1)) },
		"undealt": func() *pair { return hand(t) },
		"with a slot": func() *pair {
			a := open(t, withPin)
			p := blind(a, coDealer(t), sixCards, func(c *audit.Context) {
				c.Plan = []audit.Planned{{Source: audit.SourceSlot, Slot: audit.SlotHash(a.key.name, c.Table, slot)},
					{Source: audit.SourceCut}}
			})
			return p.mixed(audit.MixValue{Source: audit.SourceSlot, Slot: slot},
				audit.MixValue{Source: audit.SourceCut, Cut: 2}).play(seat("a", 2)).play(board(4)).end()
		},
		"draws": func() *pair { return blind(open(t, withPin), coDealer(t), nil).play(board(1)).play(board(2)).end() },
		"auditors": func() *pair {
			return blind(open(t, withPin), coDealer(t), sixCards, func(c *audit.Context) {
				c.Disclosure = audit.DisclosureAuditor
			}).play(seat("a", 1), board(1)).end()
		},
	}
	for name, play := range cases {
		t.Run(name, func(t *testing.T) {
			p := play()
			v := Transcript(marshal(t, p.transcript()), p.trust())
			if v.Verdict != Proved || resultOf(v, stepAsked) != StepOK || resultOf(v, stepCoDealer) != StepOK ||
				v.Blind == nil || len(v.Blind.Requests) != len(p.deals) {
				t.Fatalf("%s %s %+v %+v", v.Verdict, v.Failed, v.Blind, v.Steps)
			}
			without := p.trust()
			without.CoDealer = nil
			if v := Transcript(marshal(t, p.transcript()), without); v.Verdict != Proved || v.Blind != nil {
				t.Errorf("without a policy for the co-dealer: %s, %+v", v.Verdict, v.Blind)
			}
		})
	}
}

// TestBlindShows: what blind places show is the house's order through the co-dealer's.
func TestBlindShows(t *testing.T) {
	p := hand(t).play(board(6))
	for _, c := range p.cards {
		if want := p.values[p.by.values[c.Place]]; c.Value != want {
			t.Errorf("place %d shows %d, want %d", c.Place, c.Value, want)
		}
	}
	d := blind(open(t, withPin), coDealer(t), nil).play(board(3))
	v := Transcript(marshal(t, d.transcript()), d.trust())
	for i, k := range []uint32{6, 37, 100} {
		if want := 1 + (d.values[i]-1+d.by.values[i]-1)%k; v.Cards[i].Shows != want {
			t.Errorf("draw %d shows %d, want %d", i, v.Cards[i].Shows, want)
		}
	}
}

// TestNotBlind: what a house or co-dealer that cheats puts into a file fails at the step that
// is for it.
func TestNotBlind(t *testing.T) {
	two := []audit.Run{seat("a", 2)}
	cases := []struct {
		name, step string
		play       func(*pair) *audit.Transcript
	}{
		{"other runs than were asked for", stepAsked, func(p *pair) *audit.Transcript {
			d := p.ask(0, two)
			return p.dealt(&audit.Deal{Shuffle: p.id, Runs: []audit.Run{seat("b", 2)}, Blind: p.given(d)}).transcript()
		}},
		{"a request without the tape", stepAsked, func(p *pair) *audit.Transcript {
			d := p.ask(0, two, func(a *audit.Asked, _ *audit.Deal) { a.Ask[63] ^= 1 })
			return p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: p.given(d)}).transcript()
		}},
		{"a request in front of the deal before", stepAsked, func(p *pair) *audit.Transcript {
			commit := p.before
			p.play(two...)
			p.before = commit
			d := p.ask(2, two)
			return p.dealt(&audit.Deal{Shuffle: p.id, First: 2, Runs: two, Blind: p.given(d)}).transcript()
		}},
		{"a request for another shuffle", stepAsked, func(p *pair) *audit.Transcript {
			d := p.ask(0, two, func(a *audit.Asked, d *audit.Deal) {
				a.Commit.Leaf = hash32("another")
				a.Sign(audit.AskKey(p.commit.Commitment, p.tape), 0, d.Runs)
			})
			return p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: p.given(d)}).transcript()
		}},
		{"another value than was opened", stepOpenings, func(p *pair) *audit.Transcript {
			b := p.given(p.ask(0, two))
			b.Values[0] = (p.by.values[0] + 3) % 6
			return p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: b}).transcript()
		}},
		{"a card without the co-dealer's opening", stepOpenings, func(p *pair) *audit.Transcript {
			f := p.play(two...).transcript()
			f.Cards[0].By = nil
			return f
		}},
		{"another commit of the co-dealer", stepOpenings, func(p *pair) *audit.Transcript {
			context := *p.by.commit.Context
			context.Table = "table-2"
			other := p.by.h.commitTo(&context, p.by.deck, func(c *audit.Commit, _ *game) { c.CloseBy += 7200_000 })
			p.by = other
			p.proofs = nil
			p.prove()
			return p.play(two...).transcript()
		}},
		{"no evidence of the co-dealer", stepEntries, func(p *pair) *audit.Transcript {
			f := p.play(two...).transcript()
			f.CoDealer = nil
			return f
		}},
		{"a deal of the co-dealer left out", stepAsked, func(p *pair) *audit.Transcript {
			p.play(two...).play(two...)
			p.proofs = slices.Delete(p.proofs, 1, 2)
			return p.transcript()
		}},
		{"an opening that was not dealt on", stepAsked, func(p *pair) *audit.Transcript {
			p.play(two...)
			p.ask(2, two)
			return p.transcript()
		}},
		{"an order that was closed in mid-hand", stepAsked, func(p *pair) *audit.Transcript {
			p.play(two...)
			p.by.h.cheating()
			p.by.close(audit.OutcomeVoid, audit.ReasonMisdeal)
			p.prove()
			return p.transcript()
		}},
		{"a checkpoint that the co-dealer's witnesses did not see", stepCoDealer, func(p *pair) *audit.Transcript {
			p.by.h.witnesses = p.by.h.witnesses[:1]
			return p.play(two...).transcript()
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := hand(t)
			trust := p.trust()
			v := Transcript(marshal(t, c.play(p)), trust)
			if v.Verdict != Failed || v.Failed != c.step {
				t.Errorf("%s at %q, want a failure at %s: %+v", v.Verdict, v.Failed, c.step, v.Steps)
			}
		})
	}
}

// TestUnplayed: an opening that was not played stands in the close, and the file holds.
func TestUnplayed(t *testing.T) {
	p := hand(t).play(seat("a", 2))
	d := p.ask(2, []audit.Run{board(1)})
	p.closeAs(&audit.Close{Shuffle: p.id, Outcome: audit.OutcomeVoid, Reason: audit.ReasonCoDealer,
		Form: audit.FormTape, Tape: p.tape, Unplayed: p.given(d)})
	if v := Transcript(marshal(t, p.transcript()), p.trust()); v.Verdict != Proved || v.Blind == nil {
		t.Errorf("%s at %s: %+v", v.Verdict, v.Failed, v.Steps)
	}
}

// TestCoDealerApart: the house is not its own co-dealer, by key, name or witness.
func TestCoDealerApart(t *testing.T) {
	p := hand(t).play(seat("a", 2))
	file := marshal(t, p.transcript())
	witness := func(name string, key keyPair) string {
		vkey, _ := key.witnessKey()
		return fmt.Sprintf("witness %s %s\n", name, vkey)
	}
	house := fmt.Sprintf("log %s\n", p.h.key.vkey)
	cases := map[string]Trust{
		"the house's key is the co-dealer's": {VKey: p.h.key.vkey,
			CoDealer: append([]byte(house), secondPolicy(p.by.h)...)},
		"the house is a witness of the co-dealer": {VKey: p.h.key.vkey,
			CoDealer: append([]byte(witness("house", p.h.key)), secondPolicy(p.by.h)...)},
		"the co-dealer is a witness of the house": {
			Policy: []byte(house + witness("co-dealer", p.by.h.key) + "quorum none\n"), CoDealer: secondPolicy(p.by.h)},
	}
	for name, trust := range cases {
		if v := Transcript(file, trust); v.Failed != stepCoDealer {
			t.Errorf("%s: %s at %q", name, v.Verdict, v.Failed)
		}
	}
	weak := Trust{VKey: p.h.key.vkey, CoDealer: []byte(fmt.Sprintf("log %s\nquorum none\n", p.by.h.key.vkey))}
	v := Transcript(file, weak)
	if v.Verdict != Proved || resultOf(v, stepCoDealer) != StepNotChecked || v.Blind != nil {
		t.Errorf("a policy that asks for no witness: %s, %+v", v.Verdict, v.Blind)
	}
}

// TestAskKeys: all replicas of a house sign a request alike.
func TestAskKeys(t *testing.T) {
	commitment, tape := hash32("commitment"), seeded("tape", 129)
	var a, b audit.Asked
	a.Sign(audit.AskKey(commitment, tape), 3, []audit.Run{seat("a", 2)})
	b.Sign(audit.AskKey(commitment, tape), 3, []audit.Run{seat("a", 2)})
	if a.Ask != b.Ask || a.Ask == [64]byte{} {
		t.Error("one request has two signatures")
	}
}
