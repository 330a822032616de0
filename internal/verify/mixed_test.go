package verify

import (
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/beacon"
	"shuffled/internal/beacon/beacontest"
)

// round is the published round that the vectors plan.
var round = beacontest.Newest()

// out is when it came out, in seconds.
var out = beacon.TimeOf(round.Round)

// Sources of the plans below, and their values.
var (
	planSlot1 = audit.Planned{Source: audit.SourceSlot,
		Slot: audit.SlotHash("example.com/main", "table-1", hash32("slot 1"))}
	planSlot2 = audit.Planned{Source: audit.SourceSlot,
		Slot: audit.SlotHash("example.com/main", "table-1", hash32("slot 2"))}
	planBeacon = audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet, Round: round.Round}
	planCut    = audit.Planned{Source: audit.SourceCut}

	valueSlot1  = mixValues()[0]
	valueSlot2  = mixValues()[1]
	valueBeacon = audit.MixValue{Source: audit.SourceBeacon, Beacon: round.Signature}
	valueCut    = mixValues()[3]
)

// steered plays shuffles around the time of the round: committed a minute before
// it, cosigned by a at 20 and by c at 10 seconds before it, mixed 2 seconds after.
type steered struct {
	testing.TB
	w        trio
	context  func(h *house) *audit.Context
	cosigned map[string]int64 // by witness, seconds before the round comes out
	values   []audit.MixValue // instead of those of the plan
}

func newSteered(t testing.TB) steered {
	return steered{TB: t, w: newTrio(t), cosigned: map[string]int64{"a": 20, "c": 10},
		context: func(h *house) *audit.Context { return h.cards(sixCards) }}
}

// committed is a shuffle with a plan, before its mix.
func (s steered) committed(plan ...audit.Planned) *game {
	s.Helper()
	h := open(s.TB)
	h.now = (out - 61) * 1000
	ctx := s.context(h)
	ctx.Plan = plan
	g := h.commitTo(ctx, sixCards)
	if ctx.IsDraw() {
		g.deck = nil
	}
	g.early = string(s.early(h))
	h.now = (out + 1) * 1000
	h.witnesses = []keyPair{s.w.a, s.w.c}
	return g
}

func (s steered) early(h *house) []byte {
	s.Helper()
	h.witnesses = nil
	head := h.head()
	for _, k := range []struct {
		name string
		key  keyPair
	}{{"a", s.w.a}, {"b", s.w.b}, {"c", s.w.c}} {
		if before, ok := s.cosigned[k.name]; ok {
			head = append(head, k.key.cosignAt(h.text(), uint64(out-before))...)
		}
	}
	return head
}

// mixed is one with its mix.
func (s steered) mixed(plan ...audit.Planned) *game {
	s.Helper()
	values := s.values
	if values == nil {
		for _, p := range plan {
			for _, x := range []struct {
				planned audit.Planned
				value   audit.MixValue
			}{{planSlot1, valueSlot1}, {planSlot2, valueSlot2}, {planBeacon, valueBeacon}, {planCut, valueCut}} {
				if p == x.planned {
					values = append(values, x.value)
				}
			}
		}
	}
	return s.committed(plan...).mix(values...)
}

// played is one that was dealt and closed.
func (s steered) played(plan ...audit.Planned) *game {
	s.Helper()
	g, first := s.mixed(plan...), seat("seat-1", 1)
	if g.commit.Context.IsNumbers() {
		first = shown(first)
	}
	return g.deal(first, board(2)).close(audit.OutcomeEndedEarly, 0)
}

// Members of the verdict.
func everybody(witnessedBefore int64) Mixed {
	return Mixed{For: ForEverybody, Witnessed: timestamp((out - witnessedBefore) * 1000), Round: round.Round,
		Time: timestamp(out * 1000)}
}

