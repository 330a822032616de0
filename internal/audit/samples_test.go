package audit

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"fmt"
	"strings"
)

// The good entries of testdata/entries.json: every type, kind, subject, scope,
// form, outcome, reason, cause and option at least once.

const (
	sampleOrigin = "casino.example/main"
	sampleTime   = 1_790_000_000_000
	maxInteger   = 1<<53 - 1
)

type namedEntry struct {
	Name  string   `json:"name"`
	Bytes hexed    `json:"bytes"`
	Entry refEntry `json:"fields"`
}

type samples []namedEntry

func (s *samples) add(name string, e refEntry) {
	if e.Actor == "" {
		e.Time, e.Actor = sampleTime+uint64(len(*s)), "daemon"
	}
	*s = append(*s, namedEntry{Name: name, Bytes: e.bytes(), Entry: e})
}

func goodEntries() (s samples) {
	s.addGenesis()
	s.addCommits()
	s.addMixes()
	s.addDeals()
	s.addCloses()
	s.addKeys()
	s.addEvents()
	return s
}

// with is a copy of v after changes.
func with[T any](v T, changes ...func(*T)) T {
	for _, change := range changes {
		change(&v)
	}
	return v
}

// signer is the Ed25519 key whose seed is bytesOf("signing key " ‖ name, 32).
func signer(name string) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytesOf("signing key "+name, 32))
}

func signingKey(name string) hexed {
	return append(hexed{1}, signer(name).Public().(ed25519.PublicKey)...)
}

// auditorKey is a point of P-256 after its type byte.
func auditorKey(name string) hexed {
	key, err := ecdh.P256().NewPrivateKey(bytesOf("auditor key "+name, 32))
	if err != nil {
		panic(err)
	}
	return append(hexed{1}, key.PublicKey().Bytes()...)
}

// compressed is an auditor's point by its x alone.
func compressed(name string) hexed {
	k := auditorKey(name)
	return append(hexed{1, 2 + k[65]&1}, k[2:34]...)
}

// witnessPolicy asks for any one of the witnesses.
func witnessPolicy(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "witness %s %s\n", n, refWitnessKey("witness.example/"+n, signer(n)))
	}
	fmt.Fprintf(&b, "group any-of-them any %s\nquorum any-of-them\n", strings.Join(names, " "))
	return b.String()
}

func sampleGenesis() refGenesis {
	return refGenesis{Origin: sampleOrigin, SigningKey: signingKey("1"), Deals: 1, Disclosure: 1,
		DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: 1}
}

func (s *samples) addGenesis() {
	add := func(name string, changes ...func(*refGenesis)) {
		g := with(sampleGenesis(), changes...)
		s.add("genesis: "+name, refEntry{Genesis: &g})
	}
	add("a sandbox without policy and auditors")
	add("production with every option", func(g *refGenesis) {
		g.Production, g.Deals, g.MixModes, g.Disclosure, g.Access = true, 2, 7, 2, 2
		g.Policy = "log " + refVKey(sampleOrigin, signer("1")) + "\n" + witnessPolicy("w1", "w2")
		g.Auditors = []hexed{auditorKey("1"), auditorKey("2")}
		g.Predecessor = hexed("casino.example/2025\n7\n" + strings.Repeat("A", 43) + "=\n\n— casino.example/2025 AAAA\n")
	})
	add("shortest origin, shortest times", func(g *refGenesis) { g.Origin, g.DefaultCloseBy, g.MaxCloseBy = "a", 1, 1 })
	add("longest origin, with every character of the grammar", func(g *refGenesis) {
		g.Origin = "0" + lower + "./_-" + strings.Repeat("x", 86) + "9"
	})
	add("64 auditors", func(g *refGenesis) {
		for i := range 64 {
			g.Auditors = append(g.Auditors, auditorKey(fmt.Sprint(i)))
		}
	})
	add("longest times", func(g *refGenesis) { g.DefaultCloseBy, g.MaxCloseBy = 1<<32-1, 1<<32-1 })
}

