package audit

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
)

func (c legalityCases) disclosureKeys() {
	add := func(name, rule string, s *story, next refEntry) { c.add("disclosure_key", name, rule, s, next) }
	s := newStory(withAuditors("1"))
	add("a commit to auditors without a disclosure key", "disclosure_key", s, s.commit("t", toAuditors))
	add("a public commit without a disclosure key", holds, s, s.commit("t"))
	key := s.then(s.disclosure("1", "1"))
	add("a commit to auditors", holds, s, s.commit("t", toAuditors))
	id := s.then(s.commit("t", toAuditors))
	add("a close to the newest key", holds, s, s.close(id, 1, sealed(key)))
	add("a close to an index that holds no key", "disclosure_key", s, s.close(id, 1, sealed(id)))
	add("a close to index 0", "disclosure_key", s, s.close(id, 1, sealed(0)))
	newer := s.then(s.disclosure("2", "1"))
	add("a close to the newer key", holds, s, s.close(id, 1, sealed(newer)))
	add("a close to the older key", "disclosure_key", s, s.close(id, 1, sealed(key)))
	s.then(s.auditor("2"))
	add("a commit after a new auditor", "disclosure_key", s, s.commit("t", toAuditors))
	add("a close after a new auditor", "disclosure_key", s, s.close(id, 1, sealed(newer)))
	add("tape_lost after a new auditor", holds, s, s.close(id, 4, tapeLost))
	both := s.then(s.disclosure("3", "1", "2"))
	add("a commit after a key for both auditors", holds, s, s.commit("t", toAuditors))
	add("a close after a key for both auditors", holds, s, s.close(id, 1, sealed(both)))
	s.then(s.retire(3, auditorKey("1")))
	add("a commit after an auditor retired", "disclosure_key", s, s.commit("t", toAuditors))
	add("a close after an auditor retired", "disclosure_key", s, s.close(id, 1, sealed(both)))
	last := s.then(s.disclosure("4", "2"))
	add("a close after a key for the auditor who stayed", holds, s, s.close(id, 1, sealed(last)))
	s.then(s.retire(2, auditorKey("disclosure 3")))
	add("a commit after an older key retired", holds, s, s.commit("t", toAuditors))
	add("a close after an older key retired", holds, s, s.close(id, 1, sealed(last)))
	s.then(s.retire(2, auditorKey("disclosure 4")))
	add("a commit after the newest key retired", "disclosure_key", s, s.commit("t", toAuditors))
	add("a close after the newest key retired", "disclosure_key", s, s.close(id, 1, sealed(last)))
	s.then(s.disclosure("5", "2"))
	add("a commit after a key for the retired one", holds, s, s.commit("t", toAuditors))
	s.then(s.key(refKey{Subject: 4, Policy: "quorum none\n"}))
	s.then(s.key(refKey{Subject: 1, Public: signingKey("2")}))
	s.then(s.retire(1, signingKey("1")))
	add("other keys change nothing for auditors", holds, s, s.commit("t", toAuditors))
}

