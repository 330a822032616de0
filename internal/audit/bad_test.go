package audit

import (
	"fmt"
	"slices"
	"strings"
)

// The bad entries of testdata/entries.json. Want is the verdict of docs/SPEC.md
// section 1.4, Field the field that a reader names.
type badEntry struct {
	Name  string `json:"name"`
	Bytes hexed  `json:"bytes"`
	Want  string `json:"want"`
	Field string `json:"field"`
}

const (
	malformed = "malformed"
	unknown   = "unknown"
)

type badEntries struct {
	list []badEntry
	good map[string]refEntry
}

func makeBadEntries() []badEntry {
	b := &badEntries{good: make(map[string]refEntry)}
	for _, g := range goodEntries() {
		b.good[g.Name] = g.Entry
	}
	b.addHeads()
	b.addGenesis()
	b.addCommits()
	b.addContexts()
	b.addPlans()
	b.addMixesAndDeals()
	b.addCloses()
	b.addKeys()
	b.addEvents()
	return b.list
}

func (b *badEntries) add(name, want, field string, bytes []byte) {
	b.list = append(b.list, badEntry{Name: name, Bytes: bytes, Want: want, Field: field})
}

// of is a good entry by name.
func (b *badEntries) of(name string) refEntry {
	e, ok := b.good[name]
	if !ok {
		panic("no good entry " + name)
	}
	return e
}

var bad53 = []byte{0, 0x20, 0, 0, 0, 0, 0, 0} // 2^53

func (b *badEntries) addHeads() {
	e := b.of("event: table_open")
	b.add("no bytes at all", malformed, "version", nil)
	b.add("only a version", malformed, "type", []byte{1})
	b.add("version 0", unknown, "version", e.patch("version", false, 0, 0))
	b.add("version 2", unknown, "version", e.patch("version", false, 0, 2))
	b.add("version 2 of an entry that is cut short", unknown, "version", []byte{2})
	b.add("type 0", unknown, "type", e.patch("type", false, 0, 0))
	b.add("type 8", unknown, "type", e.patch("type", false, 0, 8))
	b.add("type 255", unknown, "type", e.patch("type", false, 0, 255))
	b.add("time 2^53", malformed, "time", e.patch("time", false, 0, bad53...))
	b.add("negative time", malformed, "time", e.patch("time", false, 0, slices.Repeat([]byte{255}, 8)...))
	b.add("no actor", malformed, "actor", with(e, func(e *refEntry) { e.Actor = "" }).bytes())
	b.add("an actor of 65 bytes", malformed, "actor", with(e, func(e *refEntry) { e.Actor = strings.Repeat("a", 65) }).bytes())
	b.add("an actor that starts with a dot", malformed, "actor", with(e, func(e *refEntry) { e.Actor = ".a" }).bytes())
	b.add("an actor with a space", malformed, "actor", with(e, func(e *refEntry) { e.Actor = "a b" }).bytes())
	b.add("an actor that is not ASCII", malformed, "actor", with(e, func(e *refEntry) { e.Actor = "é" }).bytes())
	b.add("an actor that is longer than the entry", malformed, "actor", e.patch("actor", true, 0, 200))
	b.add("a byte after the end", malformed, "event", append(e.bytes(), 0))
	b.add("cut short in the last field", malformed, "table", e.bytes()[:len(e.bytes())-1])
	b.add("an entry of 48,001 bytes", malformed, "entry", append(e.bytes(), make([]byte, 48_001-len(e.bytes()))...))
}

