package spec

import (
	"fmt"
	"slices"
	"strings"
)

// BadEntry is bytes of testdata/entries.json that are no entry. Want is the verdict of docs/SPEC.md section 1.4, Field
// what a reader names.
type BadEntry struct {
	Name  string `json:"name"`
	Bytes Hexed  `json:"bytes"`
	Want  string `json:"want"` // malformed or unknown
	Field string `json:"field"`
}

// What a reader of the bad entries says of them.
const (
	Malformed = "malformed"
	Unknown   = "unknown"
)

type badEntries struct {
	list []BadEntry
	good map[string]Entry
}

// BadEntries are those of testdata/entries.json.
func BadEntries() []BadEntry {
	b := &badEntries{good: make(map[string]Entry)}
	for _, g := range GoodEntries() {
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
	b.list = append(b.list, BadEntry{Name: name, Bytes: bytes, Want: want, Field: field})
}

// of is a good entry by name.
func (b *badEntries) of(name string) Entry {
	e, ok := b.good[name]
	if !ok {
		panic("no good entry " + name)
	}
	return e
}

var bad53 = []byte{0, 0x20, 0, 0, 0, 0, 0, 0} // 2^53

func (b *badEntries) addHeads() {
	e := b.of("event: table_open")
	b.add("no bytes at all", Malformed, "version", nil)
	b.add("only a version", Malformed, "type", []byte{1})
	b.add("version 0", Unknown, "version", e.patch("version", false, 0, 0))
	b.add("version 2", Unknown, "version", e.patch("version", false, 0, 2))
	b.add("version 2 of an entry that is cut short", Unknown, "version", []byte{2})
	b.add("type 0", Malformed, "type", e.patch("type", false, 0, 0))
	b.add("type 14", Unknown, "type", e.patch("type", false, 0, 14))
	b.add("type 127", Unknown, "type", e.patch("type", false, 0, 127))
	b.add("time 2^53", Malformed, "time", e.patch("time", false, 0, bad53...))
	b.add("negative time", Malformed, "time", e.patch("time", false, 0, slices.Repeat([]byte{255}, 8)...))
	for field, set := range []func(*Entry, string){
		func(e *Entry, s string) { e.Identity, e.Credential = s, "token-1" },
		func(e *Entry, s string) { e.Identity, e.Credential = "dealer-1", s },
	} {
		field, what := []string{"identity", "credential"}[field], []string{"an identity", "a credential"}[field]
		named := func(s string) []byte { return With(e, func(e *Entry) { set(e, s) }).Bytes() }
		b.add("no "+field, Malformed, field, named(""))
		b.add(what+" of 65 bytes", Malformed, field, named(strings.Repeat("a", 65)))
		b.add(what+" that starts with a dot", Malformed, field, named(".a"))
		b.add(what+" with a space", Malformed, field, named("a b"))
		b.add(what+" that is not ASCII", Malformed, field, named("é"))
		b.add(what+" that is longer than the entry", Malformed, field, e.patch(field, true, 0, 200))
		b.add(what+" that is reserved, and the other name is not: daemon", Malformed, "credential", named("daemon"))
		b.add(what+" that is reserved, and the other name is not: operator", Malformed, "credential", named("operator"))
	}
	b.add("two reserved words that differ", Malformed, "credential",
		With(e, func(e *Entry) { e.Identity, e.Credential = "daemon", "operator" }).Bytes())
	opaque := b.of("passed over: a type with 1,024 bytes")
	b.add("1,025 bytes behind a type that is not known", Malformed, "body", append(opaque.Bytes(), 0))
	b.add("a type that is passed over, with a bad header", Malformed, "identity",
		With(opaque, func(e *Entry) { e.Identity = "" }).Bytes())
	b.add("a type that is passed over, cut short in its header", Malformed, "credential",
		opaque.Bytes()[:11+len(opaque.Identity)])
	b.add("a byte after the end", Malformed, "event", append(e.Bytes(), 0))
	b.add("cut short in the last field", Malformed, "table", e.Bytes()[:len(e.Bytes())-1])
	b.add("an entry of 48,001 bytes", Malformed, "entry", append(e.Bytes(), make([]byte, 48_001-len(e.Bytes()))...))
}

func (b *badEntries) addGenesis() {
	add := func(name, want, field string, changes ...func(*Genesis)) {
		g := With(SampleGenesis(), changes...)
		b.add("genesis: "+name, want, field,
			Entry{Time: SampleTime, Identity: "operator", Credential: "operator", Genesis: &g}.Bytes())
	}
	origin := func(s string) func(*Genesis) { return func(g *Genesis) { g.Origin = s } }
	add("no origin", Malformed, "origin", origin(""))
	add("an origin of 129 bytes", Malformed, "origin", origin(strings.Repeat("a", 129)))
	add("an origin with a capital letter", Malformed, "origin", origin("Casino"))
	add("an origin that ends with a slash", Malformed, "origin", origin("casino/"))
	add("an origin that starts with a hyphen", Malformed, "origin", origin("-casino"))
	add("an origin with a plus sign", Malformed, "origin", origin("a+b"))
	add("a signing key without a key", Malformed, "signing key", func(g *Genesis) { g.SigningKey = Hexed{1} })
	add("a signing key of 2,049 bytes", Malformed, "signing key",
		func(g *Genesis) { g.SigningKey = BytesOf("k", 2049) })
	add("a signing key of 34 bytes", Malformed, "signing key",
		func(g *Genesis) { g.SigningKey = append(SigningKey("1"), 0) })
	add("a signing key of type 6", Unknown, "signing key", func(g *Genesis) { g.SigningKey[0] = 6 })
	add("a point for a signing key", Malformed, "signing key", func(g *Genesis) { g.SigningKey = AuditorKey("1") })
	add("an auditor key of type 3", Unknown, "auditor key",
		func(g *Genesis) { g.Auditors = []Hexed{append(Hexed{3}, AuditorKey("1")[1:]...)} })
	add("an auditor key of type 3 and another size", Unknown, "auditor key",
		func(g *Genesis) { g.Auditors = []Hexed{{3, 0}} })
	add("a hybrid auditor key with a point alone", Malformed, "auditor key",
		func(g *Genesis) { g.Auditors = []Hexed{append(Hexed{2}, AuditorKey("1")[1:]...)} })
	add("an auditor key that is compressed", Malformed, "auditor key",
		func(g *Genesis) { g.Auditors = []Hexed{compressed("1")} })
	add("an auditor key with both forms of a point", Malformed, "auditor key",
		func(g *Genesis) { g.Auditors = []Hexed{append(Hexed{1, 6}, AuditorKey("1")[2:]...)} })
	add("a policy of 32,769 bytes", Malformed, "witness policy",
		func(g *Genesis) { g.Policy = strings.Repeat("#", 32_769) })
	add("a policy with a tab", Malformed, "witness policy", func(g *Genesis) { g.Policy = "a\tb" })
	add("a policy with a carriage return", Malformed, "witness policy", func(g *Genesis) { g.Policy = "a\r\n" })
	add("9 auditors", Malformed, "auditor keys", func(g *Genesis) {
		for i := range 9 {
			g.Auditors = append(g.Auditors, AuditorKey(fmt.Sprint(i)))
		}
	})
	add("an auditor twice", Malformed, "auditor keys",
		func(g *Genesis) { g.Auditors = []Hexed{AuditorKey("1"), AuditorKey("2"), AuditorKey("1")} })
	add("an auditor key without a key", Malformed, "auditor key", func(g *Genesis) { g.Auditors = []Hexed{{1}} })
	add("deals 0", Malformed, "deals", func(g *Genesis) { g.Deals = 0 })
	add("deals 3", Unknown, "deals", func(g *Genesis) { g.Deals = 3 })
	add("cosigned deals without a policy", Malformed, "deals", func(g *Genesis) { g.Deals = 2 })
	add("a fifth mix mode", Unknown, "mix modes", func(g *Genesis) { g.MixModes = 16 })
	add("disclosure 3", Unknown, "disclosure", func(g *Genesis) { g.Disclosure = 3 })
	add("access 0", Malformed, "access", func(g *Genesis) { g.Access = 0 })
	add("a default close-by of 0", Malformed, "default close-by", func(g *Genesis) { g.DefaultCloseBy = 0 })
	add("a default close-by above the cap", Malformed, "default close-by",
		func(g *Genesis) { g.DefaultCloseBy = g.MaxCloseBy + 1 })
	add("a predecessor of 16,385 bytes", Malformed, "predecessor",
		func(g *Genesis) { g.Predecessor = BytesOf("p", 16_385) })
	add("revision 0", Malformed, "revision", func(g *Genesis) { g.Revision = 0 })
	add("revision 2", Unknown, "revision", func(g *Genesis) { g.Revision = 2 })
	add("17 administrators", Malformed, "administrators", func(g *Genesis) {
		for i := range 17 {
			g.Admins = append(g.Admins, Admins(fmt.Sprintf("admin-%02d", i))...)
		}
	})
	add("administrators in descending order", Malformed, "administrators",
		func(g *Genesis) { g.Admins = Admins("bob", "alice") })
	add("administrators in descending order, the second with a key of type 9", Malformed, "administrators",
		func(g *Genesis) {
			g.Admins = []Admin{{"b", AdminKey("1")}, {"a", append(Hexed{9}, AdminKey("2")[1:]...)}}
		})
	add("an administrator twice", Malformed, "administrators",
		func(g *Genesis) { g.Admins = []Admin{{"a", AdminKey("1")}, {"a", AdminKey("2")}} })
	add("two administrators with one key", Malformed, "administrators",
		func(g *Genesis) { g.Admins = []Admin{{"a", AdminKey("1")}, {"b", AdminKey("1")}} })
	add("an administrator without a name", Malformed, "administrator", func(g *Genesis) { g.Admins = Admins("") })
	add("an administrator's key of type 6", Unknown, "administrator's key",
		func(g *Genesis) { g.Admins = []Admin{{"a", append(Hexed{6}, AdminKey("1")[1:]...)}} })
	add("an administrator's key of 34 bytes", Malformed, "administrator's key",
		func(g *Genesis) { g.Admins = []Admin{{"a", append(AdminKey("1"), 0)}} })
	add("a point for an administrator's key", Malformed, "administrator's key",
		func(g *Genesis) { g.Admins = []Admin{{"a", AuditorKey("1")}} })
	add("act 0 among two persons", Malformed, "act", func(g *Genesis) { g.TwoPersons = []uint16{0} })
	add("act 14 among two persons", Unknown, "act", func(g *Genesis) { g.TwoPersons = []uint16{1, 14} })
	add("act 128 among two persons: the list is closed", Unknown, "act",
		func(g *Genesis) { g.TwoPersons = []uint16{128} })
	add("two persons in descending order", Malformed, "acts", func(g *Genesis) { g.TwoPersons = []uint16{9, 8} })
	add("an act twice among two persons", Malformed, "acts", func(g *Genesis) { g.TwoPersons = []uint16{8, 8} })
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", func(g *Genesis) { g.Extensions = x.list })
	}
	e := b.of("genesis: a sandbox without policy and auditors")
	b.add("genesis: production 2", Malformed, "production", e.patch("production", false, 0, 2))
}

