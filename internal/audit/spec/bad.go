package audit

import (
	"fmt"
	"slices"
	"strings"
)

// The bad entries of testdata/entries.json. Want is the verdict of docs/SPEC.md
// section 1.4, Field the field that a reader names.
// badEntry is bytes that are no entry.
type badEntry struct {
	Name  string `json:"name"`
	Bytes hexed  `json:"bytes"`
	Want  string `json:"want"` // malformed or unknown
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
	b.addTakeovers()
	b.addHolders()
	b.addActs()
	b.addReveals()
	b.addDisclosures()
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
	b.add("type 0", malformed, "type", e.patch("type", false, 0, 0))
	b.add("type 14", unknown, "type", e.patch("type", false, 0, 14))
	b.add("type 127", unknown, "type", e.patch("type", false, 0, 127))
	b.add("time 2^53", malformed, "time", e.patch("time", false, 0, bad53...))
	b.add("negative time", malformed, "time", e.patch("time", false, 0, slices.Repeat([]byte{255}, 8)...))
	for field, set := range []func(*refEntry, string){
		func(e *refEntry, s string) { e.Identity, e.Credential = s, "token-1" },
		func(e *refEntry, s string) { e.Identity, e.Credential = "dealer-1", s },
	} {
		field, what := []string{"identity", "credential"}[field], []string{"an identity", "a credential"}[field]
		named := func(s string) []byte { return with(e, func(e *refEntry) { set(e, s) }).bytes() }
		b.add("no "+field, malformed, field, named(""))
		b.add(what+" of 65 bytes", malformed, field, named(strings.Repeat("a", 65)))
		b.add(what+" that starts with a dot", malformed, field, named(".a"))
		b.add(what+" with a space", malformed, field, named("a b"))
		b.add(what+" that is not ASCII", malformed, field, named("é"))
		b.add(what+" that is longer than the entry", malformed, field, e.patch(field, true, 0, 200))
		b.add(what+" that is reserved, and the other name is not: daemon", malformed, "credential", named("daemon"))
		b.add(what+" that is reserved, and the other name is not: operator", malformed, "credential", named("operator"))
	}
	b.add("two reserved words that differ", malformed, "credential",
		with(e, func(e *refEntry) { e.Identity, e.Credential = "daemon", "operator" }).bytes())
	opaque := b.of("passed over: a type with 1,024 bytes")
	b.add("1,025 bytes behind a type that is not known", malformed, "body", append(opaque.bytes(), 0))
	b.add("a type that is passed over, with a bad header", malformed, "identity",
		with(opaque, func(e *refEntry) { e.Identity = "" }).bytes())
	b.add("a type that is passed over, cut short in its header", malformed, "credential",
		opaque.bytes()[:11+len(opaque.Identity)])
	b.add("a byte after the end", malformed, "event", append(e.bytes(), 0))
	b.add("cut short in the last field", malformed, "table", e.bytes()[:len(e.bytes())-1])
	b.add("an entry of 48,001 bytes", malformed, "entry", append(e.bytes(), make([]byte, 48_001-len(e.bytes()))...))
}

