package audit

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

	"shuffled/internal/shuffle"
)

// The good entries of testdata/entries.json: every type, kind, subject, scope,
// form, outcome, reason, cause and option at least once.

const (
	sampleOrigin = "casino.example/main"
	sampleTime   = 1_790_000_000_000
	maxInteger   = 1<<53 - 1
)

// namedEntry is an entry of the data file.
type namedEntry struct {
	Name   string   `json:"name"`
	Bytes  hexed    `json:"bytes"`
	Entry  refEntry `json:"fields"`
	Passed []string `json:"passed_over,omitempty"` // list and number of each code, in their order
}

type samples []namedEntry

func (s *samples) add(name string, e refEntry) {
	if e.Identity == "" {
		e.Time = sampleTime + uint64(len(*s))
		e.Identity, e.Credential = e.writer()
	}
	*s = append(*s, namedEntry{Name: name, Bytes: e.bytes(), Entry: e})
}

// writer is whose entry e is most often.
func (e refEntry) writer() (identity, credential string) {
	switch {
	case e.Commit != nil || e.Mix != nil || e.Deal != nil || e.Close != nil || e.Takeover != nil || e.Reveal != nil ||
		e.Disclose != nil:
		return "dealer-1", "token-1"
	case e.Key != nil || e.Holder != nil || e.Act != nil:
		return "operator", "operator"
	}
	return "daemon", "daemon"
}

func goodEntries() (s samples) {
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

// auditorKey is a point of P-256 after its type byte; that of a name with the word hybrid
// has a key of ML-KEM-768 in front of the point.
func auditorKey(name string) hexed {
	if strings.Contains(name, "hybrid") {
		seed := sha3.SumSHAKE256(bytesOf("auditor key "+name, 32), 64+32)
		lattice, err := mlkem.NewDecapsulationKey768(seed[:64])
		if err != nil {
			panic(err)
		}
		point, err := ecdh.P256().NewPrivateKey(seed[64:])
		if err != nil {
			panic(err)
		}
		return slices.Concat(hexed{2}, lattice.EncapsulationKey().Bytes(), point.PublicKey().Bytes())
	}
	key, err := ecdh.P256().NewPrivateKey(bytesOf("auditor key "+name, 32))
	if err != nil {
		panic(err)
	}
	return append(hexed{1}, key.PublicKey().Bytes()...)
}

// added is how many bytes what is sealed to a key has more than what it holds.
func added(key hexed) int { return map[byte]int{1: 65 + 16, 2: 1088 + 65 + 16}[key[0]] }

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
	return refGenesis{Revision: 1, Origin: sampleOrigin, SigningKey: signingKey("1"), Deals: 1, Disclosure: 1,
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
		g.Auditors = []hexed{auditorKey("hybrid 1"), auditorKey("hybrid 2")}
		g.Predecessor = hexed("casino.example/2025\n7\n" + strings.Repeat("A", 43) +
			"=\n\n— casino.example/2025 AAAA\n")
		g.Admins = admins("alice", "bob", "carol")
		g.TwoPersons, g.Delay = []uint16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3600
	})
	add("an administrator, and acts that need no second", func(g *refGenesis) { g.Admins = admins("A") })
	add("16 administrators, the longest delay", func(g *refGenesis) {
		for i := range 16 {
			g.Admins = append(g.Admins, admins(fmt.Sprintf("admin-%02d", i))...)
		}
		g.TwoPersons, g.Delay = []uint16{8}, 1<<32-1
	})
	add("shortest origin, shortest times", func(g *refGenesis) { g.Origin, g.DefaultCloseBy, g.MaxCloseBy = "a", 1, 1 })
	add("longest origin, with every character of the grammar", func(g *refGenesis) {
		g.Origin = "0" + lower + "./_-" + strings.Repeat("x", 86) + "9"
	})
	add("8 auditors", func(g *refGenesis) {
		for i := range 8 {
			g.Auditors = append(g.Auditors, auditorKey(fmt.Sprint(i)))
		}
	})
	add("longest times", func(g *refGenesis) { g.DefaultCloseBy, g.MaxCloseBy = 1<<32-1, 1<<32-1 })
}

func sampleContext() refContext {
	return refContext{Origin: sampleOrigin, Genesis: bytesOf("genesis", 32), Table: "table-7", Algorithm: 1, Kind: 1,
		DeckHash: bytesOf("deck", 32), Cards: 52, Take: 52, Disclosure: 1}
}

func sampleDraw() refContext {
	return refContext{Origin: sampleOrigin, Genesis: bytesOf("genesis", 32), Table: "wheel-1", Algorithm: 1, Kind: 2,
		Ranges:     []uint32{6, 6, 37},
		Disclosure: 1}
}