func (b *badEntries) addGenesis() {
	add := func(name, want, field string, changes ...func(*refGenesis)) {
		g := with(sampleGenesis(), changes...)
		b.add("genesis: "+name, want, field, refEntry{Time: sampleTime, Actor: "operator", Genesis: &g}.bytes())
	}
	origin := func(s string) func(*refGenesis) { return func(g *refGenesis) { g.Origin = s } }
	add("no origin", malformed, "origin", origin(""))
	add("an origin of 129 bytes", malformed, "origin", origin(strings.Repeat("a", 129)))
	add("an origin with a capital letter", malformed, "origin", origin("Casino"))
	add("an origin that ends with a slash", malformed, "origin", origin("casino/"))
	add("an origin that starts with a hyphen", malformed, "origin", origin("-casino"))
	add("an origin with a plus sign", malformed, "origin", origin("a+b"))
	add("a signing key without a key", malformed, "signing key", func(g *refGenesis) { g.SigningKey = hexed{1} })
	add("a signing key of 2,049 bytes", malformed, "signing key", func(g *refGenesis) { g.SigningKey = bytesOf("k", 2049) })
	add("a signing key of 34 bytes", malformed, "signing key", func(g *refGenesis) { g.SigningKey = append(signingKey("1"), 0) })
	add("a signing key of type 6", unknown, "signing key", func(g *refGenesis) { g.SigningKey[0] = 6 })
	add("a point for a signing key", malformed, "signing key", func(g *refGenesis) { g.SigningKey = auditorKey("1") })
	add("an auditor key of type 2", unknown, "auditor key", func(g *refGenesis) { g.Auditors = []hexed{append(hexed{2}, auditorKey("1")[1:]...)} })
	add("an auditor key of type 2 and another size", unknown, "auditor key", func(g *refGenesis) { g.Auditors = []hexed{{2, 0}} })
	add("an auditor key that is compressed", malformed, "auditor key", func(g *refGenesis) { g.Auditors = []hexed{compressed("1")} })
	add("an auditor key in hybrid form", malformed, "auditor key", func(g *refGenesis) { g.Auditors = []hexed{append(hexed{1, 6}, auditorKey("1")[2:]...)} })
	add("a policy of 8,193 bytes", malformed, "witness policy", func(g *refGenesis) { g.Policy = strings.Repeat("#", 8193) })
	add("a policy with a tab", malformed, "witness policy", func(g *refGenesis) { g.Policy = "a\tb" })
	add("a policy with a carriage return", malformed, "witness policy", func(g *refGenesis) { g.Policy = "a\r\n" })
	add("65 auditors", malformed, "auditor keys", func(g *refGenesis) {
		for i := range 65 {
			g.Auditors = append(g.Auditors, auditorKey(fmt.Sprint(i)))
		}
	})
	add("an auditor twice", malformed, "auditor keys", func(g *refGenesis) { g.Auditors = []hexed{auditorKey("1"), auditorKey("2"), auditorKey("1")} })
	add("an auditor key without a key", malformed, "auditor key", func(g *refGenesis) { g.Auditors = []hexed{{1}} })
	add("deals 0", unknown, "deals", func(g *refGenesis) { g.Deals = 0 })
	add("deals 3", unknown, "deals", func(g *refGenesis) { g.Deals = 3 })
	add("cosigned deals without a policy", malformed, "deals", func(g *refGenesis) { g.Deals = 2 })
	add("a fourth mix mode", unknown, "mix modes", func(g *refGenesis) { g.MixModes = 8 })
	add("disclosure 3", unknown, "disclosure", func(g *refGenesis) { g.Disclosure = 3 })
	add("access 0", unknown, "access", func(g *refGenesis) { g.Access = 0 })
	add("a default close-by of 0", malformed, "default close-by", func(g *refGenesis) { g.DefaultCloseBy = 0 })
	add("a default close-by above the cap", malformed, "default close-by", func(g *refGenesis) { g.DefaultCloseBy = g.MaxCloseBy + 1 })
	add("a predecessor of 16,385 bytes", malformed, "predecessor", func(g *refGenesis) { g.Predecessor = bytesOf("p", 16_385) })
	e := b.of("genesis: a sandbox without policy and auditors")
	b.add("genesis: production 2", malformed, "production", e.patch("production", false, 0, 2))
}