func (b *badEntries) addCommits() {
	add := func(name, field string, changes ...func(*Commit)) {
		c := With(SampleCommit(SampleContext()), changes...)
		b.add("commit: "+name, Malformed, field,
			Entry{Time: SampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.Bytes())
	}
	add("serial 0", "serial", func(c *Commit) { c.Serial = 0 })
	add("serial 1 with a previous commit", "previous", func(c *Commit) { c.Previous = 2 })
	add("serial 2 without a previous commit", "previous", func(c *Commit) { c.Serial = 2 })
	add("serial 2^53", "serial", func(c *Commit) { c.Serial, c.Previous = 1<<53, 1 })
	add("close-by 2^53", "close-by", func(c *Commit) { c.CloseBy = 1 << 53 })
	add("instance 2^53", "instance", func(c *Commit) { c.Instance = 1 << 53 })
	add("a game reference with a colon", "game reference", func(c *Commit) { c.GameRef = "a:b" })
	add("a game reference of 65 bytes", "game reference", func(c *Commit) { c.GameRef = strings.Repeat("g", 65) })
	for _, x := range badExtensions() {
		c := With(SampleCommit(SampleContext()), func(c *Commit) { c.Extensions = x.list })
		b.add("commit: "+x.name, x.want, "extension",
			Entry{Time: SampleTime, Identity: "dealer-1", Credential: "token-1", Commit: &c}.Bytes())
	}
	c := With(SampleCommit(SampleContext()), func(c *Commit) { c.Extensions = []Extension{{2, BytesOf("seats", 32)}} })
	b.add("commit: the extension seat_root, which is reserved", Unknown, "extension",
		Entry{Time: SampleTime, Identity: "dealer-1", Credential: "token-1", Commit: &c}.Bytes())
	e := b.of("commit: 52 cards, the first of its table")
	n := len(e.Commit.Context.Bytes())
	b.add("commit: an empty context", Malformed, "origin", e.patch("context", true, 0, 0, 0))
	b.add("commit: a context that ends a byte early", Malformed, "extensions",
		e.patch("context", true, 0, byte((n-1)>>8), byte(n-1)))
	b.add("commit: a context that ends a byte late", Malformed, "context",
		e.patch("context", true, 0, byte((n+1)>>8), byte(n+1)))
	b.add("commit: a context of 65,535 bytes in a shorter entry", Malformed, "context",
		e.patch("context", true, 0, 255, 255))
}

func (b *badEntries) addContexts() {
	add := func(name, want, field string, of func() Context, changes ...func(*Context)) {
		c := SampleCommit(With(of(), changes...))
		b.add("context: "+name, want, field,
			Entry{Time: SampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.Bytes())
	}
	cards, draw := SampleContext, SampleDraw
	add("an origin with a space", Malformed, "origin", cards, func(c *Context) { c.Origin = "a b" })
	add("no table", Malformed, "table", cards, func(c *Context) { c.Table = "" })
	add("a table with a slash", Malformed, "table", cards, func(c *Context) { c.Table = "a/b" })
	add("algorithm 0", Malformed, "algorithm", cards, func(c *Context) { c.Algorithm = 0 })
	add("algorithm 2", Unknown, "algorithm", cards, func(c *Context) { c.Algorithm = 2 })
	add("kind 0", Malformed, "kind", cards, func(c *Context) { c.Kind = 0 })
	add("kind 4", Unknown, "kind", cards, func(c *Context) { c.Kind = 4 })
	add("one card", Malformed, "recipe", cards, func(c *Context) { c.Cards, c.Take = 1, 1 })
	add("4,097 cards", Malformed, "recipe", cards, func(c *Context) { c.Cards = 4097 })
	add("no card taken", Malformed, "recipe", cards, func(c *Context) { c.Take = 0 })
	add("more cards taken than there are", Malformed, "recipe", cards, func(c *Context) { c.Take = 53 })
	add("a draw list of nothing", Malformed, "recipe", draw, func(c *Context) { c.Ranges = nil })
	add("a draw list of 4,097", Malformed, "recipe", draw,
		func(c *Context) { c.Ranges = slices.Repeat([]uint32{2}, 4097) })
	add("a draw 1..0", Malformed, "recipe", draw, func(c *Context) { c.Ranges[1] = 0 })
	add("a draw 1..2^30+1", Malformed, "recipe", draw, func(c *Context) { c.Ranges[1] = 1<<30 + 1 })
	add("a draw list with a parent", Malformed, "parent positions", draw, func(c *Context) {
		c.Parent = &Parent{ID: 2, Positions: []uint16{0, 1, 2}}
	})
	child := func(n uint64, positions ...uint16) func(*Context) {
		return func(c *Context) { c.Cards, c.Take, c.Parent = n, 1, &Parent{ID: 2, Positions: positions} }
	}
	add("a child with a position less than cards", Malformed, "parent positions", cards, child(3, 0, 1))
	add("a child with a position more than cards", Malformed, "parent positions", cards, child(2, 0, 1, 2))
	add("a child with a position twice", Malformed, "parent positions", cards, child(3, 5, 6, 5))
	add("a parent with id 2^53", Malformed, "parent", cards, child(2, 0, 1), func(c *Context) { c.Parent.ID = 1 << 53 })
	end := func(e EndAt) func(*Context) { return func(c *Context) { c.Take, c.EndAt = 40, e } }
	add("end_at of a fourth form", Unknown, "end_at", cards, end(EndAt{Form: 3}))
	add("fixed end_at 0", Malformed, "end_at", cards, end(EndAt{Form: 1}))
	add("fixed end_at past the cards taken", Malformed, "end_at", cards, end(EndAt{Form: 1, Place: 41}))
	add("drawn end_at 0..0", Malformed, "end_at", cards, end(EndAt{Form: 2}))
	add("drawn end_at from 0", Malformed, "recipe", cards, end(EndAt{Form: 2, Hi: 5}))
	add("drawn end_at 5..5", Malformed, "recipe", cards, end(EndAt{Form: 2, Lo: 5, Hi: 5}))
	add("drawn end_at 6..5", Malformed, "recipe", cards, end(EndAt{Form: 2, Lo: 6, Hi: 5}))
	add("drawn end_at 5..0", Malformed, "recipe", cards, end(EndAt{Form: 2, Lo: 5}))
	add("drawn end_at past the cards taken", Malformed, "recipe", cards, end(EndAt{Form: 2, Lo: 5, Hi: 41}))
	numbers := SampleNumbers
	add("one number", Malformed, "recipe", numbers, func(c *Context) { c.Of, c.Take = 1, 1 })
	add("no numbers", Malformed, "recipe", numbers, func(c *Context) { c.Of, c.Take = 0, 0 })
	add("2^30 and one numbers", Malformed, "recipe", numbers, func(c *Context) { c.Of = 1<<30 + 1 })
	add("2^32 less one numbers", Malformed, "recipe", numbers, func(c *Context) { c.Of = 1<<32 - 1 })
	add("no number taken", Malformed, "recipe", numbers, func(c *Context) { c.Take = 0 })
	add("4,097 numbers taken", Malformed, "recipe", numbers, func(c *Context) { c.Of, c.Take = 1<<30, 4097 })
	add("more numbers taken than there are", Malformed, "recipe", numbers, func(c *Context) { c.Take = 81 })
	add("numbers with a parent", Malformed, "parent positions", numbers, func(c *Context) {
		c.Parent = &Parent{ID: 2, Positions: slices.Repeat([]uint16{1}, 20)}
	})
	add("numbers with a parent of no cards", Malformed, "parent positions", numbers, func(c *Context) {
		c.Parent = &Parent{ID: 2}
	})
	add("fixed end_at of numbers", Malformed, "end_at", numbers,
		func(c *Context) { c.EndAt = EndAt{Form: 1, Place: 1} })
	add("drawn end_at of numbers", Malformed, "recipe", numbers,
		func(c *Context) { c.EndAt = EndAt{Form: 2, Lo: 1, Hi: 2} })
	add("fixed end_at of a draw list", Malformed, "end_at", draw,
		func(c *Context) { c.EndAt = EndAt{Form: 1, Place: 1} })
	add("drawn end_at of a draw list", Malformed, "recipe", draw,
		func(c *Context) { c.EndAt = EndAt{Form: 2, Lo: 1, Hi: 2} })
	add("disclosure 0", Malformed, "disclosure", cards, func(c *Context) { c.Disclosure = 0 })
	add("disclosure 3", Unknown, "disclosure", cards, func(c *Context) { c.Disclosure = 3 })
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", cards, func(c *Context) { c.Extensions = x.list })
	}
	for i, name := range []string{"deal_plan"} {
		add("the extension "+name+", which is reserved", Unknown, "extension", draw,
			func(c *Context) { c.Extensions = []Extension{{uint8(i + 3), nil}} })
	}
	b.addTerms()
	e := b.of("commit: 52 cards, the first of its table")
	b.add("context: production 2", Malformed, "production", e.patch("production", false, 0, 2))
	b.add("context: parent flag 2", Malformed, "parent", e.patch("parent", false, 0, 2))
}

func (b *badEntries) addPlans() {
	add := func(name, want, field string, of func() Context, plan ...Source) {
		c := SampleCommit(With(of(), func(c *Context) { c.Plan = plan }))
		b.add("plan: "+name, want, field,
			Entry{Time: SampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.Bytes())
	}
	cards, slot, cut := SampleContext, Slots(1)[0], Source{Source: 3}
	add("source 0", Malformed, "mix source", cards, Source{})
	add("source 5", Unknown, "mix source", cards, Source{Source: 5})
	add("33 slots", Malformed, "mix plan", cards, Slots(33)...)
	add("a slot twice", Malformed, "mix plan", cards, slot, Slots(2)[1], slot)
	add("a slot after a beacon", Malformed, "mix plan", cards, Beacon(1), slot)
	add("a slot after a cut", Malformed, "mix plan", cards, cut, slot)
	add("a beacon after a cut", Malformed, "mix plan", cards, cut, Beacon(1))
	add("two beacons", Malformed, "mix plan", cards, Beacon(1), Beacon(2))
	add("two cuts", Malformed, "mix plan", cards, cut, cut)
	add("beacon round 0", Malformed, "beacon round", cards, Beacon(0))
	add("beacon round 2^53", Malformed, "beacon round", cards, Beacon(1<<53))
	add("a cut of a draw list", Malformed, "mix plan", SampleDraw, slot, cut)
	add("a cut of numbers", Malformed, "mix plan", SampleNumbers, slot, cut)
	lab := Source{Source: 4, Origin: "lab.example/orders", Commit: &ForeignOf}
	add("two co-dealers", Malformed, "mix plan", cards, lab, lab)
	add("a co-dealer after a slot", Malformed, "mix plan", cards, slot, lab)
	add("a co-dealer without an origin", Malformed, "co-dealer's origin", cards, Source{Source: 4, Commit: &ForeignOf})
	behind := SampleCommit(With(cards(), func(c *Context) { c.Plan = []Source{slot, lab} }))
	late := Entry{Time: SampleTime, Identity: "daemon", Credential: "daemon", Commit: &behind}
	b.add("plan: a count of 2 co-dealers after a slot", Malformed, "mix plan", late.patch("co-dealers", false, 0, 2))
	blind := b.of("commit: cards with a co-dealer")
	b.add("plan: a count of 0 co-dealers", Malformed, "co-dealers", blind.patch("co-dealers", false, 0, 0))
	b.add("plan: a count of 2 co-dealers", Unknown, "co-dealers", blind.patch("co-dealers", false, 0, 2))
}

func (b *badEntries) addMixesAndDeals() {
	mix := b.of("mix: every source")
	b.add("mix: no values", Malformed, "mix values", With(mix, func(e *Entry) { e.Mix = &Mix{Shuffle: 2} }).Bytes())
	b.add("mix: 33 values", Malformed, "mix values", With(mix, func(e *Entry) {
		e.Mix = &Mix{Shuffle: 2, Values: slices.Repeat([]Value{{Source: 3}}, 33)}
	}).Bytes())
	b.add("mix: source 0", Malformed, "mix source", mix.patch("mix source", false, 1, 0))
	b.add("mix: source 5", Unknown, "mix source", mix.patch("mix source", false, 1, 5))
	b.add("mix: source 4, which has no value", Malformed, "mix source", mix.patch("mix source", false, 1, 4))
	b.add("mix: shuffle 2^53", Malformed, "shuffle", mix.patch("shuffle", false, 0, bad53...))
	b.add("mix: checkpoint 2^53", Malformed, "checkpoint", mix.patch("checkpoint", false, 0, bad53...))
	b.add("mix: a value fewer than counted", Malformed, "mix source", mix.patch("mix values", true, 0, 5))
	b.add("mix: a value more than counted", Malformed, "mix", mix.patch("mix values", true, 0, 3))
	add := func(name, want, field string, changes ...func(*Deal)) {
		d := With(Deal{Shuffle: 2, Runs: []Run{{Cards: 2, Purpose: 1, Recipient: "seat-1"}}}, changes...)
		b.add("deal: "+name, want, field, Entry{Time: SampleTime, Identity: "t1", Credential: "t1", Deal: &d}.Bytes())
	}
	add("no runs", Malformed, "runs", func(d *Deal) { d.Runs = nil })
	add("513 runs", Malformed, "runs", func(d *Deal) { d.Runs = slices.Repeat(d.Runs, 513) })
	add("a run of no cards", Malformed, "run count", func(d *Deal) { d.Runs[0].Cards = 0 })
	add("past the last place of any shuffle", Malformed, "runs", func(d *Deal) { d.First = 4095 })
	add("past the last place of any shuffle, of purpose 7", Malformed, "runs",
		func(d *Deal) { d.First, d.Runs[0].Purpose = 4095, 7 })
	add("4,097 cards in one run", Malformed, "runs", func(d *Deal) { d.Runs[0].Cards = 4097 })
	add("first place 4,096", Malformed, "runs", func(d *Deal) { d.First, d.Runs[0].Cards = 4096, 1 })
	add("purpose 0", Malformed, "purpose", func(d *Deal) { d.Runs[0].Purpose = 0 })
	add("purpose 7", Unknown, "purpose", func(d *Deal) { d.Runs[0].Purpose = 7 })
	add("purpose 127", Unknown, "purpose", func(d *Deal) { d.Runs[0].Purpose = 127 })
	add("a recipient with an at sign", Malformed, "recipient", func(d *Deal) { d.Runs[0].Recipient = "a@b" })
	add("a recipient of 65 bytes", Malformed, "recipient",
		func(d *Deal) { d.Runs[0].Recipient = strings.Repeat("s", 65) })
	add("shuffle 2^53", Malformed, "shuffle", func(d *Deal) { d.Shuffle = 1 << 53 })
	add("entry 0 of a co-dealer, with a hash", Malformed, "leaf hash in the other ledger",
		func(d *Deal) { d.Blind = &Blind{Foreign{0, ForeignOf.Leaf}, ForeignHead, nil} })
	add("entry 0 of a co-dealer, with a value", Malformed, "leaf hash in the other ledger",
		func(d *Deal) { d.Blind = &Blind{NoDeal, ForeignHead, []uint32{1}} })
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", func(d *Deal) { d.Extensions = x.list })
	}
	deal := b.of("deal: one card to a seat")
	b.add("deal: final 2", Malformed, "final", deal.patch("final", false, 0, 2))
	b.add("deal: public 255", Malformed, "public", deal.patch("public", false, 0, 255))
	b.add("deal: a run fewer than counted", Malformed, "run count", deal.patch("runs", true, 0, 0, 2))
	b.add("deal: no run counted, one there", Malformed, "runs", deal.patch("runs", true, 0, 0, 0))
}

func (b *badEntries) addCloses() {
	add := func(name, want, field string, c Close) {
		b.add("close: "+name, want, field, Entry{Time: SampleTime, Identity: "t1", Credential: "t1", Close: &c}.Bytes())
	}
	tape := BytesOf("tape", 129)
	add("outcome 0", Malformed, "outcome", Close{Shuffle: 2, Form: 1, Tape: tape})
	add("outcome 6", Unknown, "outcome", Close{Shuffle: 2, Outcome: 6, Form: 1, Tape: tape})
	add("reason 12", Unknown, "reason", Close{Shuffle: 2, Outcome: 4, Reason: 12, Form: 1, Tape: tape})
	add("form 3", Unknown, "form", Close{Shuffle: 2, Outcome: 1, Form: 3})
	add("completed with a reason", Malformed, "reason", Close{Shuffle: 2, Outcome: 1, Reason: 1, Form: 1, Tape: tape})
	add("void without a reason", Malformed, "reason", Close{Shuffle: 2, Outcome: 4, Form: 1, Tape: tape})
	add("expired for tape_lost", Malformed, "reason", Close{Shuffle: 2, Outcome: 5, Reason: 10})
	add("tape_lost with a tape", Malformed, "form", Close{Shuffle: 2, Outcome: 4, Reason: 10, Form: 1, Tape: tape})
	add("continued with a tape", Malformed, "form", Close{Shuffle: 2, Outcome: 3, Form: 1, Tape: tape})
	add("continued, sealed", Malformed, "form", Close{Shuffle: 2, Outcome: 3, Form: 2, Key: 5, Tape: tape})
	add("no tape and not tape_lost", Malformed, "form", Close{Shuffle: 2, Outcome: 4, Reason: 6})
	add("completed without a tape", Malformed, "form", Close{Shuffle: 2, Outcome: 1})
	add("an empty tape", Malformed, "tape", Close{Shuffle: 2, Outcome: 1, Form: 1})
	add("a public tape of 32,769 bytes", Malformed, "tape",
		Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: BytesOf("t", 32_769)})
	add("an empty sealed tape", Malformed, "tape", Close{Shuffle: 2, Outcome: 1, Form: 2, Key: 5})
	add("a sealed tape of 33,938 bytes", Malformed, "tape",
		Close{Shuffle: 2, Outcome: 1, Form: 2, Key: 5, Tape: BytesOf("t", 33_938)})
	add("disclosure key 2^53", Malformed, "disclosure key",
		Close{Shuffle: 2, Outcome: 1, Form: 2, Key: 1 << 53, Tape: tape})
	add("entry 0 of a co-dealer, with a hash", Malformed, "leaf hash in the other ledger",
		Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape,
			Blind: &Blind{Foreign{0, ForeignOf.Leaf}, ForeignHead, nil}})
	add("entry 0 of a co-dealer, with a value", Malformed, "leaf hash in the other ledger",
		Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape, Blind: &Blind{NoDeal, ForeignHead, []uint32{1}}})
	for _, x := range badExtensions() {
		add(x.name, x.want, "extension", Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape, Extensions: x.list})
	}
	add("outcome 128: the list is closed", Unknown, "outcome", Close{Shuffle: 2, Outcome: 128, Form: 1, Tape: tape})
	add("form 128: the list is closed", Unknown, "form", Close{Shuffle: 2, Outcome: 1, Form: 128})
	add("reason 127", Unknown, "reason", Close{Shuffle: 2, Outcome: 4, Reason: 127, Form: 1, Tape: tape})
	add("reason 128 without a tape", Malformed, "form", Close{Shuffle: 2, Outcome: 4, Reason: 128})
	add("completed with reason 128", Malformed, "reason",
		Close{Shuffle: 2, Outcome: 1, Reason: 128, Form: 1, Tape: tape})
	e := b.of("close: completed, public")
	b.add("close: a byte more than the tape's length", Malformed, "extension", e.patch("tape", true, 0, 0, 128))
	b.add("close: a byte less than the tape's length", Malformed, "extensions", e.patch("tape", true, 0, 0, 130))
	b.add("close: bytes after tape_lost", Malformed, "close",
		append(b.of("close: void for tape_lost, without a tape").Bytes(), 0, 0))
}

