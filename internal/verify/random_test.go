package verify

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// player plays random games and damages what comes of them, always the same for one seed.
type player struct {
	t testing.TB
	*rand.Rand
	trio
}

func newPlayer(t testing.TB, seed uint64) *player {
	return &player{t, rand.New(rand.NewPCG(seed, 0)), newTrio(t)}
}

func (p *player) chance(percent int) bool { return p.IntN(100) < percent }

func pick[T any](p *player, from ...T) T { return from[p.IntN(len(from))] }

// game plays by the rules, to any point of a shuffle's life. Now and then the
// cards lie in another order than the tape says, which no rule can see.
func (p *player) game() *game {
	cosigned := p.chance(15)
	h := open(p.t, func(g *audit.Genesis) {
		g.Production = p.chance(50)
		if cosigned {
			cosignedDeals(g)
		}
		if p.chance(20) {
			g.AuditorKeys, g.Disclosure = nil, audit.DisclosurePublic
		}
	})
	h.witnesses = slices.DeleteFunc([]keyPair{p.a, p.b, p.c}, func(keyPair) bool { return p.chance(30) })
	g := h.commitTo(p.context(h), nil, func(c *audit.Commit, g *game) {
		if c.Context.Recipe.Ranges == nil {
			g.deck = p.deckOf(c.Context.Recipe.Cards)
		}
		c.GameRef = pick(p, "", "hand-1", "h.1")
		if n := len(g.values); n > 1 && p.chance(8) {
			g.values[0], g.values[n-1] = g.values[n-1], g.values[0]
			g.plant(c, g.values)
		}
	})
	if p.chance(60) {
		g.witness()
	}
	plays, ready := p.takeOver(g), len(g.commit.Context.Plan) == 0
	if plays && !ready && p.chance(90) {
		p.reveal(g)
		plays, ready = p.takeOver(g), true
	}
	if plays && ready {
		p.deal(g)
	}
	if g.early != "" && p.chance(15) {
		g.witness() // too late, if anything was dealt
	}
	if g.closed == nil && p.chance(75) {
		p.end(g)
	}
	for range p.IntN(4) {
		h.addBytes(seeded("another entry", 20))
	}
	return g
}

func (p *player) deckOf(n int) []string {
	deck := make([]string, n)
	for i := range deck {
		deck[i] = fmt.Sprintf("card %d", i)
	}
	return deck
}

func (p *player) context(h *house) *audit.Context {
	var ctx *audit.Context
	if p.chance(15) {
		n := 2 + p.IntN(1<<p.IntN(30))
		ctx = h.numbers(n, 1+p.IntN(min(n, 12)))
	} else if p.chance(30) {
		ranges := make([]uint32, 1+p.IntN(6))
		for i := range ranges {
			ranges[i] = 1 + p.Uint32N(1<<p.IntN(31))
		}
		ctx = h.draws(ranges...)
	} else {
		n := 2 + p.IntN(pick(p, 4, 20, 80))
		ctx = h.cards(p.deckOf(n))
		ctx.Recipe.Take = 1 + p.IntN(n)
		switch m := ctx.Recipe.Take; {
		case p.chance(25):
			ctx.EndAt = 1 + p.IntN(m)
		case p.chance(25) && m > 1:
			ctx.Recipe.EndLo = 1 + p.IntN(m-1)
			ctx.Recipe.EndHi = ctx.Recipe.EndLo + 1 + p.IntN(m-ctx.Recipe.EndLo)
		}
	}
	genesis, err := audit.ParseEntry(h.entries[0])
	must(p.t, err)
	ctx.Production = genesis.Body.(*audit.Genesis).Production
	if len(genesis.Body.(*audit.Genesis).AuditorKeys) > 0 && p.chance(15) {
		ctx.Disclosure = audit.DisclosureAuditor
	}
	if p.chance(40) {
		for i := range p.IntN(3) {
			ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceSlot,
				Slot: audit.SlotHash(h.key.name, ctx.Table, hash32(fmt.Sprintf("slot %d", i)))})
		}
		if p.chance(50) {
			ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceBeacon, Chain: hash32("chain"), Round: 1 +
				p.Uint64N(9)})
		}
		if ctx.Recipe.Ranges == nil && p.chance(50) {
			ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceCut})
		}
	}
	return ctx
}

// size is one of a checkpoint that the rules allow at the next entry.
func (p *player) size(g *game) uint64 {
	return g.id + 1 + p.Uint64N(uint64(len(g.h.entries))-g.id)
}

