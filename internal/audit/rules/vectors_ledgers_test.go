package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

type ledgerCase struct {
	Name    string       `json:"name"`
	Entries []spec.Hexed `json:"entries"`
}

type ledgerVectors struct {
	spec.VectorHead
	Cases []ledgerCase `json:"cases"`
}

var ledgersHead = spec.NewHead("ledgers",
	"Whole ledgers that are legal, docs/SPEC.md section 9: entries are all of one from entry 0, by their encodings of section 5.")

// stateStories have everything that a state keeps, at least once.
func stateStories() (names []string, stories []*spec.Story) {
	add := func(name string, s *spec.Story) {
		told := *s
		told.Entries = slices.Clone(s.Entries)
		names, stories = append(names, name), append(stories, &told)
	}
	add("no entries", &spec.Story{})
	add("a genesis and a daemon", spec.NewStory())
	s := spec.NewStory(cosignedDeals, spec.WithAuditors("hybrid 2", "hybrid 1"), spec.Production)
	s.Then(s.Disclosure("hybrid 1", "hybrid 1", "hybrid 2"))
	s.Then(s.Auditor("hybrid 3"))
	add("a disclosure key that is stale", s)

	s = spec.NewStory(spec.WithAuditors("1", "2"))
	slot, plan := spec.StorySlot("tt", 0)
	s.Then(s.Disclosure("1", "1", "2"))
	s.Then(s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("2")}))
	s.Then(s.Retire(1, spec.SigningKey("1")))
	s.Then(s.Retire(3, spec.AuditorKey("2")))
	s.Then(s.Disclosure("2", "1"))
	s.Then(s.Key(spec.Key{Subject: 4, Policy: spec.WitnessPolicy("w1")}))
	s.Then(s.Start())
	s.Then(spec.Operator(spec.Event{Kind: 2, Table: "empty"}))
	s.Then(spec.KillSwitch(true, 3, "", spec.BytesOf("another deck", 32)))
	s.Then(spec.KillSwitch(true, 2, "b", nil))
	s.Then(spec.KillSwitch(true, 2, "aa", nil))
	s.Then(spec.KillSwitch(true, 1, "", nil))
	s.Then(spec.KillSwitch(false, 1, "", nil))
	id := s.Then(s.Commit("t", spec.ToAuditors))
	s.Then(s.Deal(id, 0, 3))
	mixed := s.Then(s.Commit("tt", spec.Planned(plan)))
	s.Then(s.Mix(mixed, slot))
	s.Then(s.Commit("tt", spec.Draws(6, 37)))
	keno := s.Then(s.Commit("k", spec.NumbersOf(80, 20)))
	s.Then(s.Deal(keno, 0, 5, spec.InPublic))
	closed := s.Then(s.Commit("s"))
	s.Then(s.Close(closed, 2))
	s.Then(spec.Operator(spec.Event{Kind: 3, Table: "s"}))
	s.Then(spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: 1}})
	add("everything", s)

	s, id = dealt()
	s.Then(s.Deal(id, 1, 1, spec.Final))
	add("the close of a final deal comes next", s)
	s, id = handDealt()
	s.Then(s.Reveal(id, []uint64{1}))
	burnt := s.Then(s.Commit("u"))
	s.Then(s.Deal(burnt, 0, 4))
	s.Then(s.Reveal(burnt, []uint64{0, 1, 2, 3}, spec.Exposed))
	add("places that are public, hidden, and hidden burns", s)
	s.Then(s.Reveal(id, []uint64{2}, spec.FinalReveal))
	add("the close of a final reveal comes next", s)
	s, id = dealt()
	s.Then(s.Commit("t", spec.ChildOf(id, 3, 2)))
	add("the close of a child's parent comes next", s)
	s, root, kid, last := threeDeep()
	s.Then(s.Reveal(root, []uint64{2}))
	s.Then(s.Takeover(last, "dealer-2", 2))
	add("a chain of three, of which the last was taken over", s)
	s.Then(spec.Of("dealer-2", s.Close(last, 1)))
	s.Then(spec.Of("dealer-2", s.Disclose(root)))
	add("the disclosure of a child of a chain comes next", s)
	s.Then(spec.Of("dealer-2", s.Disclose(kid)))
	add("a chain that is disclosed", s)
	s, _, mixed, begun, kid, order := closedOver()
	add("closes that set shuffles aside", s)
	s.Then(s.Close(mixed, 4, spec.Void(8)))
	s.Then(s.Deal(begun, 1, 1))
	s.Then(s.Deal(kid, 0, 1))
	s.Then(s.Deal(order, 0, 1, askedFor))
	s.Then(s.Deal(s.Then(s.Commit("u")), 0, 1))
	add("what was set aside holds up nothing, and the rest goes on", s)
	s = spec.NewStory(spec.WithTwo(1, 5, 6, 7, 10))
	s.Then(s.Credential("dealer-1", 1, func(h *spec.Holder) { h.Tables = []string{"t", "uu"} }))
	s.Then(s.Credential("dealer-2", 1))
	s.Then(s.Credential("dealer-22", 1, func(h *spec.Holder) { h.Form, h.Expires = 2, s.Now+5000 }))
	s.Then(s.Revoke("token-22"))
	one, two := s.Then(s.Commit("t")), s.Then(s.Commit("uu"))
	s.Then(s.Takeover(one, "dealer-2", 1))
	s.Approved(10, s.Takeover(two, "dealer-2", 2))
	s.Then(s.Administrator(1, "carol", "carol"))
	s.Then(s.Administrator(3, "alice", "alice 2"))
	s.Then(s.Administrator(2, "bob", ""))
	s.Then(s.Administrator(1, "dave", "dave"))
	s.Then(s.TwoPersons(50, 1, 5, 6, 7))
	clear := spec.Operator(spec.Event{Kind: 7, Reason: "replaced"})
	s.Then(s.Act(6, clear, "carol"))
	s.Then(s.Act(7, spec.KillSwitch(false, 1, "", nil), "carol"))
	add("owners, credentials, administrators and acts that wait", s)
	s.Then(s.Act(1, s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"}), "carol", "dave"))
	add("the entry that an act approves comes next", s)
	s = spec.NewStory(spec.WithTwo(6))
	s.Then(s.Credential("dealer-1", 1))
	s.Then(s.Act(6, clear, "alice"))
	s.Then(spec.Operator(spec.Event{Kind: 10, Size: 3, Root: spec.BytesOf("root", 32), LostSize: 9,
		LostRoot: spec.BytesOf("lost", 32), Reason: "restored"}))
	add("an adopted head", s)
	s = spec.NewStory(spec.WithTwo(6, 7))
	s.Then(s.Signed(latchAct(s, 10_001), "alice"))
	s.Then(s.Signed(latchAct(s, 20_000), "bob"))
	s.Now += 10_000
	s.Then(s.Start())
	add("two acts that wait", s)
	s.Now++
	s.Then(s.Start())
	add("the first of them lapsed", s)
	return names, stories
}

func makeLedgers() []ledgerCase {
	var cases []ledgerCase
	names, stories := stateStories()
	for i, s := range stories {
		c := ledgerCase{Name: names[i], Entries: []spec.Hexed{}}
		for _, e := range s.Entries {
			c.Entries = append(c.Entries, e.Bytes())
		}
		cases = append(cases, c)
	}
	return cases
}

func TestLedgerVectorsAreTheReferences(t *testing.T) {
	spec.HoldVectors(t, "ledgers", spec.EncodeVectors(t, ledgersHead, "cases", makeLedgers()))
}

func loadLedgers(t testing.TB) (v ledgerVectors) {
	t.Helper()
	spec.LoadVectors(t, "ledgers", &v.VectorHead, &v)
	spec.WantCases(t, "ledgers", 6, v.Cases, func(c ledgerCase) string { return c.Name })
	return v
}

// TestLedgerVectors: every entry is legal, and the state after them is the reference's, and its copy in pieces, too.
func TestLedgerVectors(t *testing.T) {
	t.Parallel()
	_, stories := stateStories()
	for i, c := range loadLedgers(t).Cases {
		s := NewState()
		for i, b := range c.Entries {
			e, err := audit.ParseEntry(b)
			if err != nil {
				t.Fatalf("%s: entry %d: %v", c.Name, i, err)
			}
			if err := s.Apply(e); err != nil {
				t.Fatalf("%s: entry %d: %v", c.Name, i, err)
			}
		}
		want := refState(stories[i].Values())
		if got := s.Encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: encodes to\n%x, want\n%x", c.Name, got, want)
		}
		if s.Complete() && s.Genesis() != nil {
			s.Commit()
			if back := copied(t, s, 1, nil); !bytes.Equal(back.Encode(), want) {
				t.Errorf("%s: copied to another state", c.Name)
			}
		}
	}
}