func (b *badEntries) addKeys() {
	add := func(name, want, field string, k Key) {
		b.add("key: "+name, want, field,
			Entry{Time: SampleTime, Identity: "operator", Credential: "operator", Key: &k}.Bytes())
	}
	wrap := func(id string) Wrap { return Wrap{Hexed(strings.Repeat(id, 32)), BytesOf("wrap", 113)} }
	key := AuditorKey("disclosure")
	add("subject 0", Malformed, "subject", Key{})
	add("subject 9", Unknown, "subject", Key{Subject: 9})
	add("subject 128: the list is closed", Unknown, "subject", Key{Subject: 128})
	add("change 0", Malformed, "change", Key{Subject: 6, Name: "a", Public: AdminKey("a")})
	add("change 4", Unknown, "change", Key{Subject: 6, Change: 4, Name: "a", Public: AdminKey("a")})
	add("an administrator without a name", Malformed, "administrator", Key{Subject: 6, Change: 2})
	add("an administrator comes without a key", Malformed, "administrator's key", Key{Subject: 6, Change: 1, Name: "a"})
	add("an administrator has a key of type 2", Unknown, "administrator's key",
		Key{Subject: 6, Change: 3, Name: "a", Public: append(Hexed{2}, AdminKey("a")[1:]...)})
	add("an administrator's key is a point", Malformed, "administrator's key",
		Key{Subject: 6, Change: 1, Name: "a", Public: key})
	goes := Entry{Time: SampleTime, Identity: "operator", Credential: "operator",
		Key: &Key{Subject: 6, Change: 2, Name: "a"}}
	b.add("key: an administrator goes, with a key", Malformed, "key",
		append(goes.Bytes(), Join(uint16(33), []byte(AdminKey("a")))...))
	add("two_persons with act 0", Malformed, "act", Key{Subject: 7, Acts: []uint16{0, 1}})
	add("two_persons with act 14", Unknown, "act", Key{Subject: 7, Acts: []uint16{14}})
	add("two_persons in descending order", Malformed, "acts", Key{Subject: 7, Acts: []uint16{2, 1}})
	add("two_persons with an act twice", Malformed, "acts", Key{Subject: 7, Acts: []uint16{2, 2}})
	add("a signing key of one byte", Malformed, "signing key", Key{Subject: 1, Public: Hexed{1}})
	add("an auditor key of 2,049 bytes", Malformed, "auditor key", Key{Subject: 3, Public: BytesOf("k", 2049)})
	add("a disclosure key of no bytes", Malformed, "disclosure key", Key{Subject: 2, Wraps: []Wrap{wrap("a")}})
	add("no wraps", Malformed, "wraps", Key{Subject: 2, Public: key})
	var many []Wrap
	for i := range 33 {
		many = append(many, wrap(string(rune('!'+i))))
	}
	add("33 wraps", Malformed, "wraps", Key{Subject: 2, Public: key, Wraps: many})
	add("wraps in descending order", Malformed, "wraps",
		Key{Subject: 2, Public: key, Wraps: []Wrap{wrap("b"), wrap("a")}})
	add("an auditor's wrap twice", Malformed, "wraps",
		Key{Subject: 2, Public: key, Wraps: []Wrap{wrap("a"), wrap("a")}})
	add("an empty wrap", Malformed, "wrapped key",
		Key{Subject: 2, Public: key, Wraps: []Wrap{{wrap("a").Auditor, nil}}})
	add("a wrap of 112 bytes", Malformed, "wrapped key",
		Key{Subject: 2, Public: key, Wraps: []Wrap{{wrap("a").Auditor, BytesOf("w", 112)}}})
	add("a wrap of 114 bytes", Malformed, "wrapped key",
		Key{Subject: 2, Public: key, Wraps: []Wrap{{wrap("a").Auditor, BytesOf("w", 114)}}})
	hybrid := AuditorKey("hybrid disclosure")
	add("a hybrid key with a wrap for P-256", Malformed, "wrapped key",
		Key{Subject: 2, Public: hybrid, Wraps: []Wrap{wrap("a")}})
	add("a key of P-256 with a hybrid wrap", Malformed, "wrapped key",
		Key{Subject: 2, Public: key, Wraps: []Wrap{{wrap("a").Auditor, BytesOf("w", 1201)}}})
	add("a hybrid wrap of 1,200 bytes", Malformed, "wrapped key",
		Key{Subject: 2, Public: hybrid, Wraps: []Wrap{{wrap("a").Auditor, BytesOf("w", 1200)}}})
	add("a hybrid auditor key of 1,249 bytes", Malformed, "auditor key", Key{Subject: 3, Public: hybrid[:1249]})
	add("a hybrid auditor key with its point in front", Malformed, "auditor key",
		Key{Subject: 3, Public: slices.Concat(Hexed{2}, hybrid[1185:], hybrid[1:1185])})
	add("a signing key of 32 bytes", Malformed, "signing key", Key{Subject: 1, Public: SigningKey("1")[:32]})
	add("a signing key of type 2", Unknown, "signing key",
		Key{Subject: 1, Public: append(Hexed{2}, SigningKey("1")[1:]...)})
	add("an auditor key of 65 bytes", Malformed, "auditor key", Key{Subject: 3, Public: key[:65]})
	add("an auditor key of 67 bytes", Malformed, "auditor key", Key{Subject: 3, Public: append(AuditorKey("1"), 0)})
	add("a signing key for an auditor", Malformed, "auditor key", Key{Subject: 3, Public: SigningKey("1")})
	add("a disclosure key that is compressed", Malformed, "disclosure key",
		Key{Subject: 2, Public: compressed("1"), Wraps: []Wrap{wrap("a")}})
	add("a disclosure key of type 0", Unknown, "disclosure key",
		Key{Subject: 2, Public: append(Hexed{0}, key[1:]...), Wraps: []Wrap{wrap("a")}})
	add("a policy that is not ASCII", Malformed, "witness policy", Key{Subject: 4, Policy: "é"})
	add("a policy with DEL", Malformed, "witness policy", Key{Subject: 4, Policy: "\x7f"})
	add("retirement of subject 0", Malformed, "retired subject", Key{Subject: 5, ID: KeyID(key)})
	add("retirement of a policy", Unknown, "retired subject", Key{Subject: 5, Retired: 4, ID: KeyID(key)})
	add("retirement from 2^53", Malformed, "retired from", Key{Subject: 5, Retired: 1, ID: KeyID(key), From: 1 << 53})
}

