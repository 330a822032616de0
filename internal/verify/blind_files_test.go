package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// blindFiles are files of shuffles with a co-dealer.
func blindFiles(t testing.TB, add adder) {
	slot := hash32("slot")
	blindly := func(name, about string, p *pair, change ...func(*vector)) {
		add(name, about, marshal(t, p.transcript()), append([]func(*vector){p.believed}, change...)...)
	}
	undealt := func(v *vector) { v.Trust.CoDealer, v.Want.Blind, v.Want.DealtOn = "", nil, DealtOnNotShown }
	p := hand(t)
	blindly("blind-undealt", "a co-dealer's order, and nothing dealt", p)
	p.play(seat("a", 1), seat("b", 1))
	blindly("blind-open", "dealt once, still open", p)
	p.state = audit.StateHash([]byte("seat-a call\n"))
	p.play(burn, board(2)).end()
	blindly("blind-closed", "closed on both sides; the burn is opened to nobody", p)
	blindly("blind-no-trust", "nothing is trusted for the co-dealer: it holds, and is not blind", p, undealt)
	blindly("blind-weak-policy", "two quorums of the policy for the co-dealer share no witness", p, func(v *vector) {
		v.Trust.CoDealer, v.Want.Blind = fmt.Sprintf("log %s\nquorum none\n", p.by.h.key.vkey), nil
		v.Want.NotBlind, v.Want.DealtOn = NotShared, DealtOnNotShown
	})
	blindly("blind-no-log", "the policy for the co-dealer has no log line", p, func(v *vector) {
		_, v.Trust.CoDealer, _ = strings.Cut(v.Trust.CoDealer, "\n")
		v.Want.Blind, v.Want.NotBlind, v.Want.DealtOn = nil, NotPinned, DealtOnNotShown
	})
	blindly("blind-nothing-pinned", "nothing is trusted for the house: it is consistent, and not blind", p,
		func(v *vector) {
			v.Trust.VKey, v.Want = "", want{Verdict: Consistent, Level: LevelKeyNotPinned, NotBlind: NotPinned}
		})
	add("blind-not-named", "a policy for the co-dealer, and a shuffle that names none", rich(t).file(""),
		func(v *vector) { v.Trust.CoDealer, v.Want.NotBlind = string(secondPolicy(p.by.h)), NotNamed })

	p = hand(t)
	p.early = string(p.h.head())
	blindly("blind-witnessed", "what witnesses saw is what the co-dealer was shown", p.play(seat("a", 1)))

	a := open(t, withPin)
	p = blind(a, coDealer(t), sixCards, func(c *audit.Context) {
		c.Plan = []audit.Planned{{Source: audit.SourceSlot, Slot: audit.SlotHash(a.key.name, c.Table, slot)},
			{Source: audit.SourceCut}}
	})
	p.mixed(audit.MixValue{Source: audit.SourceSlot, Slot: slot}, audit.MixValue{Source: audit.SourceCut, Cut: 2}).
		play(seat("a", 2)).play(board(4)).end()
	blindly("blind-mixed", "a slot and a cut alongside the co-dealer", p)

	p = blind(open(t, withPin), coDealer(t), sixCards, func(c *audit.Context) {
		c.Plan = []audit.Planned{planBeacon, planCut}
	})
	p.mixed(valueBeacon, audit.MixValue{Source: audit.SourceCut, Cut: 2}).play(seat("a", 2), board(4)).end()
	blindly("blind-beacon", "a beacon and a cut alongside the co-dealer", p)

	p = hand(t).play(ofRound(1, seat("a", 1))).play(ofRound(1, seat("b", 1)), ofRound(2, board(1))).end()
	blindly("blind-rounds", "two rounds, which the house asked for", p)
	p = blind(open(t, withPin), coDealer(t), nil).play(board(1)).play(board(2)).end()
	blindly("blind-draws", "draws: the sum of both", p)
	p = blind(open(t, withPin), coDealer(t), sixCards, func(c *audit.Context) {
		c.Disclosure = audit.DisclosureAuditor
	}).play(seat("a", 1), board(1)).end()
	blindly("blind-auditors", "both tapes are disclosed to auditors", p)

	p = hand(t).play(seat("a", 2))
	d := p.ask(2, []audit.Run{board(1)})
	p.gone(p.given(d))
	blindly("blind-unplayed", "an opening that was not played stands in the close", p)
	p = blind(open(t, withPin), coDealer(t), nil).play(board(1))
	p.gone(p.given(p.ask(1, []audit.Run{board(2)})))
	blindly("blind-unplayed-draws", "draws that were not played", p)
	p = hand(t).play(seat("a", 2))
	entered := p.given(p.ask(2, []audit.Run{board(1)}))
	entered.Values = nil
	p.gone(entered)
	blindly("blind-unanswered", "a deal of the co-dealer that was entered, and not answered", p)
	p = hand(t).play(seat("a", 2)).gone(nil)
	blindly("blind-silent", "void for a co-dealer that was silent: the close has its newest checkpoint", p)

	looked := func(v *vector) { v.Want.DealtOn, v.Want.NotDealtOn = OpenedOnly, 3 }
	for i, name := range []string{"blind-looked-first", "blind-looked"} {
		p = hand(t)
		if i > 0 {
			p.play(seat("a", 2))
		}
		seen := len(p.proofs)
		p.ask(p.next(), []audit.Run{board(3)})
		p.proofs = p.proofs[:seen]
		p.gone(nil).ends(audit.OutcomeCompleted, p.follows())
		blindly(name, "three places were opened, the close names no deal, and the order's close names them", p, looked)
	}
	blindly("blind-looked-untrusted", "nothing is trusted for the co-dealer: what the order's close names is nobody's word", p,
		undealt)
	p = hand(t).play(seat("a", 2))
	p.gone(p.given(p.ask(2, []audit.Run{burn, board(1)}))).ends(audit.OutcomeCompleted, p.follows())
	blindly("blind-unplayed-closed", "an opening that was not played, and the order's close that names its places", p)
	p = hand(t).play(seat("a", 2)).gone(nil)
	p.by.h.now = p.by.commit.CloseBy
	p.ends(audit.OutcomeExpired, nil)
	blindly("blind-expired-silent", "the order expired, and its close says nothing of places", p)

	p = hand(t)
	p.state = audit.StateHash(nil)
	p.play(seat("a", 1))
	p.state = audit.StateHash([]byte("seat-a post 1 00112233445566778899aabbccddeeff\nflop\n"))
	p.play(board(1))
	p.state = audit.StateHash([]byte("another\n"))
	p.play(board(1)).end()
	blindly("blind-history", "requests behind lines of the game's history, and one with another hash", p,
		func(v *vector) {
			v.Trust.History = "seat-a post 1 00112233445566778899aabbccddeeff\nflop\nturn\n"
			v.Want.Blind = Transcript([]byte(v.File), v.trust()).Blind
		})
	co := coDealer(t)
	p = blind(open(t, withPin), co, sixCards)
	long := newLongKey(t, co.key.name, "long key of the co-dealer")
	long.add(co, long)
	p.play(seat("a", 2))
	blindly("blind-mldsa", "the co-dealer signs with a key of ML-DSA-44 as well, which its first key handed on to", p)

	p = misfit{closes: func(c, order *audit.Commit) { c.CloseBy = order.CloseBy - 3600_000 }}.pair(open(t, withPin),
		coDealer(t), sixCards)
	blindly("blind-an-hour", "the order closes an hour behind the shuffle", p)
	p = hand(t).play(seat("a", 2))
	p.by.h.now = p.by.commit.CloseBy
	p.by.close(audit.OutcomeExpired, audit.ReasonNone)
	p.prove()
	blindly("blind-expired", "the order expired in mid-hand", p)
	p = hand(t).play(seat("a", 2))
	p.by.close(audit.OutcomeVoid, audit.ReasonTapeLost)
	p.prove()
	blindly("blind-tape-lost", "the co-dealer lost the order's tape in mid-hand: what was dealt stays proved", p)
	p = hand(t).gone(nil)
	p.by.close(audit.OutcomeVoid, audit.ReasonOperatorError)
	p.prove()
	blindly("blind-void-undealt", "nothing was dealt, and the order is void", p)
	b := coDealer(t)
	p = blind(open(t, withPin), b, sixCards)
	first := b.key
	b.rotate("second co-dealer key").rotate("third co-dealer key")
	p.play(seat("a", 2))
	b.key = first
	blindly("blind-handed-on", "the co-dealer handed its ledger on twice, and the policy has its first key", p)

	forked := forkedPair(t)
	f := forked.transcript()
	f.CoDealer.Heads = nil
	add("blind-no-heads", "two histories of the co-dealer, and nothing that ties its checkpoints: it is not blind",
		marshal(t, f), forked.believed)
	p = hand(t)
	long = newLongKey(t, p.by.h.key.name, "long key of the co-dealer")
	p.play(seat("a", 1))
	long.add(p.by.h, long)
	add("blind-mldsa-below", "a key of ML-DSA-44 is trusted, and the checkpoints below its entry lead to one that it signed",
		marshal(t, p.play(seat("a", 1)).transcript()), p.believed, func(v *vector) {
			v.Trust.CoDealer = "log " + long.vkey + "\n" + v.Trust.CoDealer
		})
}