func sampleNumbers() refContext {
	return refContext{Origin: sampleOrigin, Genesis: bytesOf("genesis", 32), Table: "keno-1", Algorithm: 1, Kind: 3,
		Of: 80, Take: 20, Disclosure: 1}
}

func sampleCommit(ctx refContext) refCommit {
	return refCommit{Context: ctx, Commitment: bytesOf("commitment", 32), DeckRoot: bytesOf("deck root", 32),
		Serial: 1, CloseBy: sampleTime + 3_600_000, KeyTag: refKeyTag(ctx.Origin, "dealer-1", ctx.Table, "hand-1"),
		Request: bytesOf("request", 32), Instance: 1}
}

func slots(n int) (plan []refSource) {
	for i := range n {
		plan = append(plan, refSource{Source: 1,
			Slot: refSlotHash(sampleOrigin, "table-7", bytesOf(fmt.Sprint("slot ", i), 32))})
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
	add("a later serial, with a game reference", of(),
		func(c *refCommit) { c.Serial, c.Previous, c.GameRef = 2, 9, "hand.4711" })
	add("an idempotency key that is a UUIDv7", of(), func(c *refCommit) {
		c.KeyTag = refKeyTag(sampleOrigin, "dealer-1", "table-7", "01920000-1234-7abc-8def-0123456789ab")
	})
	add("of a production ledger, disclosed to auditors",
		of(func(c *refContext) { c.Production, c.Disclosure = true, 2 }))
	add("the fewest cards, one taken", of(func(c *refContext) { c.Cards, c.Take = 2, 1 }))
	add("the most cards, all taken", of(func(c *refContext) { c.Cards, c.Take = 4096, 4096 }))
	add("a shoe of eight decks, fixed end_at",
		of(func(c *refContext) { c.Cards, c.Take, c.EndAt = 416, 416, refEndAt{Form: 1, Place: 350} }))
	add("fixed end_at at the first place there is", of(func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 1} }))
	add("fixed end_at at the end", of(func(c *refContext) { c.Take, c.EndAt = 9, refEndAt{Form: 1, Place: 9} }))
	add("a drawn end_at", of(func(c *refContext) {
		c.Cards, c.Take, c.EndAt = 416, 416,
			refEndAt{Form: 2, Lo: 338, Hi: 364}
	}))
	add("the widest drawn end_at", of(func(c *refContext) { c.EndAt = refEndAt{Form: 2, Lo: 1, Hi: 52} }))
	add("a draw list", draw())
	add("one draw 1..1", draw(func(c *refContext) { c.Ranges = []uint32{1} }))
	add("draws at the edges of lane widths, and the widest", draw(func(c *refContext) {
		c.Ranges = []uint32{64, 65, 1 << 14, 1<<14 + 1, 1 << 30}
	}))
	add("a draw list with slots and a beacon", draw(func(c *refContext) { c.Plan = append(slots(2), beacon(7)) }))
	add("a plan of one slot", of(func(c *refContext) { c.Plan = slots(1) }))
	add("a plan of a beacon in the last round there is",
		of(func(c *refContext) { c.Plan = []refSource{beacon(maxInteger)} }))
	add("a plan of a cut", of(func(c *refContext) { c.Plan = []refSource{{Source: 3}} }))
	add("a plan of every source", of(func(c *refContext) {
		c.Plan = append(slots(2), beacon(1),
			refSource{Source: 3})
	}))
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

func (s *samples) addNumbers() {
	add := func(name string, ctx refContext) {
		c := sampleCommit(ctx)
		s.add("commit: "+name, refEntry{Commit: &c})
	}
	numbers := func(n, m uint64) refContext {
		return with(sampleNumbers(), func(c *refContext) { c.Of, c.Take = n, m })
	}
	add("20 of 80 numbers", numbers(80, 20))
	add("the fewest numbers, one taken", numbers(2, 1))
	add("both of two numbers", numbers(2, 2))
	add("the most numbers of the most there are", numbers(1<<30, 4096))
	add("one of a million numbers, with a beacon", with(numbers(1_000_000, 1), func(c *refContext) {
		c.Plan = []refSource{beacon(7)}
	}))
}

