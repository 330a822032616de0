package verify

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
)

// TestNoChoiceIsLeft: with the tape known, no choice left to the house changes the order without showing. The shuffle
// has two slots, one of them the house's own, and a beacon; the commit is witnessed, and the house knows every value.
// Each move it has from then on is refused by the ledger's rules, or fails in a verifier that asks the ledger nothing,
// or lowers the level, or ends the shuffle for all to see, or gives the very order that was fixed.
func TestNoChoiceIsLeft(t *testing.T) {
	t.Parallel()
	s := newSteered(t)
	plan := []audit.Planned{planSlot1, planSlot2, planBeacon}
	honest := Transcript(s.wholly(s.mixed(plan...)), s.trust("slot 1"))
	if honest.Level != LevelMixed || len(honest.Mixed) != 2 || len(honest.Cards) != 6 {
		t.Fatalf("the honest house: %s %s %v", honest.Verdict, honest.Level, honest.Steps)
	}
	fixed := shownOf(honest)

	for _, move := range slices.Concat(otherValues(t), otherEntries()) {
		t.Run(move.name, func(t *testing.T) {
			t.Parallel()
			g := s.committed(plan...)
			refused := ""
			for _, body := range move.entries(g) {
				if g.h.actorOf(body) == admin {
					g.h.hire(admin)
				}
				g.h.now += 1000
				var illegal *audit.Illegal
				if err := g.h.state.Apply(audit.Entry{Time: g.h.now, Actor: g.h.actorOf(body),
					Body: g.h.state.Counted(body)}); errors.As(err, &illegal) {
					refused = illegal.Code
					break
				}
			}
			if refused != move.rule {
				t.Errorf("the ledger refuses it by %q, want %q", refused, move.rule)
			}

			// So the house does without its ledger's rules.
			g = s.committed(plan...)
			g.h.cheating()
			for _, body := range move.entries(g) {
				switch b := body.(type) {
				case *audit.Mix:
					g.add(b)
				case *audit.Deal:
					g.dealAs(b)
				case *audit.Close:
					g.closeAs(b)
				}
			}
			v := Transcript(g.file(""), s.trust("slot 1"))
			switch {
			case v.Verdict == Failed && v.Failed == move.step:
			case v.Verdict == Proved && move.step == "" && v.Outcome == move.ends && len(v.Cards) == 0:
			default:
				t.Errorf("%s at %q, outcome %q: %v; want a failure at %q or the outcome %q", v.Verdict, v.Failed,
					v.Outcome, v.Steps, move.step, move.ends)
			}
		})
	}

	for name, file := range otherCommits(s, plan) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Transcript(file, s.trust())
			if v.Level == LevelMixed {
				t.Errorf("%s for %v", v.Level, v.Mixed)
			}
			if v.Verdict == Proved && slices.Equal(shownOf(v), fixed) {
				t.Error("the move changes nothing: it tests nothing")
			}
		})
	}

	// What the house may choose without a word: how many cards it deals at a time and to whom. The order stays.
	g := s.mixed(plan...).deal(seat("seat-2", 3)).deal(audit.Run{Count: 1, Purpose: audit.PurposeBurn},
		board(2)).close(audit.OutcomeCompleted, 0)
	if got := shownOf(Transcript(g.file(""), s.trust())); !slices.Equal(got, fixed) {
		t.Errorf("dealt otherwise the places show %v, not %v", got, fixed)
	}
}

// aMove is what a house writes after the commit.
type aMove struct {
	name    string
	entries func(*game) []audit.Body
	rule    string // by which a ledger refuses it; "": it does not
	step    string // at which the file fails; "": it ends the shuffle
	ends    string // as
}

