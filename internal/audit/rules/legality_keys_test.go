package rules

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit/spec"
)

func (c legalityCases) disclosureKeys() {
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("disclosure_key", name, rule, s, next) }
	s := spec.NewStory(spec.WithAuditors("1"))
	add("a commit to auditors without a disclosure key", "disclosure_key", s, s.Commit("t", spec.ToAuditors))
	add("a public commit without a disclosure key", holds, s, s.Commit("t"))
	key := s.Then(s.Disclosure("1", "1"))
	add("a commit to auditors", holds, s, s.Commit("t", spec.ToAuditors))
	id := s.Then(s.Commit("t", spec.ToAuditors))
	add("a close to the newest key", holds, s, s.Close(id, 1, spec.Sealed(key)))
	add("a close to an index that holds no key", "disclosure_key", s, s.Close(id, 1, spec.Sealed(id)))
	add("a close to index 0", "disclosure_key", s, s.Close(id, 1, spec.Sealed(0)))
	newer := s.Then(s.Disclosure("2", "1"))
	add("a close to the newer key", holds, s, s.Close(id, 1, spec.Sealed(newer)))
	add("a close to the older key", "disclosure_key", s, s.Close(id, 1, spec.Sealed(key)))
	s.Then(s.Auditor("2"))
	add("a commit after a new auditor", "disclosure_key", s, s.Commit("t", spec.ToAuditors))
	add("a close after a new auditor", "disclosure_key", s, s.Close(id, 1, spec.Sealed(newer)))
	add("tape_lost after a new auditor", holds, s, s.Close(id, 4, spec.TapeLost))
	both := s.Then(s.Disclosure("3", "1", "2"))
	add("a commit after a key for both auditors", holds, s, s.Commit("t", spec.ToAuditors))
	add("a close after a key for both auditors", holds, s, s.Close(id, 1, spec.Sealed(both)))
	s.Then(s.Retire(3, spec.AuditorKey("1")))
	add("a commit after an auditor retired", "disclosure_key", s, s.Commit("t", spec.ToAuditors))
	add("a close after an auditor retired", "disclosure_key", s, s.Close(id, 1, spec.Sealed(both)))
	last := s.Then(s.Disclosure("4", "2"))
	add("a close after a key for the auditor who stayed", holds, s, s.Close(id, 1, spec.Sealed(last)))
	s.Then(s.Retire(2, spec.AuditorKey("disclosure 3")))
	add("a commit after an older key retired", holds, s, s.Commit("t", spec.ToAuditors))
	add("a close after an older key retired", holds, s, s.Close(id, 1, spec.Sealed(last)))
	s.Then(s.Retire(2, spec.AuditorKey("disclosure 4")))
	add("a commit after the newest key retired", "disclosure_key", s, s.Commit("t", spec.ToAuditors))
	add("a close after the newest key retired", "disclosure_key", s, s.Close(id, 1, spec.Sealed(last)))
	s.Then(s.Disclosure("5", "2"))
	add("a commit after a key for the retired one", holds, s, s.Commit("t", spec.ToAuditors))
	s.Then(s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"}))
	s.Then(s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("2")}))
	s.Then(s.Retire(1, spec.SigningKey("1")))
	add("other keys change nothing for auditors", holds, s, s.Commit("t", spec.ToAuditors))
}