func (b *badEntries) addGenesis() {
	add := func(name, want, field string, changes ...func(*refGenesis)) {
		g := with(sampleGenesis(), changes...)
		b.add("genesis: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "operator", Credential: "operator", Genesis: &g}.bytes())
	}
	origin := func(s string) func(*refGenesis) { return func(g *refGenesis) { g.Origin = s } }
	add("no origin", malformed, "origin", origin(""))
	add("an origin of 129 bytes", malformed, "origin", origin(strings.Repeat("a", 129)))
	add("an origin with a capital letter", malformed, "origin", origin("Casino"))
	add("an origin that ends with a slash", malformed, "origin", origin("casino/"))
	add("an origin that starts with a hyphen", malformed, "origin", origin("-casino"))
	add("an origin with a plus sign", malformed, "origin", origin("a+b"))
	add("a signing key without a key", malformed, "signing key", func(g *refGenesis) { g.SigningKey = hexed{1} })
	add("a signing key of 2,049 bytes", malformed, "signing key",
		func(g *refGenesis) { g.SigningKey = bytesOf("k", 2049) })
	add("a signing key of 34 bytes", malformed, "signing key",
		func(g *refGenesis) { g.SigningKey = append(signingKey("1"), 0) })
	add("a signing key of type 6", unknown, "signing key", func(g *refGenesis) { g.SigningKey[0] = 6 })
	add("a point for a signing key", malformed, "signing key", func(g *refGenesis) { g.SigningKey = auditorKey("1") })
	add("an auditor key of type 3", unknown, "auditor key",
		func(g *refGenesis) { g.Auditors = []hexed{append(hexed{3}, auditorKey("1")[1:]...)} })
	add("an auditor key of type 3 and another size", unknown, "auditor key",
		func(g *refGenesis) { g.Auditors = []hexed{{3, 0}} })
	add("a hybrid auditor key with a point alone", malformed, "auditor key",
		func(g *refGenesis) { g.Auditors = []hexed{append(hexed{2}, auditorKey("1")[1:]...)} })
	add("an auditor key that is compressed", malformed, "auditor key",
		func(g *refGenesis) { g.Auditors = []hexed{compressed("1")} })
	add("an auditor key with both forms of a point", malformed, "auditor key",
		func(g *refGenesis) { g.Auditors = []hexed{append(hexed{1, 6}, auditorKey("1")[2:]...)} })
	add("a policy of 32,769 bytes", malformed, "witness policy",
		func(g *refGenesis) { g.Policy = strings.Repeat("#", 32_769) })
	add("a policy with a tab", malformed, "witness policy", func(g *refGenesis) { g.Policy = "a\tb" })
	add("a policy with a carriage return", malformed, "witness policy", func(g *refGenesis) { g.Policy = "a\r\n" })
	add("9 auditors", malformed, "auditor keys", func(g *refGenesis) {
		for i := range 9 {
			g.Auditors = append(g.Auditors, auditorKey(fmt.Sprint(i)))
		}
	})
	add("an auditor twice", malformed, "auditor keys",
		func(g *refGenesis) { g.Auditors = []hexed{auditorKey("1"), auditorKey("2"), auditorKey("1")} })
	add("an auditor key without a key", malformed, "auditor key", func(g *refGenesis) { g.Auditors = []hexed{{1}} })
	add("deals 0", malformed, "deals", func(g *refGenesis) { g.Deals = 0 })
	add("deals 3", unknown, "deals", func(g *refGenesis) { g.Deals = 3 })
	add("cosigned deals without a policy", malformed, "deals", func(g *refGenesis) { g.Deals = 2 })
	add("a fifth mix mode", unknown, "mix modes", func(g *refGenesis) { g.MixModes = 16 })
	add("disclosure 3", unknown, "disclosure", func(g *refGenesis) { g.Disclosure = 3 })
	add("access 0", malformed, "access", func(g *refGenesis) { g.Access = 0 })
	add("a default close-by of 0", malformed, "default close-by", func(g *refGenesis) { g.DefaultCloseBy = 0 })
	add("a default close-by above the cap", malformed, "default close-by",
		func(g *refGenesis) { g.DefaultCloseBy = g.MaxCloseBy + 1 })
	add("a predecessor of 16,385 bytes", malformed, "predecessor",
		func(g *refGenesis) { g.Predecessor = bytesOf("p", 16_385) })
	add("revision 0", malformed, "revision", func(g *refGenesis) { g.Revision = 0 })
	add("revision 2", unknown, "revision", func(g *refGenesis) { g.Revision = 2 })
	add("17 administrators", malformed, "administrators", func(g *refGenesis) {
		for i := range 17 {
			g.Admins = append(g.Admins, admins(fmt.Sprintf("admin-%02d", i))...)
		}
	})
	add("administrators in descending order", malformed, "administrators",
		func(g *refGenesis) { g.Admins = admins("bob", "alice") })
	add("an administrator twice", malformed, "administrators",
		func(g *refGenesis) { g.Admins = []refAdmin{{"a", adminKey("1")}, {"a", adminKey("2")}} })
	add("two administrators with one key", malformed, "administrators",
		func(g *refGenesis) { g.Admins = []refAdmin{{"a", adminKey("1")}, {"b", adminKey("1")}} })
	add("an administrator without a name", malformed, "administrator", func(g *refGenesis) { g.Admins = admins("") })
	add("an administrator's key of type 6", unknown, "administrator's key",
		func(g *refGenesis) { g.Admins = []refAdmin{{"a", append(hexed{6}, adminKey("1")[1:]...)}} })
	add("an administrator's key of 34 bytes", malformed, "administrator's key",
		func(g *refGenesis) { g.Admins = []refAdmin{{"a", append(adminKey("1"), 0)}} })
	add("a point for an administrator's key", malformed, "administrator's key",
		func(g *refGenesis) { g.Admins = []refAdmin{{"a", auditorKey("1")}} })
	add("act 0 among two persons", malformed, "act", func(g *refGenesis) { g.TwoPersons = []uint16{0} })
	add("act 14 among two persons", unknown, "act", func(g *refGenesis) { g.TwoPersons = []uint16{1, 14} })
	add("act 128 among two persons: the list is closed", unknown, "act",
		func(g *refGenesis) { g.TwoPersons = []uint16{128} })
	add("two persons in descending order", malformed, "acts", func(g *refGenesis) { g.TwoPersons = []uint16{9, 8} })
	add("an act twice among two persons", malformed, "acts", func(g *refGenesis) { g.TwoPersons = []uint16{8, 8} })
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", func(g *refGenesis) { g.Extensions = x.list })
	}
	e := b.of("genesis: a sandbox without policy and auditors")
	b.add("genesis: production 2", malformed, "production", e.patch("production", false, 0, 2))
}