func holder(p audit.Planned, witnessedBefore int64) Mixed {
	return Mixed{For: ForSlot, Witnessed: timestamp((out - witnessedBefore) * 1000), Slot: encode(p.Slot)}
}

// wants sets what a file of steered proves under the policy; proven is for whom it has the level mixed. A verifier
// without BLS gives the level witnessed for any plan with a beacon, and nothing is different for it without one.
func (s steered) wants(bls bool, slots [][32]byte, proven ...Mixed) func(*vector) {
	return func(v *vector) {
		v.Trust = vectorTrust{Policy: s.w.policy(twoOfThree)}
		for _, slot := range slots {
			v.Trust.Slots = append(v.Trust.Slots, slot[:])
		}
		v.Want = want{Verdict: Proved, Level: LevelWitnessed, Overlap: 1}
		for _, name := range []string{"a", "b", "c"} {
			if before, ok := s.cosigned[name]; ok {
				v.Want.Witnesses = append(v.Want.Witnesses, Cosigned{name, timestamp((out - before) * 1000)})
			}
		}
		if len(proven) > 0 {
			without := v.Want
			v.Want.Level, v.Want.Mixed = LevelMixed, proven
			if bls {
				v.Want.WithoutBLS = &without
			}
		}
	}
}

func mine(labels ...string) (slots [][32]byte) {
	for _, l := range labels {
		slots = append(slots, hash32(l))
	}
	return slots
}

// levelMixedFiles hold; who may know that nobody steered them differs.
func levelMixedFiles(t testing.TB, add adder) {
	s := newSteered(t)
	bls, plain := true, false
	add("level-mixed", "a beacon whose round came out after the quorum saw the commit", s.played(planBeacon).file(""),
		s.wants(bls, nil, everybody(10)))
	add("level-mixed-recipient", "one recipient's file", s.played(planBeacon).file("seat-1"),
		s.wants(bls, nil, everybody(10)))
	add("level-mixed-undealt", "the mix is recorded, and nothing dealt yet", s.mixed(planBeacon).file(""),
		s.wants(bls, nil, everybody(10)))
	add("level-mixed-void", "void after the mix: that shows, and the order is no other",
		s.mixed(planBeacon).close(audit.OutcomeVoid, audit.ReasonMisdeal).file(""), s.wants(bls, nil, everybody(10)))
	add("level-mixed-slots", "two slots and a beacon, by a verifier who holds none",
		s.played(planSlot1, planSlot2, planBeacon).file(""), s.wants(bls, nil, everybody(10)))
	add("level-mixed-both", "for everybody by the beacon, for the second slot's holder by that, too",
		s.played(planSlot1, planSlot2, planBeacon).file(""),
		s.wants(bls, mine("slot 2"), everybody(10), holder(planSlot2, 10)))

	add("slot", "for the holder of a slot", s.played(planSlot1, planSlot2).file(""),
		s.wants(plain, mine("slot 1"), holder(planSlot1, 10)))
	add("slots", "for the holder of both slots, in the plan's order", s.played(planSlot1, planSlot2).file(""),
		s.wants(plain, mine("slot 2", "slot 1", "slot 2"), holder(planSlot1, 10), holder(planSlot2, 10)))
	add("slots-of-others", "slots, by a verifier who holds none: the house may hold them all",
		s.played(planSlot1, planSlot2).file(""), s.wants(plain, nil))
	add("slot-unmixed", "the slot is in the plan, and its value not yet given",
		s.committed(planSlot1, planSlot2).file(""), s.wants(plain, mine("slot 1")))
	add("beacon-unmixed", "the round is not out yet", s.committed(planBeacon).file(""), s.wants(plain, nil))

	draws := s
	draws.context = func(h *house) *audit.Context { return h.draws(6, 37, 1000) }
	add("level-mixed-draws", "a draw list", draws.played(planBeacon).file(""), draws.wants(bls, nil, everybody(10)))
	add("slot-draws", "a draw list, for the holder of its slot", draws.played(planSlot1).file(""),
		draws.wants(plain, mine("slot 1"), holder(planSlot1, 10)))
	numbers := s
	numbers.context = func(h *house) *audit.Context { return h.numbers(1_000_000, 3) }
	add("level-mixed-numbers", "three of a million numbers: the draws are moved, so fewer than all are mixed",
		numbers.played(planBeacon).file(""), numbers.wants(bls, nil, everybody(10)))
	raffle := s
	tickets := audit.Terms{Kind: audit.TermsTicketList, Count: 80, Hash: hash32("tickets")}
	raffle.context = func(h *house) *audit.Context {
		ctx := h.numbers(80, 3)
		ctx.Terms = &tickets
		return ctx
	}
	drawn := raffle.played(planBeacon)
	add("level-mixed-tickets", "a list of tickets: the house could not choose the winner", drawn.file(""),
		raffle.wants(bls, nil, everybody(10)), func(v *vector) {
			shown, err := drawn.order.Shows(drawn.values)
			must(t, err)
			v.Want.Terms = &Terms{Kind: "ticket_list", Hash: hash64(tickets.Hash), Count: 80}
			v.Want.Shows, v.Want.WithoutBLS.Shows = shown, shown
			could := *v.Want.Terms
			could.HouseCouldChoose = true
			v.Want.WithoutBLS.Terms = &could
		})
	add("slot-numbers", "numbers, for the holder of a slot", numbers.played(planSlot1).file(""),
		numbers.wants(plain, mine("slot 1"), holder(planSlot1, 10)))
	sealed := s
	sealed.context = func(h *house) *audit.Context {
		ctx := h.cards(sixCards)
		ctx.Disclosure = audit.DisclosureAuditor
		return ctx
	}
	add("level-mixed-auditor", "the tape is sealed: what was not checked is open at every level",
		sealed.played(planBeacon).file(""), sealed.wants(bls, nil, everybody(10)))

	clocks(t, add)
	choices(t, add)
	lessTrust(t, add)
}

