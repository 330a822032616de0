package verify

import (
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// reveal makes places public, in front of the close if it is final.
func (g *game) reveal(final, exposed bool, places ...uint16) *game {
	g.h.t.Helper()
	g.add(&audit.Reveal{Shuffle: g.id, Final: final, Exposed: exposed, Places: places})
	for _, p := range places {
		g.revealed = append(g.revealed, int(p))
	}
	return g
}

// handOf is a hand in which two seats, a burn and the board were dealt: places 0 and 1, 2 and 3, 4, 5.
func handOf(h *house) *game {
	return h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 2), seat("seat-2", 2),
		audit.Run{Count: 1, Purpose: audit.PurposeBurn}, board(1))
}

// toAuditors is a hand whose tape is sealed.
func toAuditors(h *house) *game {
	ctx := h.cards(sixCards)
	ctx.Disclosure = audit.DisclosureAuditor
	return h.commitTo(ctx, sixCards).deal(seat("seat-1", 2), seat("seat-2", 2), board(1))
}

func revealedFiles(t testing.TB, add adder) {
	g := handOf(open(t)).reveal(false, false, 2, 3)
	add("revealed-open", "a hand that is shown and still open", g.file(""))
	add("revealed-open-not-opened", "an open shuffle need not open what was revealed yet", g.hiding(2, 3))
	add("revealed-other", "the file of another recipient shows it, too", g.file("seat-1"))
	add("receipt-reveal", "a reveal alone", []byte(g.h.receipt(g.indexes[2]).Text()))
	g.close(audit.OutcomeCompleted, 0)
	add("revealed", "a hand with a showdown", g.file(""))
	add("revealed-recipient", "the file of whose hand it is", g.file("seat-2"))
	add("revealed-folded", "a file of a recipient need not open another's hand that was folded", g.hiding(0, 1))
	g = toAuditors(open(t)).reveal(true, false, 0, 1, 3).close(audit.OutcomeCompleted, 0)
	add("revealed-sealed", "a showdown of which the tape is for auditors", g.file("seat-2"))
	add("revealed-sealed-public", "and what everybody gets of it", g.hiding(2))
	g = handOf(open(t)).reveal(false, true, 0, 4).close(audit.OutcomeVoid, audit.ReasonExposedCard)
	add("revealed-exposed", "a burn and a card of a seat that were exposed", g.file(""))
	h := open(t)
	g = h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 2))
	g.dealAs(&audit.Deal{Shuffle: g.id, First: 2, Final: true, Runs: []audit.Run{
		{Count: 1, Purpose: audit.PurposeBurn}, board(1)}}).reveal(true, false, 0, 1, 2)
	add("revealed-final-deal", "a final deal, a final reveal with a burn, the close",
		g.close(audit.OutcomeCompleted, 0).file(""))
	g = handOf(open(t)).reveal(false, false, 1).takeOver("second", audit.ExtentPlay).reveal(true, false, 0, 2)
	add("revealed-taken", "who took over to play reveals", g.close(audit.OutcomeCompleted, 0).file(""))
	g = mixedDraws(t).deal(seat("seat-1", 1)).reveal(false, false, 0)
	add("revealed-draw", "a value of a draw list", g.close(audit.OutcomeEndedEarly, 0).file(""))
	g = handOf(open(t)).reveal(false, false, 0)
	g.add(&audit.Reveal{Shuffle: g.id, Places: []uint16{1}, Extensions: []audit.Extension{{Code: 130}}})
	g.revealed = append(g.revealed, 1)
	add("revealed-passed-over", "an extension of a reveal that is not critical and not known", g.file(""))
	g = handOf(open(t)).reveal(false, false, 2).close(audit.OutcomeVoid, audit.ReasonTapeLost)
	add("revealed-tape-lost", "a tape that was lost opens nothing, and fails for that", g.hiding(0, 1, 2, 3, 4, 5),
		fails(stepTape))
}

// hiding is the file of everything, without some places.
func (g *game) hiding(places ...int) []byte {
	f := g.transcript("")
	f.Cards = slices.DeleteFunc(f.Cards, func(c openings.Card) bool { return slices.Contains(places, c.Place) })
	return marshal(g.h.t, f)
}