func (b *badEntries) addCommits() {
	add := func(name, field string, changes ...func(*refCommit)) {
		c := with(sampleCommit(sampleContext()), changes...)
		b.add("commit: "+name, malformed, field,
			refEntry{Time: sampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.bytes())
	}
	add("serial 0", "serial", func(c *refCommit) { c.Serial = 0 })
	add("serial 1 with a previous commit", "previous", func(c *refCommit) { c.Previous = 2 })
	add("serial 2 without a previous commit", "previous", func(c *refCommit) { c.Serial = 2 })
	add("serial 2^53", "serial", func(c *refCommit) { c.Serial, c.Previous = 1<<53, 1 })
	add("close-by 2^53", "close-by", func(c *refCommit) { c.CloseBy = 1 << 53 })
	add("instance 2^53", "instance", func(c *refCommit) { c.Instance = 1 << 53 })
	add("a game reference with a colon", "game reference", func(c *refCommit) { c.GameRef = "a:b" })
	add("a game reference of 65 bytes", "game reference", func(c *refCommit) { c.GameRef = strings.Repeat("g", 65) })
	for _, x := range badExtensions() {
		c := with(sampleCommit(sampleContext()), func(c *refCommit) { c.Extensions = x.list })
		b.add("commit: "+x.name, x.want, "extension",
			refEntry{Time: sampleTime, Identity: "dealer-1", Credential: "token-1", Commit: &c}.bytes())
	}
	c := with(sampleCommit(sampleContext()),
		func(c *refCommit) { c.Extensions = []refExtension{{2, bytesOf("seats", 32)}} })
	b.add("commit: the extension seat_root, which is reserved", unknown, "extension",
		refEntry{Time: sampleTime, Identity: "dealer-1", Credential: "token-1", Commit: &c}.bytes())
	e := b.of("commit: 52 cards, the first of its table")
	n := len(e.Commit.Context.bytes())
	b.add("commit: an empty context", malformed, "origin", e.patch("context", true, 0, 0, 0))
	b.add("commit: a context that ends a byte early", malformed, "extensions",
		e.patch("context", true, 0, byte((n-1)>>8), byte(n-1)))
	b.add("commit: a context that ends a byte late", malformed, "context",
		e.patch("context", true, 0, byte((n+1)>>8), byte(n+1)))
	b.add("commit: a context of 65,535 bytes in a shorter entry", malformed, "context",
		e.patch("context", true, 0, 255, 255))
}

func (b *badEntries) addContexts() {
	add := func(name, want, field string, of func() refContext, changes ...func(*refContext)) {
		c := sampleCommit(with(of(), changes...))
		b.add("context: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.bytes())
	}
	cards, draw := sampleContext, sampleDraw
	add("an origin with a space", malformed, "origin", cards, func(c *refContext) { c.Origin = "a b" })
	add("no table", malformed, "table", cards, func(c *refContext) { c.Table = "" })
	add("a table with a slash", malformed, "table", cards, func(c *refContext) { c.Table = "a/b" })
	add("algorithm 0", malformed, "algorithm", cards, func(c *refContext) { c.Algorithm = 0 })
	add("algorithm 2", unknown, "algorithm", cards, func(c *refContext) { c.Algorithm = 2 })
	add("kind 0", malformed, "kind", cards, func(c *refContext) { c.Kind = 0 })
	add("kind 4", unknown, "kind", cards, func(c *refContext) { c.Kind = 4 })
	add("one card", malformed, "recipe", cards, func(c *refContext) { c.Cards, c.Take = 1, 1 })
	add("4,097 cards", malformed, "recipe", cards, func(c *refContext) { c.Cards = 4097 })
	add("no card taken", malformed, "recipe", cards, func(c *refContext) { c.Take = 0 })
	add("more cards taken than there are", malformed, "recipe", cards, func(c *refContext) { c.Take = 53 })
	add("a draw list of nothing", malformed, "recipe", draw, func(c *refContext) { c.Ranges = nil })
	add("a draw list of 4,097", malformed, "recipe", draw,
		func(c *refContext) { c.Ranges = slices.Repeat([]uint32{2}, 4097) })
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
	add("a parent with id 2^53", malformed, "parent", cards, child(2, 0, 1),
		func(c *refContext) { c.Parent.ID = 1 << 53 })
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
	numbers := sampleNumbers
	add("one number", malformed, "recipe", numbers, func(c *refContext) { c.Of, c.Take = 1, 1 })
	add("no numbers", malformed, "recipe", numbers, func(c *refContext) { c.Of, c.Take = 0, 0 })
	add("2^30 and one numbers", malformed, "recipe", numbers, func(c *refContext) { c.Of = 1<<30 + 1 })
	add("2^32 less one numbers", malformed, "recipe", numbers, func(c *refContext) { c.Of = 1<<32 - 1 })
	add("no number taken", malformed, "recipe", numbers, func(c *refContext) { c.Take = 0 })
	add("4,097 numbers taken", malformed, "recipe", numbers, func(c *refContext) { c.Of, c.Take = 1<<30, 4097 })
	add("more numbers taken than there are", malformed, "recipe", numbers, func(c *refContext) { c.Take = 81 })
	add("numbers with a parent", malformed, "parent positions", numbers, func(c *refContext) {
		c.Parent = &refParent{ID: 2, Positions: slices.Repeat([]uint16{1}, 20)}
	})
	add("numbers with a parent of no cards", malformed, "parent positions", numbers, func(c *refContext) {
		c.Parent = &refParent{ID: 2}
	})
	add("fixed end_at of numbers", malformed, "end_at", numbers,
		func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 1} })
	add("drawn end_at of numbers", malformed, "recipe", numbers,
		func(c *refContext) { c.EndAt = refEndAt{Form: 2, Lo: 1, Hi: 2} })
	add("fixed end_at of a draw list", malformed, "end_at", draw,
		func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 1} })
	add("drawn end_at of a draw list", malformed, "recipe", draw,
		func(c *refContext) { c.EndAt = refEndAt{Form: 2, Lo: 1, Hi: 2} })
	add("disclosure 0", malformed, "disclosure", cards, func(c *refContext) { c.Disclosure = 0 })
	add("disclosure 3", unknown, "disclosure", cards, func(c *refContext) { c.Disclosure = 3 })
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", cards, func(c *refContext) { c.Extensions = x.list })
	}
	for i, name := range []string{"deal_plan"} {
		add("the extension "+name+", which is reserved", unknown, "extension", draw,
			func(c *refContext) { c.Extensions = []refExtension{{uint8(i + 3), nil}} })
	}
	b.addTerms()
	e := b.of("commit: 52 cards, the first of its table")
	b.add("context: production 2", malformed, "production", e.patch("production", false, 0, 2))
	b.add("context: parent flag 2", malformed, "parent", e.patch("parent", false, 0, 2))
}