func (c legalityCases) keys() {
	add := func(name, rule string, s *story, next refEntry) { c.add("key", name, rule, s, next) }
	s := newStory(withAuditors("1", "2"))
	public := func(subject uint8, key hexed) refEntry { return s.key(refKey{Subject: subject, Public: key}) }
	add("a new signing key", holds, s, public(1, signingKey("2")))
	add("the signing key of the genesis again", "key", s, public(1, signingKey("1")))
	add("a new auditor", holds, s, public(3, auditorKey("3")))
	add("an auditor of the genesis again", "key", s, public(3, auditorKey("2")))
	s.then(public(1, signingKey("2")))
	add("a replaced signing key comes back", "key", s, public(1, signingKey("1")))
	add("the signing key in force again", "key", s, public(1, signingKey("2")))
	add("a policy, which is no key", holds, s, s.key(refKey{Subject: 4, Policy: "quorum none\n"}))

	add("wrapped to both auditors", holds, s, s.disclosure("1", "1", "2"))
	add("wrapped to one of two auditors", "key", s, s.disclosure("1", "1"))
	add("wrapped to a stranger, too", "key", s, s.disclosure("1", "1", "2", "3"))
	add("wrapped to a stranger in place of an auditor", "key", s, s.disclosure("1", "1", "3"))
	s.then(s.disclosure("1", "1", "2"))
	add("a disclosure key again", "key", s, s.disclosure("1", "1", "2"))
	again := s.disclosure("9", "1", "2")
	again.Key.Public = auditorKey("1")
	add("an auditor's key for disclosure", "key", s, again)
	add("a disclosure key for an auditor", "key", s, public(3, auditorKey("disclosure 1")))
	s.then(s.retire(3, auditorKey("2")))
	add("a retired auditor comes back", "key", s, public(3, auditorKey("2")))
	add("wrapped to a retired auditor, too", "key", s, s.disclosure("2", "1", "2"))
	add("wrapped to the auditor who stayed", holds, s, s.disclosure("2", "1"))

	none := newStory()
	add("wrapped to somebody where there are no auditors", "key", none, none.disclosure("1", "1"))
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("n", i))
	}
	many := newStory(withAuditors(names...))
	for i := range 23 {
		many.then(many.auditor(fmt.Sprint("m", i)))
	}
	add("the 32nd auditor", holds, many, many.auditor("1"))
	many.then(many.auditor("1"))
	add("the 33rd auditor", "key", many, many.auditor("2"))
	many.then(many.retire(3, auditorKey("1")))
	add("a 32nd auditor after one retired", holds, many, many.auditor("2"))
}

// types: the keys that tapes are sealed to have one type, in production the hybrid one.
func (c legalityCases) types() {
	add := func(name, rule string, s *story, next refEntry) { c.add("key", "type: "+name, rule, s, next) }
	s := newStory(withAuditors("hybrid 1"))
	add("a second hybrid auditor", holds, s, s.auditor("hybrid 2"))
	add("an auditor of P-256 after a hybrid one", "key", s, s.auditor("2"))
	add("a hybrid disclosure key", holds, s, s.disclosure("hybrid 1", "hybrid 1"))
	add("a disclosure key of P-256 for a hybrid auditor", "key", s, s.disclosure("1", "hybrid 1"))
	key := s.then(s.disclosure("hybrid 1", "hybrid 1"))
	id := s.then(s.commit("t", toAuditors))
	form := func(name, rule string, s *story, next refEntry) { c.add("form", "type: "+name, rule, s, next) }
	form("a tape sealed to a hybrid key", holds, s, s.close(id, 1, sealedHybrid(key)))
	form("a tape sealed as to P-256", "form", s, s.close(id, 1, sealed(key)))

	old := newStory(withAuditors("1"))
	add("a hybrid auditor after one of P-256", "key", old, old.auditor("hybrid 2"))
	add("a hybrid disclosure key for an auditor of P-256", "key", old, old.disclosure("hybrid 1", "1"))
	key = old.then(old.disclosure("1", "1"))
	id = old.then(old.commit("t", toAuditors))
	form("a tape sealed to P-256 in a sandbox", holds, old, old.close(id, 1, sealed(key)))
	form("a tape sealed as to a hybrid key", "form", old, old.close(id, 1, sealedHybrid(key)))

	none := newStory()
	add("the first auditor of a sandbox may be of P-256", holds, none, none.auditor("1"))
	add("the first auditor of a sandbox may be hybrid", holds, none, none.auditor("hybrid 1"))
	p := newStory(production)
	add("an auditor of P-256 in production", "key", p, p.auditor("1"))
	add("a hybrid auditor in production", holds, p, p.auditor("hybrid 1"))

	empty := &story{now: sampleTime}
	genesis := func(name, rule string, changes ...func(*refGenesis)) {
		c.add("key", "genesis: "+name, rule, empty, newStory(changes...).entries[0])
	}
	genesis("hybrid auditors in production", holds, production, withAuditors("hybrid 1", "hybrid 2"))
	genesis("an auditor of P-256 in production", "key", production, withAuditors("1"))
	genesis("the second of two of P-256 in production", "key", production, withAuditors("hybrid 1", "2"))
	genesis("auditors of both types in a sandbox", "key", withAuditors("1", "hybrid 2"))
}