// otherValues are mixes that are not the one mix.
func otherValues(t *testing.T) (moves []aMove) {
	mix := func(name, rule, step string, values ...audit.MixValue) {
		moves = append(moves, aMove{name: name, rule: rule, step: step, entries: func(g *game) []audit.Body {
			return []audit.Body{&audit.Mix{Shuffle: g.id, Checkpoint: g.id + 1, Values: values},
				&audit.Deal{Shuffle: g.id, Checkpoint: g.id + 1, Runs: []audit.Run{board(6)}},
				closing(g, audit.OutcomeCompleted, 0)}
		}})
	}
	another := audit.MixValue{Source: audit.SourceSlot, Slot: hash32("another")}
	mix("another value of its own slot", audit.RuleMix, stepLegality, valueSlot1, another, valueBeacon)
	mix("a player's value exchanged", audit.RuleMix, stepLegality, another, valueSlot2, valueBeacon)
	mix("a slot left out", audit.RuleMix, stepLegality, valueSlot1, valueBeacon)
	mix("the beacon left out", audit.RuleMix, stepLegality, valueSlot1, valueSlot2)
	mix("a slot added", audit.RuleMix, stepLegality, valueSlot1, valueSlot2, another, valueBeacon)
	mix("a cut added", audit.RuleMix, stepLegality, valueSlot1, valueSlot2, valueBeacon, valueCut)
	mix("the slots exchanged", audit.RuleMix, stepLegality, valueSlot2, valueSlot1, valueBeacon)
	mix("the beacon in front", audit.RuleMix, stepLegality, valueBeacon, valueSlot1, valueSlot2)
	// A ledger without BLS takes these; a daemon and every verifier with it do not.
	light := func(name string, sig [48]byte) {
		mix(name, "", stepBeacon, valueSlot1, valueSlot2, audit.MixValue{Source: audit.SourceBeacon, Beacon: sig})
	}
	light("the beacon's round before", beacontest.Signature(round.Round-1))
	light("bytes that it likes", [48]byte(seeded("liked", 48)))
	negated := round.Signature
	negated[0] ^= 0x20
	light("the signature negated", negated)
	light("another spelling of it", respelled(t, round.Signature))
	return moves
}

