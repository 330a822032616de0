package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// seenLate says of which files witnesses cosigned the checkpoint, alongside those of the
// level: with the level recorded all of them.
var seenLate = map[string]string{
	"beacon-witnessed-after-mix": "a c", "cosigned-2-of-3": "a c", "cosigned-groups": "a c", "cosigned-one": "a c",
	"later-type-not-needed": "a c", "mldsa-late-twice": "a am", "receipt-witnessed-any": "a c",
	"receipt-witnessed-by-itself": "own", "witnessed-11-s-after": "a b", "witnessed-absent": "b c",
	"witnessed-after-mix": "a b", "witnessed-any": "a c",
	"witnessed-by-itself": "own", "witnessed-by-others": "b", "witnessed-cosigned-another": "a b",
	"witnessed-nested-apart": "a c", "witnessed-nobody": "a b", "witnessed-policy-tabs": "b",
	"witnessed-signed-plainly": "a b", "witnessed-time-0": "a b", "witnessed-time-10000": "a b",
	"witnessed-time-64-bits": "a b", "witnessed-time-changed": "a b", "witnessed-times": "b",
	"witnessed-too-few": "a b", "witnessed-too-late-too-few": "a b", "witnessed-too-late": "a c",
}

// goodCases are files that hold, with what they prove; the last few are honest
// files that still fail, or that nothing vouches for.
func goodCases(t testing.TB) []vector {
	var cases []vector
	add := func(name, about string, file []byte, change ...func(*vector)) {
		v := vector{Name: name, About: about, Trust: vectorTrust{VKey: mainKey(t).vkey}, File: string(file),
			Want: want{Verdict: Proved, Level: LevelRecorded}}
		for _, f := range change {
			f(&v)
		}
		v.keyInForce()
		for by := range strings.FieldsSeq(seenLate[name]) {
			v.Want.Late = append(v.Want.Late, Cosigned{by, timestamp(witnessTime * 1000)})
			if v.Want.WithoutBLS != nil {
				v.Want.WithoutBLS.Late = v.Want.Late
			}
		}
		cases = append(cases, v)
	}
	shuffles(t, add)
	decks(t, add)
	lists(t, add)
	numbersOf(t, add)
	endings(t, add)
	trusts(t, add)
	receiptsOf(t, add)
	witnessedFiles(t, add)
	levelMixedFiles(t, add)
	meetingFiles(t, add)
	lateFiles(t, add)
	handedFiles(t, add)
	longFiles(t, add)
	takenFiles(t, add)
	termsFiles(t, add)
	statedFiles(t, add)
	revealedFiles(t, add)
	chainFiles(t, add)
	blindFiles(t, add)
	return cases
}

// keyInForce sets what a verdict that holds says of a file that shows no hand-over.
func (v *vector) keyInForce() {
	house, _, _ := strings.Cut(v.File, `,"co_dealer":{"`)
	for _, w := range []*want{&v.Want, v.Want.WithoutBLS} {
		if w != nil && (w.Verdict == Proved || w.Verdict == Consistent) && !strings.Contains(house, `,"keys":[{`) {
			w.KeyInForce = KeyNotShown
		}
	}
}

type adder func(name, about string, file []byte, change ...func(*vector))