func (s *samples) addMixes() {
	add := func(name string, cosigned uint64, values ...refValue) {
		s.add("mix: "+name, refEntry{Mix: &refMix{Shuffle: 2, Checkpoint: cosigned, Values: values}})
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
	add("an order that no plan has: it is bytes that a writer can make, and illegal", 1, refValue{Source: 3, Cut: 1},
		slot)
}

func (s *samples) addDeals() {
	add := func(name string, d refDeal) { s.add("deal: "+name, refEntry{Deal: &d}) }
	add("one card to a seat", refDeal{Shuffle: 2, Runs: []refRun{{Cards: 1, Purpose: 1, Recipient: "seat-1"}}})
	add("every purpose", refDeal{Shuffle: 2, First: 4, Checkpoint: 9, Runs: []refRun{
		{Cards: 2, Purpose: 1, Recipient: "seat-1"}, {Cards: 3, Purpose: 2, Public: true}, {Cards: 1, Purpose: 3},
		{Cards: 1, Purpose: 4, Recipient: "muck"}, {Cards: 1, Purpose: 5, Public: true},
		{Cards: 40, Purpose: 6, Recipient: "back-end", Round: 1}}})
	add("final, to a salted reference", refDeal{Shuffle: 2, First: 51, Final: true, Runs: []refRun{
		{Cards: 1, Purpose: 1, Recipient: refReference(bytesOf("salt", 16), "Erika Mustermann")}}})
	add("all places there can be, in one run", refDeal{Shuffle: 2, Runs: []refRun{{4096, 4, "", false, 65_535}}})
	add("the last place there can be", refDeal{Shuffle: 2, First: 4095,
		Runs: []refRun{{Cards: 1, Purpose: 2, Public: true}}})
	many := refDeal{Shuffle: 2}
	for range 512 {
		many.Runs = append(many.Runs, refRun{Cards: 8, Purpose: 3})
	}
	add("512 runs to the last place there can be", many)
}

func (s *samples) addCloses() {
	add := func(name string, c refClose) { s.add("close: "+name, refEntry{Close: &c}) }
	for i, outcome := range []string{"completed", "ended_early", "", "", "expired"} {
		if outcome != "" {
			add(outcome+", public", refClose{Shuffle: 2, Outcome: uint8(i + 1), Form: 1, Tape: bytesOf("tape", 129)})
		}
	}
	add("continued, without a tape", refClose{Shuffle: 2, Outcome: 3})
	for i, reason := range []string{"misdeal", "exposed_card", "foul_deck", "game_cancelled", "operator_error",
		"system_fault",
		"player_dispute", "mix_failed", "regulator"} {
		add("void for "+reason, refClose{Shuffle: 2, Outcome: 4, Reason: uint8(i + 1), Form: 1,
			Tape: bytesOf("tape", 54)})
	}
	add("void for tape_lost, without a tape", refClose{Shuffle: 2, Outcome: 4, Reason: 10})
	add("completed, sealed to auditors",
		refClose{Shuffle: 2, Outcome: 1, Form: 2, Key: 5, Tape: bytesOf("sealed", 129+1169)})
	add("void, sealed to auditors", refClose{Shuffle: 2, Outcome: 4, Reason: 9, Form: 2, Key: 5,
		Tape: bytesOf("sealed", 54+81)})
	add("the shortest tape that a reader takes", refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: hexed{0}})
}

func (s *samples) addHybrid() {
	low, high := hexed(strings.Repeat("\x01", 32)), hexed(strings.Repeat("\xfe", 32))
	s.add("key: hybrid disclosure for two auditors", refEntry{Key: &refKey{Subject: 2, Public: auditorKey("hybrid"),
		Wraps: []refWrap{{low, bytesOf("hybrid wrap", 1201)}, {high, bytesOf("another", 1201)}}}})
	s.add("key: hybrid auditor", refEntry{Key: &refKey{Subject: 3, Public: auditorKey("hybrid 3")}})
}

func (s *samples) addKeys() {
	add := func(name string, k refKey) { s.add("key: "+name, refEntry{Key: &k}) }
	low, high := refWrap{hexed(strings.Repeat("\x01", 32)), bytesOf("wrap", 113)},
		refWrap{hexed(strings.Repeat("\xfe", 32)), bytesOf("another wrap", 113)}
	add("signing", refKey{Subject: 1, Public: signingKey("2")})
	add("disclosure for one auditor", refKey{Subject: 2, Public: auditorKey("disclosure"), Wraps: []refWrap{low}})
	add("disclosure for two auditors, in order of key id",
		refKey{Subject: 2, Public: auditorKey("disclosure"), Wraps: []refWrap{low, high}})
	add("auditor", refKey{Subject: 3, Public: auditorKey("3")})
	add("policy", refKey{Subject: 4, Policy: witnessPolicy("w2")})
	add("an empty policy: it is bytes that a writer can make, and illegal", refKey{Subject: 4})
	for i, subject := range []string{"signing", "disclosure", "auditor"} {
		add("retirement of a "+subject+" key", refKey{Subject: 5, Retired: uint8(i + 1),
			ID: refKeyID(auditorKey(subject)), From: sampleTime + uint64(i)})
	}
	add("an administrator comes", refKey{Subject: 6, Change: 1, Name: "dave", Public: adminKey("dave")})
	add("an administrator goes", refKey{Subject: 6, Change: 2, Name: strings.Repeat("z", 64)})
	add("an administrator has another key", refKey{Subject: 6, Change: 3, Name: "dave", Public: adminKey("dave 2")})
	add("two_persons for every act", refKey{Subject: 7, Acts: []uint16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		Delay: 86_400})
	add("two_persons for no act", refKey{Subject: 7})
}