func (c legalityCases) keys() {
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("key", name, rule, s, next) }
	s := spec.NewStory(spec.WithAuditors("1", "2"))
	public := func(subject uint8, key spec.Hexed) spec.Entry { return s.Key(spec.Key{Subject: subject, Public: key}) }
	add("a new signing key", holds, s, public(1, spec.SigningKey("2")))
	add("the signing key of the genesis again", "key", s, public(1, spec.SigningKey("1")))
	add("a new auditor", holds, s, public(3, spec.AuditorKey("3")))
	add("an auditor of the genesis again", "key", s, public(3, spec.AuditorKey("2")))
	s.Then(public(1, spec.SigningKey("2")))
	add("a replaced signing key comes back", "key", s, public(1, spec.SigningKey("1")))
	add("the signing key in force again", "key", s, public(1, spec.SigningKey("2")))
	add("a policy, which is no key", holds, s, s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"}))

	add("wrapped to both auditors", holds, s, s.Disclosure("1", "1", "2"))
	add("wrapped to one of two auditors", "key", s, s.Disclosure("1", "1"))
	add("wrapped to a stranger, too", "key", s, s.Disclosure("1", "1", "2", "3"))
	add("wrapped to a stranger in place of an auditor", "key", s, s.Disclosure("1", "1", "3"))
	s.Then(s.Disclosure("1", "1", "2"))
	add("a disclosure key again", "key", s, s.Disclosure("1", "1", "2"))
	again := s.Disclosure("9", "1", "2")
	again.Key.Public = spec.AuditorKey("1")
	add("an auditor's key for disclosure", "key", s, again)
	add("a disclosure key for an auditor", "key", s, public(3, spec.AuditorKey("disclosure 1")))
	s.Then(s.Retire(3, spec.AuditorKey("2")))
	add("a retired auditor comes back", "key", s, public(3, spec.AuditorKey("2")))
	add("wrapped to a retired auditor, too", "key", s, s.Disclosure("2", "1", "2"))
	add("wrapped to the auditor who stayed", holds, s, s.Disclosure("2", "1"))

	none := spec.NewStory()
	add("wrapped to somebody where there are no auditors", "key", none, none.Disclosure("1", "1"))
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("n", i))
	}
	many := spec.NewStory(spec.WithAuditors(names...))
	for i := range 23 {
		many.Then(many.Auditor(fmt.Sprint("m", i)))
	}
	add("the 32nd auditor", holds, many, many.Auditor("1"))
	many.Then(many.Auditor("1"))
	add("the 33rd auditor", "key", many, many.Auditor("2"))
	many.Then(many.Retire(3, spec.AuditorKey("1")))
	add("a 32nd auditor after one retired", holds, many, many.Auditor("2"))
}

// types: the keys that tapes are sealed to have one type, in production the hybrid one.
func (c legalityCases) types() {
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("key", "type: "+name, rule, s, next) }
	s := spec.NewStory(spec.WithAuditors("hybrid 1"))
	add("a second hybrid auditor", holds, s, s.Auditor("hybrid 2"))
	add("an auditor of P-256 after a hybrid one", "key", s, s.Auditor("2"))
	add("a hybrid disclosure key", holds, s, s.Disclosure("hybrid 1", "hybrid 1"))
	add("a disclosure key of P-256 for a hybrid auditor", "key", s, s.Disclosure("1", "hybrid 1"))
	key := s.Then(s.Disclosure("hybrid 1", "hybrid 1"))
	id := s.Then(s.Commit("t", spec.ToAuditors))
	form := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("form", "type: "+name, rule, s, next) }
	form("a tape sealed to a hybrid key", holds, s, s.Close(id, 1, spec.SealedHybrid(key)))
	form("a tape sealed as to P-256", "form", s, s.Close(id, 1, spec.Sealed(key)))

	old := spec.NewStory(spec.WithAuditors("1"))
	add("a hybrid auditor after one of P-256", "key", old, old.Auditor("hybrid 2"))
	add("a hybrid disclosure key for an auditor of P-256", "key", old, old.Disclosure("hybrid 1", "1"))
	key = old.Then(old.Disclosure("1", "1"))
	id = old.Then(old.Commit("t", spec.ToAuditors))
	form("a tape sealed to P-256 in a sandbox", holds, old, old.Close(id, 1, spec.Sealed(key)))
	form("a tape sealed as to a hybrid key", "form", old, old.Close(id, 1, spec.SealedHybrid(key)))

	none := spec.NewStory()
	add("the first auditor of a sandbox may be of P-256", holds, none, none.Auditor("1"))
	add("the first auditor of a sandbox may be hybrid", holds, none, none.Auditor("hybrid 1"))
	p := spec.NewStory(spec.Production)
	add("an auditor of P-256 in production", "key", p, p.Auditor("1"))
	add("a hybrid auditor in production", holds, p, p.Auditor("hybrid 1"))

	empty := &spec.Story{Now: spec.SampleTime}
	genesis := func(name, rule string, changes ...func(*spec.Genesis)) {
		c.add("key", "genesis: "+name, rule, empty, spec.NewStory(changes...).Entries[0])
	}
	genesis("hybrid auditors in production", holds, spec.Production, spec.WithAuditors("hybrid 1", "hybrid 2"))
	genesis("an auditor of P-256 in production", "key", spec.Production, spec.WithAuditors("1"))
	genesis("the second of two of P-256 in production", "key", spec.Production, spec.WithAuditors("hybrid 1", "2"))
	genesis("auditors of both types in a sandbox", "key", spec.WithAuditors("1", "hybrid 2"))
}