func shuffles(t testing.TB, add adder) {
	h := open(t)
	g := h.commitTo(h.cards(sixCards), sixCards)
	add("open-undealt", "committed, nothing dealt", g.file(""))
	g.deal(seat("seat-1", 2), seat("seat-2", 1))
	add("open", "dealt once, still open", g.file(""))
	g.deal(audit.Run{Count: 1, Purpose: audit.PurposeBurn}, board(2))
	add("open-all-dealt", "every place dealt, in runs of several deals, and the burn not opened", g.file(""))
	g.close(audit.OutcomeCompleted, 0)
	add("closed", "closed with its tape: every step runs", g.file(""))
	add("closed-few-cards", "a transcript need not open every dealt card", marshal(t, without(g, 3)))
	add("recipient", "one recipient's file", g.file("seat-1"))
	g = h.commitTo(h.cards(sixCards), sixCards).deal(burn, ofRound(1, seat("box-1", 2)), ofRound(1, board(1)))
	g.deal(ofRound(2, seat("box-1", 1)))
	add("open-rounds", "a shoe: a burn in front of two rounds, of which the second may go on", g.file(""))
	g.deal(ofRound(3, board(1))).close(audit.OutcomeCompleted, 0)
	add("closed-rounds", "a shoe of three rounds, closed", g.file(""))

	h = open(t)
	ctx := h.cards(sixCards)
	ctx.Recipe.Take, ctx.EndAt = 4, 3
	g = h.commitTo(ctx, sixCards).deal(board(3)).close(audit.OutcomeEndedEarly, 0)
	add("take-4-of-6", "a shuffle that takes fewer cards than the deck has, with a fixed end_at", g.file(""))

	h = open(t)
	ctx = h.cards(sixCards)
	ctx.Recipe.EndLo, ctx.Recipe.EndHi = 2, 5
	g = h.commitTo(ctx, sixCards).deal(board(6)).close(audit.OutcomeCompleted, 0)
	add("end-at-drawn", "end_at drawn from the tape", g.file(""))

	h = open(t)
	g = h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 1)).deal(audit.Run{Count: 5,
		Purpose: audit.PurposeOrder})
	add("handed-over", "the whole rest was handed over as an order", g.file(""))
	g.close(audit.OutcomeCompleted, 0)
	add("handed-over-closed", "the whole rest was handed over as an order, and the shuffle closed", g.file(""))

	for _, name := range []string{"standard-52", "shoe-2"} {
		deck, _ := shuffle.Named(name)
		h = open(t)
		g = h.commitTo(h.cards(deck.Cards()), deck.Cards())
		g.deal(seat("seat-1", 2), seat("seat-2", 2)).deal(board(3)).close(audit.OutcomeEndedEarly, 0)
		add(name, "a published deck", g.file(""))
	}

	h = open(t)
	odd := []string{"Éclair", `"quoted" \ slash`, "雀", "two words", "<b>&amp;", "Ace", "Ace"}
	g = h.commitTo(h.cards(odd), odd).deal(board(7)).close(audit.OutcomeCompleted, 0)
	add("custom-deck", "names beyond ASCII, with escapes, and two alike", g.file(""))

	g = mixed(t).deal(seat("seat-1", 2), board(1)).close(audit.OutcomeEndedEarly, 0)
	add("mixed", "two slots, a beacon round of a chain that nobody knows, and a cut", g.file(""))
	add("mixed-recipient", "one recipient's file of a mixed shuffle", g.file("seat-1"))
	add("mixed-open-undealt", "mixed, and nothing dealt yet", mixed(t).file(""))

	parent, child := family(t, 2)
	add("parent", "a shuffle whose cards went into a child, disclosed after that was closed", parent.file(""))
	add("child", "cards shuffled again: order is not checked without the parent", child.file(""))
}

// without returns the closed game's transcript with n cards fewer.
func without(g *game, n int) *openings.Transcript {
	f := g.transcript("")
	f.Cards = f.Cards[n:]
	return f
}

// mixed returns a shuffle with every kind of source, mixed and not yet dealt.
// before does something in front of the mix.
func mixed(t testing.TB, before ...func(*game)) *game {
	h := open(t)
	ctx := h.cards(sixCards)
	ctx.Plan = []audit.Planned{
		{Source: audit.SourceSlot, Slot: audit.SlotHash(h.key.name, ctx.Table, hash32("slot 1"))},
		{Source: audit.SourceSlot, Slot: audit.SlotHash(h.key.name, ctx.Table, hash32("slot 2"))},
		{Source: audit.SourceBeacon, Chain: hash32("chain"), Round: 7},
		{Source: audit.SourceCut},
	}
	g := h.commitTo(ctx, sixCards)
	for _, f := range before {
		f(g)
	}
	return g.mix(mixValues()...)
}

func mixValues() []audit.MixValue {
	return []audit.MixValue{
		{Source: audit.SourceSlot, Slot: hash32("slot 1")},
		{Source: audit.SourceSlot, Slot: hash32("slot 2")},
		{Source: audit.SourceBeacon, Beacon: [48]byte(seeded("beacon", 48))},
		{Source: audit.SourceCut, Cut: 4},
	}
}

// family returns a shuffle that was continued after some cards, and the child that took its stub.
func family(t testing.TB, dealt int) (parent, child *game) { return familyOf(t, sixCards, dealt) }

