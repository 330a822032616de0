package verify

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// pair is a shuffle of a house and the order of its co-dealer.
type pair struct {
	*game        // of the house
	by     *game // of the co-dealer
	proofs []string
	state  [32]byte
	before tlog.Hash
	cards  []openings.Card
	after  []openings.Card // of what was not played
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
	return misfit{}.pair(a, b, deck, change...)
}

// misfit is what a shuffle and its order have other than blind makes it; nil: nothing.
type misfit struct {
	order   func(*audit.Context)         // before it is committed to
	planned func(*audit.Planned)         // the co-dealer in the plan
	closes  func(a, order *audit.Commit) // by when
}

func (m misfit) pair(a, b *house, deck []string, change ...func(*audit.Context)) *pair {
	a.t.Helper()
	if a.state != nil {
		pin := &audit.Key{Subject: audit.SubjectCoDealer, Origin: b.key.name, Public: b.key.public(),
			Policy: secondPolicy(b)}
		a.approve(audit.ActCoDealer, audit.Daemon, pin)
		a.add(pin)
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
	if m.order != nil {
		m.order(order)
		b.cheating()
	}
	p := &pair{by: b.commitTo(order, positions, func(c *audit.Commit, _ *game) { c.CloseBy += 7200_000 })}
	p.prove()
	planned := audit.Planned{Source: audit.SourceCoDealer, Origin: b.key.name, Index: p.by.id,
		Leaf: tlog.RecordHash(b.entries[p.by.id])}
	if m.planned != nil {
		m.planned(&planned)
	}
	of.Plan = slices.Concat([]audit.Planned{planned}, of.Plan)
	p.game = a.commitTo(of, deck, func(c *audit.Commit, g *game) {
		if m.closes != nil {
			m.closes(c, p.by.commit)
		}
		c.AskKey = audit.AskKey(c.Commitment, g.tape).Public().(ed25519.PublicKey)
	})
	p.other = b.top
	p.before = tlog.RecordHash(a.entries[p.id])
	if len(of.Mixed()) == 0 {
		p.reorder(nil)
	}
	return p
}

// top is size and root of the ledger.
func (h *house) top() audit.Head {
	root, err := tlog.TreeHash(int64(len(h.entries)), h.reader())
	must(h.t, err)
	return audit.Head{Size: uint64(len(h.entries)), Root: root}
}

// prove keeps the receipt of the co-dealer's newest entry.
func (p *pair) prove() {
	p.proofs = append(p.proofs, p.by.h.receipt(uint64(len(p.by.h.entries)-1)).Text())
}

func (p *pair) reorder(m *audit.Mix) {
	order, err := openings.NewOrder(tlog.RecordHash(p.h.entries[p.id]), p.commit, m)
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
	a := &audit.Asked{Commit: audit.Foreign{Index: p.id, Leaf: tlog.RecordHash(p.h.entries[p.id])}, After: p.before,
		Head: p.h.top(), State: p.state}
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
	index := uint64(len(h.entries) - 1)
	b := &audit.Blind{Deal: audit.Foreign{Index: index, Leaf: tlog.RecordHash(h.entries[index])}, Head: h.top()}
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
				p.cards = append(p.cards, p.both(place))
			}
			place++
		}
	}
	return p
}

// both are the openings of a place by both ledgers.
func (p *pair) both(place int) openings.Card {
	c, o := p.card(place), p.by.tree.Open(place)
	by := openings.NewCard(place, o, "")
	c.By = &openings.By{Value: o.Value, Salt: by.Salt, Proof: by.Proof}
	return c
}

// at names an entry of the house.
func (p *pair) at(index int) *audit.Foreign {
	return &audit.Foreign{Index: uint64(index), Leaf: tlog.RecordHash(p.h.entries[index])}
}

// follows is what the close of the order says: it comes behind the house's newest entry.
func (p *pair) follows() *audit.Follows {
	return &audit.Follows{Foreign: *p.at(len(p.h.entries) - 1), Places: p.by.next()}
}

// end closes both, the order behind the shuffle.
func (p *pair) end() *pair {
	p.h.t.Helper()
	p.close(audit.OutcomeCompleted, audit.ReasonNone)
	return p.ends(audit.OutcomeCompleted, p.follows())
}

// ends closes the order.
func (p *pair) ends(outcome audit.Outcome, follows *audit.Follows) *pair {
	p.h.t.Helper()
	c := &audit.Close{Shuffle: p.by.id, Outcome: outcome, Form: audit.FormTape, Tape: p.by.tape, Follows: follows}
	if p.commit.Context.Disclosure == audit.DisclosureAuditor {
		c.Form, c.Key, c.Tape = audit.FormSealed, 2, seeded("sealed", len(p.by.tape)+1169)
	}
	p.by.closeAs(c)
	p.prove()
	return p
}

// transcript is the file of the pair for everybody, with the cards that were opened.
func (p *pair) transcript() *openings.Transcript {
	f := p.game.transcript("")
	f.Cards = slices.Clone(p.cards)
	f.CoDealer = &openings.CoDealer{Receipts: p.proofs, Unplayed: p.after}
	co, h, sizes := f.CoDealer, p.by.h, p.sizes()
	for i := range sizes[1:] {
		last := min(sizes[i], sizes[i+1], uint64(len(h.entries))) - 1
		co.Heads = append(co.Heads, audit.Receipt{Entry: h.entries[last], Proof: h.path(last, sizes[i+1])}.Last())
	}
	for _, r := range h.handed {
		if i := slices.IndexFunc(sizes, func(size uint64) bool { return size > r.Index }); i >= 0 {
			bare := audit.Receipt{Index: r.Index, Entry: r.Entry, Proof: h.path(r.Index, sizes[i])}.Text()
			co.Keys = append(co.Keys, audit.Handover{Receipt: bare, Checkpoint: string(r.Checkpoint)})
		}
	}
	return f
}

// sizes are those of the checkpoints of the proofs.
func (p *pair) sizes() (sizes []uint64) {
	for _, text := range p.proofs {
		r, err := audit.ParseReceipt(text)
		must(p.h.t, err)
		c, err := audit.CheckpointText(r.Checkpoint)
		must(p.h.t, err)
		sizes = append(sizes, c.Size)
	}
	return sizes
}

// path is that of an entry in the tree of the first entries.
func (h *house) path(index, size uint64) tlog.RecordProof {
	h.t.Helper()
	path, err := tlog.ProveRecord(int64(size), int64(index), h.reader())
	must(h.t, err)
	return path
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