func (b *badEntries) addCommits() {
	add := func(name, field string, changes ...func(*refCommit)) {
		c := with(sampleCommit(sampleContext()), changes...)
		b.add("commit: "+name, malformed, field, refEntry{Time: sampleTime, Actor: "daemon", Commit: &c}.bytes())
	}
	add("serial 0", "serial", func(c *refCommit) { c.Serial = 0 })
	add("serial 1 with a previous commit", "previous", func(c *refCommit) { c.Previous = 2 })
	add("serial 2 without a previous commit", "previous", func(c *refCommit) { c.Serial = 2 })
	add("serial 2^53", "serial", func(c *refCommit) { c.Serial, c.Previous = 1<<53, 1 })
	add("close-by 2^53", "close-by", func(c *refCommit) { c.CloseBy = 1 << 53 })
	add("instance 2^53", "instance", func(c *refCommit) { c.Instance = 1 << 53 })
	add("a game reference with a colon", "game reference", func(c *refCommit) { c.GameRef = "a:b" })
	add("a game reference of 65 bytes", "game reference", func(c *refCommit) { c.GameRef = strings.Repeat("g", 65) })
	e := b.of("commit: 52 cards, the first of its table")
	n := len(e.Commit.Context.bytes())
	b.add("commit: an empty context", malformed, "origin", e.patch("context", true, 0, 0, 0))
	b.add("commit: a context that ends a byte early", malformed, "disclosure", e.patch("context", true, 0, byte((n-1)>>8), byte(n-1)))
	b.add("commit: a context that ends a byte late", malformed, "context", e.patch("context", true, 0, byte((n+1)>>8), byte(n+1)))
	b.add("commit: a context of 65,535 bytes in a shorter entry", malformed, "context", e.patch("context", true, 0, 255, 255))
}

func (b *badEntries) addContexts() {
	add := func(name, want, field string, of func() refContext, changes ...func(*refContext)) {
		c := sampleCommit(with(of(), changes...))
		b.add("context: "+name, want, field, refEntry{Time: sampleTime, Actor: "daemon", Commit: &c}.bytes())
	}
	cards, draw := sampleContext, sampleDraw
	add("an origin with a space", malformed, "origin", cards, func(c *refContext) { c.Origin = "a b" })
	add("no table", malformed, "table", cards, func(c *refContext) { c.Table = "" })
	add("a table with a slash", malformed, "table", cards, func(c *refContext) { c.Table = "a/b" })
	add("algorithm 0", unknown, "algorithm", cards, func(c *refContext) { c.Algorithm = 0 })
	add("algorithm 2", unknown, "algorithm", cards, func(c *refContext) { c.Algorithm = 2 })
	add("kind 0", unknown, "kind", cards, func(c *refContext) { c.Kind = 0 })
	add("kind 3", unknown, "kind", cards, func(c *refContext) { c.Kind = 3 })
	add("one card", malformed, "recipe", cards, func(c *refContext) { c.Cards, c.Take = 1, 1 })
	add("4,097 cards", malformed, "recipe", cards, func(c *refContext) { c.Cards = 4097 })
	add("no card taken", malformed, "recipe", cards, func(c *refContext) { c.Take = 0 })
	add("more cards taken than there are", malformed, "recipe", cards, func(c *refContext) { c.Take = 53 })
	add("a draw list of nothing", malformed, "recipe", draw, func(c *refContext) { c.Ranges = nil })
	add("a draw list of 4,097", malformed, "recipe", draw, func(c *refContext) { c.Ranges = slices.Repeat([]uint32{2}, 4097) })
	add("a draw 1..0", malformed, "recipe", draw, func(c *refContext) { c.Ranges[1] = 0 })
	add("a draw 1..2^30+1", malformed, "recipe", draw, func(c *refContext) { c.Ranges[1] = 1<<30 + 1 })
	add("a draw list with a parent", malformed, "parent positions", draw, func(c *refContext) {
		c.Parent = &refParent{ID: 2, Positions: []uint16{0, 1, 2}}
	})
	child := func(n uint64, positions ...uint16) func(*refContext) {
		return func(c *refContext) { c.Cards, c.Take, c.Parent = n, 1, &refParent{ID: 2, Positions: positions} }
	}
	add("a child with a position less than cards", malformed, "parent positions", cards, child(3, 0, 1))
	add("a child with a position more than cards", malformed, "parent positions", cards, child(2, 0, 1, 2))
	add("a child with a position twice", malformed, "parent positions", cards, child(3, 5, 6, 5))
	add("a parent with id 2^53", malformed, "parent", cards, child(2, 0, 1), func(c *refContext) { c.Parent.ID = 1 << 53 })
	end := func(e refEndAt) func(*refContext) { return func(c *refContext) { c.Take, c.EndAt = 40, e } }
	add("end_at of a fourth form", unknown, "end_at", cards, end(refEndAt{Form: 3}))
	add("fixed end_at 0", malformed, "end_at", cards, end(refEndAt{Form: 1}))
	add("fixed end_at past the cards taken", malformed, "end_at", cards, end(refEndAt{Form: 1, Place: 41}))
	add("drawn end_at 0..0", malformed, "end_at", cards, end(refEndAt{Form: 2}))
	add("drawn end_at from 0", malformed, "recipe", cards, end(refEndAt{Form: 2, Hi: 5}))
	add("drawn end_at 5..5", malformed, "recipe", cards, end(refEndAt{Form: 2, Lo: 5, Hi: 5}))
	add("drawn end_at 6..5", malformed, "recipe", cards, end(refEndAt{Form: 2, Lo: 6, Hi: 5}))
	add("drawn end_at 5..0", malformed, "recipe", cards, end(refEndAt{Form: 2, Lo: 5}))
	add("drawn end_at past the cards taken", malformed, "recipe", cards, end(refEndAt{Form: 2, Lo: 5, Hi: 41}))
	add("fixed end_at of a draw list", malformed, "end_at", draw, func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 1} })
	add("drawn end_at of a draw list", malformed, "recipe", draw, func(c *refContext) { c.EndAt = refEndAt{Form: 2, Lo: 1, Hi: 2} })
	add("disclosure 0", unknown, "disclosure", cards, func(c *refContext) { c.Disclosure = 0 })
	add("disclosure 3", unknown, "disclosure", cards, func(c *refContext) { c.Disclosure = 3 })
	e := b.of("commit: 52 cards, the first of its table")
	b.add("context: production 2", malformed, "production", e.patch("production", false, 0, 2))
	b.add("context: parent flag 2", malformed, "parent", e.patch("parent", false, 0, 2))
}