func familyOf(t testing.TB, cards []string, dealt int) (parent, child *game) {
	h := open(t)
	parent = h.commitTo(h.cards(cards), cards)
	if dealt > 0 {
		parent.deal(board(dealt))
	}
	ctx := h.cards(cards)
	ctx.Recipe = shuffle.Recipe{Cards: len(cards) - dealt, Take: len(cards) - dealt}
	ctx.Parent = &audit.Parent{ID: parent.id}
	for p := dealt; p < len(cards); p++ {
		ctx.Parent.Positions = append(ctx.Parent.Positions, uint16(p))
	}
	child = h.commitTo(ctx, cards, func(c *audit.Commit, g *game) {
		values, err := openings.ChildValues(parent.values, ctx.Parent.Positions, g.values)
		must(t, err)
		g.plant(c, values)
	})
	parent.close(audit.OutcomeContinued, 0)
	child.deal(board(len(cards)-dealt)).close(audit.OutcomeCompleted, 0)
	parent.disclose()
	return parent, child
}

// decks are files that say what was shuffled (docs/SPEC.md section 10.4).
func decks(t testing.TB, add adder) {
	of := func(cards []string) []byte {
		h := open(t)
		return h.commitTo(h.cards(cards), cards).deal(board(2)).close(audit.OutcomeEndedEarly, 0).file("")
	}
	is := func(pinned string, s *Shuffled) func(*vector) {
		return func(v *vector) { v.Trust.Deck, v.Want.Shuffled = pinned, s }
	}
	of52 := &Shuffled{Kind: "cards", Cards: 52, Deck: "standard-52"}
	standard := publishedCards("standard-52")
	add("shuffled-standard-52", "the deck that was asked for", of(standard), is("standard-52", of52))
	add("shuffled-shoe-1", "a shoe of one deck is standard-52, and has both names", of(standard), is("shoe-1", of52))
	rigged := publishedCards("shoe-6")
	for i, c := range rigged {
		rigged[i] = strings.Replace(c, "T", "5", 1)
	}
	add("shuffled-rigged", "six decks whose tens are fives", of(rigged), is("", &Shuffled{Kind: "cards", Cards: 312,
		Like: "shoe-6", Differs: map[string]int{"5c": 6, "5d": 6, "5h": 6, "5s": 6,
			"Tc": -6, "Td": -6, "Th": -6, "Ts": -6}}))
	add("shuffled-less", "a deck without the ace of hearts", of(slices.Delete(slices.Clone(standard), 13, 14)),
		is("", &Shuffled{Kind: "cards", Cards: 51, Like: "standard-52", Differs: map[string]int{"Ah": -1}}))
	cyrillic := append([]string{"\u0410s"}, standard[1:]...)
	add("shuffled-lookalike", "an ace whose letter is Cyrillic", of(cyrillic), is("", &Shuffled{Kind: "cards",
		Cards: 52, Like: "standard-52", Differs: map[string]int{"As": -1, "\u0410s": 1}}))
	slices.Reverse(standard)
	add("shuffled-reversed", "the cards of a published deck in another order", of(standard),
		is("", &Shuffled{Kind: "cards", Cards: 52, Like: "standard-52"}))
	add("shuffled-nameless", "a deck that is like no published one, with names that programs know",
		of([]string{"__proto__", "constructor", "\U0001d11e", "\uff21"}), is("", &Shuffled{Kind: "cards", Cards: 4}))
	add("shuffled-more", "such names alongside a published deck", of(append(publishedCards("standard-52"), "__proto__",
		"1")), is("", &Shuffled{Kind: "cards", Cards: 54, Like: "standard-52",
		Differs: map[string]int{"__proto__": 1, "1": 1}}))
	_, child := family(t, 2)
	add("shuffled-child", "cards that the house chose from a parent's", child.file(""),
		is("", &Shuffled{Kind: "cards", Cards: 4, Parent: child.commit.Context.Parent.ID}))
	h := open(t)
	add("shuffled-numbers", "numbers, and no cards", h.commitTo(h.numbers(312, 2), nil).file(""),
		is("", &Shuffled{Kind: "numbers", Of: 312}))
}

func publishedCards(name string) []string {
	deck, _ := shuffle.Named(name)
	return deck.Cards()
}

func lists(t testing.TB, add adder) {
	h := open(t)
	g := h.commitTo(h.draws(6, 6, 37, 1, 1<<30), nil).deal(board(2)).deal(seat("seat-1", 3))
	add("draws-open", "a draw list, still open", g.file(""))
	g.close(audit.OutcomeCompleted, 0)
	add("draws", "a draw list: two dice, a wheel, a range of one and the widest", g.file(""))

	g = mixedDraws(t).deal(board(3)).close(audit.OutcomeCompleted, 0)
	add("draws-mixed", "a draw list moved by a slot", g.file(""))
}

