package verify

import (
	"bytes"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// cheat adds a transcript that its house signed, and that no sequencer of ours would have written.
func (b *badAdder) cheat(step, name, about string, play func(h *house) *game) {
	b.file(step, "cheat-"+name, about, play(open(b.T).cheating()).file(""))
}

func cheatingCommits(b *badAdder) {
	commit := func(step, name, about string, change func(*audit.Commit, *game)) {
		b.cheat(step, name, about, func(h *house) *game {
			return h.commitTo(h.cards(sixCards), sixCards, change).deal(board(1))
		})
	}
	context := func(step, name, about string, change func(*audit.Context)) {
		b.cheat(step, name, about, func(h *house) *game {
			ctx := h.cards(sixCards)
			change(ctx)
			return h.commitTo(ctx, sixCards)
		})
	}
	context(stepOrigin, "origin", "a commit for another ledger",
		func(c *audit.Context) { c.Origin = "example.com/other" })
	context(stepOrigin, "genesis", "a commit that names another genesis of this origin",
		func(c *audit.Context) { c.Genesis[0] ^= 1 })
	context(stepOrigin, "production", "a sandbox's commit in a production ledger",
		func(c *audit.Context) { c.Production = false })
	b.file(stepOrigin, "cheat-sandbox", "a production commit in a sandbox", func() []byte {
		h := open(b.T, func(g *audit.Genesis) { g.Production = false }).cheating()
		return h.commitTo(h.cards(sixCards), sixCards).file("")
	}())
	other := open(b.T, func(g *audit.Genesis) { g.Origin = "example.com/other" }).cheating()
	named := other.commitTo(other.cards(sixCards), sixCards).file("")
	b.file(stepOrigin, "cheat-genesis-origin", "a genesis that names another ledger", named)
	b.file(stepSignature, "cheat-genesis-origin-nothing-pinned", "the key of a genesis has the genesis's origin as its name",
		named, func(v *vector) { v.Trust = vectorTrust{} })
	commit(stepLegality, "close-by-cap", "a close-by beyond the ledger's cap",
		func(c *audit.Commit, g *game) { c.CloseBy += 86_400_000 })
	commit(stepLegality, "close-by-past", "a close-by before the commit",
		func(c *audit.Commit, g *game) { c.CloseBy = start })
	commit(stepLegality, "instance-above", "an instance that starts after the commit",
		func(c *audit.Commit, g *game) { c.Instance = g.id + 1 })
	commit(stepLegality, "instance-genesis", "the genesis as the instance",
		func(c *audit.Commit, g *game) { c.Instance = 0 })
	commit(stepLegality, "previous-above", "a previous commit that comes later",
		func(c *audit.Commit, g *game) { c.Serial, c.Previous = 2, g.id+1 })
	commit(stepLegality, "previous-self", "itself as the previous commit",
		func(c *audit.Commit, g *game) { c.Serial, c.Previous = 2, g.id })
	context(stepLegality, "parent-above", "a parent that comes later", func(c *audit.Context) {
		c.Parent = &audit.Parent{ID: 1 << 40, Positions: []uint16{0, 1, 2, 3, 4, 5}}
	})
	b.file(stepLegality, "cheat-mix-modes", "a source that the ledger does not declare", func() []byte {
		h := open(b.T, func(g *audit.Genesis) { g.MixModes = 0 }).cheating()
		ctx := h.cards(sixCards)
		ctx.Plan = []audit.Planned{{Source: audit.SourceCut}}
		return h.commitTo(ctx, sixCards).file("")
	}())
	b.cheat(stepLegality, "time-backwards", "a commit that is older than its genesis", func(h *house) *game {
		h.now = start - 60_000
		return h.commitTo(h.cards(sixCards), sixCards)
	})
}

func cheatingPlay(b *badAdder) {
	play := func(name, about string, do func(g *game) *game) {
		b.cheat(stepLegality, name, about, func(h *house) *game { return do(h.commitTo(h.cards(sixCards), sixCards)) })
	}
	play("late-deal", "a deal at close-by", func(g *game) *game {
		g.h.now = g.commit.CloseBy - 1000
		return g.deal(board(1))
	})
	play("beyond-last-place", "a deal beyond the last place", func(g *game) *game {
		g.deal(board(5))
		g.add(&audit.Deal{Shuffle: g.id, First: 5, Runs: []audit.Run{board(2)}})
		return g
	})
	play("gap", "a deal that leaves places out", func(g *game) *game {
		g.deal(board(1))
		g.add(&audit.Deal{Shuffle: g.id, First: 2, Runs: []audit.Run{board(1)}})
		return g
	})
	play("overlap", "a deal that gives a place again", func(g *game) *game {
		g.deal(board(2))
		g.add(&audit.Deal{Shuffle: g.id, First: 1, Runs: []audit.Run{board(1)}})
		return g
	})
	play("round-left-out", "a round left out between two deals", func(g *game) *game {
		return g.deal(ofRound(1, board(1))).deal(ofRound(3, board(1)))
	})
	play("round-back", "a run of an earlier round than the run before", func(g *game) *game {
		return g.deal(ofRound(1, board(1)), ofRound(2, board(1)), ofRound(1, board(1)))
	})
	play("checkpoint-future", "a checkpoint larger than the ledger", func(g *game) *game {
		return g.dealAs(&audit.Deal{Shuffle: g.id, Checkpoint: 100, Runs: []audit.Run{board(1)}})
	})
	play("checkpoint-of-the-append", "a deal of the same append as its commit: its checkpoint ends there",
		func(g *game) *game {
			return g.dealAs(&audit.Deal{Shuffle: g.id, Checkpoint: g.id, Runs: []audit.Run{board(1)}})
		})
	play("mix-without-plan", "a mix where the commit has no plan", func(g *game) *game {
		g.add(&audit.Mix{Shuffle: g.id, Values: []audit.MixValue{{Source: audit.SourceCut}}})
		return g
	})
	play("final-without-close", "a final deal, and no close behind it", func(g *game) *game {
		return g.dealAs(&audit.Deal{Shuffle: g.id, Final: true, Runs: []audit.Run{board(1)}})
	})
	play("final-then-later", "a final deal, and its close not at once", func(g *game) *game {
		g.dealAs(&audit.Deal{Shuffle: g.id, Final: true, Runs: []audit.Run{board(1)}})
		g.h.add(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses, Reason: "in between"})
		return g.close(audit.OutcomeEndedEarly, 0)
	})
	play("time-backwards-deal", "a deal that is older than its commit", func(g *game) *game {
		g.h.now -= 10_000
		return g.deal(board(1))
	})
	b.file(stepLegality, "cheat-not-cosigned", "a deal before a cosigned checkpoint covers the commit", func() []byte {
		h := open(b.T, cosignedDeals).cheating()
		g := h.commitTo(h.cards(sixCards), sixCards)
		return g.dealAs(&audit.Deal{Shuffle: g.id, Checkpoint: g.id, Runs: []audit.Run{board(1)}}).file("")
	}())

	mix := func(step, name, about string, do func(g *game)) {
		g := mixed(b.T)
		g.h.state, g.h.entries, g.h.hashes = nil, g.h.entries[:g.id+1], g.h.hashes[:storedCount(g.id+1)]
		g.indexes, g.h.now = g.indexes[:1], g.h.now-1000
		do(g)
		b.file(step, "cheat-"+name, about, g.file(""))
	}
	with := func(change func([]audit.MixValue) []audit.MixValue) func(*game) {
		return func(g *game) { g.add(&audit.Mix{Shuffle: g.id, Values: change(mixValues())}) }
	}
	mix(stepLegality, "slot", "a slot's value that was not promised", with(func(v []audit.MixValue) []audit.MixValue {
		v[0].Slot[0] ^= 1
		return v
	}))
	mix(stepLegality, "fewer-values", "a value left out",
		with(func(v []audit.MixValue) []audit.MixValue { return v[1:] }))
	mix(stepLegality, "more-values", "a value added",
		with(func(v []audit.MixValue) []audit.MixValue { return append(v, v[3]) }))
	mix(stepLegality, "value-order", "values in another order", with(func(v []audit.MixValue) []audit.MixValue {
		v[2], v[3] = v[3], v[2]
		return v
	}))
	mix(stepLegality, "cut-too-far", "a cut beyond the last card", with(func(v []audit.MixValue) []audit.MixValue {
		v[3].Cut = 6
		return v
	}))
	mix(stepLegality, "mix-same-append", "a mix of the same append as its commit: its checkpoint ends there",
		func(g *game) {
			g.add(&audit.Mix{Shuffle: g.id, Checkpoint: g.id, Values: mixValues()})
		})
	mix(stepLegality, "mix-checkpoint", "a mix with a checkpoint larger than the ledger", func(g *game) {
		g.add(&audit.Mix{Shuffle: g.id, Checkpoint: 100, Values: mixValues()})
	})
	mix(stepEntries, "mix-twice", "two mixes", func(g *game) { g.mix(mixValues()...).mix(mixValues()...) })
	mix(stepEntries, "mix-after-deal", "dealt first and mixed afterwards",
		func(g *game) { g.deal(board(1)).mix(mixValues()...) })
	mix(stepEntries, "mix-skipped", "dealt without the mix", func(g *game) { g.deal(board(1)) })
	mix(stepLegality, "mix-late", "a mix at close-by", func(g *game) {
		g.h.now = g.commit.CloseBy - 1000
		g.mix(mixValues()...)
	})
	mix(stepOpenings, "mix-other-order", "cards dealt in another order than the mix gives", func(g *game) {
		g.mix(mixValues()...).deal(board(2))
		g.order = openings.Order{}
	})
}