func (b *badEntries) addEvents() {
	add := func(name, want, field string, e Event) {
		b.add("event: "+name, want, field,
			Entry{Time: SampleTime, Identity: "operator", Credential: "operator", Event: &e}.Bytes())
	}
	add("kind 0", Malformed, "event", Event{})
	add("kind 9, which is reserved", Unknown, "event", Event{Kind: 9})
	add("kind 11", Unknown, "event", Event{Kind: 11})
	add("kind 127", Unknown, "event", Event{Kind: 127})
	add("1,025 bytes behind a kind that is not known", Malformed, "event", Event{Kind: 131, Opaque: BytesOf("o", 1025)})
	add("no software version", Malformed, "version", Event{Kind: 1, Build: BytesOf("b", 32), Config: BytesOf("c", 32)})
	add("a software version with a plus sign", Malformed, "version",
		Event{Kind: 1, Build: BytesOf("b", 32), Config: BytesOf("c", 32), Version: "v1+dirty"})
	add("opening no table", Malformed, "table", Event{Kind: 2})
	add("closing a table with a space", Malformed, "table", Event{Kind: 3, Table: " "})
	add("scope 0", Malformed, "scope", Event{Kind: 4, Reason: "r"})
	add("scope 4", Unknown, "scope", Event{Kind: 5, Scope: 4, Reason: "r"})
	add("a kill switch without a reason", Malformed, "reason", Event{Kind: 4, Scope: 1})
	add("a kill switch for no table", Malformed, "table", Event{Kind: 4, Scope: 2, Reason: "r"})
	add("cause 0", Malformed, "latch", Event{Kind: 6, Instance: 1})
	add("cause 12", Unknown, "latch", Event{Kind: 6, Cause: 12, Instance: 1})
	add("latch_set by instance 2^53", Malformed, "instance", Event{Kind: 6, Cause: 1, Instance: 1 << 53})
	add("latch_clear without a reason", Malformed, "reason", Event{Kind: 7})
	add("a reason of 201 bytes", Malformed, "reason", Event{Kind: 7, Reason: strings.Repeat("r", 201)})
	add("a reason with a newline", Malformed, "reason", Event{Kind: 7, Reason: "a\nb"})
	add("a reason with DEL", Malformed, "reason", Event{Kind: 7, Reason: "a\x7f"})
	add("a reason that is not ASCII", Malformed, "reason", Event{Kind: 7, Reason: "Prüfung"})
	add("alarm 0", Malformed, "alarm", Event{Kind: 129, Reason: "r"})
	add("alarm 1", Unknown, "alarm", Event{Kind: 129, Alarm: 1, Reason: "r"})
	add("alarm 127", Unknown, "alarm", Event{Kind: 129, Alarm: 127, Reason: "r"})
	add("an alarm that is passed over, without a reason", Malformed, "reason", Event{Kind: 129, Alarm: 200})
	start := func(kernel string, vdso uint8) Event {
		return Event{Kind: 1, Build: BytesOf("b", 32), Config: BytesOf("c", 32), Version: "v1", Kernel: kernel,
			VDSO: vdso}
	}
	add("a kernel release of 65 bytes", Malformed, "kernel release", start(strings.Repeat("k", 65), 1))
	add("a kernel release with a space", Malformed, "kernel release", start("6.8 x", 1))
	add("a kernel release with DEL", Malformed, "kernel release", start("6.8\x7f", 1))
	add("vdso 3", Unknown, "vDSO", start("6.8", 3))
	add("vdso 128: the list is closed", Unknown, "vDSO", start("6.8", 128))
	adopted := Event{Kind: 10, Size: 9, Root: BytesOf("root", 32), LostSize: 12, LostRoot: BytesOf("lost", 32),
		Reason: "restored"}
	add("an adopted head of 2^53 entries", Malformed, "adopted size",
		With(adopted, func(e *Event) { e.Size = 1 << 53 }))
	add("a lost head of 2^53 entries", Malformed, "lost size", With(adopted, func(e *Event) { e.LostSize = 1 << 53 }))
	add("a lost head of no entries, with a root", Malformed, "lost root",
		With(adopted, func(e *Event) { e.LostSize = 0 }))
	add("an adopted head without a reason", Malformed, "reason", With(adopted, func(e *Event) { e.Reason = "" }))
	add("2^53 records", Malformed, "records", Event{Kind: 130, Records: 1 << 53, Newest: BytesOf("n", 32)})
	e := b.of("event: instance_start")
	b.add("event: FIPS flag 2", Malformed, "FIPS state", e.patch("FIPS state", false, 0, 2))
}