func (b *badEntries) addPlans() {
	add := func(name, want, field string, of func() refContext, plan ...refSource) {
		c := sampleCommit(with(of(), func(c *refContext) { c.Plan = plan }))
		b.add("plan: "+name, want, field, refEntry{Time: sampleTime, Actor: "daemon", Commit: &c}.bytes())
	}
	cards, slot, cut := sampleContext, slots(1)[0], refSource{Source: 3}
	add("source 0", unknown, "mix source", cards, refSource{})
	add("source 4", unknown, "mix source", cards, refSource{Source: 4})
	add("33 slots", malformed, "mix plan", cards, slots(33)...)
	add("a slot twice", malformed, "mix plan", cards, slot, slots(2)[1], slot)
	add("a slot after a beacon", malformed, "mix plan", cards, beacon(1), slot)
	add("a slot after a cut", malformed, "mix plan", cards, cut, slot)
	add("a beacon after a cut", malformed, "mix plan", cards, cut, beacon(1))
	add("two beacons", malformed, "mix plan", cards, beacon(1), beacon(2))
	add("two cuts", malformed, "mix plan", cards, cut, cut)
	add("beacon round 0", malformed, "beacon round", cards, beacon(0))
	add("beacon round 2^53", malformed, "beacon round", cards, beacon(1<<53))
	add("a cut of a draw list", malformed, "mix plan", sampleDraw, slot, cut)
}

