package spec

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/sha3"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// The good entries of testdata/entries.json: every type, kind, subject, scope,
// form, outcome, reason, cause and option at least once.

// The ledger of the samples and of stories, and the time of its first entry.
const (
	SampleOrigin = "casino.example/main"
	SampleTime   = 1_790_000_000_000
	MaxInteger   = 1<<53 - 1
)

// NamedEntry is an entry of the data file.
type NamedEntry struct {
	Name   string   `json:"name"`
	Bytes  Hexed    `json:"bytes"`
	Entry  Entry    `json:"fields"`
	Passed []string `json:"passed_over,omitempty"` // list and number of each code, in their order
}

type samples []NamedEntry

func (s *samples) add(name string, e Entry) {
	if e.Identity == "" {
		e.Time = SampleTime + uint64(len(*s))
		e.Identity, e.Credential = e.writer()
	}
	*s = append(*s, NamedEntry{Name: name, Bytes: e.Bytes(), Entry: e})
}

// writer is whose entry e is most often.
func (e Entry) writer() (identity, credential string) {
	switch {
	case e.Commit != nil || e.Mix != nil || e.Deal != nil || e.Close != nil || e.Takeover != nil || e.Reveal != nil ||
		e.Disclose != nil:
		return "dealer-1", "token-1"
	case e.Key != nil || e.Holder != nil || e.Act != nil:
		return "operator", "operator"
	}
	return "daemon", "daemon"
}

// GoodEntries are those of testdata/entries.json.
func GoodEntries() (s samples) {
	s.addGenesis()
	s.addCommits()
	s.addMixes()
	s.addDeals()
	s.addCloses()
	s.addKeys()
	s.addEvents()
	s.addTakeovers()
	s.addHolders()
	s.addActs()
	s.addPassed()
	s.addTerms()
	s.addReveals()
	s.addDisclosures()
	s.addNumbers()
	s.addBlind()
	s.addHybrid()
	return s
}

// With is a copy of v after changes.
func With[T any](v T, changes ...func(*T)) T {
	for _, change := range changes {
		change(&v)
	}
	return v
}

// Signer is the Ed25519 key whose seed is bytesOf("signing key " ‖ name, 32).
func Signer(name string) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(BytesOf("signing key "+name, 32))
}

// SigningKey is the key of that name, type byte first.
func SigningKey(name string) Hexed {
	return append(Hexed{1}, Signer(name).Public().(ed25519.PublicKey)...)
}

// AuditorKey is a point of P-256 after its type byte; that of a name with the word hybrid
// has a key of ML-KEM-768 in front of the point.
func AuditorKey(name string) Hexed {
	if strings.Contains(name, "hybrid") {
		seed := sha3.SumSHAKE256(BytesOf("auditor key "+name, 32), 64+32)
		lattice, err := mlkem.NewDecapsulationKey768(seed[:64])
		if err != nil {
			panic(err)
		}
		point, err := ecdh.P256().NewPrivateKey(seed[64:])
		if err != nil {
			panic(err)
		}
		return slices.Concat(Hexed{2}, lattice.EncapsulationKey().Bytes(), point.PublicKey().Bytes())
	}
	key, err := ecdh.P256().NewPrivateKey(BytesOf("auditor key "+name, 32))
	if err != nil {
		panic(err)
	}
	return append(Hexed{1}, key.PublicKey().Bytes()...)
}

// added is how many bytes what is sealed to a key has more than what it holds.
func added(key Hexed) int { return map[byte]int{1: 65 + 16, 2: 1088 + 65 + 16}[key[0]] }

// compressed is an auditor's point by its x alone.
func compressed(name string) Hexed {
	k := AuditorKey(name)
	return append(Hexed{1, 2 + k[65]&1}, k[2:34]...)
}

// WitnessPolicy asks for any one of the witnesses.
func WitnessPolicy(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "witness %s %s\n", n, WitnessKey("witness.example/"+n, Signer(n)))
	}
	fmt.Fprintf(&b, "group any-of-them any %s\nquorum any-of-them\n", strings.Join(names, " "))
	return b.String()
}

// SampleGenesis is a genesis, which the other samples change.
func SampleGenesis() Genesis {
	return Genesis{Revision: 1, Origin: SampleOrigin, SigningKey: SigningKey("1"), Deals: 1, Disclosure: 1,
		DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: 1}
}

func (s *samples) addGenesis() {
	add := func(name string, changes ...func(*Genesis)) {
		g := With(SampleGenesis(), changes...)
		s.add("genesis: "+name, Entry{Genesis: &g})
	}
	add("a sandbox without policy and auditors")
	add("production with every option", func(g *Genesis) {
		g.Production, g.Deals, g.MixModes, g.Disclosure, g.Access = true, 2, 7, 2, 2
		g.Policy = "log " + VKey(SampleOrigin, Signer("1")) + "\n" + WitnessPolicy("w1", "w2")
		g.Auditors = []Hexed{AuditorKey("hybrid 1"), AuditorKey("hybrid 2")}
		g.Predecessor = Hexed("casino.example/2025\n7\n" + strings.Repeat("A", 43) +
			"=\n\n— casino.example/2025 AAAA\n")
		g.Admins = Admins("alice", "bob", "carol")
		g.TwoPersons, g.Delay = []uint16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3600
	})
	add("an administrator, and acts that need no second", func(g *Genesis) { g.Admins = Admins("A") })
	add("16 administrators, the longest delay", func(g *Genesis) {
		for i := range 16 {
			g.Admins = append(g.Admins, Admins(fmt.Sprintf("admin-%02d", i))...)
		}
		g.TwoPersons, g.Delay = []uint16{8}, 1<<32-1
	})
	add("shortest origin, shortest times", func(g *Genesis) { g.Origin, g.DefaultCloseBy, g.MaxCloseBy = "a", 1, 1 })
	add("longest origin, with every character of the grammar", func(g *Genesis) {
		g.Origin = "0" + lower + "./_-" + strings.Repeat("x", 86) + "9"
	})
	add("8 auditors", func(g *Genesis) {
		for i := range 8 {
			g.Auditors = append(g.Auditors, AuditorKey(fmt.Sprint(i)))
		}
	})
	add("longest times", func(g *Genesis) { g.DefaultCloseBy, g.MaxCloseBy = 1<<32-1, 1<<32-1 })
}