type legalityVectors struct {
	spec.VectorHead
	Entries []spec.Hexed     `json:"entries"`
	Cases   []legalityVector `json:"cases"`
}

type legalityVector struct {
	About  string `json:"about"`
	Name   string `json:"name"`
	Prefix []int  `json:"prefix"`
	Next   int    `json:"next"`
	Rule   string `json:"rule"`
}

var legalityHead = spec.NewHead("legality",
	"Legality, docs/SPEC.md section 9. entries are encodings, of section 5, that the cases name by their place in the list, from 0.",
	"cases: prefix is a ledger from entry 0, every entry of which is legal. next comes after it: rule is the code of the first rule that it breaks, or ok.",
	"about is the rule that the case is there for. A name that starts with \"two rules\" breaks several.")

func makeLegality() legalityVectors {
	v, place := legalityVectors{VectorHead: legalityHead}, make(map[string]int)
	put := func(e spec.Entry) int {
		b := e.Bytes()
		i, ok := place[string(b)]
		if !ok {
			i = len(v.Entries)
			place[string(b)] = i
			v.Entries = append(v.Entries, b)
		}
		return i
	}
	legalityCases{func(about, name, rule string, s *spec.Story, next spec.Entry) {
		c := legalityVector{About: about, Name: name, Prefix: []int{}, Rule: rule}
		for _, e := range s.Entries {
			c.Prefix = append(c.Prefix, put(e))
		}
		c.Next = put(s.Dated(next))
		v.Cases = append(v.Cases, c)
	}}.all()
	return v
}