// clocks are about when the quorum was there.
func clocks(t testing.TB, add adder) {
	s, bls, plain := newSteered(t), true, false
	s.cosigned = map[string]int64{"a": 2, "c": 1}
	add("level-mixed-last-second", "the quorum was there in the last second before the round",
		s.played(planBeacon).file(""), s.wants(bls, nil, everybody(1)))
	s.cosigned = map[string]int64{"a": 20, "c": 0}
	add("beacon-same-second", "and in the second of the round: the house may have seen it",
		s.played(planBeacon).file(""), s.wants(plain, nil))
	add("beacon-same-second-my-slot", "which is no matter to the holder of a slot",
		s.played(planSlot1, planBeacon).file(""),
		s.wants(bls, mine("slot 1"), holder(planSlot1, 0)))
	s.cosigned = map[string]int64{"a": -5, "b": 30, "c": 1}
	add("level-mixed-late-third", "the third witness came after the round, two were enough",
		s.played(planBeacon).file(""), s.wants(bls, nil, everybody(1)))
	s.cosigned = map[string]int64{"a": -5, "b": 30, "c": -1}
	add("beacon-late-two", "two of three came after the round", s.played(planBeacon).file(""), s.wants(plain, nil))

	s = newSteered(t)
	g := s.mixed(planBeacon)
	g.early = string(s.early(g.h))
	g.h.witnesses = []keyPair{s.w.a, s.w.c}
	add("beacon-witnessed-after-mix",
		"what the quorum saw before the round covers the mix: its clocks are wrong, and the level is recorded",
		g.deal(board(1)).file(""), s.wants(plain, nil), recorded)
}