// SampleContext is of 52 cards.
func SampleContext() Context {
	return Context{Origin: SampleOrigin, Genesis: BytesOf("genesis", 32), Table: "table-7", Algorithm: 1, Kind: 1,
		DeckHash: BytesOf("deck", 32), Cards: 52, Take: 52, Disclosure: 1}
}

// SampleDraw is of a draw list.
func SampleDraw() Context {
	return Context{Origin: SampleOrigin, Genesis: BytesOf("genesis", 32), Table: "wheel-1", Algorithm: 1, Kind: 2,
		Ranges:     []uint32{6, 6, 37},
		Disclosure: 1}
}

// SampleNumbers is of numbers without repeats.
func SampleNumbers() Context {
	return Context{Origin: SampleOrigin, Genesis: BytesOf("genesis", 32), Table: "keno-1", Algorithm: 1, Kind: 3,
		Of: 80, Take: 20, Disclosure: 1}
}

// SampleCommit is a commit of SampleContext.
func SampleCommit(ctx Context) Commit {
	return Commit{Context: ctx, Commitment: BytesOf("commitment", 32), DeckRoot: BytesOf("deck root", 32),
		Serial: 1, CloseBy: SampleTime + 3_600_000, KeyTag: KeyTag(ctx.Origin, "dealer-1", ctx.Table, "hand-1"),
		Request: BytesOf("request", 32), Instance: 1}
}

// Slots are sources of a plan: n slots.
func Slots(n int) (plan []Source) {
	for i := range n {
		plan = append(plan, Source{Source: 1,
			Slot: SlotHash(SampleOrigin, "table-7", BytesOf(fmt.Sprint("slot ", i), 32))})
	}
	return plan
}

// Beacon is the source of a plan with this round.
func Beacon(round uint64) Source {
	return Source{Source: 2, Chain: BytesOf("chain", 32), Round: round}
}

func (s *samples) addCommits() {
	add := func(name string, ctx Context, changes ...func(*Commit)) {
		c := With(SampleCommit(ctx), changes...)
		s.add("commit: "+name, Entry{Commit: &c})
	}
	of := func(changes ...func(*Context)) Context { return With(SampleContext(), changes...) }
	draw := func(changes ...func(*Context)) Context { return With(SampleDraw(), changes...) }
	add("52 cards, the first of its table", of())
	add("a later serial, with a game reference", of(),
		func(c *Commit) { c.Serial, c.Previous, c.GameRef = 2, 9, "hand.4711" })
	add("an idempotency key that is a UUIDv7", of(), func(c *Commit) {
		c.KeyTag = KeyTag(SampleOrigin, "dealer-1", "table-7", "01920000-1234-7abc-8def-0123456789ab")
	})
	add("of a production ledger, disclosed to auditors",
		of(func(c *Context) { c.Production, c.Disclosure = true, 2 }))
	add("the fewest cards, one taken", of(func(c *Context) { c.Cards, c.Take = 2, 1 }))
	add("the most cards, all taken", of(func(c *Context) { c.Cards, c.Take = 4096, 4096 }))
	add("a shoe of eight decks, fixed end_at",
		of(func(c *Context) { c.Cards, c.Take, c.EndAt = 416, 416, EndAt{Form: 1, Place: 350} }))
	add("fixed end_at at the first place there is", of(func(c *Context) { c.EndAt = EndAt{Form: 1, Place: 1} }))
	add("fixed end_at at the end", of(func(c *Context) { c.Take, c.EndAt = 9, EndAt{Form: 1, Place: 9} }))
	add("a drawn end_at", of(func(c *Context) {
		c.Cards, c.Take, c.EndAt = 416, 416,
			EndAt{Form: 2, Lo: 338, Hi: 364}
	}))
	add("the widest drawn end_at", of(func(c *Context) { c.EndAt = EndAt{Form: 2, Lo: 1, Hi: 52} }))
	add("a draw list", draw())
	add("one draw 1..1", draw(func(c *Context) { c.Ranges = []uint32{1} }))
	add("draws at the edges of lane widths, and the widest", draw(func(c *Context) {
		c.Ranges = []uint32{64, 65, 1 << 14, 1<<14 + 1, 1 << 30}
	}))
	add("a draw list with slots and a beacon", draw(func(c *Context) { c.Plan = append(Slots(2), Beacon(7)) }))
	add("a plan of one slot", of(func(c *Context) { c.Plan = Slots(1) }))
	add("a plan of a beacon in the last round there is",
		of(func(c *Context) { c.Plan = []Source{Beacon(MaxInteger)} }))
	add("a plan of a cut", of(func(c *Context) { c.Plan = []Source{{Source: 3}} }))
	add("a plan of every source", of(func(c *Context) {
		c.Plan = append(Slots(2), Beacon(1),
			Source{Source: 3})
	}))
	add("a plan of 32 slots", of(func(c *Context) { c.Plan = Slots(32) }))
	add("a child: a stub of five cards in no order", of(func(c *Context) {
		c.Cards, c.Take, c.Parent = 5, 5, &Parent{ID: 2, Positions: []uint16{51, 0, 7, 50, 8}}
	}))
	add("a child with a plan and an end_at", of(func(c *Context) {
		c.Cards, c.Take, c.Parent = 3, 2, &Parent{ID: 2, Positions: []uint16{4095, 65535, 0}}
		c.Plan, c.EndAt = Slots(1), EndAt{Form: 1, Place: 2}
	}))
	add("the largest integers", of(), func(c *Commit) {
		c.Serial, c.Previous, c.CloseBy, c.Instance = MaxInteger, MaxInteger, MaxInteger, MaxInteger
	})
}