// takeOver has another identity take the shuffle over, now and then, and says whether its owner may play.
func (p *player) takeOver(g *game) (plays bool) {
	for p.chance(15) {
		g.takeOver(pick(p, slices.DeleteFunc([]string{"dealer", "second", "third"},
			func(name string) bool { return name == g.h.dealer.Identity })...),
			audit.ExtentPlay)
		if p.chance(30) { // who may only close may take over to play
			g.takeOver(pick(p, slices.DeleteFunc([]string{"dealer", "second"},
				func(name string) bool { return name == g.h.dealer.Identity })...), audit.ExtentClose)
			if p.chance(50) {
				return false
			}
			g.takeOver(g.h.dealer.Identity, audit.ExtentPlay)
		}
	}
	return true
}

func (p *player) reveal(g *game) {
	values := make([]audit.MixValue, len(g.commit.Context.Plan))
	for i, s := range g.commit.Context.Plan {
		values[i] = audit.MixValue{Source: s.Source}
		switch s.Source {
		case audit.SourceSlot:
			values[i].Slot = hash32(fmt.Sprintf("slot %d", i))
		case audit.SourceBeacon:
			values[i].Beacon = [48]byte(seeded("beacon", 48))
		case audit.SourceCut:
			values[i].Cut = uint16(p.IntN(g.commit.Context.Recipe.Positions()))
		}
	}
	g.mixAs(&audit.Mix{Shuffle: g.id, Checkpoint: p.size(g), Values: values})
}

func (p *player) deal(g *game) {
	for left := g.commit.Context.Recipe.Positions(); left > 0 && p.chance(80) && g.closed == nil; {
		d := &audit.Deal{Shuffle: g.id, First: g.next(), Checkpoint: p.size(g)}
		for left > 0 && len(d.Runs) < 3 {
			n := 1 + p.IntN(min(left, 4))
			d.Runs = append(d.Runs, pick(p, seat("seat-1", n), seat("seat-2", n), board(n),
				audit.Run{Count: n, Purpose: audit.PurposeBurn}))
			if g.commit.Context.IsNumbers() {
				d.Runs[len(d.Runs)-1].Public = true
			}
			left -= n
		}
		d.Final = p.chance(15)
		g.dealAs(d)
		p.show(g, d.Final)
		if d.Final {
			g.close(audit.OutcomeCompleted, 0)
		}
	}
}

// show reveals places, now and then; a house that cheats any.
func (p *player) show(g *game, final bool) {
	if !p.chance(25) {
		return
	}
	r := &audit.Reveal{Shuffle: g.id, Final: final, Exposed: p.chance(20)}
	place := 0
	for _, d := range g.deals {
		for _, run := range d.Runs {
			for range run.Count {
				hidden := !run.Public && !slices.Contains(g.revealed, place) &&
					(final || r.Exposed || run.Purpose != audit.PurposeBurn)
				if g.h.state == nil && p.chance(5) || hidden && p.chance(40) {
					r.Places = append(r.Places, uint16(place))
				}
				place++
			}
		}
	}
	if g.h.state == nil && p.chance(5) {
		r.Places = append(r.Places, uint16(place))
	}
	if len(r.Places) == 0 {
		return
	}
	g.reveal(r.Final, r.Exposed, r.Places...)
}

func (p *player) end(g *game) {
	switch p.IntN(5) {
	case 0:
		g.close(audit.OutcomeVoid, audit.Reason(1+p.IntN(10)))
	case 1:
		g.h.now = g.commit.CloseBy + int64(p.IntN(2))*1000 - 1000
		g.close(audit.OutcomeExpired, 0)
	default:
		g.close(pick(p, audit.OutcomeCompleted, audit.OutcomeEndedEarly), 0)
	}
}

// trust is what a verifier may hold, mostly the right thing.
func (p *player) trust() Trust {
	switch n := p.IntN(20); {
	case n < 7:
		return Trust{VKey: p.key.vkey}
	case n < 9:
		return Trust{}
	case n < 10:
		return Trust{VKey: newKey(p.t, p.key.name, "another key").vkey}
	case n < 11:
		return Trust{Policy: p.damaged([]byte(p.policy(twoOfThree)))}
	default:
		return Trust{Policy: []byte(p.policy(pick(p, twoOfThree, "quorum none\n", "quorum a\n",
			"group g any a b c\nquorum g\n",
			"group g all a b\ngroup h any c g\nquorum h\n", "group g all a b c\nquorum g\n")))}
	}
}