func (s *samples) addEvents() {
	add := func(name string, e refEvent) { s.add("event: "+name, refEntry{Event: &e}) }
	add("instance_start", refEvent{Kind: 1, Build: bytesOf("executable", 32), Config: bytesOf("configuration", 32),
		Version: "1.0.0",
		Kernel:  "6.8.0-45-generic+~1", VDSO: 2})
	add("instance_start with the longest kernel release",
		refEvent{Kind: 1, Build: bytesOf("executable", 32), Config: bytesOf("configuration", 32),
			Version: "1.0.0", Kernel: "!" + strings.Repeat("~", 63), VDSO: 1})
	add("instance_start in FIPS 140-3 mode",
		refEvent{Kind: 1, Build: bytesOf("executable", 32), Config: bytesOf("configuration", 32),
			FIPS: true, Version: "v1.2.3-rc.1_x"})
	add("table_open", refEvent{Kind: 2, Table: "A"})
	add("table_close", refEvent{Kind: 3, Table: strings.Repeat("z", 64)})
	for i, what := range []string{"kill_set", "kill_clear"} {
		kind := uint8(4 + i)
		add(what+" for the ledger", refEvent{Kind: kind, Scope: 1, Reason: "audit of 2026-11-20"})
		add(what+" for a table", refEvent{Kind: kind, Scope: 2, Table: "table-7", Reason: " ~"})
		add(what+" for a deck", refEvent{Kind: kind, Scope: 3, Deck: bytesOf("deck", 32),
			Reason: strings.Repeat("r", 200)})
	}
	for i, cause := range []string{"repetition", "proportion", "short_read", "read_error", "slow", "replaced",
		"startup",
		"tape_exhausted", "foul_deck", "operator", "statistics"} {
		add("latch_set for "+cause, refEvent{Kind: 6, Cause: uint8(i + 1), Instance: 1})
	}
	add("latch_clear", refEvent{Kind: 7, Reason: "source replaced, 4 tests passed"})
	for i, alarm := range []string{"mark_adopted", "signing_resumed", "clock_step", "witnesses", "statistics"} {
		add("alarm "+alarm, refEvent{Kind: 129, Alarm: uint8(i + 129), Reason: "head 4711 held against the backup"})
	}
	add("head_adopted", refEvent{Kind: 10, Size: 9, Root: bytesOf("root", 32), LostSize: 12,
		LostRoot: bytesOf("lost", 32), Reason: "restored"})
	add("head_adopted, without a head known before",
		refEvent{Kind: 10, Size: 9, Root: bytesOf("root", 32), LostRoot: make(hexed, 32), Reason: "r"})
	add("access_head", refEvent{Kind: 130, Records: 17, Newest: bytesOf("record", 32)})
}

// adminSigner is the Ed25519 key of an administrator.
func adminSigner(name string) ed25519.PrivateKey { return signer("administrator " + name) }

func adminKey(name string) hexed {
	return append(hexed{1}, adminSigner(name).Public().(ed25519.PublicKey)...)
}

func admins(names ...string) (list []refAdmin) {
	for _, n := range names {
		list = append(list, refAdmin{n, adminKey(n)})
	}
	return list
}

// twoAdmins is what a production ledger needs of administrators.
func twoAdmins(g *refGenesis) {
	g.Admins, g.TwoPersons, g.Delay = admins("alice", "bob"), []uint16{8, 9, 10, 11, 13}, 10
}

func (s *samples) addTakeovers() {
	for i, extent := range []string{"close", "play"} {
		s.add("takeover: to "+extent, refEntry{Takeover: &refTakeover{2, uint8(i + 1),
			"table 7: dealer-1 does not answer"}})
	}
	s.add("takeover: the largest id, the shortest reason", refEntry{Takeover: &refTakeover{maxInteger, 1, " "}})
	s.add("takeover: the longest reason", refEntry{Takeover: &refTakeover{2, 2, strings.Repeat("~", 200)}})
	s.add("takeover: entry 0, which is bytes that a writer can make", refEntry{Takeover: &refTakeover{0, 1, "r"}})
}