// choices are shuffles of which the house could still choose something.
func choices(t testing.TB, add adder) {
	s, plain := newSteered(t), false
	add("beacon-and-cut", "a cut is written when the beacon is known: it is one choice of six",
		s.played(planBeacon, planCut).file(""), s.wants(plain, nil))
	add("slot-and-cut", "nor is it for the holder of a slot", s.played(planSlot1, planCut).file(""),
		s.wants(plain, mine("slot 1")))
	few := s
	few.context = func(h *house) *audit.Context {
		ctx := h.cards(sixCards)
		ctx.Recipe.Take = 4
		return ctx
	}
	add("beacon-take-4-of-6", "the mix moves four cards, and which four they are hangs on the tape",
		few.played(planBeacon).file(""), few.wants(plain, nil))
	add("slot-take-4-of-6", "nor is it for the holder of a slot", few.played(planSlot1).file(""),
		few.wants(plain, mine("slot 1")))
	add("beacon-child", "which cards a child was given was chosen with its parent's order known",
		s.childPlayed(planBeacon).file(""), s.wants(plain, nil))
	unknown := s
	foreign := audit.Planned{Source: audit.SourceBeacon, Chain: hash32("chain"), Round: round.Round}
	unknown.values = []audit.MixValue{valueSlot1, valueBeacon}
	add("beacon-of-unknown-chain", "a chain that this version does not know: its value may be anything",
		unknown.played(planSlot1, foreign).file(""), unknown.wants(plain, nil))
	add("beacon-of-unknown-chain-my-slot", "and could be chosen when the slots were known",
		unknown.played(planSlot1, foreign).file(""), unknown.wants(plain, mine("slot 1")))
}

// childPlayed writes the child's commit and its parent's close, which come together.
func (s steered) childPlayed(plan ...audit.Planned) *game {
	s.Helper()
	h := open(s.TB)
	h.now = (out - 61) * 1000
	parent := h.commitTo(h.cards(sixCards), sixCards)
	ctx := h.cards(sixCards)
	ctx.Plan, ctx.Parent = plan, &audit.Parent{ID: parent.id, Positions: []uint16{5, 4, 3, 2, 1, 0}}
	g := h.commitTo(ctx, sixCards, func(c *audit.Commit, g *game) {
		values, err := openings.ChildValues(parent.values, ctx.Parent.Positions, g.values)
		must(s.TB, err)
		g.plant(c, values)
	})
	parent.close(audit.OutcomeContinued, 0)
	g.early = string(s.early(h))
	h.now = (out + 1) * 1000
	h.witnesses = []keyPair{s.w.a, s.w.c}
	return g.mix(valueBeacon).deal(board(2)).close(audit.OutcomeEndedEarly, 0)
}

func recorded(v *vector) { v.Want = want{Verdict: Proved, Level: LevelRecorded} }

// lessTrust is the same under less than a policy, and of receipts alone.
func lessTrust(t testing.TB, add adder) {
	s := newSteered(t)
	slots := func(v *vector) { v.Trust.Slots = [][]byte{valueSlot1.Slot[:]} }
	g := s.played(planSlot1, planBeacon)
	add("beacon-key-only", "a beacon whose signature holds, and a key: no clock but the house's says what came first",
		g.file(""))
	add("beacon-nothing-pinned", "and nothing that is trusted", g.file(""), func(v *vector) {
		v.Trust, v.Want = vectorTrust{}, want{Verdict: Consistent, Level: LevelKeyNotPinned}
	})
	add("slot-key-only", "a slot under a key alone: nothing but the house says that its commit came first", g.file(""),
		slots)
	add("receipt-commit-my-slot", "the receipt by which a holder sees the slot in the plan, before giving its value",
		[]byte(g.h.receipt(g.id).Text()), slots)
	add("receipt-deal-my-slot", "any other entry has no plan, and the slot is not looked for",
		[]byte(g.h.receipt(g.indexes[2]).Text()), slots)
}