func (s *samples) addNumbers() {
	add := func(name string, ctx Context) {
		c := SampleCommit(ctx)
		s.add("commit: "+name, Entry{Commit: &c})
	}
	numbers := func(n, m uint64) Context {
		return With(SampleNumbers(), func(c *Context) { c.Of, c.Take = n, m })
	}
	add("20 of 80 numbers", numbers(80, 20))
	add("the fewest numbers, one taken", numbers(2, 1))
	add("both of two numbers", numbers(2, 2))
	add("the most numbers of the most there are", numbers(1<<30, 4096))
	add("one of a million numbers, with a beacon", With(numbers(1_000_000, 1), func(c *Context) {
		c.Plan = []Source{Beacon(7)}
	}))
}

func (s *samples) addMixes() {
	add := func(name string, cosigned uint64, values ...Value) {
		s.add("mix: "+name, Entry{Mix: &Mix{Shuffle: 2, Checkpoint: cosigned, Values: values}})
	}
	slot := Value{Source: 1, Value: BytesOf("slot 0", 32)}
	add("one slot", 0, slot)
	add("a beacon", 3, Value{Source: 2, Value: BytesOf("beacon", 48)})
	add("a cut at the first place", 3, Value{Source: 3})
	add("the largest cut", 3, Value{Source: 3, Cut: 65535})
	add("every source", MaxInteger, slot, Value{Source: 1, Value: BytesOf("slot 1", 32)},
		Value{Source: 2, Value: BytesOf("beacon", 48)}, Value{Source: 3, Cut: 17})
	var all []Value
	for i := range 32 {
		all = append(all, Value{Source: 1, Value: BytesOf(fmt.Sprint("slot ", i), 32)})
	}
	add("32 slots", 1, all...)
	add("an order that no plan has: it is bytes that a writer can make, and illegal", 1, Value{Source: 3, Cut: 1},
		slot)
}

func (s *samples) addDeals() {
	add := func(name string, d Deal) { s.add("deal: "+name, Entry{Deal: &d}) }
	add("one card to a seat", Deal{Shuffle: 2, Runs: []Run{{Cards: 1, Purpose: 1, Recipient: "seat-1"}}})
	add("every purpose", Deal{Shuffle: 2, First: 4, Checkpoint: 9, Runs: []Run{
		{Cards: 2, Purpose: 1, Recipient: "seat-1"}, {Cards: 3, Purpose: 2, Public: true}, {Cards: 1, Purpose: 3},
		{Cards: 1, Purpose: 4, Recipient: "muck"}, {Cards: 1, Purpose: 5, Public: true},
		{Cards: 40, Purpose: 6, Recipient: "back-end", Round: 1}}})
	add("final, to a salted reference", Deal{Shuffle: 2, First: 51, Final: true, Runs: []Run{
		{Cards: 1, Purpose: 1, Recipient: Reference(BytesOf("salt", 16), "Erika Mustermann")}}})
	add("all places there can be, in one run", Deal{Shuffle: 2, Runs: []Run{{4096, 4, "", false, 65_535}}})
	add("the last place there can be", Deal{Shuffle: 2, First: 4095,
		Runs: []Run{{Cards: 1, Purpose: 2, Public: true}}})
	many := Deal{Shuffle: 2}
	for range 512 {
		many.Runs = append(many.Runs, Run{Cards: 8, Purpose: 3})
	}
	add("512 runs to the last place there can be", many)
}