// weakKeys are keys by their form under which nothing can be signed or sealed.
func (c legalityCases) weakKeys() {
	s := newStory()
	add := func(name, rule string, subject uint8, key hexed) {
		e := s.key(refKey{Subject: subject, Public: key})
		if subject == 2 {
			e = s.disclosure("1", "1")
			e.Key.Public = key
		}
		c.add("key", "sound: "+name, rule, s, e)
	}
	ed := func(change func(b hexed)) hexed { k := make(hexed, 33); k[0] = 1; change(k[1:]); return k }
	add("a signing key", holds, 1, signingKey("2"))
	add("the identity for a signing key", "key", 1, ed(func(b hexed) { b[0] = 1 }))
	add("a signing key of order 4", "key", 1, ed(func(hexed) {}))
	add("a signing key of which there is another encoding, y = p + 3", "key", 1, ed(func(b hexed) {
		copy(b, slices.Repeat(hexed{0xff}, 32))
		b[0], b[31] = 0xf0, 0x7f
	}))
	add("a signing key that is no point, y = 2", "key", 1, ed(func(b hexed) { b[0] = 2 }))
	add("the point y = 3 for a signing key", holds, 1, ed(func(b hexed) { b[0] = 3 }))
	bent := func(name string, at int) hexed { k := auditorKey(name); k[at] ^= 1; return k }
	over := auditorKey("1")
	copy(over[2:34], slices.Repeat(hexed{0xff}, 32))
	add("an auditor key", holds, 3, auditorKey("3"))
	add("an auditor key off the curve by y", "key", 3, bent("3", 65))
	add("an auditor key off the curve by x", "key", 3, bent("3", 33))
	add("an auditor key of zeros", "key", 3, append(hexed{1, 4}, make(hexed, 64)...))
	add("an auditor key with x above the field", "key", 3, over)
	hybrid := newStory(withAuditors("hybrid 1"))
	above := auditorKey("hybrid 3")
	above[1], above[2] = 0x01, above[2]&0xf0|0x0d // a coefficient of 3329, which stands for 0
	below := auditorKey("hybrid 3")
	below[1], below[2] = 0x00, below[2]&0xf0|0x0d // of 3328
	for _, k := range []struct {
		name, rule string
		key        hexed
	}{{"off the curve", "key", bent("hybrid 3", 1249)}, {"not in its canonical encoding", "key", above},
		{"with the largest coefficient", holds, below}} {
		c.add("key", "sound: a hybrid auditor key "+k.name, k.rule, hybrid, s.key(refKey{Subject: 3, Public: k.key}))
	}
	s = newStory(withAuditors("1"))
	add("a disclosure key", holds, 2, auditorKey("disclosure 1"))
	add("a disclosure key off the curve", "key", 2, bent("disclosure 1", 65))

	empty := &story{now: sampleTime}
	genesis := func(name, rule string, change func(*refGenesis)) {
		c.add("key", "genesis: "+name, rule, empty, newStory(change).entries[0])
	}
	genesis("a signing key of small order", "key",
		func(g *refGenesis) { g.SigningKey = ed(func(b hexed) { b[0] = 1 }) })
	genesis("8 auditors", holds, func(g *refGenesis) {
		for i := range 8 {
			g.Auditors = append(g.Auditors, auditorKey(fmt.Sprint("n", i)))
		}
	})
	genesis("the second of two auditors off the curve", "key",
		func(g *refGenesis) { g.Auditors = []hexed{auditorKey("1"), bent("2", 65)} })
}