func (b *badEntries) addPlans() {
	add := func(name, want, field string, of func() refContext, plan ...refSource) {
		c := sampleCommit(with(of(), func(c *refContext) { c.Plan = plan }))
		b.add("plan: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.bytes())
	}
	cards, slot, cut := sampleContext, slots(1)[0], refSource{Source: 3}
	add("source 0", malformed, "mix source", cards, refSource{})
	add("source 5", unknown, "mix source", cards, refSource{Source: 5})
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
	add("a cut of numbers", malformed, "mix plan", sampleNumbers, slot, cut)
	lab := refSource{Source: 4, Origin: "lab.example/orders", Commit: &foreign}
	add("two co-dealers", malformed, "mix plan", cards, lab, lab)
	add("a co-dealer after a slot", malformed, "mix plan", cards, slot, lab)
	add("a co-dealer without an origin", malformed, "co-dealer's origin", cards, refSource{Source: 4, Commit: &foreign})
	blind := b.of("commit: cards with a co-dealer")
	b.add("plan: a count of 0 co-dealers", malformed, "co-dealers", blind.patch("co-dealers", false, 0, 0))
	b.add("plan: a count of 2 co-dealers", unknown, "co-dealers", blind.patch("co-dealers", false, 0, 2))
}

func (b *badEntries) addMixesAndDeals() {
	mix := b.of("mix: every source")
	b.add("mix: no values", malformed, "mix values",
		with(mix, func(e *refEntry) { e.Mix = &refMix{Shuffle: 2} }).bytes())
	b.add("mix: 33 values", malformed, "mix values", with(mix, func(e *refEntry) {
		e.Mix = &refMix{Shuffle: 2, Values: slices.Repeat([]refValue{{Source: 3}}, 33)}
	}).bytes())
	b.add("mix: source 0", malformed, "mix source", mix.patch("mix source", false, 1, 0))
	b.add("mix: source 5", unknown, "mix source", mix.patch("mix source", false, 1, 5))
	b.add("mix: source 4, which has no value", malformed, "mix source", mix.patch("mix source", false, 1, 4))
	b.add("mix: shuffle 2^53", malformed, "shuffle", mix.patch("shuffle", false, 0, bad53...))
	b.add("mix: checkpoint 2^53", malformed, "checkpoint", mix.patch("checkpoint", false, 0, bad53...))
	b.add("mix: a value fewer than counted", malformed, "mix source", mix.patch("mix values", true, 0, 5))
	b.add("mix: a value more than counted", malformed, "mix", mix.patch("mix values", true, 0, 3))
	add := func(name, want, field string, changes ...func(*refDeal)) {
		d := with(refDeal{Shuffle: 2, Runs: []refRun{{Cards: 2, Purpose: 1, Recipient: "seat-1"}}}, changes...)
		b.add("deal: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "t1", Credential: "t1", Deal: &d}.bytes())
	}
	add("no runs", malformed, "runs", func(d *refDeal) { d.Runs = nil })
	add("513 runs", malformed, "runs", func(d *refDeal) { d.Runs = slices.Repeat(d.Runs, 513) })
	add("a run of no cards", malformed, "run count", func(d *refDeal) { d.Runs[0].Cards = 0 })
	add("past the last place of any shuffle", malformed, "runs", func(d *refDeal) { d.First = 4095 })
	add("past the last place of any shuffle, of purpose 7", malformed, "runs",
		func(d *refDeal) { d.First, d.Runs[0].Purpose = 4095, 7 })
	add("4,097 cards in one run", malformed, "runs", func(d *refDeal) { d.Runs[0].Cards = 4097 })
	add("first place 4,096", malformed, "runs", func(d *refDeal) { d.First, d.Runs[0].Cards = 4096, 1 })
	add("purpose 0", malformed, "purpose", func(d *refDeal) { d.Runs[0].Purpose = 0 })
	add("purpose 7", unknown, "purpose", func(d *refDeal) { d.Runs[0].Purpose = 7 })
	add("purpose 127", unknown, "purpose", func(d *refDeal) { d.Runs[0].Purpose = 127 })
	add("a recipient with an at sign", malformed, "recipient", func(d *refDeal) { d.Runs[0].Recipient = "a@b" })
	add("a recipient of 65 bytes", malformed, "recipient",
		func(d *refDeal) { d.Runs[0].Recipient = strings.Repeat("s", 65) })
	add("shuffle 2^53", malformed, "shuffle", func(d *refDeal) { d.Shuffle = 1 << 53 })
	add("entry 0 of a co-dealer, with a hash", malformed, "leaf hash in the other ledger",
		func(d *refDeal) { d.Blind = &refBlind{refForeign{0, foreign.Leaf}, foreignHead, nil} })
	add("entry 0 of a co-dealer, with a value", malformed, "leaf hash in the other ledger",
		func(d *refDeal) { d.Blind = &refBlind{noDeal, foreignHead, []uint32{1}} })
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", func(d *refDeal) { d.Extensions = x.list })
	}
	deal := b.of("deal: one card to a seat")
	b.add("deal: final 2", malformed, "final", deal.patch("final", false, 0, 2))
	b.add("deal: public 255", malformed, "public", deal.patch("public", false, 0, 255))
	b.add("deal: a run fewer than counted", malformed, "run count", deal.patch("runs", true, 0, 0, 2))
	b.add("deal: no run counted, one there", malformed, "runs", deal.patch("runs", true, 0, 0, 0))
}

func (b *badEntries) addCloses() {
	add := func(name, want, field string, c refClose) {
		b.add("close: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "t1", Credential: "t1", Close: &c}.bytes())
	}
	tape := bytesOf("tape", 129)
	add("outcome 0", malformed, "outcome", refClose{Shuffle: 2, Form: 1, Tape: tape})
	add("outcome 6", unknown, "outcome", refClose{Shuffle: 2, Outcome: 6, Form: 1, Tape: tape})
	add("reason 12", unknown, "reason", refClose{Shuffle: 2, Outcome: 4, Reason: 12, Form: 1, Tape: tape})
	add("form 3", unknown, "form", refClose{Shuffle: 2, Outcome: 1, Form: 3})
	add("completed with a reason", malformed, "reason",
		refClose{Shuffle: 2, Outcome: 1, Reason: 1, Form: 1, Tape: tape})
	add("void without a reason", malformed, "reason", refClose{Shuffle: 2, Outcome: 4, Form: 1, Tape: tape})
	add("expired for tape_lost", malformed, "reason", refClose{Shuffle: 2, Outcome: 5, Reason: 10})
	add("tape_lost with a tape", malformed, "form", refClose{Shuffle: 2, Outcome: 4, Reason: 10, Form: 1, Tape: tape})
	add("continued with a tape", malformed, "form", refClose{Shuffle: 2, Outcome: 3, Form: 1, Tape: tape})
	add("continued, sealed", malformed, "form", refClose{Shuffle: 2, Outcome: 3, Form: 2, Key: 5, Tape: tape})
	add("no tape and not tape_lost", malformed, "form", refClose{Shuffle: 2, Outcome: 4, Reason: 6})
	add("completed without a tape", malformed, "form", refClose{Shuffle: 2, Outcome: 1})
	add("an empty tape", malformed, "tape", refClose{Shuffle: 2, Outcome: 1, Form: 1})
	add("a public tape of 32,769 bytes", malformed, "tape",
		refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: bytesOf("t", 32_769)})
	add("an empty sealed tape", malformed, "tape", refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 5})
	add("a sealed tape of 33,938 bytes", malformed, "tape",
		refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 5, Tape: bytesOf("t", 33_938)})
	add("disclosure key 2^53", malformed, "disclosure key",
		refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 1 << 53, Tape: tape})
	add("entry 0 of a co-dealer, with a hash", malformed, "leaf hash in the other ledger",
		refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape,
			Blind: &refBlind{refForeign{0, foreign.Leaf}, foreignHead, nil}})
	add("entry 0 of a co-dealer, with a value", malformed, "leaf hash in the other ledger",
		refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape, Blind: &refBlind{noDeal, foreignHead, []uint32{1}}})
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape, Extensions: x.list})
	}
	add("outcome 128: the list is closed", unknown, "outcome", refClose{Shuffle: 2, Outcome: 128, Form: 1, Tape: tape})
	add("form 128: the list is closed", unknown, "form", refClose{Shuffle: 2, Outcome: 1, Form: 128})
	add("reason 127", unknown, "reason", refClose{Shuffle: 2, Outcome: 4, Reason: 127, Form: 1, Tape: tape})
	add("reason 128 without a tape", malformed, "form", refClose{Shuffle: 2, Outcome: 4, Reason: 128})
	add("completed with reason 128", malformed, "reason",
		refClose{Shuffle: 2, Outcome: 1, Reason: 128, Form: 1, Tape: tape})
	e := b.of("close: completed, public")
	b.add("close: a byte more than the tape's length", malformed, "extension", e.patch("tape", true, 0, 0, 128))
	b.add("close: a byte less than the tape's length", malformed, "extensions", e.patch("tape", true, 0, 0, 130))
	b.add("close: bytes after tape_lost", malformed, "close",
		append(b.of("close: void for tape_lost, without a tape").bytes(), 0, 0))
}