func (s *samples) addCloses() {
	add := func(name string, c Close) { s.add("close: "+name, Entry{Close: &c}) }
	for i, outcome := range []string{"completed", "ended_early", "", "", "expired"} {
		if outcome != "" {
			add(outcome+", public", Close{Shuffle: 2, Outcome: uint8(i + 1), Form: 1, Tape: BytesOf("tape", 129)})
		}
	}
	add("continued, without a tape", Close{Shuffle: 2, Outcome: 3})
	for i, reason := range []string{"misdeal", "exposed_card", "foul_deck", "game_cancelled", "operator_error",
		"system_fault",
		"player_dispute", "mix_failed", "regulator"} {
		add("void for "+reason, Close{Shuffle: 2, Outcome: 4, Reason: uint8(i + 1), Form: 1,
			Tape: BytesOf("tape", 54)})
	}
	add("void for tape_lost, without a tape", Close{Shuffle: 2, Outcome: 4, Reason: 10})
	add("completed, sealed to auditors",
		Close{Shuffle: 2, Outcome: 1, Form: 2, Key: 5, Tape: BytesOf("sealed", 129+1169)})
	add("void, sealed to auditors", Close{Shuffle: 2, Outcome: 4, Reason: 9, Form: 2, Key: 5,
		Tape: BytesOf("sealed", 54+81)})
	add("the shortest tape that a reader takes", Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: Hexed{0}})
}

func (s *samples) addHybrid() {
	low, high := Hexed(strings.Repeat("\x01", 32)), Hexed(strings.Repeat("\xfe", 32))
	s.add("key: hybrid disclosure for two auditors", Entry{Key: &Key{Subject: 2, Public: AuditorKey("hybrid"),
		Wraps: []Wrap{{low, BytesOf("hybrid wrap", 1201)}, {high, BytesOf("another", 1201)}}}})
	s.add("key: hybrid auditor", Entry{Key: &Key{Subject: 3, Public: AuditorKey("hybrid 3")}})
}

func (s *samples) addKeys() {
	add := func(name string, k Key) { s.add("key: "+name, Entry{Key: &k}) }
	low, high := Wrap{Hexed(strings.Repeat("\x01", 32)), BytesOf("wrap", 113)},
		Wrap{Hexed(strings.Repeat("\xfe", 32)), BytesOf("another wrap", 113)}
	add("signing", Key{Subject: 1, Public: SigningKey("2")})
	add("disclosure for one auditor", Key{Subject: 2, Public: AuditorKey("disclosure"), Wraps: []Wrap{low}})
	add("disclosure for two auditors, in order of key id",
		Key{Subject: 2, Public: AuditorKey("disclosure"), Wraps: []Wrap{low, high}})
	add("auditor", Key{Subject: 3, Public: AuditorKey("3")})
	add("policy", Key{Subject: 4, Policy: WitnessPolicy("w2")})
	add("an empty policy: it is bytes that a writer can make, and illegal", Key{Subject: 4})
	for i, subject := range []string{"signing", "disclosure", "auditor"} {
		add("retirement of a "+subject+" key", Key{Subject: 5, Retired: uint8(i + 1),
			ID: KeyID(AuditorKey(subject)), From: SampleTime + uint64(i)})
	}
	add("an administrator comes", Key{Subject: 6, Change: 1, Name: "dave", Public: AdminKey("dave")})
	add("an administrator goes", Key{Subject: 6, Change: 2, Name: strings.Repeat("z", 64)})
	add("an administrator has another key", Key{Subject: 6, Change: 3, Name: "dave", Public: AdminKey("dave 2")})
	add("two_persons for every act", Key{Subject: 7, Acts: []uint16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		Delay: 86_400})
	add("two_persons for no act", Key{Subject: 7})
}

func (s *samples) addEvents() {
	add := func(name string, e Event) { s.add("event: "+name, Entry{Event: &e}) }
	add("instance_start", Event{Kind: 1, Build: BytesOf("executable", 32), Config: BytesOf("configuration", 32),
		Version: "1.0.0",
		Kernel:  "6.8.0-45-generic+~1", VDSO: 2})
	add("instance_start with the longest kernel release",
		Event{Kind: 1, Build: BytesOf("executable", 32), Config: BytesOf("configuration", 32),
			Version: "1.0.0", Kernel: "!" + strings.Repeat("~", 63), VDSO: 1})
	add("instance_start in FIPS 140-3 mode",
		Event{Kind: 1, Build: BytesOf("executable", 32), Config: BytesOf("configuration", 32),
			FIPS: true, Version: "v1.2.3-rc.1_x"})
	add("table_open", Event{Kind: 2, Table: "A"})
	add("table_close", Event{Kind: 3, Table: strings.Repeat("z", 64)})
	for i, what := range []string{"kill_set", "kill_clear"} {
		kind := uint8(4 + i)
		add(what+" for the ledger", Event{Kind: kind, Scope: 1, Reason: "audit of 2026-11-20"})
		add(what+" for a table", Event{Kind: kind, Scope: 2, Table: "table-7", Reason: " ~"})
		add(what+" for a deck", Event{Kind: kind, Scope: 3, Deck: BytesOf("deck", 32),
			Reason: strings.Repeat("r", 200)})
	}
	for i, cause := range []string{"repetition", "proportion", "short_read", "read_error", "slow", "replaced",
		"startup",
		"tape_exhausted", "foul_deck", "operator", "statistics"} {
		add("latch_set for "+cause, Event{Kind: 6, Cause: uint8(i + 1), Instance: 1})
	}
	add("latch_clear", Event{Kind: 7, Reason: "source replaced, 4 tests passed"})
	for i, alarm := range []string{"mark_adopted", "signing_resumed", "clock_step", "witnesses", "statistics"} {
		add("alarm "+alarm, Event{Kind: 129, Alarm: uint8(i + 129), Reason: "head 4711 held against the backup"})
	}
	add("head_adopted", Event{Kind: 10, Size: 9, Root: BytesOf("root", 32), LostSize: 12,
		LostRoot: BytesOf("lost", 32), Reason: "restored"})
	add("head_adopted, without a head known before",
		Event{Kind: 10, Size: 9, Root: BytesOf("root", 32), LostRoot: make(Hexed, 32), Reason: "r"})
	add("access_head", Event{Kind: 130, Records: 17, Newest: BytesOf("record", 32)})
}