func (b *badEntries) addMixesAndDeals() {
	mix := b.of("mix: every source")
	b.add("mix: no values", malformed, "mix values", with(mix, func(e *refEntry) { e.Mix = &refMix{Shuffle: 2} }).bytes())
	b.add("mix: 33 values", malformed, "mix values", with(mix, func(e *refEntry) {
		e.Mix = &refMix{Shuffle: 2, Values: slices.Repeat([]refValue{{Source: 3}}, 33)}
	}).bytes())
	b.add("mix: source 0", unknown, "mix source", mix.patch("mix source", false, 1, 0))
	b.add("mix: source 4", unknown, "mix source", mix.patch("mix source", false, 1, 4))
	b.add("mix: shuffle 2^53", malformed, "shuffle", mix.patch("shuffle", false, 0, bad53...))
	b.add("mix: cosigned size 2^53", malformed, "cosigned size", mix.patch("cosigned size", false, 0, bad53...))
	b.add("mix: a value fewer than counted", malformed, "mix source", mix.patch("mix values", true, 0, 5))
	b.add("mix: a value more than counted", malformed, "mix", mix.patch("mix values", true, 0, 3))
	add := func(name, want, field string, changes ...func(*refDeal)) {
		d := with(refDeal{Shuffle: 2, Runs: []refRun{{Cards: 2, Purpose: 1, Recipient: "seat-1"}}}, changes...)
		b.add("deal: "+name, want, field, refEntry{Time: sampleTime, Actor: "t1", Deal: &d}.bytes())
	}
	add("no runs", malformed, "runs", func(d *refDeal) { d.Runs = nil })
	add("513 runs", malformed, "runs", func(d *refDeal) { d.Runs = slices.Repeat(d.Runs, 513) })
	add("a run of no cards", malformed, "run count", func(d *refDeal) { d.Runs[0].Cards = 0 })
	add("past the last place of any shuffle", malformed, "runs", func(d *refDeal) { d.First = 4095 })
	add("4,097 cards in one run", malformed, "runs", func(d *refDeal) { d.Runs[0].Cards = 4097 })
	add("first place 4,096", malformed, "runs", func(d *refDeal) { d.First, d.Runs[0].Cards = 4096, 1 })
	add("purpose 0", unknown, "purpose", func(d *refDeal) { d.Runs[0].Purpose = 0 })
	add("purpose 7", unknown, "purpose", func(d *refDeal) { d.Runs[0].Purpose = 7 })
	add("a recipient with an at sign", malformed, "recipient", func(d *refDeal) { d.Runs[0].Recipient = "a@b" })
	add("a recipient of 65 bytes", malformed, "recipient", func(d *refDeal) { d.Runs[0].Recipient = strings.Repeat("s", 65) })
	add("shuffle 2^53", malformed, "shuffle", func(d *refDeal) { d.Shuffle = 1 << 53 })
	deal := b.of("deal: one card to a seat")
	b.add("deal: final 2", malformed, "final", deal.patch("final", false, 0, 2))
	b.add("deal: public 255", malformed, "public", deal.patch("public", false, 0, 255))
	b.add("deal: a run fewer than counted", malformed, "run count", deal.patch("runs", true, 0, 0, 2))
	b.add("deal: no run counted, one there", malformed, "runs", deal.patch("runs", true, 0, 0, 0))
}

