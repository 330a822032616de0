package rules_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/shuffle"
)

// aloneID is the index of the commit in TestCheckShuffle: entries of others lie below it and between its own.
const aloneID = 100

// aloneKey is the type byte and the base point of Ed25519 (RFC 8032 section 5.1), which is a public key as good as any.
var aloneKey = append([]byte{1, 0x58}, bytes.Repeat([]byte{0x66}, 31)...)

// hashOf is the hash of a genesis, zero for one that breaks a rule.
func hashOf(genesis rules.Placed) [32]byte {
	s := rules.NewState()
	s.Apply(genesis.Entry) // CheckShuffle tells the error
	return s.GenesisHash()
}

// alone returns the genesis, a commit at aloneID, a deal and a close.
func alone() []rules.Placed {
	at := func(index uint64, ms int64, body audit.Body) rules.Placed {
		return rules.Placed{Index: index,
			Entry: audit.Entry{Time: ms, Actor: audit.Actor{Identity: "dealer-1", Credential: "token-1"}, Body: body}}
	}
	genesis := at(0, 1000, &audit.Genesis{Revision: 1, Origin: "example.com/alone", SigningKey: aloneKey,
		Deals: audit.DealsSigned, Disclosure: audit.DisclosurePublic, DefaultCloseBy: 60, MaxCloseBy: 60,
		Access: audit.AccessPublic})
	ctx := &audit.Context{Origin: "example.com/alone", Genesis: hashOf(genesis), Table: "t",
		Recipe: shuffle.Recipe{Cards: 6, Take: 6}, Disclosure: audit.DisclosurePublic}
	return []rules.Placed{
		genesis,
		at(aloneID, 2000, &audit.Commit{Context: ctx, Serial: 7, Previous: 50, CloseBy: 62_000, Instance: 9}),
		at(110, 3000, &audit.Deal{Shuffle: aloneID, Checkpoint: aloneID + 1,
			Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeBoard}}}),
		at(120, 4000, &audit.Close{Shuffle: aloneID, Outcome: audit.OutcomeCompleted, Form: audit.FormTape,
			Tape: make([]byte, ctx.Recipe.TapeLen())}),
	}
}

// counted counts the entries of the shuffle in front of a close or disclosure.
func counted(entries []rules.Placed) []rules.Placed {
	for i, e := range entries {
		switch b := e.Entry.Body.(type) {
		case *audit.Close:
			c := *b
			c.Entries = i - 1
			entries[i].Entry.Body = &c
		case *audit.DisclosureEntry:
			d := *b
			d.Entries = i - 1
			entries[i].Entry.Body = &d
		}
	}
	return entries
}

// seedKey is the key of a seed of zeros.
var seedKey = append([]byte{1}, ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)...)

// otherKey is the point y = 3 of edwards25519.
var otherKey = append([]byte{1, 3}, make([]byte, 31)...)

func list(changes ...func([]rules.Placed) []rules.Placed) []func([]rules.Placed) []rules.Placed {
	return changes
}

// without takes an entry out.
func without(i int) func([]rules.Placed) []rules.Placed {
	return func(e []rules.Placed) []rules.Placed { return slices.Delete(e, i, i+1) }
}