// relaid is the game's file over a ledger in which one entry is damaged, signed
// by the real key: what only an operator can do.
func (p *player) relaid(g *game) []byte {
	h := *g.h
	h.state, h.entries, h.hashes = nil, nil, nil
	at := pick(p, append([]uint64{0, g.id, g.id}, g.indexes...)...)
	for i, e := range g.h.entries {
		if e = bytes.Clone(e); uint64(i) == at {
			if p.chance(50) {
				e = p.recoded(e)
			} else {
				e = p.damaged(e)
			}
		}
		h.addBytes(e)
	}
	forged := *g
	forged.h = &h
	if forged.early != "" && p.chance(60) {
		forged.early = string(h.head())
	}
	return forged.file("")
}

// recoded changes one field of an entry to something that can be written.
func (p *player) recoded(entry []byte) []byte {
	e, err := audit.ParseEntry(entry)
	must(p.t, err)
	small := func(n uint64) uint64 { return pick(p, 0, 1, 2, n+1, n+100, n-min(n, 1)) }
	switch b := e.Body.(type) {
	case *audit.Genesis:
		pick(p,
			func() { b.Production = !b.Production }, func() { b.MixModes = uint8(p.IntN(8)) },
			func() { b.MaxCloseBy = 3600 },
			func() { cosignedDeals(b) }, func() { b.Policy = p.damaged([]byte(p.policy(twoOfThree))) },
			func() { b.Origin = "example.com/other" },
			func() { b.SigningKey = append([]byte{1}, seeded(fmt.Sprint(p.IntN(9)), 32)...) },
			func() { b.AuditorKeys = [][]byte{append([]byte{1, 4}, seeded("no point", 64)...)} })()
	case *audit.Commit:
		pick(p,
			func() { b.Serial = small(b.Serial) }, func() { b.Previous = small(b.Previous) },
			func() { b.Serial, b.Previous = 2, small(2) },
			func() { b.Instance = small(b.Instance) },
			func() { b.CloseBy = pick(p, e.Time, e.Time+86400_000, e.Time+86400_001, e.Time-1) },
			func() { b.Context.Disclosure ^= 3 }, func() { b.Context.Production = !b.Context.Production },
			func() { b.Context.EndAt = p.IntN(5) },
			func() { b.DeckRoot[0] ^= 1 }, func() { b.Commitment[0] ^= 1 }, func() { b.Context.DeckHash[0] ^= 1 },
			func() { b.Context.Recipe.Take = p.IntN(8) }, func() { b.Context.Plan = nil },
			func() { b.Context.Of = pick(p, 0, b.Context.Of+1, uint32(len(b.Context.Recipe.Ranges))) },
			func() {
				b.Context.Parent = &audit.Parent{ID: small(b.Instance), Positions: positions(b.Context.Recipe.Cards)}
			})()
	case *audit.Mix:
		pick(p, func() { b.Checkpoint = small(b.Shuffle) }, func() { b.Values = b.Values[1:] },
			func() { b.Shuffle = small(b.Shuffle) },
			func() { b.Values[len(b.Values)-1].Cut += 60 }, func() { slices.Reverse(b.Values) },
			func() { e.Time += 3600_000 })()
	case *audit.Deal:
		pick(p, func() { b.Checkpoint = small(b.Shuffle) }, func() { b.First = p.IntN(9) },
			func() { b.Shuffle = small(b.Shuffle) },
			func() { b.Final = !b.Final }, func() { b.Runs[0].Count = p.IntN(5) },
			func() { b.Runs = append(b.Runs, board(p.IntN(50))) },
			func() { b.Runs[0].Recipient = "seat-2" }, func() { b.Runs[0].Public = !b.Runs[0].Public },
			func() { e.Time += 3600_000 }, func() { e.Time -= 2000 })()
	case *audit.Takeover:
		pick(p, func() { b.Extent ^= 3 }, func() { b.Shuffle = small(b.Shuffle) }, func() { e.Actor = audit.Operator },
			func() { e.Actor.Identity = pick(p, "dealer", "second", "third") }, func() { b.Reason = "another" })()
	case *audit.Close:
		pick(p, func() { b.Outcome = audit.Outcome(1 + p.IntN(5)) },
			func() { b.Outcome, b.Reason = audit.OutcomeVoid, audit.Reason(1+p.IntN(10)) },
			func() { b.Form, b.Key = audit.FormSealed, small(2) }, func() { b.Form, b.Key = audit.FormTape, 0 },
			func() { b.Shuffle = small(b.Shuffle) },
			func() { b.Tape = seeded("another", len(b.Tape)) }, func() { b.Tape = append(b.Tape, 0) },
			func() { b.Key = small(b.Key) },
			func() { b.Tape = bytes.Repeat([]byte{0xff}, len(b.Tape)) }, func() { e.Time += 3600_000 },
			func() { e.Time -= 2000 },
			func() {
				b.Form, b.Tape, b.Outcome, b.Reason = audit.FormNone, nil, audit.OutcomeVoid, audit.ReasonTapeLost
			})()
	}
	if out, err := e.Encode(); err == nil {
		return out
	}
	return p.damaged(entry) // not to be written
}