func TestLegalityVectorsAreTheReferences(t *testing.T) {
	v := makeLegality()
	spec.HoldVectors(t, "legality", spec.EncodeVectors(t, v.VectorHead, "entries", v.Entries, "cases", v.Cases))
}

func loadLegality(t testing.TB) (v legalityVectors) {
	t.Helper()
	spec.LoadVectors(t, "legality", &v.VectorHead, &v)
	spec.WantCases(t, "legality", 200, v.Cases, func(c legalityVector) string { return c.About + ": " + c.Name })
	return v
}

// TestLegalityVectors holds the state and the model against the cases, whose rules were written by hand.
func TestLegalityVectors(t *testing.T) {
	t.Parallel()
	v := loadLegality(t)
	var entries []audit.Entry
	for i, b := range v.Entries {
		e, err := audit.ParseEntry(b)
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		entries = append(entries, e)
	}
	count := make(map[string]int)
	for _, c := range v.Cases {
		s, m := NewState(), model{}
		for i, p := range c.Prefix {
			e := entries[p]
			if got, by := codeOf(s.Apply(e)), m.rule(e); got != holds || by != holds {
				t.Fatalf("%s: %s: entry %d of the prefix: %s, %s by the model", c.About, c.Name, i, got, by)
			}
			m = append(m, e)
		}
		mark, next := s.Mark(), entries[c.Next]
		got, by := codeOf(s.Apply(next)), m.rule(next)
		if got != c.Rule || by != c.Rule {
			t.Errorf("%s: %s: %s, %s by the model, want %s", c.About, c.Name, got, by, c.Rule)
		}
		if got != holds && s.Mark() != mark {
			t.Errorf("%s: %s: an illegal entry left something to undo", c.About, c.Name)
		}
		s.Rollback(mark)
		holdState(t, s, m)
		count[c.About+"/"+c.Rule]++
		if c.Rule != holds && c.Rule != c.About {
			t.Errorf("%s: %s: breaks %s", c.About, c.Name, c.Rule)
		}
	}
	for _, rule := range rules {
		if count[rule+"/"+holds] == 0 || count[rule+"/"+rule] == 0 {
			t.Errorf("rule %s: %d cases hold, %d break it", rule, count[rule+"/"+holds], count[rule+"/"+rule])
		}
	}
}

// TestRulesAreListed: the codes of section 9, each once.
func TestRulesAreListed(t *testing.T) {
	ours := []string{audit.RuleGenesisFirst, audit.RuleTime, audit.RulePair, audit.RuleOrigin, audit.RuleInstance,
		audit.RuleLatch, audit.RuleKill, audit.RuleTable,
		audit.RuleSerial, audit.RuleCloseBy, audit.RuleMixModes, audit.RuleBeacon, audit.RuleParent,
		audit.RuleDisclosureKey, audit.RuleNotOpen, audit.RuleDeadline,
		audit.RuleEarlier, audit.RuleMix, audit.RulePlace, audit.RulePlaces, audit.RuleCheckpoint, audit.RuleOutcome,
		audit.RuleForm, audit.RuleKey, audit.RuleOwner,
		audit.RuleTwoPersons, audit.RuleAct, audit.RuleAdmins, audit.RuleCredential, audit.RuleTerms, audit.RuleReveal,
		audit.RuleCoDealer, audit.RuleRound, audit.RuleSetAside, audit.RuleEntries}
	slices.Sort(ours)
	want := slices.Sorted(slices.Values(rules))
	if !slices.Equal(ours, want) || len(slices.Compact(want)) != len(rules) {
		t.Errorf("rules %q, want %q", ours, want)
	}
	err := illegal(audit.RuleForm, "%d bytes", 7)
	if fmt.Sprint(err) != "form: 7 bytes" || !strings.HasPrefix(codeOf(err), "form") {
		t.Errorf("an illegal entry says %q", err)
	}
}

// TestPinOfLaterWitness: a co-dealer's policy with a witness key of a later type cannot be judged.
func TestPinOfLaterWitness(t *testing.T) {
	s := spec.NewStory(allSources)
	next := s.Pin(func(k *spec.Key) {
		k.Policy = "witness w " + spec.VKey("witness.example/w", spec.Signer("w")) + "\nquorum w\n"
	})
	if err := fold(t, s.Values()).Apply(s.Dated(next).Value()); !errors.Is(err, audit.ErrUnknown) {
		t.Errorf("%v, want %v", err, audit.ErrUnknown)
	}
}