func (c legalityCases) policies() {
	empty := &story{now: sampleTime}
	asks := witnessPolicy("w1", "w2")
	for _, deals := range []uint8{1, 2} {
		name := []string{"", "signed", "cosigned"}[deals]
		s := newStory(cosignedDeals, func(g *refGenesis) { g.Deals = deals })
		none := map[uint8]string{1: holds, 2: "key"}[deals]
		for _, p := range []struct{ name, rule, text string }{
			{"witnesses", holds, asks},
			{"a log line, too", holds, "log " + refVKey(sampleOrigin, signer("1")) + "\n" + asks},
			{"witnesses that the quorum does not ask", none,
				strings.ReplaceAll(asks, "quorum any-of-them", "quorum none")},
			{"quorum none", none, "quorum none\n"},
			{"no quorum", "key", strings.ReplaceAll(asks, "quorum any-of-them\n", "")},
			{"a quorum of nobody known", "key", "quorum w1\n"},
			{"a witness twice", "key", asks + asks},
			{"words", "key", "two of three\n"},
			{"the ledger's name for a witness", "key", "witness w " + refWitnessKey(sampleOrigin, signer("w1")) +
				"\nquorum w\n"},
			{"the ledger's key for a witness", "key", "witness w " + refWitnessKey("witness.example/w1", signer("1")) +
				"\nquorum w\n"},
			{"the ledger's key in another type for a witness", holds, "witness w witness.example/w+01020304+" +
				refBase64(append([]byte{7}, signer("1").Public().(ed25519.PublicKey)...)) + "\n" + asks},
			{"the ledger's key as one that signs notes for a witness", "key", "witness w witness.example/w+01020304+" +
				refBase64(append([]byte{1}, signer("1").Public().(ed25519.PublicKey)...)) + "\n" + asks},
		} {
			c.add("key", name+", policy: "+p.name, p.rule, s, s.key(refKey{Subject: 4, Policy: p.text}))
			g := newStory(cosignedDeals, func(g *refGenesis) { g.Deals, g.Policy = deals, p.text })
			c.add("key", name+", genesis with policy: "+p.name, p.rule, empty, g.entries[0])
		}
		c.add("key", name+", a signing key that is a witness's", "key", s,
			s.key(refKey{Subject: 1, Public: signingKey("w1")}))
		c.add("key", name+", policy: nothing", "key", s, s.key(refKey{Subject: 4}))
	}
	c.add("key", "signed, genesis without a policy", holds, empty, newStory().entries[0])
}

func cosignedDeals(g *refGenesis) { g.Deals, g.Policy = 2, witnessPolicy("w1", "w2") }

func (c legalityCases) retirements() {
	add := func(name, rule string, s *story, next refEntry) { c.add("key", "retirement: "+name, rule, s, next) }
	s := newStory(withAuditors("1", "2"))
	add("the signing key in force", "key", s, s.retire(1, signingKey("1")))
	add("an unknown signing key", "key", s, s.retire(1, signingKey("2")))
	add("an auditor", holds, s, s.retire(3, auditorKey("1")))
	add("an auditor, as a signing key", "key", s, s.retire(1, auditorKey("1")))
	add("an auditor, as a disclosure key", "key", s, s.retire(2, auditorKey("1")))
	add("an unknown auditor", "key", s, s.retire(3, auditorKey("3")))
	add("a disclosure key before there is one", "key", s, s.retire(2, auditorKey("disclosure 1")))
	s.then(s.disclosure("1", "1", "2"))
	s.then(s.key(refKey{Subject: 1, Public: signingKey("2")}))
	add("the signing key that was replaced", holds, s, s.retire(1, signingKey("1")))
	add("the new signing key", "key", s, s.retire(1, signingKey("2")))
	add("the disclosure key", holds, s, s.retire(2, auditorKey("disclosure 1")))
	s.then(s.retire(1, signingKey("1")))
	s.then(s.retire(2, auditorKey("disclosure 1")))
	s.then(s.retire(3, auditorKey("1")))
	add("an auditor twice", "key", s, s.retire(3, auditorKey("1")))
	add("a signing key twice", "key", s, s.retire(1, signingKey("1")))
	add("a disclosure key twice", "key", s, s.retire(2, auditorKey("disclosure 1")))
	add("the last auditor in force", "key", s, s.retire(3, auditorKey("2")))
	s.then(s.auditor("3"))
	add("the last auditor of the genesis, when there is another", holds, s, s.retire(3, auditorKey("2")))
	from := s.retire(3, auditorKey("2"))
	from.Key.From = 0
	add("from the first time there is", holds, s, from)
	from = s.retire(3, auditorKey("2"))
	from.Key.From = maxInteger
	add("from the last time there is", holds, s, from)
}