func positions(n int) []uint16 {
	out := make([]uint16, n)
	for i := range out {
		out[i] = uint16(i)
	}
	return out
}

// damaged changes a byte or two anywhere.
func (p *player) damaged(file []byte) []byte {
	b := bytes.Clone(file)
	for range 1 + p.IntN(2) {
		if len(b) == 0 {
			return b
		}
		at := p.IntN(len(b))
		switch p.IntN(6) {
		case 0:
			b[at] ^= 1 << p.IntN(8)
		case 1:
			b = slices.Delete(b, at, at+1)
		case 2:
			b = slices.Insert(b, at, byte(p.IntN(256)))
		case 3:
			b[at] = pick(p, byte(0), 1, 2, 3, 9, 0xff, '\n', ' ', '"', '0', '=')
		case 4:
			b = b[:at]
		case 5:
			end := min(len(b), at+1+p.IntN(40))
			b = slices.Insert(b, p.IntN(len(b)), bytes.Clone(b[at:end])...)
		}
	}
	return b
}

// retold edits the members of a transcript, and writes it in its one form.
func (p *player) retold(g *game, other *game) []byte {
	f := g.transcript(pick(p, "", "", "seat-1"))
	o := other.transcript("")
	receipt := func() string { return pick(p, append(slices.Clone(o.Receipts), f.Receipts...)...) }
	i := p.IntN(len(f.Receipts))
	edits := []func(){
		func() { f.ID = pick(p, o.ID, f.ID+1, 1) }, func() { f.Recipient = pick(p, "", "seat-1", "seat-2") },
		func() { f.Deck = o.Deck },
		func() { f.Receipts = slices.Delete(f.Receipts, i, i+1) }, func() { f.Receipts[i] = receipt() },
		func() { f.Receipts = slices.Insert(f.Receipts, i, receipt()) }, func() { f.Receipts = o.Receipts },
		func() { f.Checkpoint = o.Checkpoint },
		func() { f.Witnessed = p.seen(f, o) }, func() { f.Witnessed = o.Witnessed }, func() { f.Witnessed = nil },
		func() { f.Receipts[i] = p.rewritten(f.Receipts[i]) }, func() { f.Receipts[i] = p.rewritten(f.Receipts[i]) },
		func() {
			if f.Witnessed = p.seen(f, o); f.Witnessed != nil {
				f.Witnessed.Checkpoint = p.rewritten(f.Witnessed.Checkpoint)
			}
		},
		func() { f.Checkpoint = p.rewritten(f.Checkpoint) }, func() { f.Receipts[i] += f.Checkpoint },
		func() {
			f.Receipts = slices.Clone(f.Receipts)
			slices.Reverse(f.Receipts)
		},
	}
	if n := len(f.Cards); n > 0 {
		c, d := &f.Cards[p.IntN(n)], f.Cards[p.IntN(n)]
		edits = append(edits,
			func() { f.Cards = f.Cards[:p.IntN(n)] }, func() { *c = d }, func() { c.Place = p.IntN(n + 2) },
			func() { c.Position = p.IntN(n + 2) },
			func() { c.Value, c.Card = d.Value, d.Card }, func() { c.Card = d.Card }, func() { c.Card += "x" },
			func() { c.Salt = d.Salt }, func() { c.Proof = d.Proof },
			func() { c.Proof = append(slices.Clone(c.Proof), d.Salt) },
			func() { c.Value = pick(p, 0, 1<<32-1, c.Value+1) })
	}
	for range 1 + p.IntN(2) {
		pick(p, edits...)()
		if i >= len(f.Receipts) {
			i = 0
		}
		if len(f.Receipts) == 0 {
			break
		}
	}
	b, err := f.Marshal()
	if err != nil { // beyond what has a form
		return p.damaged(g.file(""))
	}
	return b
}

// seen mixes the members witnessed and the checkpoints of two files; nil if neither has that member.
func (p *player) seen(f, o *openings.Transcript) *openings.Prefix {
	a, b := cmp.Or(f.Witnessed, o.Witnessed), cmp.Or(o.Witnessed, f.Witnessed)
	if a == nil {
		return nil
	}
	return &openings.Prefix{Checkpoint: pick(p, f.Checkpoint, o.Checkpoint, b.Checkpoint),
		Last: audit.Last{Leaf: pick(p, a.Leaf, b.Leaf), Proof: pick(p, a.Proof, b.Proof)}}
}