// numbersOf are files of numbers without repeats.
func numbersOf(t testing.TB, add adder) {
	h := open(t)
	g := h.commitTo(h.numbers(80, 20), nil)
	add("numbers-undealt", "20 of 80 numbers, none dealt yet", g.file(""))
	g.deal(board(5), shown(seat("seat-1", 2)))
	add("numbers-open", "the first seven of 20 numbers of 80", g.file(""))
	add("numbers-few", "a transcript need not open every number before the close, but those in front of each",
		marshal(t, few(g, 3)))
	add("numbers-recipient", "one recipient's file: all numbers are public", g.file("seat-1"))
	g.deal(board(13)).close(audit.OutcomeCompleted, 0)
	add("numbers", "20 of 80 numbers, as in keno", g.file(""))
	g = mixedNumbers(t).deal(board(6)).close(audit.OutcomeCompleted, 0)
	add("numbers-mixed", "6 of 49 numbers, each draw moved by a slot", g.file(""))
	h = open(t)
	g = h.commitTo(h.numbers(1<<30, 3), nil).deal(board(3)).close(audit.OutcomeCompleted, 0)
	add("numbers-widest", "three of all the numbers that there can be", g.file(""))
	h = open(t)
	g = h.commitTo(h.numbers(9, 9), nil).deal(shown(audit.Run{Count: 9, Purpose: audit.PurposeOrder})).
		close(audit.OutcomeCompleted, 0)
	add("numbers-seats", "all of nine numbers, handed over as an order", g.file(""))
}

// few is the game's transcript with its first n cards.
func few(g *game, n int) *openings.Transcript {
	f := g.transcript("")
	f.Cards = f.Cards[:n]
	return f
}

func mixedNumbers(t testing.TB) *game {
	h := open(t)
	ctx := h.numbers(49, 6)
	ctx.Plan = []audit.Planned{{Source: audit.SourceSlot,
		Slot: audit.SlotHash(h.key.name, ctx.Table, hash32("slot 1"))}}
	return h.commitTo(ctx, nil).mix(mixValues()[0])
}

func mixedDraws(t testing.TB) *game {
	h := open(t)
	ctx := h.draws(6, 37, 1000)
	ctx.Plan = []audit.Planned{{Source: audit.SourceSlot,
		Slot: audit.SlotHash(h.key.name, ctx.Table, hash32("slot 1"))}}
	return h.commitTo(ctx, nil).mix(mixValues()[0])
}

func endings(t testing.TB, add adder) {
	dealt := func(change ...func(*audit.Context)) *game {
		h := open(t)
		ctx := h.cards(sixCards)
		for _, f := range change {
			f(ctx)
		}
		return h.commitTo(ctx, sixCards).deal(board(2))
	}
	g := dealt(func(c *audit.Context) { c.Disclosure = audit.DisclosureAuditor }).close(audit.OutcomeCompleted, 0)
	add("auditor-disclosed", "the tape is sealed: tape, order and cards are not checked", g.file(""))
	add("void", "void with a reason", dealt().close(audit.OutcomeVoid, audit.ReasonMisdeal).file(""))
	add("ended-early", "closed before every place was dealt", dealt().close(audit.OutcomeEndedEarly, 0).file(""))

	g = dealt()
	g.h.now = g.commit.CloseBy - 1000 // so the close comes exactly at close-by
	add("expired", "closed by the daemon, at the very millisecond of close-by",
		g.close(audit.OutcomeExpired, 0).file(""))

	g = dealt()
	g.dealAs(&audit.Deal{Shuffle: g.id, First: 2, Final: true, Runs: []audit.Run{board(1)}})
	add("final-deal", "a deal and its close in one batch", g.close(audit.OutcomeCompleted, 0).file(""))

	h := open(t, cosignedDeals)
	g = h.commitTo(h.cards(sixCards), sixCards)
	g.dealAs(&audit.Deal{Shuffle: g.id, Checkpoint: g.id + 1, Runs: []audit.Run{board(2)}})
	add("deals-cosigned", "the ledger's deals name a cosigned checkpoint that covers the commit", g.file(""))

	h = open(t, func(g *audit.Genesis) { g.Production = false })
	ctx := h.cards(sixCards)
	ctx.Production = false
	add("sandbox", "evidence of a sandbox says so", h.commitTo(ctx, sixCards).deal(board(1)).file(""))

	// Honest bytes, and still a fault of the operator.
	add("tape-lost", "void because the tape is lost: the one legal close that fails",
		dealt().close(audit.OutcomeVoid, audit.ReasonTapeLost).file(""), fails(stepTape))
	g = dealt()
	g.h.now = g.commit.CloseBy + 1000
	add("tape-lost-late", "the same, after close-by: what has no tape cannot expire",
		g.close(audit.OutcomeVoid, audit.ReasonTapeLost).file(""), fails(stepTape))
}