func sampleContext() refContext {
	return refContext{Origin: sampleOrigin, Table: "table-7", Algorithm: 1, Kind: 1,
		DeckHash: bytesOf("deck", 32), Cards: 52, Take: 52, Disclosure: 1}
}

func sampleDraw() refContext {
	return refContext{Origin: sampleOrigin, Table: "wheel-1", Algorithm: 1, Kind: 2, Ranges: []uint32{6, 6, 37}, Disclosure: 1}
}

func sampleCommit(ctx refContext) refCommit {
	return refCommit{Context: ctx, Commitment: bytesOf("commitment", 32), DeckRoot: bytesOf("deck root", 32),
		Serial: 1, CloseBy: sampleTime + 3_600_000, KeyTag: refKeyTag(ctx.Origin, ctx.Table, "hand-1"),
		Request: bytesOf("request", 32), Instance: 1}
}

func slots(n int) (plan []refSource) {
	for i := range n {
		plan = append(plan, refSource{Source: 1, Slot: refSlotHash(sampleOrigin, "table-7", bytesOf(fmt.Sprint("slot ", i), 32))})
	}
	return plan
}

func beacon(round uint64) refSource {
	return refSource{Source: 2, Chain: bytesOf("chain", 32), Round: round}
}

func (s *samples) addCommits() {
	add := func(name string, ctx refContext, changes ...func(*refCommit)) {
		c := with(sampleCommit(ctx), changes...)
		s.add("commit: "+name, refEntry{Commit: &c})
	}
	of := func(changes ...func(*refContext)) refContext { return with(sampleContext(), changes...) }
	draw := func(changes ...func(*refContext)) refContext { return with(sampleDraw(), changes...) }
	add("52 cards, the first of its table", of())
	add("a later serial, with a game reference", of(), func(c *refCommit) { c.Serial, c.Previous, c.GameRef = 2, 9, "hand.4711" })
	add("an idempotency key that is a UUIDv7", of(), func(c *refCommit) {
		c.KeyTag = refKeyTag(sampleOrigin, "table-7", "01920000-1234-7abc-8def-0123456789ab")
	})
	add("of a production ledger, disclosed to auditors", of(func(c *refContext) { c.Production, c.Disclosure = true, 2 }))
	add("the fewest cards, one taken", of(func(c *refContext) { c.Cards, c.Take = 2, 1 }))
	add("the most cards, all taken", of(func(c *refContext) { c.Cards, c.Take = 4096, 4096 }))
	add("a shoe of eight decks, fixed end_at", of(func(c *refContext) { c.Cards, c.Take, c.EndAt = 416, 416, refEndAt{Form: 1, Place: 350} }))
	add("fixed end_at at the first place there is", of(func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 1} }))
	add("fixed end_at at the end", of(func(c *refContext) { c.Take, c.EndAt = 9, refEndAt{Form: 1, Place: 9} }))
	add("a drawn end_at", of(func(c *refContext) { c.Cards, c.Take, c.EndAt = 416, 416, refEndAt{Form: 2, Lo: 338, Hi: 364} }))
	add("the widest drawn end_at", of(func(c *refContext) { c.EndAt = refEndAt{Form: 2, Lo: 1, Hi: 52} }))
	add("a draw list", draw())
	add("one draw 1..1", draw(func(c *refContext) { c.Ranges = []uint32{1} }))
	add("draws at the edges of lane widths, and the widest", draw(func(c *refContext) {
		c.Ranges = []uint32{64, 65, 1 << 14, 1<<14 + 1, 1 << 30}
	}))
	add("a draw list with slots and a beacon", draw(func(c *refContext) { c.Plan = append(slots(2), beacon(7)) }))
	add("a plan of one slot", of(func(c *refContext) { c.Plan = slots(1) }))
	add("a plan of a beacon in the last round there is", of(func(c *refContext) { c.Plan = []refSource{beacon(maxInteger)} }))
	add("a plan of a cut", of(func(c *refContext) { c.Plan = []refSource{{Source: 3}} }))
	add("a plan of every source", of(func(c *refContext) { c.Plan = append(slots(2), beacon(1), refSource{Source: 3}) }))
	add("a plan of 32 slots", of(func(c *refContext) { c.Plan = slots(32) }))
	add("a child: a stub of five cards in no order", of(func(c *refContext) {
		c.Cards, c.Take, c.Parent = 5, 5, &refParent{ID: 2, Positions: []uint16{51, 0, 7, 50, 8}}
	}))
	add("a child with a plan and an end_at", of(func(c *refContext) {
		c.Cards, c.Take, c.Parent = 3, 2, &refParent{ID: 2, Positions: []uint16{4095, 65535, 0}}
		c.Plan, c.EndAt = slots(1), refEndAt{Form: 1, Place: 2}
	}))
	add("the largest integers", of(), func(c *refCommit) {
		c.Serial, c.Previous, c.CloseBy, c.Instance = maxInteger, maxInteger, maxInteger, maxInteger
	})
}