// forkedPair is a hand whose co-dealer showed the order's commit in another history than the deals. Its witnesses
// cosigned both.
func forkedPair(t testing.TB) *pair {
	p, fork := hand(t), hand(t)
	p.by.h.hireAs(service("house-b"), audit.RoleBlind)
	fork.by.h.hireAs(service("house-c"), audit.RoleBlind)
	p.proofs[0] = fork.by.h.receipt(fork.by.id).Text()
	return p.play(seat("a", 1)).play(seat("b", 1))
}

// gone closes the shuffle as void for its co-dealer, with what was not played.
func (p *pair) gone(b *audit.Blind) *pair {
	p.h.t.Helper()
	if b != nil {
		d, place := p.by.deals[len(p.by.deals)-1], 0
		p.order.Give(&audit.Deal{First: d.First, Runs: d.Runs, Blind: b})
		place = d.First
		for _, r := range d.Runs {
			for range r.Count {
				if !r.Aside() && len(p.after) < len(b.Values) && p.order.Position(place) < len(p.values) {
					p.after = append(p.after, p.both(place))
				}
				place++
			}
		}
	}
	p.closeAs(&audit.Close{Shuffle: p.id, Outcome: audit.OutcomeVoid, Reason: audit.ReasonCoDealer,
		Form: audit.FormTape, Tape: p.tape, Blind: b})
	return p
}