// respelled adds the order of the field to x, where that fits, and otherwise sets
// the one flag that has no meaning there.
func respelled(t *testing.T, sig [48]byte) [48]byte {
	p, ok := new(big.Int).SetString("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)
	if !ok {
		t.Fatal("p")
	}
	flags := sig[0] & 0xe0
	sig[0] &= 0x1f
	x := new(big.Int).SetBytes(sig[:])
	if x.Add(x, p); x.BitLen() > 381 {
		x.Sub(x, p)
		flags |= 0x40
	}
	x.FillBytes(sig[:])
	sig[0] |= flags
	return sig
}

// otherEntries are a life of the shuffle without its mix, or with two.
func otherEntries() []aMove {
	mix := func(g *game) *audit.Mix {
		return &audit.Mix{Shuffle: g.id, Checkpoint: g.id + 1,
			Values: []audit.MixValue{valueSlot1, valueSlot2, valueBeacon}}
	}
	deal := func(g *game) *audit.Deal {
		return &audit.Deal{Shuffle: g.id, Checkpoint: g.id + 1, Runs: []audit.Run{board(1)}}
	}
	return []aMove{
		{name: "dealt without the mix", rule: audit.RuleMix, step: stepEntries,
			entries: func(g *game) []audit.Body { return []audit.Body{deal(g)} }},
		{name: "dealt before the mix", rule: audit.RuleMix, step: stepEntries,
			entries: func(g *game) []audit.Body { return []audit.Body{deal(g), mix(g)} }},
		{name: "mixed twice", rule: audit.RuleMix, step: stepEntries,
			entries: func(g *game) []audit.Body { return []audit.Body{mix(g), mix(g), deal(g)} }},
		{name: "a place skipped", rule: audit.RulePlace, step: stepLegality, entries: func(g *game) []audit.Body {
			return []audit.Body{mix(g), &audit.Deal{Shuffle: g.id, Checkpoint: g.id + 1, First: 1,
				Runs: []audit.Run{board(1)}}}
		}},
		{name: "void before the mix", ends: "void", entries: func(g *game) []audit.Body {
			return []audit.Body{closing(g, audit.OutcomeVoid, audit.ReasonMixFailed)}
		}},
		{name: "void after the mix", ends: "void", entries: func(g *game) []audit.Body {
			return []audit.Body{mix(g), closing(g, audit.OutcomeVoid, audit.ReasonMisdeal)}
		}},
		{name: "closed undealt", ends: "ended_early", entries: func(g *game) []audit.Body {
			return []audit.Body{mix(g), closing(g, audit.OutcomeEndedEarly, 0)}
		}},
		{name: "left to expire", ends: "expired", entries: func(g *game) []audit.Body {
			g.h.now = g.commit.CloseBy
			return []audit.Body{closing(g, audit.OutcomeExpired, 0)}
		}},
		{name: "the tape lost", step: stepTape, entries: func(g *game) []audit.Body {
			return []audit.Body{mix(g), &audit.Close{Shuffle: g.id, Outcome: audit.OutcomeVoid,
				Reason: audit.ReasonTapeLost, Form: audit.FormNone}}
		}},
	}
}

func closing(g *game, o audit.Outcome, r audit.Reason) *audit.Close {
	return &audit.Close{Shuffle: g.id, Outcome: o, Reason: r, Form: audit.FormTape, Tape: g.tape}
}

// otherCommits are files of a house that did not keep to the commit that was seen,
// or kept a choice when it committed. None has the level mixed.
func otherCommits(s steered, plan []audit.Planned) map[string][]byte {
	files := make(map[string][]byte)
	seen := s.committed(plan...).early // what the witnesses saw

	// Once the round is out, the house commits to the tape that it likes best, at the same index and under its own key.
	again := func() *game {
		g := s.committed(plan...)
		h := open(s.TB)
		h.now = (out - 61) * 1000 // its own word
		h.witnesses = nil
		ctx := h.cards(sixCards)
		ctx.Plan = plan
		other := h.commitTo(ctx, sixCards, func(c *audit.Commit, x *game) {
			x.tape = seeded("a tape that it likes", len(g.tape))
			x.lay(c)
		})
		return other.mix(valueSlot1, valueSlot2, valueBeacon)
	}
	g := again()
	g.early = seen
	files["another commit with the witnesses' receipt of the first"] = s.wholly(g)
	files["another commit that no witness saw"] = s.wholly(again())
	late := s
	late.cosigned = map[string]int64{"a": -4, "c": -5}
	g = again()
	short := *g.h
	short.entries = short.entries[:g.id+1]
	short.hashes = short.hashes[:storedCount(g.id+1)]
	g.early = string(late.early(&short))
	files["another commit that the witnesses saw when the round was out"] = s.wholly(g)

	for cut := range uint16(6) {
		cutting := s
		cutting.values = []audit.MixValue{valueBeacon, {Source: audit.SourceCut, Cut: cut}}
		files["a cut kept open, of "+string('0'+rune(cut))] = cutting.wholly(cutting.mixed(planBeacon, planCut))
	}
	few := s
	few.context = func(h *house) *audit.Context {
		ctx := h.cards(sixCards)
		ctx.Recipe.Take = 5
		return ctx
	}
	files["five of six cards, chosen by the tape"] = few.mixed(planBeacon).deal(board(5)).close(audit.OutcomeCompleted,
		0).file("")
	return files
}

// wholly deals all places, closes, and returns the file.
func (s steered) wholly(g *game) []byte {
	s.Helper()
	g.h.witnesses = []keyPair{s.w.a, s.w.c}
	return g.deal(board(6)).close(audit.OutcomeCompleted, 0).file("")
}

func (s steered) trust(slots ...string) Trust {
	return Trust{Policy: []byte(s.w.policy(twoOfThree)), Slots: mine(slots...)}
}

// shownOf returns the values shown, by place.
func shownOf(v *Verdict) (values []uint32) {
	for _, c := range v.Cards {
		values = append(values, c.Value)
	}
	return values
}
