package verify

import (
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// continued is a hand of which two cards of a seat, a burn and a card of the board were
// dealt, and whose stub was shuffled again.
func continued(h *house, disclosure audit.Disclosure) (hand, stub *game) {
	ctx := h.cards(sixCards)
	ctx.Disclosure = disclosure
	hand = h.commitTo(ctx, sixCards)
	hand.deal(seat("seat-1", 2), audit.Run{Count: 1, Purpose: audit.PurposeBurn}, board(1))
	return hand, hand.childOf(4, 5)
}

// childOf shuffles positions again, and continues the game.
func (g *game) childOf(positions ...uint16) *game {
	ctx := g.h.cards(sixCards)
	ctx.Disclosure = g.commit.Context.Disclosure
	ctx.Recipe = shuffle.Recipe{Cards: len(positions), Take: len(positions)}
	ctx.Terms = g.commit.Context.Terms
	ctx.Parent = &audit.Parent{ID: g.id, Positions: positions}
	child := g.h.commitTo(ctx, sixCards, func(c *audit.Commit, child *game) {
		values, err := openings.ChildValues(g.values, positions, child.values)
		must(g.h.t, err)
		child.plant(c, values)
	})
	g.close(audit.OutcomeContinued, 0)
	return child
}

func chainFiles(t testing.TB, add adder) {
	hand, stub := continued(open(t), audit.DisclosurePublic)
	add("continued", "a hand whose stub was shuffled again: its tape stays secret", hand.file(""))
	add("continued-recipient", "the file of one who plays on", hand.file("seat-1"))
	add("continued-not-opened", "it need not open a card yet", hand.hiding(0, 1, 3))
	hand.reveal(false, false, 1)
	add("continued-revealed", "and a card of it is revealed", hand.file(""))
	hand.reveal(false, true, 2)
	add("continued-exposed", "and its burn was exposed", hand.file(""))
	stub.deal(board(1)).close(audit.OutcomeEndedEarly, 0)
	hand.disclose()
	add("continued-disclosed", "the stub was closed: the hand is closed, too", hand.file(""))
	add("continued-disclosed-recipient", "the file of one who played", hand.file("seat-1"))
	add("receipt-disclosure", "a disclosure alone", []byte(hand.h.receipt(hand.indexes[5]).Text()))

	h := open(t)
	shoe := h.commitTo(h.cards(sixCards), sixCards).deal(ofRound(1, board(1)), ofRound(2, board(1)))
	rest := shoe.childOf(3, 4, 5).deal(ofRound(3, seat("box-1", 1)), ofRound(4, board(1)))
	add("continued-rounds", "a shoe whose second round may go on in its stub", shoe.file(""))
	add("child-rounds", "the stub of a shoe, which goes on with its rounds", rest.file(""))

	h = open(t).cheating()
	of := h.commitTo(h.cards(sixCards), sixCards)
	ctx := h.cards(sixCards)
	ctx.Recipe = shuffle.Recipe{Cards: 2, Take: 2}
	ctx.Parent = &audit.Parent{ID: of.id, Positions: []uint16{4, 1<<16 - 1}}
	widest := h.commitTo(ctx, sixCards, func(c *audit.Commit, g *game) { g.plant(c, of.values[4:]) })
	of.close(audit.OutcomeContinued, 0)
	add("child-widest", "of the last position that can be written, which only the parent's file shows to be none",
		widest.deal(board(1)).file(""))

	hand, stub = continued(open(t), audit.DisclosurePublic)
	last := stub.childOf(1, 0)
	add("continued-twice", "a stub that was shuffled again, too", stub.file(""))
	last.close(audit.OutcomeCompleted, 0)
	hand.disclose()
	stub.disclose()
	add("continued-twice-disclosed", "of three shuffles the second", stub.file(""))

	hand, stub = continued(open(t), audit.DisclosureAuditor)
	stub.takeOver("second", audit.ExtentPlay).close(audit.OutcomeCompleted, 0)
	hand.disclose().state(firstLab)
	add("continued-sealed", "disclosed to auditors, of whom one states its order, by who took the stub over",
		hand.file(""), believing(t, firstLab), said(Stated{firstLab, true}))

	hand, stub = continued(open(t), audit.DisclosurePublic)
	stub.close(audit.OutcomeCompleted, 0)
	hand.discloseAs(&audit.DisclosureEntry{Form: audit.FormTape, Tape: hand.tape,
		Extensions: []audit.Extension{{Code: 130}}})
	add("continued-passed-over", "an extension of a disclosure that is not critical and not known", hand.file(""))

	hand, stub = continued(open(t), audit.DisclosurePublic)
	stub.close(audit.OutcomeCompleted, 0)
	hand.add(&audit.DisclosureEntry{Shuffle: hand.id})
	add("continued-tape-lost", "a tape that was lost before the stub was closed", hand.file(""), fails(stepTape))
}

// wrongChains are files of shuffles that were continued.
func wrongChains(b *badAdder) {
	of := func(step, name, about string, do func(hand, stub *game)) {
		b.cheat(step, "chain-"+name, about, func(h *house) *game {
			hand, stub := continued(h, audit.DisclosurePublic)
			do(hand, stub)
			return hand
		})
	}
	ended := func(step, name, about string, do func(hand *game)) {
		of(step, name, about, func(hand, stub *game) {
			stub.close(audit.OutcomeCompleted, 0)
			do(hand)
		})
	}
	ended(stepEntries, "disclosed-twice", "two disclosures", func(hand *game) { hand.disclose().disclose() })
	ended(stepEntries, "disclosure-of-another", "a disclosure of another shuffle", func(hand *game) {
		hand.add(&audit.DisclosureEntry{Shuffle: hand.id + 1, Form: audit.FormTape, Tape: hand.tape})
	})
	ended(stepEntries, "revealed-afterwards", "a reveal of what is disclosed",
		func(hand *game) { hand.disclose().reveal(false, false, 1) })
	b.cheat(stepLegality, "chain-round-left-out", "a stub that leaves a round out", func(h *house) *game {
		_, stub := continued(h, audit.DisclosurePublic)
		return stub.deal(ofRound(1, board(1)), ofRound(3, board(1)))
	})
	of(stepEntries, "dealt", "a deal of what was continued", func(hand, _ *game) { hand.deal(board(1)) })
	of(stepEntries, "taken-over", "a takeover of what was continued",
		func(hand, _ *game) { hand.takeOver("second", audit.ExtentPlay) })
	of(stepEntries, "closed", "a second close", func(hand, stub *game) {
		stub.h.addBytes(seeded("another entry", 20))
		hand.close(audit.OutcomeCompleted, 0)
	})
	b.cheat(stepEntries, "chain-disclosed-open", "a disclosure of what is open",
		func(h *house) *game { return h.commitTo(h.cards(sixCards), sixCards).deal(board(1)).disclose() })
	b.cheat(stepEntries, "chain-disclosed-closed", "a disclosure of what disclosed its tape", func(h *house) *game {
		g := h.commitTo(h.cards(sixCards), sixCards).deal(board(1)).close(audit.OutcomeCompleted, 0)
		h.addBytes(seeded("another entry", 20))
		return g.disclose()
	})

	of(stepLegality, "disclosed-at-once", "a disclosure at the index after the close as continued",
		func(hand, _ *game) { hand.disclose() })
	of(stepLegality, "disclosed-after-reveal", "a disclosure at the index after a reveal",
		func(hand, _ *game) { hand.reveal(false, false, 1).disclose() })
	of(stepLegality, "revealed-finally", "a final reveal of what was continued",
		func(hand, _ *game) { hand.reveal(true, false, 1) })
	of(stepLegality, "revealed-twice", "a card revealed before and after",
		func(hand, _ *game) { hand.reveal(false, false, 1).reveal(false, false, 1) })
	of(stepLegality, "revealed-undealt", "a card of the stub, revealed by a position of the hand",
		func(hand, _ *game) { hand.reveal(false, false, 4) })
	of(stepLegality, "revealed-burn", "a burn, not exposed", func(hand, _ *game) { hand.reveal(false, false, 2) })
	ended(stepLegality, "earlier", "a disclosure of a time before the close", func(hand *game) {
		hand.h.now -= 100_000
		hand.disclose()
	})
	form := func(name, about string, d audit.DisclosureEntry, tape func(*game) []byte) {
		ended(stepLegality, name, about, func(hand *game) {
			d.Tape = tape(hand)
			hand.discloseAs(&d)
		})
	}
	whole := audit.DisclosureEntry{Form: audit.FormTape}
	form("tape-short", "a tape that is one byte short", whole,
		func(hand *game) []byte { return hand.tape[:len(hand.tape)-1] })
	form("tape-long", "a tape with a byte more", whole,
		func(hand *game) []byte { return append(hand.tape[:len(hand.tape):len(hand.tape)], 0) })
	sealed := func(hand *game) []byte { return seeded("sealed", len(hand.tape)+1169) }
	form("sealed-though-public", "sealed to auditors where everybody was promised the tape",
		audit.DisclosureEntry{Form: audit.FormSealed, Key: 2}, sealed)
	toAuditors := func(name, about string, d audit.DisclosureEntry, tape func(*game) []byte) {
		b.cheat(stepLegality, "chain-"+name, about, func(h *house) *game {
			hand, stub := continued(h, audit.DisclosureAuditor)
			stub.close(audit.OutcomeCompleted, 0)
			d.Tape = tape(hand)
			return hand.discloseAs(&d)
		})
	}
	toAuditors("public-though-auditor", "the tape for everybody where auditors were promised it", whole,
		func(hand *game) []byte { return hand.tape })
	toAuditors("disclosure-key-above", "sealed to a key that comes later",
		audit.DisclosureEntry{Form: audit.FormSealed, Key: 1000}, sealed)
	ended(stepTape, "tape-of-another", "the tape of another shuffle", func(hand *game) {
		hand.discloseAs(&audit.DisclosureEntry{Form: audit.FormTape, Tape: seeded("other", len(hand.tape))})
	})

	bound := func(name, about string, terms audit.Terms, document []byte) {
		h := open(b.T).cheating()
		ctx := h.cards(sixCards)
		ctx.Terms = &terms
		stub := h.commitTo(ctx, sixCards).deal(board(4)).childOf(4, 5)
		b.file(stepLegality, "chain-child-"+name, about, marshal(b.T, withTerms(stub, document)))
	}
	bound("wheel", "a stub of a hand with a wheel",
		audit.Terms{Kind: audit.TermsWheel, Hash: audit.TermsHash(audit.TermsWheel, carWheel)}, carWheel)
	bound("tickets", "a stub of a hand with a list of no tickets",
		audit.Terms{Kind: audit.TermsTicketList, Hash: hash32("tickets")}, nil)

	hand, stub := continued(open(b.T), audit.DisclosurePublic)
	b.edited(stepOpenings, "chain-burn-opened", "a burn that is opened while the stub is played", hand,
		func(f *openings.Transcript) { f.Cards = append(f.Cards[:2:2], hand.card(2), hand.card(3)) })
	hand.state(firstLab)
	trusting := believing(b.T, firstLab)
	b.file(stepStatements, "chain-stated-early", "a statement about a tape that is not disclosed", hand.file(""),
		trusting)
	stub.close(audit.OutcomeCompleted, 0)
	hand.disclose()
	b.file(stepStatements, "chain-stated-close", "a statement about the close as continued", hand.file(""), trusting)
	hand.stated = nil
	b.file(stepOpenings, "chain-public-missing", "a card of the board is left out when the hand is disclosed",
		hand.hiding(3))
	hand, stub = continued(open(b.T), audit.DisclosurePublic)
	stub.close(audit.OutcomeCompleted, 0)
	hand.add(&audit.DisclosureEntry{Shuffle: hand.id})
	b.edited(stepOpenings, "chain-burn-opened-tape-lost", "a burn that is opened though the tape is lost", hand,
		func(f *openings.Transcript) { f.Cards = append(f.Cards[:2:2], hand.card(2), hand.card(3)) })
}

// continuedAlone closes g as continued, with room for a child's commit, which no file of g shows.
func (g *game) continuedAlone() *game {
	g.h.addBytes(seeded("where a child could stand", 20))
	return g.close(audit.OutcomeContinued, 0)
}

// discloseAs discloses a shuffle that was continued in another way than disclose.
func (g *game) discloseAs(d *audit.DisclosureEntry) *game {
	g.h.t.Helper()
	d.Shuffle = g.id
	g.add(d)
	g.disclosed = true
	return g
}