func (b *badEntries) addCloses() {
	add := func(name, want, field string, c refClose) {
		b.add("close: "+name, want, field, refEntry{Time: sampleTime, Actor: "t1", Close: &c}.bytes())
	}
	tape := bytesOf("tape", 129)
	add("outcome 0", unknown, "outcome", refClose{Shuffle: 2, Form: 1, Tape: tape})
	add("outcome 6", unknown, "outcome", refClose{Shuffle: 2, Outcome: 6, Form: 1, Tape: tape})
	add("reason 11", unknown, "reason", refClose{Shuffle: 2, Outcome: 4, Reason: 11, Form: 1, Tape: tape})
	add("form 3", unknown, "form", refClose{Shuffle: 2, Outcome: 1, Form: 3})
	add("completed with a reason", malformed, "reason", refClose{Shuffle: 2, Outcome: 1, Reason: 1, Form: 1, Tape: tape})
	add("void without a reason", malformed, "reason", refClose{Shuffle: 2, Outcome: 4, Form: 1, Tape: tape})
	add("expired for tape_lost", malformed, "reason", refClose{Shuffle: 2, Outcome: 5, Reason: 10})
	add("tape_lost with a tape", malformed, "form", refClose{Shuffle: 2, Outcome: 4, Reason: 10, Form: 1, Tape: tape})
	add("no tape and not tape_lost", malformed, "form", refClose{Shuffle: 2, Outcome: 4, Reason: 6})
	add("completed without a tape", malformed, "form", refClose{Shuffle: 2, Outcome: 1})
	add("an empty tape", malformed, "tape", refClose{Shuffle: 2, Outcome: 1, Form: 1})
	add("a public tape of 32,769 bytes", malformed, "tape", refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: bytesOf("t", 32_769)})
	add("an empty sealed tape", malformed, "tape", refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 5})
	add("a sealed tape of 32,850 bytes", malformed, "tape", refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 5, Tape: bytesOf("t", 32_850)})
	add("disclosure key 2^53", malformed, "disclosure key", refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 1 << 53, Tape: tape})
	e := b.of("close: completed, public")
	b.add("close: a byte more than the tape's length", malformed, "close", e.patch("tape", true, 0, 0, 128))
	b.add("close: a byte less than the tape's length", malformed, "tape", e.patch("tape", true, 0, 0, 130))
	b.add("close: bytes after tape_lost", malformed, "close", append(b.of("close: void for tape_lost, without a tape").bytes(), 0, 0))
}

func (b *badEntries) addKeys() {
	add := func(name, want, field string, k refKey) {
		b.add("key: "+name, want, field, refEntry{Time: sampleTime, Actor: "operator", Key: &k}.bytes())
	}
	wrap := func(id string) refWrap { return refWrap{hexed(strings.Repeat(id, 32)), bytesOf("wrap", 113)} }
	key := auditorKey("disclosure")
	add("subject 0", unknown, "subject", refKey{})
	add("subject 6", unknown, "subject", refKey{Subject: 6})
	add("a signing key of one byte", malformed, "signing key", refKey{Subject: 1, Public: hexed{1}})
	add("an auditor key of 2,049 bytes", malformed, "auditor key", refKey{Subject: 3, Public: bytesOf("k", 2049)})
	add("a disclosure key of no bytes", malformed, "disclosure key", refKey{Subject: 2, Wraps: []refWrap{wrap("a")}})
	add("no wraps", malformed, "wraps", refKey{Subject: 2, Public: key})
	var many []refWrap
	for i := range 65 {
		many = append(many, wrap(string(rune('!'+i))))
	}
	add("65 wraps", malformed, "wraps", refKey{Subject: 2, Public: key, Wraps: many})
	add("wraps in descending order", malformed, "wraps", refKey{Subject: 2, Public: key, Wraps: []refWrap{wrap("b"), wrap("a")}})
	add("an auditor's wrap twice", malformed, "wraps", refKey{Subject: 2, Public: key, Wraps: []refWrap{wrap("a"), wrap("a")}})
	add("an empty wrap", malformed, "wrapped key", refKey{Subject: 2, Public: key, Wraps: []refWrap{{wrap("a").Auditor, nil}}})
	add("a wrap of 112 bytes", malformed, "wrapped key", refKey{Subject: 2, Public: key, Wraps: []refWrap{{wrap("a").Auditor, bytesOf("w", 112)}}})
	add("a wrap of 114 bytes", malformed, "wrapped key", refKey{Subject: 2, Public: key, Wraps: []refWrap{{wrap("a").Auditor, bytesOf("w", 114)}}})
	add("a signing key of 32 bytes", malformed, "signing key", refKey{Subject: 1, Public: signingKey("1")[:32]})
	add("a signing key of type 2", unknown, "signing key", refKey{Subject: 1, Public: append(hexed{2}, signingKey("1")[1:]...)})
	add("an auditor key of 65 bytes", malformed, "auditor key", refKey{Subject: 3, Public: key[:65]})
	add("an auditor key of 67 bytes", malformed, "auditor key", refKey{Subject: 3, Public: append(auditorKey("1"), 0)})
	add("a signing key for an auditor", malformed, "auditor key", refKey{Subject: 3, Public: signingKey("1")})
	add("a disclosure key that is compressed", malformed, "disclosure key", refKey{Subject: 2, Public: compressed("1"), Wraps: []refWrap{wrap("a")}})
	add("a disclosure key of type 0", unknown, "disclosure key", refKey{Subject: 2, Public: append(hexed{0}, key[1:]...), Wraps: []refWrap{wrap("a")}})
	add("a policy that is not ASCII", malformed, "witness policy", refKey{Subject: 4, Policy: "é"})
	add("a policy with DEL", malformed, "witness policy", refKey{Subject: 4, Policy: "\x7f"})
	add("retirement of subject 0", unknown, "retired subject", refKey{Subject: 5, ID: refKeyID(key)})
	add("retirement of a policy", unknown, "retired subject", refKey{Subject: 5, Retired: 4, ID: refKeyID(key)})
	add("retirement from 2^53", malformed, "retired from", refKey{Subject: 5, Retired: 1, ID: refKeyID(key), From: 1 << 53})
}