func (s *samples) addReveals() {
	add := func(name string, r refReveal) { s.add("reveal: "+name, refEntry{Reveal: &r}) }
	add("one place", refReveal{Shuffle: 2, Places: []uint64{0}})
	add("a showdown, in front of the close", refReveal{Shuffle: 2, Final: true, Places: []uint64{0, 3, 9, 12}})
	add("a card exposed by mistake", refReveal{Shuffle: 2, Exposed: true, Places: []uint64{7}})
	add("both flags, the largest id, the last place there can be",
		refReveal{Shuffle: maxInteger, Final: true, Exposed: true, Places: []uint64{4095}})
	add("every place there can be", refReveal{Shuffle: 2, Places: placesBelow(4096)})
	s.add("passed over: extensions of a reveal", refEntry{Reveal: &refReveal{Shuffle: 2, Places: []uint64{1},
		Extensions: []refExtension{{128, nil}, {255, hexed{1}}}}})
	(*s)[len(*s)-1].Passed = []string{"reveal_extension 128", "reveal_extension 255"}
}

func (s *samples) addDisclosures() {
	add := func(name string, d refDisclose) { s.add("disclosure: "+name, refEntry{Disclose: &d}) }
	add("public", refDisclose{Shuffle: 2, Form: 1, Tape: bytesOf("tape", 129)})
	add("sealed to auditors", refDisclose{Shuffle: 2, Form: 2, Key: 5, Tape: bytesOf("sealed", 129+81)})
	add("the tape is lost", refDisclose{Shuffle: 2})
	add("the largest id and key, the shortest tape", refDisclose{Shuffle: maxInteger, Form: 2, Key: maxInteger,
		Tape: hexed{0}})
	add("the longest tape", refDisclose{Shuffle: 2, Form: 1, Tape: bytesOf("tape", 32_768)})
	add("the longest sealed tape", refDisclose{Shuffle: 2, Form: 2, Key: 5, Tape: bytesOf("sealed", 33_937)})
	s.add("disclosure: by the daemon, of a chain that expired", refEntry{Time: sampleTime, Identity: "daemon",
		Credential: "daemon", Disclose: &refDisclose{Shuffle: 2, Form: 1, Tape: bytesOf("tape", 54)}})
	s.add("passed over: extensions of a disclosure", refEntry{Disclose: &refDisclose{Shuffle: 2,
		Extensions: []refExtension{{128, nil}, {255, hexed{1}}}}})
	(*s)[len(*s)-1].Passed = []string{"disclosure_extension 128", "disclosure_extension 255"}
}

func placesBelow(n uint64) (places []uint64) {
	for p := range n {
		places = append(places, p)
	}
	return places
}

// sampleHolder is a token whose secret is bytesOf("secret", 32).
func sampleHolder(changes ...func(*refHolder)) *refHolder {
	h := with(refHolder{Kind: 1, ID: "token-1", Form: 1, Role: 1, Identity: "dealer-1"}, changes...)
	h.Digest = refCredential(&h, bytesOf("secret", 32))
	return &h
}

func (s *samples) addHolders() {
	add := func(name string, changes ...func(*refHolder)) {
		s.add("credential: "+name, refEntry{Holder: sampleHolder(changes...)})
	}
	add("a dealer's token for all tables")
	for i, role := range []string{"auditor", "admin", "regulator"} {
		add("a certificate of the role "+role,
			func(h *refHolder) { h.Form, h.Role, h.Identity = 2, uint8(i+2), role+"-1" })
	}
	add("for two tables, with an expiry",
		func(h *refHolder) { h.Tables, h.Expires = []string{"table-7", "wheel-1"}, maxInteger })
	add("for 256 tables", func(h *refHolder) {
		for i := range 256 {
			h.Tables = append(h.Tables, fmt.Sprintf("t%03d", i))
		}
	})
	add("of a reserved identity: it is bytes that a writer can make, and illegal",
		func(h *refHolder) { h.Identity = "daemon" })
	s.add("credential: revoked", refEntry{Holder: &refHolder{Kind: 2, ID: "token-1", Reason: "lost"}})
}

// signedAct is an act for a genesis entry, signed by administrators.
func signedAct(genesis []byte, a refAct, names ...string) *refAct {
	w := new(refWriter)
	a.writeSigned(w)
	text := refJoin("shuffled/v1/act\000", refSum(genesis), w.b)
	a.Signatures = nil
	for _, n := range names {
		a.Signatures = append(a.Signatures, refSignature{n, ed25519.Sign(adminSigner(n), text)})
	}
	return &a
}