// AdminSigner is the Ed25519 key of an administrator.
func AdminSigner(name string) ed25519.PrivateKey { return Signer("administrator " + name) }

// AdminKey is an administrator's key, type byte first.
func AdminKey(name string) Hexed {
	return append(Hexed{1}, AdminSigner(name).Public().(ed25519.PublicKey)...)
}

// Admins are administrators of these names, each with a key of its own.
func Admins(names ...string) (list []Admin) {
	for _, n := range names {
		list = append(list, Admin{n, AdminKey(n)})
	}
	return list
}

// TwoAdmins is what a production ledger needs of administrators.
func TwoAdmins(g *Genesis) {
	g.Admins, g.TwoPersons, g.Delay = Admins("alice", "bob"), []uint16{8, 9, 10, 11, 13}, 10
}

func (s *samples) addTakeovers() {
	for i, extent := range []string{"close", "play"} {
		s.add("takeover: to "+extent, Entry{Takeover: &Takeover{2, uint8(i + 1),
			"table 7: dealer-1 does not answer"}})
	}
	s.add("takeover: the largest id, the shortest reason", Entry{Takeover: &Takeover{MaxInteger, 1, " "}})
	s.add("takeover: the longest reason", Entry{Takeover: &Takeover{2, 2, strings.Repeat("~", 200)}})
	s.add("takeover: entry 0, which is bytes that a writer can make", Entry{Takeover: &Takeover{0, 1, "r"}})
}

func (s *samples) addReveals() {
	add := func(name string, r Reveal) { s.add("reveal: "+name, Entry{Reveal: &r}) }
	add("one place", Reveal{Shuffle: 2, Places: []uint64{0}})
	add("a showdown, in front of the close", Reveal{Shuffle: 2, Final: true, Places: []uint64{0, 3, 9, 12}})
	add("a card exposed by mistake", Reveal{Shuffle: 2, Exposed: true, Places: []uint64{7}})
	add("both flags, the largest id, the last place there can be",
		Reveal{Shuffle: MaxInteger, Final: true, Exposed: true, Places: []uint64{4095}})
	add("every place there can be", Reveal{Shuffle: 2, Places: PlacesBelow(4096)})
	s.add("passed over: extensions of a reveal", Entry{Reveal: &Reveal{Shuffle: 2, Places: []uint64{1},
		Extensions: []Extension{{128, nil}, {255, Hexed{1}}}}})
	(*s)[len(*s)-1].Passed = []string{"reveal_extension 128", "reveal_extension 255"}
}

func (s *samples) addDisclosures() {
	add := func(name string, d Disclose) { s.add("disclosure: "+name, Entry{Disclose: &d}) }
	add("public", Disclose{Shuffle: 2, Form: 1, Tape: BytesOf("tape", 129)})
	add("sealed to auditors", Disclose{Shuffle: 2, Form: 2, Key: 5, Tape: BytesOf("sealed", 129+81)})
	add("the tape is lost", Disclose{Shuffle: 2})
	add("the largest id and key, the shortest tape", Disclose{Shuffle: MaxInteger, Form: 2, Key: MaxInteger,
		Tape: Hexed{0}})
	add("the longest tape", Disclose{Shuffle: 2, Form: 1, Tape: BytesOf("tape", 32_768)})
	add("the longest sealed tape", Disclose{Shuffle: 2, Form: 2, Key: 5, Tape: BytesOf("sealed", 33_937)})
	s.add("disclosure: by the daemon, of a chain that expired", Entry{Time: SampleTime, Identity: "daemon",
		Credential: "daemon", Disclose: &Disclose{Shuffle: 2, Form: 1, Tape: BytesOf("tape", 54)}})
	s.add("passed over: extensions of a disclosure", Entry{Disclose: &Disclose{Shuffle: 2,
		Extensions: []Extension{{128, nil}, {255, Hexed{1}}}}})
	(*s)[len(*s)-1].Passed = []string{"disclosure_extension 128", "disclosure_extension 255"}
}

// PlacesBelow are the places from 0 to n−1.
func PlacesBelow(n uint64) (places []uint64) {
	for p := range n {
		places = append(places, p)
	}
	return places
}

// SampleHolder is a token whose secret is bytesOf("secret", 32).
func SampleHolder(changes ...func(*Holder)) *Holder {
	h := With(Holder{Kind: 1, ID: "token-1", Form: 1, Role: 1, Identity: "dealer-1"}, changes...)
	h.Digest = refCredential(&h, BytesOf("secret", 32))
	return &h
}