func (b *badEntries) addEvents() {
	add := func(name, want, field string, e refEvent) {
		b.add("event: "+name, want, field, refEntry{Time: sampleTime, Actor: "operator", Event: &e}.bytes())
	}
	add("kind 0", unknown, "event", refEvent{})
	add("kind 10", unknown, "event", refEvent{Kind: 10})
	add("no software version", malformed, "version", refEvent{Kind: 1, Build: bytesOf("b", 32), Config: bytesOf("c", 32)})
	add("a software version with a plus sign", malformed, "version", refEvent{Kind: 1, Build: bytesOf("b", 32), Config: bytesOf("c", 32), Version: "v1+dirty"})
	add("opening no table", malformed, "table", refEvent{Kind: 2})
	add("closing a table with a space", malformed, "table", refEvent{Kind: 3, Table: " "})
	add("scope 0", unknown, "scope", refEvent{Kind: 4, Reason: "r"})
	add("scope 4", unknown, "scope", refEvent{Kind: 5, Scope: 4, Reason: "r"})
	add("a kill switch without a reason", malformed, "reason", refEvent{Kind: 4, Scope: 1})
	add("a kill switch for no table", malformed, "table", refEvent{Kind: 4, Scope: 2, Reason: "r"})
	add("cause 0", unknown, "latch", refEvent{Kind: 6, Instance: 1})
	add("cause 12", unknown, "latch", refEvent{Kind: 6, Cause: 12, Instance: 1})
	add("latch_set by instance 2^53", malformed, "instance", refEvent{Kind: 6, Cause: 1, Instance: 1 << 53})
	add("latch_clear without a reason", malformed, "reason", refEvent{Kind: 7})
	add("a reason of 201 bytes", malformed, "reason", refEvent{Kind: 7, Reason: strings.Repeat("r", 201)})
	add("a reason with a newline", malformed, "reason", refEvent{Kind: 7, Reason: "a\nb"})
	add("a reason with DEL", malformed, "reason", refEvent{Kind: 7, Reason: "a\x7f"})
	add("a reason that is not ASCII", malformed, "reason", refEvent{Kind: 7, Reason: "Prüfung"})
	add("a snapshot of 2^53 entries", malformed, "snapshot size", refEvent{Kind: 8, Entries: 1 << 53, Digest: bytesOf("d", 32)})
	add("alarm 0", unknown, "alarm", refEvent{Kind: 9, Reason: "r"})
	add("alarm 6", unknown, "alarm", refEvent{Kind: 9, Alarm: 6, Reason: "r"})
	e := b.of("event: instance_start")
	b.add("event: FIPS flag 2", malformed, "FIPS state", e.patch("FIPS state", false, 0, 2))
}