// refApproved is the digest under which an act approves e.
func refApproved(e refEntry) hexed {
	w := e.write()
	behind := 1 + 1 + 8 + 1 + len(e.Identity) + 1 + len(e.Credential)
	return refSum("shuffled/v1/approved\000", w.b[1], refStr8(e.Identity), w.b[behind:])
}

// refCredential is the digest of a credential whose secret has the hash of secret.
func refCredentialHash(h *refHolder, hash []byte) hexed {
	w := new(refWriter)
	h.writeRow(w)
	return refSum("shuffled/v1/credential\000", w.b, hash)
}

func refCredential(h *refHolder, secret []byte) hexed { return refCredentialHash(h, refSum(secret)) }

func (s *samples) addActs() {
	genesis := with(sampleGenesis(), twoAdmins)
	first := refEntry{Time: sampleTime, Identity: "operator", Credential: "operator", Genesis: &genesis}.bytes()
	for i, act := range []string{"policy", "auditor", "signing", "retirement", "adopt_head", "latch_clear",
		"kill_clear", "administrator",
		"admin_credential", "takeover", "two_persons", "cancel"} {
		a := refAct{Act: uint8(i + 1), Digest: bytesOf("approved", 32), Previous: uint64(i), HeadSize: 20,
			HeadRoot: bytesOf("root", 32),
			Expires:  sampleTime + 3_600_000}
		s.add("act: "+act, refEntry{Act: signedAct(first, a, "alice", "bob")})
	}
	e := refEntry{Identity: "dealer-2", Takeover: &refTakeover{2, 2, "table 7: dealer-1 does not answer"}}
	s.add("act: of one administrator, for a takeover by dealer-2",
		refEntry{Act: signedAct(first, refAct{Act: 10, Digest: refApproved(e),
			HeadRoot: make(hexed, 32), Expires: sampleTime + 1}, "bob")})
	s.add("act: the largest integers, and signatures that are none",
		refEntry{Act: &refAct{Act: 1, Digest: bytesOf("d", 32), Previous: maxInteger,
			HeadSize: maxInteger, HeadRoot: bytesOf("r", 32), Expires: maxInteger,
			Signatures: []refSignature{{"a", make(hexed, 64)}}}})
}

// addPassed has every code that a reader passes over: code says of which list and number.
func (s *samples) addPassed() {
	most := bytesOf("opaque", 1024)
	genesis := with(sampleGenesis(), func(g *refGenesis) { g.Extensions = []refExtension{{128, nil}, {255, most}} })
	ctx := with(sampleContext(), func(c *refContext) {
		c.Terms = &refTerms{Kind: 2, Hash: bytesOf("pays", 32)}
		c.Extensions = []refExtension{{200, hexed{1}}}
	})
	commit := with(sampleCommit(ctx), func(c *refCommit) { c.Extensions = []refExtension{{129, hexed{2}}, {130, nil}} })
	tape := bytesOf("tape", 129)
	for _, p := range []struct {
		name   string
		passed []string
		e      refEntry
	}{
		{"a type", []string{"entry 128"}, refEntry{Opaque: &refOpaque{128, bytesOf("opaque", 10)}}},
		{"the last type, with nothing behind it", []string{"entry 255"}, refEntry{Opaque: &refOpaque{255, nil}}},
		{"a type with 1,024 bytes", []string{"entry 200"}, refEntry{Opaque: &refOpaque{200, most}}},
		{"an event", []string{"event 128"}, refEntry{Event: &refEvent{Kind: 128, Opaque: most}}},
		{"an event with nothing behind it", []string{"event 255"}, refEntry{Event: &refEvent{Kind: 255}}},
		{"an alarm", []string{"alarm 200"}, refEntry{Event: &refEvent{Kind: 129, Alarm: 200, Reason: "r"}}},
		{"a cause of the latch", []string{"latch 128"}, refEntry{Event: &refEvent{Kind: 6, Cause: 128, Instance: 1}}},
		{"two purposes", []string{"purpose 128", "purpose 240"}, refEntry{Deal: &refDeal{Shuffle: 2, Runs: []refRun{
			{Cards: 1, Purpose: 128}, {Cards: 1, Purpose: 1}, {Cards: 1, Purpose: 240}}}}},
		{"a reason", []string{"reason 128"},
			refEntry{Close: &refClose{Shuffle: 2, Outcome: 4, Reason: 128, Form: 1, Tape: tape}}},
		{"extensions of a genesis", []string{"genesis_extension 128", "genesis_extension 255"},
			refEntry{Genesis: &genesis}},
		{"extensions of a context and its commit",
			[]string{"context_extension 200", "commit_extension 129", "commit_extension 130"},
			refEntry{Commit: &commit}},
		{"an extension of a deal", []string{"deal_extension 128"},
			refEntry{Deal: &refDeal{Shuffle: 2, Runs: []refRun{{Cards: 1, Purpose: 3}},
				Extensions: []refExtension{{128, most}}}}},
		{"extensions of a close", []string{"close_extension 128", "close_extension 129"},
			refEntry{Close: &refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape,
				Extensions: []refExtension{{128, nil}, {129, hexed{0}}}}}},
	} {
		s.add("passed over: "+p.name, p.e)
		(*s)[len(*s)-1].Passed = p.passed
	}
}