// steeredFiles fail.
func steeredFiles(b *badAdder) {
	s := newSteered(b.T)
	value := func(name, about string, sig [48]byte) {
		s.values = []audit.MixValue{{Source: audit.SourceBeacon, Beacon: sig}}
		b.file(stepBeacon, "beacon-"+name, about, s.played(planBeacon).file(""), s.wants(true, nil),
			withoutBLS(stepBeacon))
	}
	value("other-round", "the signature of the round before", beacontest.Signature(round.Round-1))
	value("other", "bytes that are no signature", [48]byte(seeded("beacon", 48)))
	value("infinity", "the point at infinity", [48]byte{0xc0})
	value("zero", "zero bytes", [48]byte{})
	value("order-3", "a point of the curve outside of the group", [48]byte{0x80})
	sig := round.Signature
	sig[0] ^= 0x20
	value("negated", "the signature, negated", sig)
	sig = round.Signature
	sig[47] ^= 1
	value("bit", "one bit of the signature", sig)

	s = newSteered(b.T)
	late := audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet, Round: round.Round + 1000}
	s.values = []audit.MixValue{valueBeacon}
	b.file(stepBeacon, "beacon-other-plan", "the signature of another round than the planned one",
		s.played(late).file(""), s.wants(true, nil), withoutBLS(stepBeacon))
	s.values = []audit.MixValue{{Source: audit.SourceBeacon, Beacon: beacontest.Signature(round.Round - 1)}}
	wrong := s.played(planBeacon).file("")
	b.file(stepBeacon, "beacon-other-key-only", "the same under a key alone", wrong, func(v *vector) {
		v.Want.WithoutBLS = &want{Verdict: Proved, Level: LevelRecorded}
	})
	b.file(stepBeacon, "beacon-other-nothing-pinned", "and under nothing", wrong, func(v *vector) {
		v.Trust, v.Want.WithoutBLS = vectorTrust{}, &want{Verdict: Consistent, Level: LevelKeyNotPinned}
	})

	h := open(b.T).cheating()
	h.now = out * 1000
	ctx := h.cards(sixCards)
	ctx.Plan = []audit.Planned{planBeacon}
	b.file(stepLegality, "beacon-round-out", "a commit to a round that is out already",
		h.commitTo(ctx, sixCards).mix(valueBeacon).deal(board(1)).file(""))

	s = newSteered(b.T)
	slots := func(step, name, about string, file []byte, given ...string) {
		b.file(step, "slot-"+name, about, file, func(v *vector) {
			for _, s := range mine(given...) {
				v.Trust.Slots = append(v.Trust.Slots, s[:])
			}
		})
	}
	two := s.played(planSlot1, planSlot2)
	slots(stepSlots, "left-out", "a slot that the house left out of the plan", two.file(""), "slot 3")
	slots(stepSlots, "one-left-out", "one of two that the verifier holds is not there", two.file(""), "slot 1",
		"slot 3")
	slots(stepSlots, "no-plan", "no plan at all", b.plainFile(), "slot 1")
	slots(stepSlots, "beacon-only", "a plan without slots", s.played(planBeacon).file(""), "slot 1")
	slots(stepSlots, "left-out-receipt", "the commit's receipt shows it, too", []byte(two.h.receipt(two.id).Text()),
		"slot 3")
	s.context = func(h *house) *audit.Context {
		ctx := h.cards(sixCards)
		ctx.Table = "table-2"
		return ctx
	}
	b.file(stepSlots, "slot-of-another-table", "the slot was given for another table", s.committed(planSlot1).file(""),
		func(v *vector) { v.Trust.Slots = [][]byte{valueSlot1.Slot[:]} })
}

func (b *badAdder) plainFile() []byte { return plain(b.T).file("") }

// withoutBLS says what a verifier without BLS finds of a file that fails at a step
// which only BLS can check: it holds. wants said so.
func withoutBLS(step string) func(*vector) {
	return func(v *vector) {
		held := v.Want
		v.Want = want{Verdict: Failed, Failed: step, WithoutBLS: &held}
	}
}