func TestCheckShuffle(t *testing.T) {
	t.Parallel()
	commit := func(e []rules.Placed) *audit.Commit { return e[1].Entry.Body.(*audit.Commit) }
	deal := func(e []rules.Placed) *audit.Deal { return e[2].Entry.Body.(*audit.Deal) }
	closing := func(e []rules.Placed) *audit.Close { return e[3].Entry.Body.(*audit.Close) }
	continued := func(e []rules.Placed) {
		*closing(e) = audit.Close{Shuffle: aloneID, Outcome: audit.OutcomeContinued}
	}
	child := func(e []rules.Placed) {
		commit(e).Context.Parent = &audit.Parent{ID: 40, Positions: []uint16{5, 4, 3, 2, 1, 0}}
	}
	seal := func(e []rules.Placed, key uint64) {
		commit(e).Context.Disclosure = audit.DisclosureAuditor
		closing(e).Form, closing(e).Key, closing(e).Tape = audit.FormSealed, key,
			append(closing(e).Tape, make([]byte, 81)...)
	}
	dealer2 := audit.Actor{Identity: "dealer-2", Credential: "token-2"}
	// taken puts takeovers by dealer-2 between the commit and the deal.
	taken := func(extents ...audit.Extent) func([]rules.Placed) []rules.Placed {
		return func(e []rules.Placed) []rules.Placed {
			for i, extent := range extents {
				e = slices.Insert(e, 2+i,
					rules.Placed{Index: aloneID + 1 + uint64(i), Entry: audit.Entry{Time: 2500, Actor: dealer2,
						Body: &audit.Takeover{Shuffle: aloneID, Extent: extent, Reason: "r"}}})
			}
			return e
		}
	}
	by := func(a audit.Actor, at ...int) func([]rules.Placed) []rules.Placed {
		return func(e []rules.Placed) []rules.Placed {
			for _, i := range at {
				e[i].Entry.Actor = a
			}
			return e
		}
	}
	// then puts entries behind a close as continued, from index 130 on.
	then := func(bodies ...audit.Body) func([]rules.Placed) []rules.Placed {
		return func(e []rules.Placed) []rules.Placed {
			continued(e)
			for i, b := range bodies {
				e = append(e, rules.Placed{Index: 130 + 10*uint64(i),
					Entry: audit.Entry{Time: 90_000, Actor: dealer2, Body: b}})
			}
			return e
		}
	}
	disclosed := &audit.DisclosureEntry{Shuffle: aloneID, Form: audit.FormTape, Tape: closing(alone()).Tape}
	reveal := &audit.Reveal{Shuffle: aloneID, Places: []uint16{0}}
	for name, test := range map[string]struct {
		rule   string
		change []func([]rules.Placed) []rules.Placed
	}{
		"continued, and revealed by a later owner": {"", list(then(reveal))},
		"continued, and disclosed":                 {"", list(then(disclosed))},
		"continued, revealed and disclosed":        {"", list(then(reveal, disclosed))},
		"continued, its tape lost":                 {"", list(then(&audit.DisclosureEntry{Shuffle: aloneID}))},
		"continued, and dealt":                     {audit.RuleNotOpen, list(then(deal(alone())))},
		"continued, and closed":                    {audit.RuleNotOpen, list(then(closing(alone())))},
		"continued, disclosed twice":               {audit.RuleNotOpen, list(then(disclosed, disclosed))},
		"continued, disclosed and revealed":        {audit.RuleNotOpen, list(then(disclosed, reveal))},
		"disclosed, and not continued": {audit.RuleNotOpen, list(func(e []rules.Placed) []rules.Placed {
			return append(e, rules.Placed{Index: 121,
				Entry: audit.Entry{Time: 90_000, Actor: dealer2, Body: disclosed}})
		})},
		"taken over to play":                {"", list(taken(audit.ExtentPlay), by(dealer2, 3, 4))},
		"taken over to close":               {"", list(taken(audit.ExtentClose), by(dealer2, 4), without(3))},
		"taken over to close, then to play": {"", list(taken(audit.ExtentClose, audit.ExtentPlay), by(dealer2, 4, 5))},
		"another shuffle taken over": {audit.RuleNotOpen,
			list(taken(audit.ExtentPlay), func(e []rules.Placed) []rules.Placed {
				e[2].Entry.Body.(*audit.Takeover).Shuffle++
				return e
			})},
		"taken over after a final deal": {audit.RulePair, list(func(e []rules.Placed) []rules.Placed {
			deal(e).Final = true
			return slices.Insert(e, 3, rules.Placed{Index: 111, Entry: audit.Entry{Time: 3000, Actor: dealer2,
				Body: &audit.Takeover{Shuffle: aloneID, Extent: audit.ExtentClose, Reason: "r"}}})
		}, by(dealer2, 4))},
		"in production, where a takeover to play needs an act that the file does not hold": {"",
			list(taken(audit.ExtentPlay), by(dealer2, 3, 4), func(e []rules.Placed) []rules.Placed {
				g := e[0].Entry.Body.(*audit.Genesis)
				g.Production, commit(e).Context.Production = true, true
				g.Administrators = []audit.Administrator{{Name: "a", Key: seedKey}, {Name: "b", Key: otherKey}}
				g.TwoPersons = []audit.Act{audit.ActAdministrator, audit.ActAdminCredential, audit.ActTakeover,
					audit.ActTwoPersons, audit.ActCoDealer}
				return e
			})},
		"in production without administrators": {audit.RuleAdmins, list(func(e []rules.Placed) []rules.Placed {
			e[0].Entry.Body.(*audit.Genesis).Production, commit(e).Context.Production = true, true
			return e
		})},
		"a child, continued by another": {audit.RuleOwner,
			list(func(e []rules.Placed) []rules.Placed { child(e); return e }, by(dealer2, 2))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := alone()
			for _, change := range test.change {
				entries = change(entries)
			}
			commit(entries).Context.Genesis = hashOf(entries[0])
			err := rules.CheckShuffle(counted(entries))
			var illegal *audit.Illegal
			if test.rule == "" && err != nil || test.rule != "" &&
				(!errors.As(err, &illegal) || illegal.Code != test.rule) {
				t.Errorf("%v, want %q", err, test.rule)
			}
		})
	}
	for name, test := range map[string]struct {
		rule   string // "" for legal
		change func(e []rules.Placed)
	}{
		"as it is":                        {"", func([]rules.Placed) {}},
		"first serial":                    {"", func(e []rules.Placed) { commit(e).Serial, commit(e).Previous = 1, 0 }},
		"final with its close":            {"", func(e []rules.Placed) { deal(e).Final, e[3].Index = true, 111 }},
		"a child":                         {"", child},
		"continued":                       {"", func(e []rules.Placed) { continued(e) }},
		"sealed to a key below":           {"", func(e []rules.Placed) { seal(e, 60) }},
		"sealed to a key that came after": {"", func(e []rules.Placed) { seal(e, 119) }},
		"tape lost": {"", func(e []rules.Placed) {
			*closing(e) = audit.Close{Shuffle: aloneID, Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost}
		}},

		"another genesis": {audit.RuleGenesisFirst, func(e []rules.Placed) { e[2].Entry.Body = e[0].Entry.Body }},
		"no genesis":      {audit.RuleGenesisFirst, func(e []rules.Placed) { e[0].Entry.Body = e[2].Entry.Body }},
		"origin": {audit.RuleOrigin,
			func(e []rules.Placed) { commit(e).Context.Origin = "example.com/other" }},
		"production": {audit.RuleOrigin, func(e []rules.Placed) { commit(e).Context.Production = true }},
		"parent 0": {audit.RuleParent,
			func(e []rules.Placed) { child(e); commit(e).Context.Parent.ID = 0 }},
		"no room for a parent": {audit.RulePair, func(e []rules.Placed) { child(e); e[2].Index = aloneID + 1 }},
		"a deal of the parent": {audit.RulePlace, func(e []rules.Placed) { child(e); deal(e).Shuffle = 40 }},
		"a mix of the parent": {audit.RuleMix, func(e []rules.Placed) {
			child(e)
			e[2].Entry.Body = &audit.Mix{Shuffle: 40, Values: []audit.MixValue{{Source: audit.SourceCut}}}
		}},
		"another shuffle": {audit.RuleNotOpen, func(e []rules.Placed) { deal(e).Shuffle++ }},
		"no checkpoint":   {audit.RuleCheckpoint, func(e []rules.Placed) { deal(e).Checkpoint = 0 }},
		"a commit more":   {audit.RuleSerial, func(e []rules.Placed) { e[2].Entry.Body = e[1].Entry.Body }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := alone()
			test.change(entries)
			commit(entries).Context.Genesis = hashOf(entries[0])
			err := rules.CheckShuffle(counted(entries))
			var illegal *audit.Illegal
			if test.rule == "" && err != nil || test.rule != "" &&
				(!errors.As(err, &illegal) || illegal.Code != test.rule) {
				t.Errorf("%v, want %q", err, test.rule)
			}
		})
	}

	t.Run("open", func(t *testing.T) {
		t.Parallel()
		for n := 2; n <= 4; n++ {
			if err := rules.CheckShuffle(counted(alone()[:n])); err != nil {
				t.Errorf("%d entries: %v", n, err)
			}
		}
		final := alone()[:3]
		deal(final).Final = true
		var illegal *audit.Illegal
		if err := rules.CheckShuffle(final); !errors.As(err, &illegal) || illegal.Code != audit.RulePair {
			t.Errorf("a final deal at the end: %v", err)
		}
		lone := alone()[:2]
		child(lone)
		if err := rules.CheckShuffle(lone); err != nil {
			t.Errorf("a child's commit at the end: %v", err)
		}
	})
	t.Run("malformed", func(t *testing.T) {
		t.Parallel()
		swapped := alone()
		swapped[2], swapped[3] = swapped[3], swapped[2]
		late := alone()
		late[0].Index = 1
		for name, entries := range map[string][]rules.Placed{
			"none": nil, "genesis alone": alone()[:1], "no commit": alone()[2:], "out of order": swapped,
			"a late genesis": late,
		} {
			if err := rules.CheckShuffle(counted(entries)); !errors.Is(err, audit.ErrMalformed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