func (b *badEntries) addTakeovers() {
	add := func(name, want, field string, t Takeover) {
		b.add("takeover: "+name, want, field,
			Entry{Time: SampleTime, Identity: "dealer-2", Credential: "token-2", Takeover: &t}.Bytes())
	}
	add("shuffle 2^53", Malformed, "shuffle", Takeover{1 << 53, 1, "r"})
	add("extent 0", Malformed, "extent", Takeover{2, 0, "r"})
	add("extent 3", Unknown, "extent", Takeover{2, 3, "r"})
	add("extent 128: the list is closed", Unknown, "extent", Takeover{2, 128, "r"})
	add("no reason", Malformed, "reason", Takeover{2, 1, ""})
	add("a reason of 201 bytes", Malformed, "reason", Takeover{2, 1, strings.Repeat("r", 201)})
	b.add("takeover: a byte after the end", Malformed, "takeover", append(b.of("takeover: to play").Bytes(), 0))
}

func (b *badEntries) addReveals() {
	add := func(name, field string, r Reveal) {
		b.add("reveal: "+name, Malformed, field,
			Entry{Time: SampleTime, Identity: "dealer-1", Credential: "token-1", Reveal: &r}.Bytes())
	}
	add("shuffle 2^53", "shuffle", Reveal{Shuffle: 1 << 53, Places: []uint64{0}})
	add("no place", "places", Reveal{Shuffle: 2})
	add("4,097 places", "places", Reveal{Shuffle: 2, Places: PlacesBelow(4097)})
	add("place 4,096", "place", Reveal{Shuffle: 2, Places: []uint64{4096}})
	add("a place twice", "places", Reveal{Shuffle: 2, Places: []uint64{3, 3}})
	add("places in descending order", "places", Reveal{Shuffle: 2, Places: []uint64{3, 2}})
	add("extensions in descending order", "extensions", Reveal{Shuffle: 2, Places: []uint64{3},
		Extensions: []Extension{{201, nil}, {200, nil}}})
	e := b.of("reveal: one place")
	b.add("reveal: final flag 2", Malformed, "final", e.patch("final", false, 0, 2))
	b.add("reveal: exposed flag 2", Malformed, "exposed", e.patch("exposed", false, 0, 2))
	b.add("reveal: extension 1", Unknown, "extension", Entry{Time: SampleTime, Identity: "dealer-1",
		Credential: "token-1", Reveal: &Reveal{Shuffle: 2, Places: []uint64{0},
			Extensions: []Extension{{1, nil}}}}.Bytes())
	b.add("reveal: a byte after the end", Malformed, "reveal", append(e.Bytes(), 0))
}