func (s *samples) addHolders() {
	add := func(name string, changes ...func(*Holder)) {
		s.add("credential: "+name, Entry{Holder: SampleHolder(changes...)})
	}
	add("a dealer's token for all tables")
	for i, role := range []string{"auditor", "admin", "regulator"} {
		add("a certificate of the role "+role,
			func(h *Holder) { h.Form, h.Role, h.Identity = 2, uint8(i+2), role+"-1" })
	}
	add("for two tables, with an expiry",
		func(h *Holder) { h.Tables, h.Expires = []string{"table-7", "wheel-1"}, MaxInteger })
	add("for 256 tables", func(h *Holder) {
		for i := range 256 {
			h.Tables = append(h.Tables, fmt.Sprintf("t%03d", i))
		}
	})
	add("of a reserved identity: it is bytes that a writer can make, and illegal",
		func(h *Holder) { h.Identity = "daemon" })
	s.add("credential: revoked", Entry{Holder: &Holder{Kind: 2, ID: "token-1", Reason: "lost"}})
}

// SignedAct is an act for a genesis entry, signed by administrators.
func SignedAct(genesis []byte, a Act, names ...string) *Act {
	w := new(Writer)
	a.WriteSigned(w)
	text := Join("shuffled/v1/act\000", Sum(genesis), w.B)
	a.Signatures = nil
	for _, n := range names {
		a.Signatures = append(a.Signatures, Signature{n, ed25519.Sign(AdminSigner(n), text)})
	}
	return &a
}

// Approved is the digest under which an act approves e.
func Approved(e Entry) Hexed {
	w := e.Write()
	behind := 1 + 1 + 8 + 1 + len(e.Identity) + 1 + len(e.Credential)
	return Sum("shuffled/v1/approved\000", w.B[1], Str8(e.Identity), w.B[behind:])
}

// refCredential is the digest of a credential whose secret has the hash of secret.
func CredentialHash(h *Holder, hash []byte) Hexed {
	w := new(Writer)
	h.writeRow(w)
	return Sum("shuffled/v1/credential\000", w.B, hash)
}

func refCredential(h *Holder, secret []byte) Hexed { return CredentialHash(h, Sum(secret)) }

func (s *samples) addActs() {
	genesis := With(SampleGenesis(), TwoAdmins)
	first := Entry{Time: SampleTime, Identity: "operator", Credential: "operator", Genesis: &genesis}.Bytes()
	for i, act := range []string{"policy", "auditor", "signing", "retirement", "adopt_head", "latch_clear",
		"kill_clear", "administrator",
		"admin_credential", "takeover", "two_persons", "cancel"} {
		a := Act{Act: uint8(i + 1), Digest: BytesOf("approved", 32), Previous: uint64(i), HeadSize: 20,
			HeadRoot: BytesOf("root", 32),
			Expires:  SampleTime + 3_600_000}
		s.add("act: "+act, Entry{Act: SignedAct(first, a, "alice", "bob")})
	}
	e := Entry{Identity: "dealer-2", Takeover: &Takeover{2, 2, "table 7: dealer-1 does not answer"}}
	s.add("act: of one administrator, for a takeover by dealer-2",
		Entry{Act: SignedAct(first, Act{Act: 10, Digest: Approved(e),
			HeadRoot: make(Hexed, 32), Expires: SampleTime + 1}, "bob")})
	s.add("act: the largest integers, and signatures that are none",
		Entry{Act: &Act{Act: 1, Digest: BytesOf("d", 32), Previous: MaxInteger,
			HeadSize: MaxInteger, HeadRoot: BytesOf("r", 32), Expires: MaxInteger,
			Signatures: []Signature{{"a", make(Hexed, 64)}}}})
}

// addPassed has every code that a reader passes over: code says of which list and number.
func (s *samples) addPassed() {
	most := BytesOf("opaque", 1024)
	genesis := With(SampleGenesis(), func(g *Genesis) { g.Extensions = []Extension{{128, nil}, {255, most}} })
	ctx := With(SampleContext(), func(c *Context) {
		c.Terms = &Terms{Kind: 2, Hash: BytesOf("pays", 32)}
		c.Extensions = []Extension{{200, Hexed{1}}}
	})
	commit := With(SampleCommit(ctx), func(c *Commit) { c.Extensions = []Extension{{129, Hexed{2}}, {130, nil}} })
	tape := BytesOf("tape", 129)
	for _, p := range []struct {
		name   string
		passed []string
		e      Entry
	}{
		{"a type", []string{"entry 128"}, Entry{Opaque: &Opaque{128, BytesOf("opaque", 10)}}},
		{"the last type, with nothing behind it", []string{"entry 255"}, Entry{Opaque: &Opaque{255, nil}}},
		{"a type with 1,024 bytes", []string{"entry 200"}, Entry{Opaque: &Opaque{200, most}}},
		{"an event", []string{"event 128"}, Entry{Event: &Event{Kind: 128, Opaque: most}}},
		{"an event with nothing behind it", []string{"event 255"}, Entry{Event: &Event{Kind: 255}}},
		{"an alarm", []string{"alarm 200"}, Entry{Event: &Event{Kind: 129, Alarm: 200, Reason: "r"}}},
		{"a cause of the latch", []string{"latch 128"}, Entry{Event: &Event{Kind: 6, Cause: 128, Instance: 1}}},
		{"two purposes", []string{"purpose 128", "purpose 240"}, Entry{Deal: &Deal{Shuffle: 2, Runs: []Run{
			{Cards: 1, Purpose: 128}, {Cards: 1, Purpose: 1}, {Cards: 1, Purpose: 240}}}}},
		{"a reason", []string{"reason 128"},
			Entry{Close: &Close{Shuffle: 2, Outcome: 4, Reason: 128, Form: 1, Tape: tape}}},
		{"extensions of a genesis", []string{"genesis_extension 128", "genesis_extension 255"},
			Entry{Genesis: &genesis}},
		{"extensions of a context and its commit",
			[]string{"context_extension 200", "commit_extension 129", "commit_extension 130"},
			Entry{Commit: &commit}},
		{"an extension of a deal", []string{"deal_extension 128"},
			Entry{Deal: &Deal{Shuffle: 2, Runs: []Run{{Cards: 1, Purpose: 3}},
				Extensions: []Extension{{128, most}}}}},
		{"extensions of a close", []string{"close_extension 128", "close_extension 129"},
			Entry{Close: &Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape,
				Extensions: []Extension{{128, nil}, {129, Hexed{0}}}}}},
	} {
		s.add("passed over: "+p.name, p.e)
		(*s)[len(*s)-1].Passed = p.passed
	}
}