// believed is the trust in both, and what the verdict says then.
func (p *pair) believed(v *vector) {
	v.Trust.CoDealer = string(secondPolicy(p.by.h))
	got := Transcript([]byte(v.File), p.trust())
	v.Want.Blind, v.Want.NotBlind = got.Blind, got.NotBlind
	if c := p.by.closed; p.closed != nil && (c == nil || c.Follows == nil && c.Outcome != audit.OutcomeVoid) {
		v.Want.DealtOn = DealtOnNotShown
	}
}

// notBlind are files of a house or co-dealer that cheats, and damaged ones. Each fails at the step that is for it.
func notBlind(b *badAdder) {
	two := []audit.Run{seat("a", 2)}
	blindly := func(step, name, about string, play func(*pair) *openings.Transcript) {
		p := hand(b.T)
		trust := string(secondPolicy(p.by.h))
		b.file(step, "blind-"+name, about, marshal(b.T, play(p)), func(v *vector) { v.Trust.CoDealer = trust })
	}
	blindly(stepAsked, "other-runs", "other runs than were asked for", func(p *pair) *openings.Transcript {
		d := p.ask(0, two)
		return p.dealt(&audit.Deal{Shuffle: p.id, Runs: []audit.Run{seat("b", 2)}, Blind: p.given(d)}).transcript()
	})
	blindly(stepAsked, "other-round", "another round than was asked for", func(p *pair) *openings.Transcript {
		d := p.given(p.ask(0, two))
		return p.dealt(&audit.Deal{Shuffle: p.id, Runs: []audit.Run{ofRound(1, seat("a", 2))}, Blind: d}).transcript()
	})
	blindly(stepAsked, "not-asked", "a request without the tape", func(p *pair) *openings.Transcript {
		d := p.ask(0, two, func(a *audit.Asked, _ *audit.Deal) { a.Ask[63] ^= 1 })
		return p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: p.given(d)}).transcript()
	})
	blindly(stepAsked, "asked-early", "a request in front of the deal before", func(p *pair) *openings.Transcript {
		commit := p.before
		p.play(two...)
		p.before = commit
		d := p.ask(2, two)
		return p.dealt(&audit.Deal{Shuffle: p.id, First: 2, Runs: two, Blind: p.given(d)}).transcript()
	})
	blindly(stepAsked, "asked-for-another", "a request for another shuffle", func(p *pair) *openings.Transcript {
		d := p.ask(0, two, func(a *audit.Asked, d *audit.Deal) {
			a.Commit.Leaf = hash32("another")
			a.Sign(audit.AskKey(p.commit.Commitment, p.tape), 0, d.Runs)
		})
		return p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: p.given(d)}).transcript()
	})
	blindly(stepOpenings, "other-value", "another value than was opened", func(p *pair) *openings.Transcript {
		d := p.given(p.ask(0, two))
		d.Values[0] = (p.by.values[0] + 3) % 6
		return p.dealt(&audit.Deal{Shuffle: p.id, Runs: two, Blind: d}).transcript()
	})
	blindly(stepOpenings, "value-in-file", "another value in the file than in the deal", func(p *pair) *openings.Transcript {
		f := p.play(two...).transcript()
		f.Cards[0].By.Value = (f.Cards[0].By.Value + 1) % 6
		return f
	})
	blindly(stepOpenings, "other-salt", "an opening that does not lead to the root", func(p *pair) *openings.Transcript {
		f := p.play(two...).transcript()
		f.Cards[0].By.Salt = encode(hash32("salt"))
		return f
	})
	blindly(stepOpenings, "no-opening", "a card without the co-dealer's opening", func(p *pair) *openings.Transcript {
		f := p.play(two...).transcript()
		f.Cards[0].By = nil
		return f
	})
	blindly(stepAsked, "other-commit", "another commit of the co-dealer", func(p *pair) *openings.Transcript {
		p.another()
		return p.play(two...).transcript()
	})
	blindly(stepEntries, "no-evidence", "nothing of the co-dealer", func(p *pair) *openings.Transcript {
		f := p.play(two...).transcript()
		f.CoDealer = nil
		return f
	})
	blindly(stepEntries, "not-ascending", "the co-dealer's receipts do not ascend", func(p *pair) *openings.Transcript {
		p.play(two...).play(two...)
		p.proofs[1], p.proofs[2] = p.proofs[2], p.proofs[1]
		return p.transcript()
	})
	blindly(stepEntries, "no-commit", "the co-dealer's commit left out", func(p *pair) *openings.Transcript {
		p.play(two...)
		p.proofs = p.proofs[1:]
		return p.transcript()
	})
	blindly(stepEntries, "no-key", "an entry among the co-dealer's keys that hands on to none",
		func(p *pair) *openings.Transcript {
			f := p.play(two...).transcript()
			f.CoDealer.Keys = []audit.Handover{{Receipt: p.by.h.bare(p.by.id), Checkpoint: string(p.by.h.head())}}
			return f
		})
	blindly(stepAsked, "deal-left-out", "a deal of the co-dealer left out", func(p *pair) *openings.Transcript {
		p.play(two...).play(two...)
		p.proofs = slices.Delete(p.proofs, 1, 2)
		return p.transcript()
	})
	blindly(stepAsked, "looked", "an opening that was not dealt on", func(p *pair) *openings.Transcript {
		p.play(two...)
		p.ask(2, two)
		return p.transcript()
	})
	blindly(stepAsked, "closed-early", "an order that was closed in mid-hand", func(p *pair) *openings.Transcript {
		p.play(two...)
		p.by.h.cheating()
		p.by.close(audit.OutcomeVoid, audit.ReasonMisdeal)
		p.prove()
		return p.transcript()
	})
	blindly(stepCoDealer, "not-cosigned", "a checkpoint that the co-dealer's witnesses did not see",
		func(p *pair) *openings.Transcript {
			p.by.h.witnesses = p.by.h.witnesses[:1]
			return p.play(two...).transcript()
		})
	vkey, line := later("w3.example.org")
	needs := strings.Replace(string(secondPolicy(coDealer(b.T))), "group g all", "witness w3 "+vkey+"\ngroup g 2 w3", 1)
	p := hand(b.T)
	p.by.h.witnesses = p.by.h.witnesses[:1]
	f := p.play(two...).transcript()
	for i := range f.CoDealer.Receipts {
		f.CoDealer.Receipts[i] += line
	}
	b.file(unjudged, "blind-later-type-decides", "a line of an unknown type would complete the co-dealer's quorum",
		marshal(b.T, f), func(v *vector) { v.Trust.CoDealer = needs })
	second, err := audit.ParseReceipt(f.CoDealer.Receipts[1])
	must(b.T, err)
	second.Proof = slices.Clone(second.Proof)
	second.Proof[0][0] ^= 1
	f.CoDealer.Receipts[1] = second.Text()
	b.file(stepCoDealer, "blind-inclusion-first", "the same, and the next receipt does not lead to its root",
		marshal(b.T, f), func(v *vector) { v.Trust.CoDealer = needs })
	p = hand(b.T)
	p.game.h.rotate("second ledger key")
	f = p.play(two...).transcript()
	f.CoDealer.Receipts[0], f.CoDealer.Receipts[1] = f.CoDealer.Receipts[1], f.CoDealer.Receipts[0]
	key, err := audit.ParseReceipt(f.Keys[0].Receipt + f.Keys[0].Checkpoint)
	must(b.T, err)
	key.Entry = bytes.Replace(key.Entry, p.game.h.key.public(), append([]byte{9}, p.game.h.key.public()[1:]...), 1)
	key.Checkpoint = nil
	f.Keys[0].Receipt = key.Text()
	b.file(unjudged, "blind-keys-first", "a key of a later type, and behind it receipts of the co-dealer in another order",
		marshal(b.T, f))
	blindly(stepFormat, "no-receipts", "a co-dealer without receipts", func(p *pair) *openings.Transcript {
		f := p.play(two...).transcript()
		f.CoDealer.Receipts = []string{}
		return f
	})
	blindly(stepFormat, "two-ledgers", "receipts of two ledgers for one co-dealer", func(p *pair) *openings.Transcript {
		f := p.play(two...).transcript()
		f.CoDealer.Receipts = append(f.CoDealer.Receipts, f.Receipt(1))
		return f
	})
	blindly(stepFormat, "salt-form", "a salt of the co-dealer that is none", func(p *pair) *openings.Transcript {
		f := p.play(two...).transcript()
		f.Cards[0].By.Salt = "c2FsdA=="
		return f
	})
	b.edited(stepEntries, "blind-nobody-named", "evidence of a co-dealer whom the plan does not name", rich(b.T),
		func(f *openings.Transcript) { f.CoDealer = &openings.CoDealer{Receipts: hand(b.T).proofs} })
	b.edited(stepOpenings, "blind-opening-of-nobody", "an opening of a co-dealer whom the plan does not name", rich(b.T),
		func(f *openings.Transcript) {
			c := f.Cards[0]
			f.Cards[0].By = &openings.By{Value: c.Value, Salt: c.Salt, Proof: c.Proof}
		})
	misfits(b)
	notAsked(b)
	notSeen(b)
	notApart(b)
	otherOrders(b)
}