// weakKeys are keys by their form under which nothing can be signed or sealed.
func (c legalityCases) weakKeys() {
	s := spec.NewStory()
	add := func(name, rule string, subject uint8, key spec.Hexed) {
		e := s.Key(spec.Key{Subject: subject, Public: key})
		if subject == 2 {
			e = s.Disclosure("1", "1")
			e.Key.Public = key
		}
		c.add("key", "sound: "+name, rule, s, e)
	}
	ed := func(change func(b spec.Hexed)) spec.Hexed {
		k := make(spec.Hexed, 33)
		k[0] = 1
		change(k[1:])
		return k
	}
	add("a signing key", holds, 1, spec.SigningKey("2"))
	add("the identity for a signing key", "key", 1, ed(func(b spec.Hexed) { b[0] = 1 }))
	add("a signing key of order 4", "key", 1, ed(func(spec.Hexed) {}))
	add("a signing key of which there is another encoding, y = p + 3", "key", 1, ed(func(b spec.Hexed) {
		copy(b, slices.Repeat(spec.Hexed{0xff}, 32))
		b[0], b[31] = 0xf0, 0x7f
	}))
	add("a signing key that is no point, y = 2", "key", 1, ed(func(b spec.Hexed) { b[0] = 2 }))
	add("the point y = 3 for a signing key", holds, 1, ed(func(b spec.Hexed) { b[0] = 3 }))
	bent := func(name string, at int) spec.Hexed { k := spec.AuditorKey(name); k[at] ^= 1; return k }
	over := spec.AuditorKey("1")
	copy(over[2:34], slices.Repeat(spec.Hexed{0xff}, 32))
	add("an auditor key", holds, 3, spec.AuditorKey("3"))
	add("an auditor key off the curve by y", "key", 3, bent("3", 65))
	add("an auditor key off the curve by x", "key", 3, bent("3", 33))
	add("an auditor key of zeros", "key", 3, append(spec.Hexed{1, 4}, make(spec.Hexed, 64)...))
	add("an auditor key with x above the field", "key", 3, over)
	hybrid := spec.NewStory(spec.WithAuditors("hybrid 1"))
	above := spec.AuditorKey("hybrid 3")
	above[1], above[2] = 0x01, above[2]&0xf0|0x0d // a coefficient of 3329, which stands for 0
	below := spec.AuditorKey("hybrid 3")
	below[1], below[2] = 0x00, below[2]&0xf0|0x0d // of 3328
	for _, k := range []struct {
		name, rule string
		key        spec.Hexed
	}{{"off the curve", "key", bent("hybrid 3", 1249)}, {"not in its canonical encoding", "key", above},
		{"with the largest coefficient", holds, below}} {
		c.add("key", "sound: a hybrid auditor key "+k.name, k.rule, hybrid, s.Key(spec.Key{Subject: 3, Public: k.key}))
	}
	s = spec.NewStory(spec.WithAuditors("1"))
	add("a disclosure key", holds, 2, spec.AuditorKey("disclosure 1"))
	add("a disclosure key off the curve", "key", 2, bent("disclosure 1", 65))

	empty := &spec.Story{Now: spec.SampleTime}
	genesis := func(name, rule string, change func(*spec.Genesis)) {
		c.add("key", "genesis: "+name, rule, empty, spec.NewStory(change).Entries[0])
	}
	genesis("a signing key of small order", "key",
		func(g *spec.Genesis) { g.SigningKey = ed(func(b spec.Hexed) { b[0] = 1 }) })
	genesis("8 auditors", holds, func(g *spec.Genesis) {
		for i := range 8 {
			g.Auditors = append(g.Auditors, spec.AuditorKey(fmt.Sprint("n", i)))
		}
	})
	genesis("the second of two auditors off the curve", "key",
		func(g *spec.Genesis) { g.Auditors = []spec.Hexed{spec.AuditorKey("1"), bent("2", 65)} })
}