func (b *badEntries) addDisclosures() {
	tape := BytesOf("tape", 54)
	add := func(name, want, field string, d Disclose) {
		b.add("disclosure: "+name, want, field,
			Entry{Time: SampleTime, Identity: "dealer-1", Credential: "token-1", Disclose: &d}.Bytes())
	}
	add("shuffle 2^53", Malformed, "shuffle", Disclose{Shuffle: 1 << 53, Form: 1, Tape: tape})
	add("form 3", Unknown, "form", Disclose{Shuffle: 2, Form: 3})
	add("form 128: the list is closed", Unknown, "form", Disclose{Shuffle: 2, Form: 128})
	add("an empty tape", Malformed, "tape", Disclose{Shuffle: 2, Form: 1})
	add("a tape of 32,769 bytes", Malformed, "tape", Disclose{Shuffle: 2, Form: 1, Tape: BytesOf("t", 32_769)})
	add("an empty sealed tape", Malformed, "tape", Disclose{Shuffle: 2, Form: 2, Key: 5})
	add("a sealed tape of 33,938 bytes", Malformed, "tape",
		Disclose{Shuffle: 2, Form: 2, Key: 5, Tape: BytesOf("t", 33_938)})
	add("disclosure key 2^53", Malformed, "disclosure key", Disclose{Shuffle: 2, Form: 2, Key: 1 << 53, Tape: tape})
	add("extension 1", Unknown, "extension", Disclose{Shuffle: 2, Extensions: []Extension{{1, nil}}})
	add("extensions in descending order", Malformed, "extensions", Disclose{Shuffle: 2,
		Extensions: []Extension{{201, nil}, {200, nil}}})
	e := b.of("disclosure: public")
	b.add("disclosure: a byte after the end", Malformed, "disclosure", append(e.Bytes(), 0))
}