// notApart are files whose co-dealer is the house, by key, name or witness.
func notApart(b *badAdder) {
	p := hand(b.T).play(seat("a", 2))
	file := marshal(b.T, p.transcript())
	witness := func(name string, key keyPair) string {
		vkey, _ := key.witnessKey()
		return fmt.Sprintf("witness %s %s\n", name, vkey)
	}
	second, house := string(secondPolicy(p.by.h)), fmt.Sprintf("log %s\n", p.h.key.vkey)
	add := func(name, about, vkey, policy, coDealer string) {
		b.file(stepCoDealer, "blind-"+name, about, file, func(v *vector) {
			v.Trust = vectorTrust{VKey: vkey, Policy: policy, CoDealer: coDealer}
		})
	}
	add("one-key", "the house's key is the co-dealer's", p.h.key.vkey, "", house+second)
	add("house-witness", "the house is a witness of the co-dealer", p.h.key.vkey, "", witness("house", p.h.key)+second)
	add("co-dealer-witness", "the co-dealer is a witness of the house", "",
		house+witness("second", p.by.h.key)+"quorum none\n", second)
	mixedPolicies(b.T, p, add)
	b.file(unjudged, "blind-policy-unreadable", "what is trusted for the co-dealer cannot be read", file,
		func(v *vector) { v.Trust.CoDealer = "quorum\n" })
	text := string(file)
	b.file(stepFormat, "blind-member-order", "the members of co_dealer in another order",
		[]byte(strings.Replace(text, `"co_dealer":{"receipts":`, `"co_dealer":{"heads":[],"receipts":`, 1)))
	b.file(unjudged, "blind-receipt-version", "a receipt of a later version of the co-dealer's", func() []byte {
		at := strings.Index(text, `"co_dealer":`)
		return []byte(text[:at] + strings.Replace(text[at:], "tlog-proof@v1", "tlog-proof@v2", 1))
	}())
}