func cheatingCloses(b *badAdder) {
	closes := func(step, name, about string, do func(g *game)) {
		b.cheat(step, name, about, func(h *house) *game {
			g := h.commitTo(h.cards(sixCards), sixCards).deal(board(2))
			do(g)
			return g
		})
	}
	as := func(c audit.Close, tape func(g *game) []byte) func(*game) {
		return func(g *game) {
			c.Shuffle = g.id
			c.Tape = tape(g)
			g.closeAs(&c)
		}
	}
	whole := func(g *game) []byte { return g.tape }
	done := audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormTape}
	closes(stepLegality, "expired-early", "expired before close-by",
		as(audit.Close{Outcome: audit.OutcomeExpired, Form: audit.FormTape}, whole))
	closes(stepLegality, "completed-late", "completed at close-by", func(g *game) {
		g.h.now = g.commit.CloseBy - 1000
		g.close(audit.OutcomeCompleted, 0)
	})
	closes(stepLegality, "continued-alone", "continued without room for a child's commit",
		as(audit.Close{Outcome: audit.OutcomeContinued}, func(*game) []byte { return nil }))
	for name, context := range map[string]func(h *house) *audit.Context{
		"draws":   func(h *house) *audit.Context { return h.draws(6, 6) },
		"numbers": func(h *house) *audit.Context { return h.numbers(80, 5) },
	} {
		about := name + " continued: they have no child, and nobody would see their tape"
		b.cheat(stepLegality, "continued-"+name, about, func(h *house) *game {
			return h.commitTo(context(h), nil).deal(board(1)).continuedAlone()
		})
	}
	closes(stepEntries, "counts-fewer", "a close that counts an entry less", func(g *game) {
		g.closeAs(&audit.Close{Shuffle: g.id, Entries: len(g.indexes) - 1, Outcome: audit.OutcomeCompleted,
			Form: audit.FormTape, Tape: g.tape})
	})
	closes(stepLegality, "sealed-though-public", "sealed to auditors where everybody was promised the tape",
		as(audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormSealed, Key: 2},
			func(g *game) []byte { return seeded("s", len(g.tape)+1169) }))
	closes(stepLegality, "tape-short", "a tape that is one byte short",
		as(done, func(g *game) []byte { return g.tape[:len(g.tape)-1] }))
	closes(stepLegality, "tape-long", "a tape with a byte more",
		as(done, func(g *game) []byte { return append(bytes.Clone(g.tape), 0) }))
	closes(stepTape, "tape-byte", "a tape with one byte changed", as(done, func(g *game) []byte {
		tape := bytes.Clone(g.tape)
		tape[0] ^= 1
		return tape
	}))
	closes(stepTape, "tape-unused-byte", "a tape with a byte changed that no draw reads",
		as(done, func(g *game) []byte {
			tape := bytes.Clone(g.tape)
			tape[len(tape)-1] ^= 1
			return tape
		}))
	closes(stepTape, "tape-other", "the tape of another shuffle",
		as(done, func(g *game) []byte { return seeded("other", len(g.tape)) }))
	closes(stepEntries, "two-closes", "two closes", func(g *game) {
		g.close(audit.OutcomeVoid, audit.ReasonMisdeal).close(audit.OutcomeCompleted, 0)
	})
	closes(stepEntries, "deal-after-close", "a deal after the close", func(g *game) {
		g.close(audit.OutcomeCompleted, 0).deal(board(1))
	})

	sealed := func(name, about string, c audit.Close, n int) {
		b.cheat(stepLegality, name, about, func(h *house) *game {
			ctx := h.cards(sixCards)
			ctx.Disclosure = audit.DisclosureAuditor
			g := h.commitTo(ctx, sixCards).deal(board(2))
			c.Shuffle, c.Outcome = g.id, audit.OutcomeCompleted
			c.Tape = seeded("sealed", len(g.tape)+n)
			return g.closeAs(&c)
		})
	}
	sealed("public-though-auditor", "the tape for everybody where auditors were promised it",
		audit.Close{Form: audit.FormTape}, 0)
	sealed("sealed-short", "a sealed tape of another length", audit.Close{Form: audit.FormSealed, Key: 2}, 1168)
	sealed("sealed-p256", "in production a tape sealed to a key of P-256 alone", audit.Close{Form: audit.FormSealed, Key: 2},
		81)
	sealed("disclosure-key-above", "sealed to a key that comes later", audit.Close{Form: audit.FormSealed, Key: 1000},
		1169)
	sealed("disclosure-key-genesis", "sealed to the genesis", audit.Close{Form: audit.FormSealed, Key: 0}, 1169)
}