func (b *badEntries) addHolders() {
	add := func(name, want, field string, changes ...func(*Holder)) {
		e := Entry{Time: SampleTime, Identity: "operator", Credential: "operator", Holder: SampleHolder(changes...)}
		b.add("credential: "+name, want, field, e.Bytes())
	}
	add("kind 0", Malformed, "credential", func(h *Holder) { h.Kind = 0 })
	add("kind 3", Unknown, "credential", func(h *Holder) { h.Kind = 3 })
	add("no id", Malformed, "credential", func(h *Holder) { h.ID = "" })
	add("form 0", Malformed, "form", func(h *Holder) { h.Form = 0 })
	add("form 3", Unknown, "form", func(h *Holder) { h.Form = 3 })
	add("role 0", Malformed, "role", func(h *Holder) { h.Role = 0 })
	add("role 6", Unknown, "role", func(h *Holder) { h.Role = 6 })
	add("role 128: the list is closed", Unknown, "role", func(h *Holder) { h.Role = 128 })
	add("an identity with a space", Malformed, "identity", func(h *Holder) { h.Identity = "a b" })
	add("tables in descending order", Malformed, "tables", func(h *Holder) { h.Tables = []string{"b", "a"} })
	add("tables by length and not by bytes", Malformed, "tables", func(h *Holder) { h.Tables = []string{"b", "aa"} })
	add("a table twice", Malformed, "tables", func(h *Holder) { h.Tables = []string{"a", "a"} })
	add("a table without a name", Malformed, "table", func(h *Holder) { h.Tables = []string{""} })
	add("257 tables", Malformed, "tables", func(h *Holder) {
		for i := range 257 {
			h.Tables = append(h.Tables, fmt.Sprintf("t%03d", i))
		}
	})
	add("an expiry of 2^53", Malformed, "expiry", func(h *Holder) { h.Expires = 1 << 53 })
	add("revoked without a reason", Malformed, "reason", func(h *Holder) { h.Kind = 2 })
	b.add("credential: a digest of 31 bytes", Malformed, "digest",
		b.of("credential: a dealer's token for all tables").patch("digest", false, 0, BytesOf("d", 31)...))
}