// addTerms has every kind of terms.
func (s *samples) addTerms() {
	add := func(name string, ctx Context) {
		c := SampleCommit(ctx)
		s.add("commit: "+name, Entry{Commit: &c})
	}
	add("a draw list with a wheel", With(SampleDraw(), func(c *Context) {
		c.Ranges, c.Terms = []uint32{10_000, 10_000}, &Terms{Kind: 1, Hash: BytesOf("wheel", 32)}
	}))
	add("cards with a pay table", With(SampleContext(), func(c *Context) {
		c.Terms = &Terms{Kind: 2, Hash: BytesOf("pays", 32)}
	}))
	add("a list of as many tickets as an integer counts",
		With(SampleContext(), func(c *Context) {
			c.Terms = &Terms{Kind: 3, Count: MaxInteger, Hash: BytesOf("tickets", 32)}
		}))
}

// BenchCommit is the entry of a shuffle of 52 as the daemon writes it most often.
func BenchCommit(tb testing.TB) (e audit.Entry, tape []byte, values []uint32) {
	c := &audit.Context{Origin: SampleOrigin, Table: "table-7", DeckHash: [32]byte(BytesOf("deck", 32)),
		Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic}
	tape = BytesOf("tape", c.Recipe.TapeLen())
	out, err := c.Recipe.Run(tape)
	if err != nil {
		tb.Fatal(err)
	}
	commitment := [32]byte(Commitment(c.Encode(), tape))
	root := [32]byte(DeckRoot(c.Encode(), tape, out.Values))
	e = audit.Entry{Time: SampleTime, Actor: audit.Actor{Identity: "dealer-1", Credential: "0123456789abcdef"},
		Body: &audit.Commit{Context: c, Commitment: commitment, DeckRoot: root,
			Serial: 1234, Previous: 55_555, CloseBy: SampleTime + 3_600_000, GameRef: "round-123456", Instance: 1}}
	return e, tape, out.Values
}

type keyTagCase struct {
	Name, Key string
	Timed     bool
}

// KeyTagCases are keys in the form of a UUIDv7, and others.
func KeyTagCases() []keyTagCase {
	const uuid = "0192f3c4-d5e6-7abc-8def-0123456789ab"
	return []keyTagCase{
		{"a UUIDv7", uuid, true},
		{"a UUIDv7 in capitals", strings.ToUpper(uuid), true},
		{"a UUIDv7 with the highest variant digit", "ffffffff-ffff-7fff-bfff-ffffffffffff", true},
		{"a UUIDv4", "0192f3c4-d5e6-4abc-8def-0123456789ab", false},
		{"a UUID of another variant", "0192f3c4-d5e6-7abc-cdef-0123456789ab", false},
		{"a UUIDv7 without hyphens", "0192f3c4d5e67abc8def0123456789ab", false},
		{"a UUIDv7 with two hyphens only", "0192f3c4-d5e6-7abc08def00123456789ab", false},
		{"a UUIDv7 with a letter that is no digit at the end", "0192f3c4-d5e6-7abc-8def-0123456789ag", false},
		{"a UUIDv7 with a letter that is no digit in its time", "0192g3c4-d5e6-7abc-8def-0123456789ab", false},
		{"a UUIDv7 in braces", "{" + uuid + "}", false},
		{"a UUIDv7 and a letter", uuid + "a", false},
		{"a short key", "k", false},
		{"the longest key", Letters(255), false},
		{"36 letters", Letters(36), false},
	}
}

// DrawnValues are values within the ranges.
func DrawnValues(ranges []uint32) (values []uint32) {
	for i, k := range ranges {
		values = append(values, 1+uint32(i*7919)%k)
	}
	return values
}

// WholeContexts are contexts of each kind, to go from tape to root.
func WholeContexts() (all []Context) {
	for _, change := range []func(*Context){
		func(*Context) {},
		func(c *Context) { c.Cards, c.Take = 2, 1 },
		func(c *Context) { c.Take = 9 },
		func(c *Context) { c.Cards, c.Take, c.EndAt = 104, 104, EndAt{Form: 2, Lo: 80, Hi: 99} },
		func(c *Context) { *c = SampleDraw() },
		func(c *Context) { *c = SampleDraw(); c.Ranges = []uint32{1, 64, 65, 1 << 14, 1<<14 + 1, 1 << 30} },
		func(c *Context) { *c = SampleNumbers() },
		func(c *Context) { *c = SampleNumbers(); c.Of, c.Take = 1<<30, 5 },
	} {
		all = append(all, With(SampleContext(), change))
	}
	return all
}