func cheatingOrders(b *badAdder) {
	order := func(step, name, about string, closed bool, change func(*audit.Commit, *game)) {
		b.cheat(step, name, about, func(h *house) *game {
			g := h.commitTo(h.cards(sixCards), sixCards, change).deal(board(6))
			if closed {
				g.close(audit.OutcomeCompleted, 0)
			}
			return g
		})
	}
	values := func(v ...uint32) func(*audit.Commit, *game) {
		return func(c *audit.Commit, g *game) { g.plant(c, v) }
	}
	order(stepOrder, "order-chosen", "an order that the tape does not give", true, values(0, 1, 2, 3, 4, 5))
	order(stepOpenings, "card-twice", "a deck root with one card twice", false, values(0, 1, 2, 3, 4, 4))
	b.cheat(stepOpenings, "card-beyond-deck", "a deck root with a card that the deck has not", func(h *house) *game {
		return h.commitTo(h.cards(sixCards), sixCards, values(6, 1, 2, 3, 4, 5)).deal(board(1))
	})
	aside := func(name, about string, run audit.Run, change func(*game)) {
		b.file(stepOpenings, name, about, func() []byte {
			h := open(b.T).cheating()
			g := h.commitTo(h.cards(sixCards), sixCards).deal(board(1), run)
			change(g)
			f := g.transcript("")
			f.Cards = []openings.Card{g.card(0), g.card(1)}
			return marshal(b.T, f)
		}())
	}
	aside("burn-opened", "a burn that is opened while the shuffle is open",
		audit.Run{Count: 1, Purpose: audit.PurposeBurn}, func(*game) {})
	aside("discard-opened", "a discard that is opened while the shuffle is open",
		audit.Run{Count: 1, Purpose: audit.PurposeDiscard, Recipient: "seat-1"}, func(*game) {})
	aside("burn-opened-tape-lost", "a burn that is opened though the tape is lost",
		audit.Run{Count: 1, Purpose: audit.PurposeBurn}, func(g *game) {
			g.close(audit.OutcomeVoid, audit.ReasonTapeLost)
		})
	order(stepOpenings, "other-shuffles-leaves", "leaves that name another shuffle of the table", false,
		func(c *audit.Commit, g *game) {
			other := openings.LeafTag(hash32("commitment of the hand before"), c.Context.Encode())
			g.tree = openings.NewDeckTree(other, g.values, openings.Salts(c.Commitment, g.tape, len(g.values)))
			c.DeckRoot = g.tree.Root()
		})
	order(stepOpenings, "leaves-without-context", "leaves that name the commitment alone", false,
		func(c *audit.Commit, g *game) {
			bare := openings.LeafTag(c.Commitment, nil)
			g.tree = openings.NewDeckTree(bare, g.values, openings.Salts(c.Commitment, g.tape, len(g.values)))
			c.DeckRoot = g.tree.Root()
		})
	order(stepOrder, "other-salts", "the right order under other salts", true, func(c *audit.Commit, g *game) {
		g.tree = openings.NewDeckTree(openings.TagOf(c), g.values, seeded("salts", 32*6))
		c.DeckRoot = g.tree.Root()
	})
	order(stepOrder, "modulo-without-rejection", "a shuffle that does not reject lanes", true,
		func(c *audit.Commit, g *game) {
			g.tape[0] = 0xff // the first lane of six cards, rejected
			c.Commitment = openings.Commitment(c.Context.Encode(), g.tape)
			a := []uint32{0, 1, 2, 3, 4, 5}
			for i := range a {
				j := i + int(g.tape[i])%(6-i)
				a[i], a[j] = a[j], a[i]
			}
			g.plant(c, a)
		})
	order(stepOrder, "tape-runs-out", "a tape of rejected lanes only", true, func(c *audit.Commit, g *game) {
		for i := range g.tape {
			g.tape[i] = 0xff
		}
		c.Commitment = openings.Commitment(c.Context.Encode(), g.tape)
		g.plant(c, []uint32{0, 1, 2, 3, 4, 5})
	})
	order(stepDeck, "deck-hash", "a commit to another deck than is shown", false, func(c *audit.Commit, g *game) {
		c.Context.DeckHash[0] ^= 1
	})
	b.cheat(stepDeck, "deck-size", "a commit to fewer cards than the deck has", func(h *house) *game {
		ctx := h.cards(sixCards)
		ctx.Recipe = shuffle.Recipe{Cards: 5, Take: 5}
		return h.commitTo(ctx, sixCards)
	})
	b.cheat(stepTape, "commitment", "a commitment to another tape", func(h *house) *game {
		return h.commitTo(h.cards(sixCards), sixCards, func(c *audit.Commit, g *game) { c.Commitment[0] ^= 1 }).
			close(audit.OutcomeCompleted, 0)
	})
	b.cheat(stepTape, "commitment-context", "a commitment that covers another context", func(h *house) *game {
		return h.commitTo(h.cards(sixCards), sixCards, func(c *audit.Commit, g *game) { c.Context.EndAt = 3 }).
			close(audit.OutcomeCompleted, 0)
	})
	b.cheat(stepOpenings, "draw-zero", "a root over a draw of 0", func(h *house) *game {
		return h.commitTo(h.draws(6, 6), nil, values(0, 1)).deal(board(2))
	})
	b.cheat(stepOpenings, "draw-above-range", "a root over a draw above its range", func(h *house) *game {
		return h.commitTo(h.draws(6, 6), nil, values(1, 7)).deal(board(2))
	})
	b.cheat(stepOrder, "draw-chosen", "draws that the tape does not give", func(h *house) *game {
		return h.commitTo(h.draws(6, 6, 6, 6), nil, values(6, 6, 6, 6)).deal(board(4)).close(audit.OutcomeCompleted, 0)
	})
}