func (c legalityCases) events() {
	c.add("time", "an alarm is always legal", holds, newStory(),
		operator(refEvent{Kind: 129, Alarm: 132, Reason: "two of three did not answer"}))
}

// twoRules breaks neighbours in the order of section 9: the first is named.
func (c legalityCases) twoRules() {
	s := newStory(func(g *refGenesis) { g.MixModes = 0 })
	id := s.then(s.commit("t"))
	s.then(s.deal(id, 0, 1))
	s.then(operator(refEvent{Kind: 3, Table: "t"}))
	s.then(killSwitch(true, 1, "", nil))
	s.then(refEntry{Event: &refEvent{Kind: 6, Cause: 2, Instance: 1}})
	// A commit that breaks every rule of commits, and then one less and less.
	wrong := func(n int) refEntry {
		e := s.commit("t", planned(refSource{Source: 3}), toAuditors, child(id, 0, 9))
		k := e.Commit
		k.Context.Origin, k.Instance, k.Serial, k.Previous, k.CloseBy = "x", 9, 7, 1, s.now
		repairs := []func(){
			func() { k.Context.Origin = sampleOrigin }, func() { k.Instance = 1 }, func() {}, func() {}, func() {},
			func() { k.Serial, k.Previous = 2, id }, func() { k.CloseBy++ }, func() { k.Context.Plan = nil },
			func() { k.Context.Disclosure = 1 }, func() { k.Context.Parent.Positions[1] = 1 },
		}
		for _, repair := range repairs[:n] {
			repair()
		}
		return e
	}
	repairLedger := map[int]refEntry{3: operator(refEvent{Kind: 7, Reason: "r"}), 4: killSwitch(false, 1, "", nil),
		5: operator(refEvent{Kind: 2, Table: "t"})}
	for n, rule := range []string{"origin", "instance", "latch", "kill", "table", "serial", "close_by", "mix_modes",
		"disclosure_key", "parent", holds} {
		if e, ok := repairLedger[n]; ok {
			s.then(e)
		}
		about := rule
		if rule == holds {
			about = "parent"
		}
		c.add(about, fmt.Sprintf("two rules: a commit with %d of its faults repaired", n), rule, s, wrong(n))
	}
	late := wrong(0)
	late.Time = s.now - 1
	c.add("time", "two rules: earlier than below, and much else", "time", s, late)

	q := newStory(cosignedDeals)
	q.then(q.commit("t"))
	slot, plan := storySlot("t", 0)
	id = q.then(q.commit("t", planned(plan)))
	overdue := func(e refEntry) refEntry { e.Time = q.now + 60_000; return e }
	bad := q.mix(id, refValue{Source: 1, Value: bytesOf("x", 32)})
	bad.Mix.Checkpoint = 99
	deal := q.deal(id, 7, 9)
	c.add("not_open", "two rules: a deal of nothing, late", "not_open", q, overdue(q.deal(9, 7, 9)))
	c.add("deadline", "two rules: a deal late and out of turn", "deadline", q, overdue(deal))
	c.add("earlier_serial", "two rules: a deal out of turn and before the mix", "earlier_serial", q, deal)
	c.add("earlier_serial", "two rules: a mix out of turn and wrong", "earlier_serial", q, bad)
	q.then(q.close(2, 2))
	c.add("mix", "two rules: a deal before the mix and at a wrong place", "mix", q, deal)
	c.add("mix", "two rules: a mix with a wrong value and a wrong size", "mix", q, bad)
	good := q.mix(id, slot)
	good.Mix.Checkpoint = id + 1
	q.then(good)
	c.add("place", "two rules: a deal at a wrong place, with too many cards", "place", q, deal)
	c.add("places", "two rules: a deal with too many cards and no checkpoint", "places", q, q.deal(id, 0, 9, under(0)))
	c.add("checkpoint", "two rules: only the checkpoint is missing", "checkpoint", q, q.deal(id, 0, 4, under(0)))
	c.add("not_open", "two rules: a close of nothing, continued", "not_open", q, q.close(9, 3))
	c.add("deadline", "two rules: continued, late", "deadline", q, overdue(q.close(id, 3)))
	c.add("form", "two rules: sealed, to no disclosure key", "form", q, q.close(id, 1, sealed(2)))
}