// ForeignOf is the commit in the other ledger, ForeignDeal a deal there.
var ForeignOf, ForeignDeal = Foreign{7, BytesOf("leaf", 32)}, Foreign{8, BytesOf("deal", 32)}

// ForeignHead is a checkpoint of the other ledger, and NoDeal stands for no deal there.
var ForeignHead, NoDeal = Foreign{9, BytesOf("root", 32)}, Foreign{0, make(Hexed, 32)}

// KeyLike is n bytes that begin as a point does, and as a signing key.
func KeyLike(n uint64) Hexed { return append(Hexed{1, 4}, make(Hexed, max(n, 2))...)[:n] }

// HybridLike is n bytes whose last 65 begin as a point does.
func HybridLike(n uint64) Hexed {
	k := append(Hexed{2}, make(Hexed, n-1)...)
	k[n-65] = 4
	return k
}

// Letters are n letters.
func Letters(n uint64) string { return strings.Repeat("a", int(n)) }

// EventOf is the entry of an event.
func EventOf(e Event) Entry { return Entry{Identity: "a", Credential: "a", Event: &e} }

// Committed is a list of values with salts, and the leaves by the reference.
type Committed struct {
	Tag    [16]byte
	Values []uint32
	Salts  []byte
	Leaves [][]byte
}

// NewCommitted has n values.
func NewCommitted(n int) (c Committed) {
	c.Salts = BytesOf("salts of a deck", 32*n)
	c.Tag = [16]byte(Tag(BytesOf("commitment", 32), BytesOf("context", n)))
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for p := range n {
		c.Values = append(c.Values, r.Uint32()>>r.IntN(32))
		c.Leaves = append(c.Leaves, Leaf(c.Tag[:], uint16(p), c.Values[p], c.Salts[32*p:32*p+32]))
	}
	return c
}

// Hashes are hashes as byte strings.
func Hashes(hashes []tlog.Hash) (out [][]byte) {
	for _, h := range hashes {
		out = append(out, bytes.Clone(h[:]))
	}
	return out
}

// addBlind has what ties shuffles of two ledgers together.
func (s *samples) addBlind() {
	foreign := Foreign{Index: 7, Leaf: BytesOf("leaf", 32)}
	head := Foreign{Index: MaxInteger, Leaf: BytesOf("root", 32)}
	plan := []Source{{Source: 4, Origin: "lab.example/orders", Commit: &foreign}}
	commit := func(name string, ctx Context, askKey Hexed) {
		c := SampleCommit(ctx)
		c.AskKey = askKey
		s.add("commit: "+name, Entry{Commit: &c})
	}
	askKey := BytesOf("ask key", 32)
	commit("cards with a co-dealer", With(SampleContext(), func(c *Context) { c.Plan = plan }), askKey)
	commit("cards with a co-dealer, a slot, a beacon and a cut", With(SampleContext(), func(c *Context) {
		c.Plan = append(plan, Source{Source: 1, Slot: BytesOf("slot", 32)},
			Source{Source: 2, Chain: BytesOf("chain", 32), Round: 1}, Source{Source: 3})
	}), askKey)
	commit("an order for another ledger", With(SampleContext(), func(c *Context) {
		c.ForLedger = "house.example/tables"
	}), nil)
	asked := Asked{Commit: foreign, After: BytesOf("before", 32), Head: head, State: make(Hexed, 32),
		Ask: BytesOf("ask", 64)}
	runs := []Run{{Cards: 2, Purpose: 1, Recipient: "seat-1"}, {Cards: 1, Purpose: 3}}
	s.add("deal: asked for by another ledger", Entry{Deal: &Deal{Shuffle: 2, Runs: runs, Asked: &asked}})
	s.add("deal: of a shuffle with a co-dealer", Entry{Deal: &Deal{Shuffle: 2, Runs: runs,
		Blind: &Blind{Deal: foreign, Head: head, Values: []uint32{51, 0}}}})
	s.add("deal: blind, of nothing that is opened", Entry{Deal: &Deal{Shuffle: 2, Runs: runs[1:],
		Blind: &Blind{Deal: foreign, Head: head, Values: []uint32{}}}})
	tape := BytesOf("tape", 129)
	s.add("close: void, the co-dealer did not answer", Entry{Close: &Close{Shuffle: 2, Outcome: 4, Reason: 11, Form: 1,
		Tape: tape, Blind: &Blind{Deal: foreign, Head: head, Values: make([]uint32, 64)}}})
	s.add("close: with a co-dealer, and nothing that was not played", Entry{Close: &Close{Shuffle: 2, Outcome: 1,
		Form: 1, Tape: tape, Blind: &Blind{Deal: NoDeal, Head: head}}})
	s.add("close: of an order, behind the shuffle", Entry{Close: &Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape,
		Follows: &Follows{foreign, 4096}}})
	s.add("key: a co-dealer", Entry{Key: &Key{Subject: 8, Origin: "lab.example/orders", Public: KeyLike(33),
		Policy: "quorum none\n"}})
	s.add("key: a co-dealer of every commit", Entry{Key: &Key{Subject: 8, Every: true,
		Origin: "lab.example/orders", Public: KeyLike(33), Policy: "quorum none\n"}})
	s.add("key: no co-dealer", Entry{Key: &Key{Subject: 8}})
}