// rewritten changes one line of a receipt.
func (p *player) rewritten(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return text
	}
	i := p.IntN(len(lines) - 1)
	switch p.IntN(5) {
	case 0:
		lines[i] = lines[p.IntN(len(lines))]
	case 1:
		lines = slices.Delete(lines, i, i+1)
	case 2:
		lines = slices.Insert(lines, i, lines[p.IntN(len(lines))])
	case 3:
		if name, b64, ok := strings.Cut(lines[i], " "); ok {
			if b, err := base64.StdEncoding.DecodeString(b64); err == nil {
				lines[i] = name + " " + base64.StdEncoding.EncodeToString(p.damaged(b))
			}
		}
	case 4:
		lines[i] = string(p.damaged([]byte(lines[i])))
	}
	return strings.Join(lines, "\n")
}

// file returns a file and what it is.
func (p *player) file() (kind string, file []byte) {
	g := p.game()
	receipt := func() string { return g.h.receipt(pick(p, append([]uint64{0, 1}, g.indexes...)...)).Text() }
	switch p.IntN(9) {
	case 0:
		return "honest transcript", g.file("")
	case 1:
		return "honest recipient's file", g.file("seat-1")
	case 2:
		return "honest receipt", []byte(receipt())
	case 3:
		return "damaged transcript", p.damaged(g.file(""))
	case 4:
		return "rewritten receipt", []byte(p.rewritten(receipt()))
	case 5, 6:
		return "edited transcript", p.retold(g, p.game())
	default:
		return "relaid ledger", p.relaid(g)
	}
}

// randomPolicy is nearly a policy: lines of the grammar in any order, with names
// that may be taken or missing, and damage now and then.
func (p *player) randomPolicy() []byte {
	var lines []string
	names := []string{"a", "b", "c", "g", "h"}
	witness := func(k keyPair) string { vkey, _ := k.witnessKey(); return vkey }
	if p.chance(85) {
		lines = append(lines, "log "+pick(p, p.key.vkey, p.key.vkey, p.key.vkey,
			newKey(p.t, "example.com/other", "ledger key").vkey)+pick(p, "", " https://example.com/", "\t"))
	}
	for i, k := range []keyPair{p.a, p.b, p.c} {
		if p.chance(90) {
			lines = append(lines, fmt.Sprintf("%switness%s%s %s%s", pick(p, "", " "), pick(p, " ", "\t "), names[i],
				witness(k), pick(p, "", "", " https://w.example/ ")))
		}
	}
	for _, name := range []string{"g", "h"} {
		if p.chance(60) {
			members := slices.Clone(names)
			p.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			lines = append(lines, fmt.Sprintf("group %s %s %s", name, pick(p, "any", "all", "1", "2", "3"),
				strings.Join(members[:1+p.IntN(3)], " ")))
		}
	}
	lines = append(lines, "quorum "+pick(p, "a", "b", "c", "g", "g", "h", "none"))
	switch p.IntN(12) {
	case 0:
		i := p.IntN(len(lines))
		lines = slices.Insert(lines, i, lines[p.IntN(len(lines))])
	case 1:
		i := p.IntN(len(lines))
		lines = slices.Delete(lines, i, i+1)
	case 2:
		lines = append(lines, pick(p, "", "# ours", " \t# caf\u00e9", "#\u0085", "#\u2028", "#\xff", "#\x00", "#\r",
			"log", "quorum", "group x any", "log "+witness(p.a),
			"witness d "+p.key.vkey, "witness none "+witness(newKey(p.t, "witness.example/4", "w4")),
			"witness d "+witness(p.a), "#"+strings.Repeat("x", pick(p, 8190, 8191, 8192)),
			"log "+newKey(p.t, strings.Repeat("n", pick(p, 127, 128, 129)), "long").vkey, "policy 2", "Log "+p.key.vkey,
			"quorum none # yes"))
	case 3:
		p.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	case 4:
		i := p.IntN(len(lines))
		lines[i] = strings.NewReplacer(pick(p, "+5a", "+31", "+BP", "="),
			pick(p, "+5A", "+32", "+Bg", "")).Replace(lines[i])
	}
	text := strings.Join(lines, "\n") + pick(p, "", "\n", "\n\n")
	if p.chance(15) {
		return p.damaged([]byte(text))
	}
	return []byte(text)
}