func (c legalityCases) policies() {
	empty := &spec.Story{Now: spec.SampleTime}
	asks := spec.WitnessPolicy("w1", "w2")
	for _, deals := range []uint8{1, 2} {
		name := []string{"", "signed", "cosigned"}[deals]
		s := spec.NewStory(cosignedDeals, func(g *spec.Genesis) { g.Deals = deals })
		none := map[uint8]string{1: holds, 2: "key"}[deals]
		for _, p := range []struct{ name, rule, text string }{
			{"witnesses", holds, asks},
			{"a log line, too", holds, "log " + spec.VKey(spec.SampleOrigin, spec.Signer("1")) + "\n" + asks},
			{"witnesses that the quorum does not ask", none,
				strings.ReplaceAll(asks, "quorum any-of-them", "quorum none")},
			{"quorum none", none, "quorum none\n"},
			{"no quorum", "key", strings.ReplaceAll(asks, "quorum any-of-them\n", "")},
			{"a quorum of nobody known", "key", "quorum w1\n"},
			{"a witness twice", "key", asks + asks},
			{"words", "key", "two of three\n"},
			{"the ledger's name for a witness", "key", "witness w " + spec.WitnessKey(spec.SampleOrigin,
				spec.Signer("w1")) +
				"\nquorum w\n"},
			{"the ledger's key for a witness", "key", "witness w " + spec.WitnessKey("witness.example/w1",
				spec.Signer("1")) +
				"\nquorum w\n"},
			{"the ledger's key in another type for a witness", holds, "witness w witness.example/w+01020304+" +
				spec.Base64(append([]byte{7}, spec.Signer("1").Public().(ed25519.PublicKey)...)) + "\n" + asks},
			{"the ledger's key as one that signs notes for a witness", "key", "witness w witness.example/w+01020304+" +
				spec.Base64(append([]byte{1}, spec.Signer("1").Public().(ed25519.PublicKey)...)) + "\n" + asks},
		} {
			c.add("key", name+", policy: "+p.name, p.rule, s, s.Key(spec.Key{Subject: 4, Policy: p.text}))
			g := spec.NewStory(cosignedDeals, func(g *spec.Genesis) { g.Deals, g.Policy = deals, p.text })
			c.add("key", name+", genesis with policy: "+p.name, p.rule, empty, g.Entries[0])
		}
		c.add("key", name+", a signing key that is a witness's", "key", s,
			s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("w1")}))
		c.add("key", name+", policy: nothing", "key", s, s.Key(spec.Key{Subject: 4}))
	}
	c.add("key", "signed, genesis without a policy", holds, empty, spec.NewStory().Entries[0])
}

func cosignedDeals(g *spec.Genesis) { g.Deals, g.Policy = 2, spec.WitnessPolicy("w1", "w2") }

func (c legalityCases) retirements() {
	add := func(name, rule string, s *spec.Story, next spec.Entry) {
		c.add("key", "retirement: "+name, rule, s, next)
	}
	s := spec.NewStory(spec.WithAuditors("1", "2"))
	add("the signing key in force", "key", s, s.Retire(1, spec.SigningKey("1")))
	add("an unknown signing key", "key", s, s.Retire(1, spec.SigningKey("2")))
	add("an auditor", holds, s, s.Retire(3, spec.AuditorKey("1")))
	add("an auditor, as a signing key", "key", s, s.Retire(1, spec.AuditorKey("1")))
	add("an auditor, as a disclosure key", "key", s, s.Retire(2, spec.AuditorKey("1")))
	add("an unknown auditor", "key", s, s.Retire(3, spec.AuditorKey("3")))
	add("a disclosure key before there is one", "key", s, s.Retire(2, spec.AuditorKey("disclosure 1")))
	s.Then(s.Disclosure("1", "1", "2"))
	s.Then(s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("2")}))
	add("the signing key that was replaced", holds, s, s.Retire(1, spec.SigningKey("1")))
	add("the new signing key", "key", s, s.Retire(1, spec.SigningKey("2")))
	add("the disclosure key", holds, s, s.Retire(2, spec.AuditorKey("disclosure 1")))
	s.Then(s.Retire(1, spec.SigningKey("1")))
	s.Then(s.Retire(2, spec.AuditorKey("disclosure 1")))
	s.Then(s.Retire(3, spec.AuditorKey("1")))
	add("an auditor twice", "key", s, s.Retire(3, spec.AuditorKey("1")))
	add("a signing key twice", "key", s, s.Retire(1, spec.SigningKey("1")))
	add("a disclosure key twice", "key", s, s.Retire(2, spec.AuditorKey("disclosure 1")))
	add("the last auditor in force", "key", s, s.Retire(3, spec.AuditorKey("2")))
	s.Then(s.Auditor("3"))
	add("the last auditor of the genesis, when there is another", holds, s, s.Retire(3, spec.AuditorKey("2")))
	from := s.Retire(3, spec.AuditorKey("2"))
	from.Key.From = 0
	add("from the first time there is", holds, s, from)
	from = s.Retire(3, spec.AuditorKey("2"))
	from.Key.From = spec.MaxInteger
	add("from the last time there is", holds, s, from)
}