// addTerms has every kind of terms.
func (s *samples) addTerms() {
	add := func(name string, ctx refContext) {
		c := sampleCommit(ctx)
		s.add("commit: "+name, refEntry{Commit: &c})
	}
	add("a draw list with a wheel", with(sampleDraw(), func(c *refContext) {
		c.Ranges, c.Terms = []uint32{10_000, 10_000}, &refTerms{Kind: 1, Hash: bytesOf("wheel", 32)}
	}))
	add("cards with a pay table", with(sampleContext(), func(c *refContext) {
		c.Terms = &refTerms{Kind: 2, Hash: bytesOf("pays", 32)}
	}))
	add("a list of as many tickets as an integer counts",
		with(sampleContext(), func(c *refContext) {
			c.Terms = &refTerms{Kind: 3, Count: maxInteger, Hash: bytesOf("tickets", 32)}
		}))
}

// benchCommit is the entry of a shuffle of 52 as the daemon writes it most often.
func benchCommit(tb testing.TB) (e Entry, tape []byte, values []uint32) {
	c := &Context{Origin: sampleOrigin, Table: "table-7", DeckHash: [32]byte(bytesOf("deck", 32)),
		Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: DisclosurePublic}
	tape = bytesOf("tape", c.Recipe.TapeLen())
	out, err := c.Recipe.Run(tape)
	if err != nil {
		tb.Fatal(err)
	}
	commitment := [32]byte(refCommitment(c.Encode(), tape))
	root := [32]byte(refDeckRoot(c.Encode(), tape, out.Values))
	e = Entry{Time: sampleTime, Actor: Actor{"dealer-1", "0123456789abcdef"},
		Body: &Commit{Context: c, Commitment: commitment, DeckRoot: root,
			Serial: 1234, Previous: 55_555, CloseBy: sampleTime + 3_600_000, GameRef: "round-123456", Instance: 1}}
	return e, tape, out.Values
}

type keyTagCase struct {
	name, key string
	timed     bool
}

func keyTagCases() []keyTagCase {
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
		{"the longest key", letters(255), false},
		{"36 letters", letters(36), false},
	}
}

func drawnValues(ranges []uint32) (values []uint32) {
	for i, k := range ranges {
		values = append(values, 1+uint32(i*7919)%k)
	}
	return values
}

func wholeContexts() (all []refContext) {
	for _, change := range []func(*refContext){
		func(*refContext) {},
		func(c *refContext) { c.Cards, c.Take = 2, 1 },
		func(c *refContext) { c.Take = 9 },
		func(c *refContext) { c.Cards, c.Take, c.EndAt = 104, 104, refEndAt{Form: 2, Lo: 80, Hi: 99} },
		func(c *refContext) { *c = sampleDraw() },
		func(c *refContext) { *c = sampleDraw(); c.Ranges = []uint32{1, 64, 65, 1 << 14, 1<<14 + 1, 1 << 30} },
		func(c *refContext) { *c = sampleNumbers() },
		func(c *refContext) { *c = sampleNumbers(); c.Of, c.Take = 1<<30, 5 },
	} {
		all = append(all, with(sampleContext(), change))
	}
	return all
}

// foreign is the commit in the other ledger, foreignDeal a deal there.
var foreign, foreignDeal = refForeign{7, bytesOf("leaf", 32)}, refForeign{8, bytesOf("deal", 32)}

// foreignHead is a checkpoint of the other ledger, and noDeal stands for no deal there.
var foreignHead, noDeal = refForeign{9, bytesOf("root", 32)}, refForeign{0, make(hexed, 32)}

// keyLike is n bytes that begin as a point does, and as a signing key.
func keyLike(n uint64) hexed { return append(hexed{1, 4}, make(hexed, max(n, 2))...)[:n] }