func (s *samples) addMixes() {
	add := func(name string, cosigned uint64, values ...refValue) {
		s.add("mix: "+name, refEntry{Mix: &refMix{Shuffle: 2, Cosigned: cosigned, Values: values}})
	}
	slot := refValue{Source: 1, Value: bytesOf("slot 0", 32)}
	add("one slot", 0, slot)
	add("a beacon", 3, refValue{Source: 2, Value: bytesOf("beacon", 48)})
	add("a cut at the first place", 3, refValue{Source: 3})
	add("the largest cut", 3, refValue{Source: 3, Cut: 65535})
	add("every source", maxInteger, slot, refValue{Source: 1, Value: bytesOf("slot 1", 32)},
		refValue{Source: 2, Value: bytesOf("beacon", 48)}, refValue{Source: 3, Cut: 17})
	var all []refValue
	for i := range 32 {
		all = append(all, refValue{Source: 1, Value: bytesOf(fmt.Sprint("slot ", i), 32)})
	}
	add("32 slots", 1, all...)
	add("an order that no plan has: it is bytes that a writer can make, and illegal", 1, refValue{Source: 3, Cut: 1}, slot)
}

func (s *samples) addDeals() {
	add := func(name string, d refDeal) { s.add("deal: "+name, refEntry{Deal: &d}) }
	add("one card to a seat", refDeal{Shuffle: 2, Runs: []refRun{{Cards: 1, Purpose: 1, Recipient: "seat-1"}}})
	add("every purpose", refDeal{Shuffle: 2, First: 4, Cosigned: 9, Runs: []refRun{
		{Cards: 2, Purpose: 1, Recipient: "seat-1"}, {Cards: 3, Purpose: 2, Public: true}, {Cards: 1, Purpose: 3},
		{Cards: 1, Purpose: 4, Recipient: "muck"}, {Cards: 1, Purpose: 5, Public: true},
		{Cards: 40, Purpose: 6, Recipient: "back-end"}}})
	add("final, to a salted reference", refDeal{Shuffle: 2, First: 51, Final: true, Runs: []refRun{
		{Cards: 1, Purpose: 1, Recipient: refReference(bytesOf("salt", 16), "Erika Mustermann")}}})
	add("all places there can be, in one run", refDeal{Shuffle: 2, Runs: []refRun{{Cards: 4096, Purpose: 4}}})
	add("the last place there can be", refDeal{Shuffle: 2, First: 4095, Runs: []refRun{{Cards: 1, Purpose: 2, Public: true}}})
	many := refDeal{Shuffle: 2}
	for range 512 {
		many.Runs = append(many.Runs, refRun{Cards: 8, Purpose: 3})
	}
	add("512 runs to the last place there can be", many)
}