// twoRules breaks neighbours in the order of section 9: the first is named.
func (c legalityCases) twoRules() {
	s := spec.NewStory(func(g *spec.Genesis) { g.MixModes = 0 })
	id := s.Then(s.Commit("t"))
	s.Then(s.Deal(id, 0, 1))
	s.Then(spec.Operator(spec.Event{Kind: 3, Table: "t"}))
	s.Then(spec.KillSwitch(true, 1, "", nil))
	s.Then(spec.Entry{Event: &spec.Event{Kind: 6, Cause: 2, Instance: 1}})
	// A commit that breaks every rule of commits, and then one less and less.
	wrong := func(n int) spec.Entry {
		e := s.Commit("t", spec.Planned(spec.Source{Source: 3}), spec.ToAuditors, spec.ChildOf(id, 0, 9))
		k := e.Commit
		k.Context.Origin, k.Instance, k.Serial, k.Previous, k.CloseBy = "x", 9, 7, 1, s.Now
		repairs := []func(){
			func() { k.Context.Origin = spec.SampleOrigin }, func() { k.Instance = 1 }, func() {}, func() {}, func() {},
			func() { k.Serial, k.Previous = 2, id }, func() { k.CloseBy++ }, func() { k.Context.Plan = nil },
			func() { k.Context.Disclosure = 1 }, func() { k.Context.Parent.Positions[1] = 1 },
		}
		for _, repair := range repairs[:n] {
			repair()
		}
		return e
	}
	repairLedger := map[int]spec.Entry{3: spec.Operator(spec.Event{Kind: 7, Reason: "r"}), 4: spec.KillSwitch(false, 1,
		"", nil), 5: spec.Operator(spec.Event{Kind: 2, Table: "t"})}
	for n, rule := range []string{"origin", "instance", "latch", "kill", "table", "serial", "close_by", "mix_modes",
		"disclosure_key", "parent", holds} {
		if e, ok := repairLedger[n]; ok {
			s.Then(e)
		}
		about := rule
		if rule == holds {
			about = "parent"
		}
		c.add(about, fmt.Sprintf("two rules: a commit with %d of its faults repaired", n), rule, s, wrong(n))
	}
	late := wrong(0)
	late.Time = s.Now - 1
	c.add("time", "two rules: earlier than below, and much else", "time", s, late)

	q := spec.NewStory(cosignedDeals)
	q.Then(q.Commit("t"))
	slot, plan := spec.StorySlot("t", 0)
	id = q.Then(q.Commit("t", spec.Planned(plan)))
	overdue := func(e spec.Entry) spec.Entry { e.Time = q.Now + 60_000; return e }
	bad := q.Mix(id, spec.Value{Source: 1, Value: spec.BytesOf("x", 32)})
	bad.Mix.Checkpoint = 99
	deal := q.Deal(id, 7, 9)
	c.add("not_open", "two rules: a deal of nothing, late", "not_open", q, overdue(q.Deal(9, 7, 9)))
	c.add("deadline", "two rules: a deal late and out of turn", "deadline", q, overdue(deal))
	c.add("earlier_serial", "two rules: a deal out of turn and before the mix", "earlier_serial", q, deal)
	c.add("earlier_serial", "two rules: a mix out of turn and wrong", "earlier_serial", q, bad)
	q.Then(q.Close(2, 2))
	c.add("mix", "two rules: a deal before the mix and at a wrong place", "mix", q, deal)
	c.add("mix", "two rules: a mix with a wrong value and a wrong size", "mix", q, bad)
	good := q.Mix(id, slot)
	good.Mix.Checkpoint = id + 1
	q.Then(good)
	c.add("place", "two rules: a deal at a wrong place, with too many cards", "place", q, deal)
	c.add("places", "two rules: a deal with too many cards and no checkpoint", "places", q, q.Deal(id, 0, 9, spec.Under(0)))
	c.add("checkpoint", "two rules: only the checkpoint is missing", "checkpoint", q, q.Deal(id, 0, 4, spec.Under(0)))
	c.add("not_open", "two rules: a close of nothing, continued", "not_open", q, q.Close(9, 3))
	c.add("deadline", "two rules: continued, late", "deadline", q, overdue(q.Close(id, 3)))
	c.add("form", "two rules: sealed, to no disclosure key", "form", q, q.Close(id, 1, spec.Sealed(2)))
}