// hybridLike is n bytes whose last 65 begin as a point does.
func hybridLike(n uint64) hexed {
	k := append(hexed{2}, make(hexed, n-1)...)
	k[n-65] = 4
	return k
}

func letters(n uint64) string { return strings.Repeat("a", int(n)) }

func event(e refEvent) refEntry { return refEntry{Identity: "a", Credential: "a", Event: &e} }

// committed is a list of values with salts, and the leaves by the reference.
type committed struct {
	tag    [16]byte
	values []uint32
	salts  []byte
	leaves [][]byte
}

func commit(n int) (c committed) {
	c.salts = bytesOf("salts of a deck", 32*n)
	c.tag = [16]byte(refTag(bytesOf("commitment", 32), bytesOf("context", n)))
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for p := range n {
		c.values = append(c.values, r.Uint32()>>r.IntN(32))
		c.leaves = append(c.leaves, refLeaf(c.tag[:], uint16(p), c.values[p], c.salts[32*p:32*p+32]))
	}
	return c
}

func path(hashes []tlog.Hash) (out [][]byte) {
	for _, h := range hashes {
		out = append(out, bytes.Clone(h[:]))
	}
	return out
}

// addBlind has what ties shuffles of two ledgers together.
func (s *samples) addBlind() {
	foreign := refForeign{Index: 7, Leaf: bytesOf("leaf", 32)}
	head := refForeign{Index: maxInteger, Leaf: bytesOf("root", 32)}
	plan := []refSource{{Source: 4, Origin: "lab.example/orders", Commit: &foreign}}
	commit := func(name string, ctx refContext, askKey hexed) {
		c := sampleCommit(ctx)
		c.AskKey = askKey
		s.add("commit: "+name, refEntry{Commit: &c})
	}
	askKey := bytesOf("ask key", 32)
	commit("cards with a co-dealer", with(sampleContext(), func(c *refContext) { c.Plan = plan }), askKey)
	commit("cards with a co-dealer, a slot, a beacon and a cut", with(sampleContext(), func(c *refContext) {
		c.Plan = append(plan, refSource{Source: 1, Slot: bytesOf("slot", 32)},
			refSource{Source: 2, Chain: bytesOf("chain", 32), Round: 1}, refSource{Source: 3})
	}), askKey)
	commit("an order for another ledger", with(sampleContext(), func(c *refContext) {
		c.ForLedger = "house.example/tables"
	}), nil)
	asked := refAsked{Commit: foreign, After: bytesOf("before", 32), Head: head, State: make(hexed, 32),
		Ask: bytesOf("ask", 64)}
	runs := []refRun{{Cards: 2, Purpose: 1, Recipient: "seat-1"}, {Cards: 1, Purpose: 3}}
	s.add("deal: asked for by another ledger", refEntry{Deal: &refDeal{Shuffle: 2, Runs: runs, Asked: &asked}})
	s.add("deal: of a shuffle with a co-dealer", refEntry{Deal: &refDeal{Shuffle: 2, Runs: runs,
		Blind: &refBlind{Deal: foreign, Head: head, Values: []uint32{51, 0}}}})
	s.add("deal: blind, of nothing that is opened", refEntry{Deal: &refDeal{Shuffle: 2, Runs: runs[1:],
		Blind: &refBlind{Deal: foreign, Head: head, Values: []uint32{}}}})
	tape := bytesOf("tape", 129)
	s.add("close: void, the co-dealer did not answer", refEntry{Close: &refClose{Shuffle: 2, Outcome: 4, Reason: 11, Form: 1,
		Tape: tape, Blind: &refBlind{Deal: foreign, Head: head, Values: make([]uint32, 64)}}})
	s.add("close: with a co-dealer, and nothing that was not played", refEntry{Close: &refClose{Shuffle: 2, Outcome: 1,
		Form: 1, Tape: tape, Blind: &refBlind{Deal: noDeal, Head: head}}})
	s.add("close: of an order, behind the shuffle", refEntry{Close: &refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape,
		Follows: &refFollows{foreign, 4096}}})
	s.add("key: a co-dealer", refEntry{Key: &refKey{Subject: 8, Origin: "lab.example/orders", Public: keyLike(33),
		Policy: "quorum none\n"}})
	s.add("key: a co-dealer of every commit", refEntry{Key: &refKey{Subject: 8, Every: true,
		Origin: "lab.example/orders", Public: keyLike(33), Policy: "quorum none\n"}})
	s.add("key: no co-dealer", refEntry{Key: &refKey{Subject: 8}})
}