func (b *badEntries) addActs() {
	one := Act{Act: 1, Digest: BytesOf("d", 32), HeadRoot: BytesOf("r", 32), Expires: SampleTime,
		Signatures: []Signature{{"alice", make(Hexed, 64)}, {"bob", make(Hexed, 64)}}}
	add := func(name, want, field string, changes ...func(*Act)) {
		a := With(one, changes...)
		b.add("act: "+name, want, field,
			Entry{Time: SampleTime, Identity: "operator", Credential: "operator", Act: &a}.Bytes())
	}
	signed := func(names ...string) func(*Act) {
		return func(a *Act) {
			a.Signatures = nil
			for _, n := range names {
				a.Signatures = append(a.Signatures, Signature{n, make(Hexed, 64)})
			}
		}
	}
	add("act 0", Malformed, "act", func(a *Act) { a.Act = 0 })
	add("act 14", Unknown, "act", func(a *Act) { a.Act = 14 })
	add("act 128: the list is closed", Unknown, "act", func(a *Act) { a.Act = 128 })
	add("the previous one at 2^53", Malformed, "previous act", func(a *Act) { a.Previous = 1 << 53 })
	add("a head of 2^53 entries", Malformed, "size of the head", func(a *Act) { a.HeadSize = 1 << 53 })
	add("an expiry of 2^53", Malformed, "expiry", func(a *Act) { a.Expires = 1 << 53 })
	add("no signature", Malformed, "signatures", signed())
	add("three signatures", Malformed, "signatures", signed("a", "b", "c"))
	add("administrators in descending order", Malformed, "signatures", signed("bob", "alice"))
	add("an administrator twice", Malformed, "signatures", signed("bob", "bob"))
	add("an administrator without a name", Malformed, "administrator", signed(""))
	add("a signature of 63 bytes", Malformed, "signature",
		func(a *Act) { a.Signatures = []Signature{{"a", make(Hexed, 63)}} })
}

// addTerms damages the extension of a context that holds its terms.
func (b *badEntries) addTerms() {
	hash := BytesOf("terms", 32)
	for _, x := range []struct {
		name, want, field string
		value             []byte
		more              []Extension
	}{
		{"no kind", Malformed, "terms", nil, nil},
		{"kind 0", Malformed, "terms", append(Hexed{0}, hash...), nil},
		{"kind 4", Unknown, "terms", append(Hexed{4}, hash...), nil},
		{"kind 128: the list is closed", Unknown, "terms", append(Hexed{128}, hash...), nil},
		{"a wheel without a hash", Malformed, "hash of the terms", []byte{1}, nil},
		{"a wheel with a hash of 31 bytes", Malformed, "hash of the terms", append(Hexed{1}, hash[:31]...), nil},
		{"a pay table with a hash of 33 bytes", Malformed, "terms", append(Hexed{2}, append(hash, 0)...), nil},
		{"a list of tickets without a count", Malformed, "tickets", append(Hexed{3}, hash...), nil},
		{"a list of tickets without a root", Malformed, "root of the tickets", []byte{3, 0, 0, 0, 0, 0, 0, 0, 1}, nil},
		{"a list of 2^53 tickets", Malformed, "tickets", append(append(Hexed{3}, bad53...), hash...), nil},
		{"of 1,025 bytes", Malformed, "terms", append(Hexed{1}, make(Hexed, 1024)...), nil},
		{"twice", Malformed, "extensions", append(Hexed{1}, hash...), []Extension{{1, append(Hexed{1}, hash...)}}},
		{"of an unknown kind, and a later code twice", Unknown, "terms", append(Hexed{4}, hash...),
			[]Extension{{128, nil}, {128, nil}}},
	} {
		c := SampleCommit(With(SampleDraw(), func(c *Context) {
			c.Extensions = append([]Extension{{1, x.value}}, x.more...)
		}))
		b.add("context: terms "+x.name, x.want, x.field,
			Entry{Time: SampleTime, Identity: "daemon", Credential: "daemon", Commit: &c}.Bytes())
	}
}

// badExtensions are extension lists that no structure may end in.
func badExtensions() []struct {
	name, want string
	list       []Extension
} {
	return []struct {
		name, want string
		list       []Extension
	}{
		{"extension 0", Malformed, []Extension{{0, nil}}},
		{"extension 127", Unknown, []Extension{{127, nil}}},
		{"an extension twice", Malformed, []Extension{{128, nil}, {128, nil}}},
		{"extensions in descending order", Malformed, []Extension{{129, nil}, {128, nil}}},
		{"extension 127 after extension 200", Unknown, []Extension{{200, nil}, {127, nil}}},
		{"an extension of 1,025 bytes", Malformed, []Extension{{128, BytesOf("x", 1025)}}},
	}
}