func (s *samples) addCloses() {
	add := func(name string, c refClose) { s.add("close: "+name, refEntry{Close: &c}) }
	for i, outcome := range []string{"completed", "ended_early", "continued", "", "expired"} {
		if outcome != "" {
			add(outcome+", public", refClose{Shuffle: 2, Outcome: uint8(i + 1), Form: 1, Tape: bytesOf("tape", 129)})
		}
	}
	for i, reason := range []string{"misdeal", "exposed_card", "foul_deck", "game_cancelled", "operator_error", "system_fault",
		"player_dispute", "mix_failed", "regulator"} {
		add("void for "+reason, refClose{Shuffle: 2, Outcome: 4, Reason: uint8(i + 1), Form: 1, Tape: bytesOf("tape", 54)})
	}
	add("void for tape_lost, without a tape", refClose{Shuffle: 2, Outcome: 4, Reason: 10})
	add("completed, sealed to auditors", refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 5, Tape: bytesOf("sealed", 129+81)})
	add("void, sealed to auditors", refClose{Shuffle: 2, Outcome: 4, Reason: 9, Form: 2, Key: 5, Tape: bytesOf("sealed", 54+81)})
	add("the shortest tape that a reader takes", refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: hexed{0}})
}

func (s *samples) addKeys() {
	add := func(name string, k refKey) { s.add("key: "+name, refEntry{Key: &k}) }
	low, high := refWrap{hexed(strings.Repeat("\x01", 32)), bytesOf("wrap", 113)}, refWrap{hexed(strings.Repeat("\xfe", 32)), bytesOf("another wrap", 113)}
	add("signing", refKey{Subject: 1, Public: signingKey("2")})
	add("disclosure for one auditor", refKey{Subject: 2, Public: auditorKey("disclosure"), Wraps: []refWrap{low}})
	add("disclosure for two auditors, in order of key id", refKey{Subject: 2, Public: auditorKey("disclosure"), Wraps: []refWrap{low, high}})
	add("auditor", refKey{Subject: 3, Public: auditorKey("3")})
	add("policy", refKey{Subject: 4, Policy: witnessPolicy("w2")})
	add("an empty policy: it is bytes that a writer can make, and illegal", refKey{Subject: 4})
	for i, subject := range []string{"signing", "disclosure", "auditor"} {
		add("retirement of a "+subject+" key", refKey{Subject: 5, Retired: uint8(i + 1),
			ID: refKeyID(auditorKey(subject)), From: sampleTime + uint64(i)})
	}
}

func (s *samples) addEvents() {
	add := func(name string, e refEvent) { s.add("event: "+name, refEntry{Event: &e}) }
	add("instance_start", refEvent{Kind: 1, Build: bytesOf("executable", 32), Config: bytesOf("configuration", 32), Version: "1.0.0"})
	add("instance_start in FIPS 140-3 mode", refEvent{Kind: 1, Build: bytesOf("executable", 32), Config: bytesOf("configuration", 32),
		FIPS: true, Version: "v1.2.3-rc.1_x"})
	add("table_open", refEvent{Kind: 2, Table: "A"})
	add("table_close", refEvent{Kind: 3, Table: strings.Repeat("z", 64)})
	for i, what := range []string{"kill_set", "kill_clear"} {
		kind := uint8(4 + i)
		add(what+" for the ledger", refEvent{Kind: kind, Scope: 1, Reason: "audit of 2026-11-20"})
		add(what+" for a table", refEvent{Kind: kind, Scope: 2, Table: "table-7", Reason: " ~"})
		add(what+" for a deck", refEvent{Kind: kind, Scope: 3, Deck: bytesOf("deck", 32), Reason: strings.Repeat("r", 200)})
	}
	for i, cause := range []string{"repetition", "proportion", "short_read", "read_error", "slow", "replaced", "startup",
		"tape_exhausted", "foul_deck", "operator", "statistics"} {
		add("latch_set for "+cause, refEvent{Kind: 6, Cause: uint8(i + 1), Instance: 1})
	}
	add("latch_clear", refEvent{Kind: 7, Reason: "source replaced, 4 tests passed"})
	add("snapshot", refEvent{Kind: 8, Entries: 65_536, Digest: bytesOf("live state", 32)})
	for i, alarm := range []string{"mark_adopted", "signing_resumed", "clock_step", "witnesses", "statistics"} {
		add("alarm "+alarm, refEvent{Kind: 9, Alarm: uint8(i + 1), Reason: "head 4711 held against the backup"})
	}
}