func (b *badEntries) addKeys() {
	add := func(name, want, field string, k refKey) {
		b.add("key: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "operator", Credential: "operator", Key: &k}.bytes())
	}
	wrap := func(id string) refWrap { return refWrap{hexed(strings.Repeat(id, 32)), bytesOf("wrap", 113)} }
	key := auditorKey("disclosure")
	add("subject 0", malformed, "subject", refKey{})
	add("subject 9", unknown, "subject", refKey{Subject: 9})
	add("subject 128: the list is closed", unknown, "subject", refKey{Subject: 128})
	add("change 0", malformed, "change", refKey{Subject: 6, Name: "a", Public: adminKey("a")})
	add("change 4", unknown, "change", refKey{Subject: 6, Change: 4, Name: "a", Public: adminKey("a")})
	add("an administrator without a name", malformed, "administrator", refKey{Subject: 6, Change: 2})
	add("an administrator comes without a key", malformed, "administrator's key",
		refKey{Subject: 6, Change: 1, Name: "a"})
	add("an administrator has a key of type 2", unknown, "administrator's key",
		refKey{Subject: 6, Change: 3, Name: "a", Public: append(hexed{2}, adminKey("a")[1:]...)})
	add("an administrator's key is a point", malformed, "administrator's key",
		refKey{Subject: 6, Change: 1, Name: "a", Public: key})
	goes := refEntry{Time: sampleTime, Identity: "operator", Credential: "operator",
		Key: &refKey{Subject: 6, Change: 2, Name: "a"}}
	b.add("key: an administrator goes, with a key", malformed, "key",
		append(goes.bytes(), refJoin(uint16(33), []byte(adminKey("a")))...))
	add("two_persons with act 0", malformed, "act", refKey{Subject: 7, Acts: []uint16{0, 1}})
	add("two_persons with act 14", unknown, "act", refKey{Subject: 7, Acts: []uint16{14}})
	add("two_persons in descending order", malformed, "acts", refKey{Subject: 7, Acts: []uint16{2, 1}})
	add("two_persons with an act twice", malformed, "acts", refKey{Subject: 7, Acts: []uint16{2, 2}})
	add("a signing key of one byte", malformed, "signing key", refKey{Subject: 1, Public: hexed{1}})
	add("an auditor key of 2,049 bytes", malformed, "auditor key", refKey{Subject: 3, Public: bytesOf("k", 2049)})
	add("a disclosure key of no bytes", malformed, "disclosure key", refKey{Subject: 2, Wraps: []refWrap{wrap("a")}})
	add("no wraps", malformed, "wraps", refKey{Subject: 2, Public: key})
	var many []refWrap
	for i := range 33 {
		many = append(many, wrap(string(rune('!'+i))))
	}
	add("33 wraps", malformed, "wraps", refKey{Subject: 2, Public: key, Wraps: many})
	add("wraps in descending order", malformed, "wraps",
		refKey{Subject: 2, Public: key, Wraps: []refWrap{wrap("b"), wrap("a")}})
	add("an auditor's wrap twice", malformed, "wraps",
		refKey{Subject: 2, Public: key, Wraps: []refWrap{wrap("a"), wrap("a")}})
	add("an empty wrap", malformed, "wrapped key",
		refKey{Subject: 2, Public: key, Wraps: []refWrap{{wrap("a").Auditor, nil}}})
	add("a wrap of 112 bytes", malformed, "wrapped key",
		refKey{Subject: 2, Public: key, Wraps: []refWrap{{wrap("a").Auditor, bytesOf("w", 112)}}})
	add("a wrap of 114 bytes", malformed, "wrapped key",
		refKey{Subject: 2, Public: key, Wraps: []refWrap{{wrap("a").Auditor, bytesOf("w", 114)}}})
	hybrid := auditorKey("hybrid disclosure")
	add("a hybrid key with a wrap for P-256", malformed, "wrapped key",
		refKey{Subject: 2, Public: hybrid, Wraps: []refWrap{wrap("a")}})
	add("a key of P-256 with a hybrid wrap", malformed, "wrapped key",
		refKey{Subject: 2, Public: key, Wraps: []refWrap{{wrap("a").Auditor, bytesOf("w", 1201)}}})
	add("a hybrid wrap of 1,200 bytes", malformed, "wrapped key",
		refKey{Subject: 2, Public: hybrid, Wraps: []refWrap{{wrap("a").Auditor, bytesOf("w", 1200)}}})
	add("a hybrid auditor key of 1,249 bytes", malformed, "auditor key", refKey{Subject: 3, Public: hybrid[:1249]})
	add("a hybrid auditor key with its point in front", malformed, "auditor key",
		refKey{Subject: 3, Public: slices.Concat(hexed{2}, hybrid[1185:], hybrid[1:1185])})
	add("a signing key of 32 bytes", malformed, "signing key", refKey{Subject: 1, Public: signingKey("1")[:32]})
	add("a signing key of type 2", unknown, "signing key",
		refKey{Subject: 1, Public: append(hexed{2}, signingKey("1")[1:]...)})
	add("an auditor key of 65 bytes", malformed, "auditor key", refKey{Subject: 3, Public: key[:65]})
	add("an auditor key of 67 bytes", malformed, "auditor key", refKey{Subject: 3, Public: append(auditorKey("1"), 0)})
	add("a signing key for an auditor", malformed, "auditor key", refKey{Subject: 3, Public: signingKey("1")})
	add("a disclosure key that is compressed", malformed, "disclosure key",
		refKey{Subject: 2, Public: compressed("1"), Wraps: []refWrap{wrap("a")}})
	add("a disclosure key of type 0", unknown, "disclosure key",
		refKey{Subject: 2, Public: append(hexed{0}, key[1:]...), Wraps: []refWrap{wrap("a")}})
	add("a policy that is not ASCII", malformed, "witness policy", refKey{Subject: 4, Policy: "é"})
	add("a policy with DEL", malformed, "witness policy", refKey{Subject: 4, Policy: "\x7f"})
	add("retirement of subject 0", malformed, "retired subject", refKey{Subject: 5, ID: refKeyID(key)})
	add("retirement of a policy", unknown, "retired subject", refKey{Subject: 5, Retired: 4, ID: refKeyID(key)})
	add("retirement from 2^53", malformed, "retired from",
		refKey{Subject: 5, Retired: 1, ID: refKeyID(key), From: 1 << 53})
}

func (b *badEntries) addEvents() {
	add := func(name, want, field string, e refEvent) {
		b.add("event: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "operator", Credential: "operator", Event: &e}.bytes())
	}
	add("kind 0", malformed, "event", refEvent{})
	add("kind 9, which is reserved", unknown, "event", refEvent{Kind: 9})
	add("kind 11", unknown, "event", refEvent{Kind: 11})
	add("kind 127", unknown, "event", refEvent{Kind: 127})
	add("1,025 bytes behind a kind that is not known", malformed, "event",
		refEvent{Kind: 131, Opaque: bytesOf("o", 1025)})
	add("no software version", malformed, "version",
		refEvent{Kind: 1, Build: bytesOf("b", 32), Config: bytesOf("c", 32)})
	add("a software version with a plus sign", malformed, "version",
		refEvent{Kind: 1, Build: bytesOf("b", 32), Config: bytesOf("c", 32), Version: "v1+dirty"})
	add("opening no table", malformed, "table", refEvent{Kind: 2})
	add("closing a table with a space", malformed, "table", refEvent{Kind: 3, Table: " "})
	add("scope 0", malformed, "scope", refEvent{Kind: 4, Reason: "r"})
	add("scope 4", unknown, "scope", refEvent{Kind: 5, Scope: 4, Reason: "r"})
	add("a kill switch without a reason", malformed, "reason", refEvent{Kind: 4, Scope: 1})
	add("a kill switch for no table", malformed, "table", refEvent{Kind: 4, Scope: 2, Reason: "r"})
	add("cause 0", malformed, "latch", refEvent{Kind: 6, Instance: 1})
	add("cause 12", unknown, "latch", refEvent{Kind: 6, Cause: 12, Instance: 1})
	add("latch_set by instance 2^53", malformed, "instance", refEvent{Kind: 6, Cause: 1, Instance: 1 << 53})
	add("latch_clear without a reason", malformed, "reason", refEvent{Kind: 7})
	add("a reason of 201 bytes", malformed, "reason", refEvent{Kind: 7, Reason: strings.Repeat("r", 201)})
	add("a reason with a newline", malformed, "reason", refEvent{Kind: 7, Reason: "a\nb"})
	add("a reason with DEL", malformed, "reason", refEvent{Kind: 7, Reason: "a\x7f"})
	add("a reason that is not ASCII", malformed, "reason", refEvent{Kind: 7, Reason: "Prüfung"})
	add("alarm 0", malformed, "alarm", refEvent{Kind: 129, Reason: "r"})
	add("alarm 1", unknown, "alarm", refEvent{Kind: 129, Alarm: 1, Reason: "r"})
	add("alarm 127", unknown, "alarm", refEvent{Kind: 129, Alarm: 127, Reason: "r"})
	add("an alarm that is passed over, without a reason", malformed, "reason", refEvent{Kind: 129, Alarm: 200})
	start := func(kernel string, vdso uint8) refEvent {
		return refEvent{Kind: 1, Build: bytesOf("b", 32), Config: bytesOf("c", 32), Version: "v1", Kernel: kernel,
			VDSO: vdso}
	}
	add("a kernel release of 65 bytes", malformed, "kernel release", start(strings.Repeat("k", 65), 1))
	add("a kernel release with a space", malformed, "kernel release", start("6.8 x", 1))
	add("a kernel release with DEL", malformed, "kernel release", start("6.8\x7f", 1))
	add("vdso 3", unknown, "vDSO", start("6.8", 3))
	add("vdso 128: the list is closed", unknown, "vDSO", start("6.8", 128))
	adopted := refEvent{Kind: 10, Size: 9, Root: bytesOf("root", 32), LostSize: 12, LostRoot: bytesOf("lost", 32),
		Reason: "restored"}
	add("an adopted head of 2^53 entries", malformed, "adopted size",
		with(adopted, func(e *refEvent) { e.Size = 1 << 53 }))
	add("a lost head of 2^53 entries", malformed, "lost size",
		with(adopted, func(e *refEvent) { e.LostSize = 1 << 53 }))
	add("a lost head of no entries, with a root", malformed, "lost root",
		with(adopted, func(e *refEvent) { e.LostSize = 0 }))
	add("an adopted head without a reason", malformed, "reason", with(adopted, func(e *refEvent) { e.Reason = "" }))
	add("2^53 records", malformed, "records", refEvent{Kind: 130, Records: 1 << 53, Newest: bytesOf("n", 32)})
	e := b.of("event: instance_start")
	b.add("event: FIPS flag 2", malformed, "FIPS state", e.patch("FIPS state", false, 0, 2))
}

func (b *badEntries) addTakeovers() {
	add := func(name, want, field string, t refTakeover) {
		b.add("takeover: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "dealer-2", Credential: "token-2", Takeover: &t}.bytes())
	}
	add("shuffle 2^53", malformed, "shuffle", refTakeover{1 << 53, 1, "r"})
	add("extent 0", malformed, "extent", refTakeover{2, 0, "r"})
	add("extent 3", unknown, "extent", refTakeover{2, 3, "r"})
	add("extent 128: the list is closed", unknown, "extent", refTakeover{2, 128, "r"})
	add("no reason", malformed, "reason", refTakeover{2, 1, ""})
	add("a reason of 201 bytes", malformed, "reason", refTakeover{2, 1, strings.Repeat("r", 201)})
	b.add("takeover: a byte after the end", malformed, "takeover", append(b.of("takeover: to play").bytes(), 0))
}

func (b *badEntries) addReveals() {
	add := func(name, field string, r refReveal) {
		b.add("reveal: "+name, malformed, field,
			refEntry{Time: sampleTime, Identity: "dealer-1", Credential: "token-1", Reveal: &r}.bytes())
	}
	add("shuffle 2^53", "shuffle", refReveal{Shuffle: 1 << 53, Places: []uint64{0}})
	add("no place", "places", refReveal{Shuffle: 2})
	add("4,097 places", "places", refReveal{Shuffle: 2, Places: placesBelow(4097)})
	add("place 4,096", "place", refReveal{Shuffle: 2, Places: []uint64{4096}})
	add("a place twice", "places", refReveal{Shuffle: 2, Places: []uint64{3, 3}})
	add("places in descending order", "places", refReveal{Shuffle: 2, Places: []uint64{3, 2}})
	add("extensions in descending order", "extensions", refReveal{Shuffle: 2, Places: []uint64{3},
		Extensions: []refExtension{{201, nil}, {200, nil}}})
	e := b.of("reveal: one place")
	b.add("reveal: final flag 2", malformed, "final", e.patch("final", false, 0, 2))
	b.add("reveal: exposed flag 2", malformed, "exposed", e.patch("exposed", false, 0, 2))
	b.add("reveal: extension 1", unknown, "extension", refEntry{Time: sampleTime, Identity: "dealer-1",
		Credential: "token-1", Reveal: &refReveal{Shuffle: 2, Places: []uint64{0},
			Extensions: []refExtension{{1, nil}}}}.bytes())
	b.add("reveal: a byte after the end", malformed, "reveal", append(e.bytes(), 0))
}

func (b *badEntries) addDisclosures() {
	tape := bytesOf("tape", 54)
	add := func(name, want, field string, d refDisclose) {
		b.add("disclosure: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "dealer-1", Credential: "token-1", Disclose: &d}.bytes())
	}
	add("shuffle 2^53", malformed, "shuffle", refDisclose{Shuffle: 1 << 53, Form: 1, Tape: tape})
	add("form 3", unknown, "form", refDisclose{Shuffle: 2, Form: 3})
	add("form 128: the list is closed", unknown, "form", refDisclose{Shuffle: 2, Form: 128})
	add("an empty tape", malformed, "tape", refDisclose{Shuffle: 2, Form: 1})
	add("a tape of 32,769 bytes", malformed, "tape", refDisclose{Shuffle: 2, Form: 1, Tape: bytesOf("t", 32_769)})
	add("an empty sealed tape", malformed, "tape", refDisclose{Shuffle: 2, Form: 2, Key: 5})
	add("a sealed tape of 33,938 bytes", malformed, "tape",
		refDisclose{Shuffle: 2, Form: 2, Key: 5, Tape: bytesOf("t", 33_938)})
	add("disclosure key 2^53", malformed, "disclosure key", refDisclose{Shuffle: 2, Form: 2, Key: 1 << 53, Tape: tape})
	add("extension 1", unknown, "extension", refDisclose{Shuffle: 2, Extensions: []refExtension{{1, nil}}})
	add("extensions in descending order", malformed, "extensions", refDisclose{Shuffle: 2,
		Extensions: []refExtension{{201, nil}, {200, nil}}})
	e := b.of("disclosure: public")
	b.add("disclosure: a byte after the end", malformed, "disclosure", append(e.bytes(), 0))
}

func (b *badEntries) addHolders() {
	add := func(name, want, field string, changes ...func(*refHolder)) {
		e := refEntry{Time: sampleTime, Identity: "operator", Credential: "operator", Holder: sampleHolder(changes...)}
		b.add("credential: "+name, want, field, e.bytes())
	}
	add("kind 0", malformed, "credential", func(h *refHolder) { h.Kind = 0 })
	add("kind 3", unknown, "credential", func(h *refHolder) { h.Kind = 3 })
	add("no id", malformed, "credential", func(h *refHolder) { h.ID = "" })
	add("form 0", malformed, "form", func(h *refHolder) { h.Form = 0 })
	add("form 3", unknown, "form", func(h *refHolder) { h.Form = 3 })
	add("role 0", malformed, "role", func(h *refHolder) { h.Role = 0 })
	add("role 6", unknown, "role", func(h *refHolder) { h.Role = 6 })
	add("role 128: the list is closed", unknown, "role", func(h *refHolder) { h.Role = 128 })
	add("an identity with a space", malformed, "identity", func(h *refHolder) { h.Identity = "a b" })
	add("tables in descending order", malformed, "tables", func(h *refHolder) { h.Tables = []string{"b", "a"} })
	add("tables by length and not by bytes", malformed, "tables", func(h *refHolder) { h.Tables = []string{"b", "aa"} })
	add("a table twice", malformed, "tables", func(h *refHolder) { h.Tables = []string{"a", "a"} })
	add("a table without a name", malformed, "table", func(h *refHolder) { h.Tables = []string{""} })
	add("257 tables", malformed, "tables", func(h *refHolder) {
		for i := range 257 {
			h.Tables = append(h.Tables, fmt.Sprintf("t%03d", i))
		}
	})
	add("an expiry of 2^53", malformed, "expiry", func(h *refHolder) { h.Expires = 1 << 53 })
	add("revoked without a reason", malformed, "reason", func(h *refHolder) { h.Kind = 2 })
	b.add("credential: a digest of 31 bytes", malformed, "digest",
		b.of("credential: a dealer's token for all tables").patch("digest", false, 0, bytesOf("d", 31)...))
}

func (b *badEntries) addActs() {
	one := refAct{Act: 1, Digest: bytesOf("d", 32), HeadRoot: bytesOf("r", 32), Expires: sampleTime,
		Signatures: []refSignature{{"alice", make(hexed, 64)}, {"bob", make(hexed, 64)}}}
	add := func(name, want, field string, changes ...func(*refAct)) {
		a := with(one, changes...)
		b.add("act: "+name, want, field,
			refEntry{Time: sampleTime, Identity: "operator", Credential: "operator", Act: &a}.bytes())
	}
	signed := func(names ...string) func(*refAct) {
		return func(a *refAct) {
			a.Signatures = nil
			for _, n := range names {
				a.Signatures = append(a.Signatures, refSignature{n, make(hexed, 64)})
			}
		}
	}
	add("act 0", malformed, "act", func(a *refAct) { a.Act = 0 })
	add("act 14", unknown, "act", func(a *refAct) { a.Act = 14 })
	add("act 128: the list is closed", unknown, "act", func(a *refAct) { a.Act = 128 })
	add("the previous one at 2^53", malformed, "previous act", func(a *refAct) { a.Previous = 1 << 53 })
	add("a head of 2^53 entries", malformed, "size of the head", func(a *refAct) { a.HeadSize = 1 << 53 })
	add("an expiry of 2^53", malformed, "expiry", func(a *refAct) { a.Expires = 1 << 53 })
	add("no signature", malformed, "signatures", signed())
	add("three signatures", malformed, "signatures", signed("a", "b", "c"))
	add("administrators in descending order", malformed, "signatures", signed("bob", "alice"))
	add("an administrator twice", malformed, "signatures", signed("bob", "bob"))
	add("an administrator without a name", malformed, "administrator", signed(""))
	add("a signature of 63 bytes", malformed, "signature",
		func(a *refAct) { a.Signatures = []refSignature{{"a", make(hexed, 63)}} })
}

// addTerms damages the extension of a context that holds its terms.
func (b *badEntries) addTerms() {
	hash := bytesOf("terms", 32)
	for _, x := range []struct {
		name, want, field string
		value             []byte
		more              []refExtension
	}{
		{"no kind", malformed, "terms", nil, nil},
		{"kind 0", malformed, "terms", append(hexed{0}, hash...), nil},
		{"kind 4", unknown, "terms", append(hexed{4}, hash...), nil},
		{"kind 128: the list is closed", unknown, "terms", append(hexed{128}, hash...), nil},
		{"a wheel without a hash", malformed, "hash of the terms", []byte{1}, nil},
		{"a wheel with a hash of 31 bytes", malformed, "hash of the terms", append(hexed{1}, hash[:31]...), nil},
		{"a pay table with a hash of 33 bytes", malformed, "terms", append(hexed{2}, append(hash, 0)...), nil},
		{"a list of tickets without a count", malformed, "tickets", append(hexed{3}, hash...), nil},
		{"a list of tickets without a root", malformed, "root of the tickets", []byte{3, 0, 0, 0, 0, 0, 0, 0, 1}, nil},
		{"a list of 2^53 tickets", malformed, "tickets", append(append(hexed{3}, bad53...), hash...), nil},
		{"of 1,025 bytes", malformed, "terms", append(hexed{1}, make(hexed, 1024)...), nil},
		{"twice", malformed, "extensions", append(hexed{1}, hash...), []refExtension{{1, append(hexed{1}, hash...)}}},
		{"of an unknown kind, and a later code twice", unknown, "terms", append(hexed{4}, hash...),
			[]refExtension{{128, nil}, {128, nil}}},
	} {
		c := sampleCommit(with(sampleDraw(), func(c *refContext) {
			c.Extensions = append([]refExtension{{1, x.value}}, x.more...)
		}))
		b.add("context: terms "+x.name, x.want, x.field,
			refEntry{Time: sampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.bytes())
	}
}

// badExtensions are extension lists that no structure may end in.
func badExtensions() []struct {
	name, want string
	list       []refExtension
} {
	return []struct {
		name, want string
		list       []refExtension
	}{
		{"extension 0", malformed, []refExtension{{0, nil}}},
		{"extension 127", unknown, []refExtension{{127, nil}}},
		{"an extension twice", malformed, []refExtension{{128, nil}, {128, nil}}},
		{"extensions in descending order", malformed, []refExtension{{129, nil}, {128, nil}}},
		{"an extension of 1,025 bytes", malformed, []refExtension{{128, bytesOf("x", 1025)}}},
	}
}