func wrongReveals(b *badAdder) {
	of := func(step, name, about string, do func(g *game)) {
		b.cheat(step, name, about, func(h *house) *game {
			g := handOf(h)
			do(g)
			return g
		})
	}
	of(stepLegality, "reveal-undealt", "a place that was not dealt", func(g *game) { g.reveal(false, false, 6) })
	of(stepLegality, "reveal-public", "a place that was dealt public", func(g *game) { g.reveal(false, false, 5) })
	of(stepLegality, "reveal-twice", "a place that was revealed",
		func(g *game) { g.reveal(false, false, 1).reveal(false, false, 1, 2) })
	of(stepLegality, "reveal-burn", "a burn during play", func(g *game) { g.reveal(false, false, 4) })
	of(stepLegality, "reveal-another", "a reveal by another dealer", func(g *game) {
		g.h.dealer = service("second")
		g.reveal(false, false, 1)
	})
	of(stepLegality, "reveal-taken-to-close", "who took over to close reveals",
		func(g *game) { g.takeOver("second", audit.ExtentClose).reveal(false, false, 1) })
	of(stepLegality, "reveal-late", "a reveal at close-by", func(g *game) {
		g.h.now = g.commit.CloseBy - 1000
		g.reveal(false, false, 1)
	})
	of(stepLegality, "reveal-backwards", "a reveal of a time before the deal", func(g *game) {
		g.h.now -= 10_000
		g.reveal(false, false, 1)
	})
	of(stepLegality, "reveal-final-open", "a final reveal without its close",
		func(g *game) { g.reveal(true, false, 1) })
	of(stepLegality, "reveal-final-twice", "two final reveals",
		func(g *game) { g.reveal(true, false, 1).reveal(true, false, 2).close(audit.OutcomeCompleted, 0) })
	of(stepLegality, "reveal-final-gap", "a final reveal, and its close not at the next index", func(g *game) {
		g.reveal(true, false, 1).h.addBytes(seeded("another entry", 20))
		g.close(audit.OutcomeCompleted, 0)
	})
	of(stepLegality, "reveal-final-deal", "a final reveal, and then a deal", func(g *game) {
		g.reveal(true, false, 1)
		g.add(&audit.Deal{Shuffle: g.id, First: 6, Runs: []audit.Run{board(1)}})
	})
	b.cheat(stepLegality, "reveal-after-final-deal", "a reveal that is not final after a final deal",
		func(h *house) *game {
			g := h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 2))
			g.dealAs(&audit.Deal{Shuffle: g.id, First: 2, Final: true, Runs: []audit.Run{board(1)}})
			return g.reveal(false, false, 1).close(audit.OutcomeCompleted, 0)
		})
	of(stepLegality, "reveal-continued", "a final reveal, and then a close as continued",
		func(g *game) { g.reveal(true, false, 1).close(audit.OutcomeContinued, 0) })
	of(stepEntries, "reveal-after-close", "a reveal of what is closed",
		func(g *game) { g.close(audit.OutcomeCompleted, 0).reveal(false, false, 1) })
	of(stepEntries, "reveal-other-shuffle", "a reveal of another shuffle",
		func(g *game) { g.add(&audit.Reveal{Shuffle: g.id + 1, Places: []uint16{1}}) })
	of(stepEntries, "reveal-no-place", "a reveal of nothing", func(g *game) {
		e, err := audit.Entry{Time: g.h.now, Actor: g.h.dealer, Body: &audit.Reveal{Shuffle: g.id,
			Places: []uint16{1}}}.Encode()
		must(b.T, err)
		e = append(e[:len(e)-5], 0, 0, 0)
		g.indexes = append(g.indexes, g.h.addBytes(e))
	})

	hidden := func(name, about string, g *game, places ...int) {
		b.file(stepOpenings, name, about, g.hiding(places...))
	}
	shown := handOf(open(b.T)).reveal(true, false, 0, 2, 3, 4).close(audit.OutcomeCompleted, 0)
	hidden("revealed-missing", "a card of a showdown is left out", shown, 3)
	hidden("revealed-missing-first", "the first card of a showdown is left out", shown, 0)
	hidden("revealed-missing-burn", "a burn that was shown is left out", shown, 4)
	hidden("public-missing", "a card of the board is left out", shown, 5)
	hidden("public-missing-all", "a closed shuffle without a card", shown, 0, 1, 2, 3, 4, 5)
	sealed := toAuditors(open(b.T)).reveal(true, false, 0).close(audit.OutcomeCompleted, 0)
	hidden("revealed-missing-sealed", "a card of a showdown is left out where the tape is sealed", sealed, 0)
	f := sealed.transcript("seat-2")
	f.Cards = f.Cards[1:]
	b.file(stepOpenings, "revealed-missing-recipient", "another's card of a showdown is left out of a recipient's file",
		marshal(b.T, f))
	f = sealed.transcript("")
	f.Recipient = "seat-2"
	b.file(stepOpenings, "revealed-another-recipient", "a recipient's file has a card of another that was not shown",
		marshal(b.T, f))
	b.edited(stepEntries, "reveal-left-out-index", "a reveal in front of its deal", shown,
		func(f *openings.Transcript) {
			f.Receipts[2], f.Receipts[3] = f.Receipts[3], f.Receipts[2]
		})
	b.edited(stepLegality, "reveal-left-out", "the close of a final reveal is left out", shown,
		func(f *openings.Transcript) { f.Receipts = f.Receipts[:4] })
}

// TestShownToEverybody: a verdict says how much was shown to everybody, and of each card whether it was revealed.
func TestShownToEverybody(t *testing.T) {
	t.Parallel()
	g := handOf(open(t)).reveal(false, false, 0, 3).reveal(true, false, 4).close(audit.OutcomeCompleted, 0)
	v := File(g.file(""), Trust{VKey: g.h.key.vkey})
	if v.Verdict != Proved || v.Next != 6 || v.Shown != 4 {
		t.Fatalf("%s, shown %d of %d: %+v", v.Verdict, v.Shown, v.Next, v.Steps)
	}
	for _, c := range v.Cards {
		if want := c.Place == 0 || c.Place == 3 || c.Place == 4; c.Revealed != want || c.Public != (c.Place == 5) {
			t.Errorf("%+v", c)
		}
	}
	i := slices.IndexFunc(v.Steps, func(s Step) bool { return s.Name == stepOpenings })
	if !strings.HasPrefix(v.Steps[i].Detail, "shown: 4 of 6 dealt") {
		t.Error(v.Steps[i].Detail)
	}
}