func cosignedDeals(g *audit.Genesis) {
	const witness = "witness a witness.example/1+3189954b+BPDW9SfdVHpLZzo9l9lyjzf+2CuUHsoevWKF9nrFBeh0\nquorum a\n"
	g.Deals, g.Policy = audit.DealsCosigned, []byte(witness)
}

func fails(step string) func(*vector) {
	return func(v *vector) { v.Want = want{Verdict: Failed, Failed: step} }
}

func trusted1(policy string) func(*vector) {
	return func(v *vector) { v.Trust = vectorTrust{Policy: policy} }
}

func trusts(t testing.TB, add adder) {
	consistent := func(v *vector) { v.Want = want{Verdict: Consistent, Level: LevelKeyNotPinned} }
	h := open(t)
	g := h.commitTo(h.cards(sixCards), sixCards).deal(board(2)).close(audit.OutcomeEndedEarly, 0)
	plain := g.file("")
	add("nothing-pinned", "nothing is trusted: the file agrees with itself", plain,
		func(v *vector) { v.Trust = vectorTrust{} }, consistent)
	add("policy-without-witnesses", "a policy with the ledger's key", plain,
		trusted1("log "+h.key.vkey+"\nquorum none\n"))
	add("policy-without-log", "a policy that pins no ledger", plain, trusted1("quorum none\n"), consistent)
	other := newKey(t, "example.com/other", "other key")
	add("policy-two-logs", "any of the logs may match", plain,
		trusted1("# two\nlog "+other.vkey+"\n\tlog "+h.key.vkey+" https://example.com/log\n\nquorum none"))

	w1, w2, w3 := newKey(t, "witness.example/1", "w1"), newKey(t, "witness.example/2", "w2"),
		newKey(t, "witness.example/3", "w3")
	v1, _ := w1.witnessKey()
	v2, _ := w2.witnessKey()
	v3, _ := w3.witnessKey()
	policy := func(rule string) string {
		return fmt.Sprintf("log %s\nwitness a %s\nwitness b %s https://b.example/\nwitness c %s\n%s", h.key.vkey, v1,
			v2, v3, rule)
	}
	h.witnesses = []keyPair{w1, w3}
	cosigned := g.file("")
	add("cosigned-key-only", "cosignatures that nobody asks for", cosigned)
	add("cosigned-2-of-3", "a quorum of witnesses", cosigned, trusted1(policy("group g 2 a b c\nquorum g\n")))
	add("cosigned-one", "one witness as the quorum", cosigned, trusted1(policy("quorum c\n")))
	add("cosigned-groups", "groups of groups", cosigned,
		trusted1(policy("group x any a b\ngroup y all x c\nquorum y\n")))
}

// receiptsOf adds a receipt of every type of entry.
func receiptsOf(t testing.TB, add adder) {
	g := mixed(t)
	h := g.h
	g.deal(board(2)).close(audit.OutcomeEndedEarly, 0)
	h.add(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: "table-1", Reason: "a reason"})
	for i := range uint64(len(h.entries)) {
		e, err := audit.ParseEntry(h.entries[i])
		must(t, err)
		add(fmt.Sprintf("receipt-%s-%d", e.Body.Type(), i), "a receipt alone", []byte(h.receipt(i).Text()))
	}
	h = open(t)
	h.now = audit.MaxInteger - 1000
	late := h.add(&audit.Event{Kind: audit.EventTableOpen, Name: "table-1"})
	add("receipt-beyond-9999", "the last time there is, which the verdict cannot write and leaves out",
		[]byte(h.receipt(late).Text()))
	h = open(t).cheating()
	none := h.add(&audit.Takeover{Extent: audit.ExtentPlay, Reason: "a reason"})
	add("receipt-of-shuffle-0", "an entry that names shuffle 0: the verdict leaves it out", []byte(h.receipt(none).Text()))
	h = g.h
	nothing := func(v *vector) {
		v.Trust = vectorTrust{}
		v.Want = want{Verdict: Consistent, Level: LevelKeyNotPinned}
	}
	add("receipt-genesis-nothing-pinned", "a genesis brings a key, which nothing vouches for",
		[]byte(h.receipt(0).Text()), nothing)
	add("receipt-deal-nothing-pinned", "no key at all: the signature is not checked",
		[]byte(h.receipt(g.indexes[2]).Text()), nothing)
}
