package audit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

type ledgerCase struct {
	Name    string  `json:"name"`
	Entries []hexed `json:"entries"`
}

type ledgerVectors struct {
	vectorHead
	Cases []ledgerCase `json:"cases"`
}

var ledgersHead = newHead("ledgers",
	"Whole ledgers that are legal, docs/SPEC.md section 9: entries are all of one from entry 0, by their encodings of section 5.")

// stateStories have everything that a state keeps, at least once.
func stateStories() (names []string, stories []*story) {
	add := func(name string, s *story) {
		told := *s
		told.entries = slices.Clone(s.entries)
		names, stories = append(names, name), append(stories, &told)
	}
	add("no entries", &story{})
	add("a genesis and a daemon", newStory())
	s := newStory(cosignedDeals, withAuditors("hybrid 2", "hybrid 1"), production)
	s.then(s.disclosure("hybrid 1", "hybrid 1", "hybrid 2"))
	s.then(s.auditor("hybrid 3"))
	add("a disclosure key that is stale", s)

	s = newStory(withAuditors("1", "2"))
	slot, plan := storySlot("tt", 0)
	s.then(s.disclosure("1", "1", "2"))
	s.then(s.key(refKey{Subject: 1, Public: signingKey("2")}))
	s.then(s.retire(1, signingKey("1")))
	s.then(s.retire(3, auditorKey("2")))
	s.then(s.disclosure("2", "1"))
	s.then(s.key(refKey{Subject: 4, Policy: witnessPolicy("w1")}))
	s.then(s.start())
	s.then(operator(refEvent{Kind: 2, Table: "empty"}))
	s.then(killSwitch(true, 3, "", bytesOf("another deck", 32)))
	s.then(killSwitch(true, 2, "b", nil))
	s.then(killSwitch(true, 2, "aa", nil))
	s.then(killSwitch(true, 1, "", nil))
	s.then(killSwitch(false, 1, "", nil))
	id := s.then(s.commit("t", toAuditors))
	s.then(s.deal(id, 0, 3))
	mixed := s.then(s.commit("tt", planned(plan)))
	s.then(s.mix(mixed, slot))
	s.then(s.commit("tt", draws(6, 37)))
	keno := s.then(s.commit("k", numbers(80, 20)))
	s.then(s.deal(keno, 0, 5, inPublic))
	closed := s.then(s.commit("s"))
	s.then(s.close(closed, 2))
	s.then(operator(refEvent{Kind: 3, Table: "s"}))
	s.then(refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: 1}})
	add("everything", s)

	s, id = dealt()
	s.then(s.deal(id, 1, 1, final))
	add("the close of a final deal comes next", s)
	s, id = handDealt()
	s.then(s.reveal(id, []uint64{1}))
	burnt := s.then(s.commit("u"))
	s.then(s.deal(burnt, 0, 4))
	s.then(s.reveal(burnt, []uint64{0, 1, 2, 3}, exposed))
	add("places that are public, hidden, and hidden burns", s)
	s.then(s.reveal(id, []uint64{2}, finalReveal))
	add("the close of a final reveal comes next", s)
	s, id = dealt()
	s.then(s.commit("t", child(id, 3, 2)))
	add("the close of a child's parent comes next", s)
	s, root, kid, last := threeDeep()
	s.then(s.reveal(root, []uint64{2}))
	s.then(s.takeover(last, "dealer-2", 2))
	add("a chain of three, of which the last was taken over", s)
	s.then(of("dealer-2", s.close(last, 1)))
	s.then(of("dealer-2", s.disclose(root)))
	add("the disclosure of a child of a chain comes next", s)
	s.then(of("dealer-2", s.disclose(kid)))
	add("a chain that is disclosed", s)
	s, _, mixed, begun, kid, order := closedOver()
	add("closes that set shuffles aside", s)
	s.then(s.close(mixed, 4, void(8)))
	s.then(s.deal(begun, 1, 1))
	s.then(s.deal(kid, 0, 1))
	s.then(s.deal(order, 0, 1, askedFor))
	s.then(s.deal(s.then(s.commit("u")), 0, 1))
	add("what was set aside holds up nothing, and the rest goes on", s)
	s = newStory(withTwo(1, 5, 6, 7, 10))
	s.then(s.credential("dealer-1", 1, func(h *refHolder) { h.Tables = []string{"t", "uu"} }))
	s.then(s.credential("dealer-2", 1))
	s.then(s.credential("dealer-22", 1, func(h *refHolder) { h.Form, h.Expires = 2, s.now+5000 }))
	s.then(s.revoke("token-22"))
	one, two := s.then(s.commit("t")), s.then(s.commit("uu"))
	s.then(s.takeover(one, "dealer-2", 1))
	s.approved(10, s.takeover(two, "dealer-2", 2))
	s.then(s.administrator(1, "carol", "carol"))
	s.then(s.administrator(3, "alice", "alice 2"))
	s.then(s.administrator(2, "bob", ""))
	s.then(s.administrator(1, "dave", "dave"))
	s.then(s.twoPersons(50, 1, 5, 6, 7))
	clear := operator(refEvent{Kind: 7, Reason: "replaced"})
	s.then(s.act(6, clear, "carol"))
	s.then(s.act(7, killSwitch(false, 1, "", nil), "carol"))
	add("owners, credentials, administrators and acts that wait", s)
	s.then(s.act(1, s.key(refKey{Subject: 4, Policy: "quorum none\n"}), "carol", "dave"))
	add("the entry that an act approves comes next", s)
	s = newStory(withTwo(6))
	s.then(s.credential("dealer-1", 1))
	s.then(s.act(6, clear, "alice"))
	s.then(operator(refEvent{Kind: 10, Size: 3, Root: bytesOf("root", 32), LostSize: 9, LostRoot: bytesOf("lost", 32),
		Reason: "restored"}))
	add("an adopted head", s)
	s = newStory(withTwo(6, 7))
	s.then(s.signed(latchAct(s, 10_001), "alice"))
	s.then(s.signed(latchAct(s, 20_000), "bob"))
	s.now += 10_000
	s.then(s.start())
	add("two acts that wait", s)
	s.now++
	s.then(s.start())
	add("the first of them lapsed", s)
	return names, stories
}

func makeLedgers() []ledgerCase {
	var cases []ledgerCase
	names, stories := stateStories()
	for i, s := range stories {
		c := ledgerCase{Name: names[i], Entries: []hexed{}}
		for _, e := range s.entries {
			c.Entries = append(c.Entries, e.bytes())
		}
		cases = append(cases, c)
	}
	return cases
}

func TestLedgerVectorsAreTheReferences(t *testing.T) {
	holdVectors(t, "ledgers", encodeVectors(t, ledgersHead, "cases", makeLedgers()))
}

func loadLedgers(t testing.TB) (v ledgerVectors) {
	t.Helper()
	loadVectors(t, "ledgers", &v.vectorHead, &v)
	wantCases(t, "ledgers", 6, v.Cases, func(c ledgerCase) string { return c.Name })
	return v
}

// TestLedgerVectors: every entry is legal, and the state after them is the reference's, and its copy in pieces, too.
func TestLedgerVectors(t *testing.T) {
	t.Parallel()
	_, stories := stateStories()
	for i, c := range loadLedgers(t).Cases {
		s := NewState()
		for i, b := range c.Entries {
			e, err := ParseEntry(b)
			if err != nil {
				t.Fatalf("%s: entry %d: %v", c.Name, i, err)
			}
			if err := s.Apply(e); err != nil {
				t.Fatalf("%s: entry %d: %v", c.Name, i, err)
			}
		}
		want := refState(stories[i].values())
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
	vectorHead
	Entries []hexed          `json:"entries"`
	Cases   []legalityVector `json:"cases"`
}

type legalityVector struct {
	About  string `json:"about"`
	Name   string `json:"name"`
	Prefix []int  `json:"prefix"`
	Next   int    `json:"next"`
	Rule   string `json:"rule"`
}

var legalityHead = newHead("legality",
	"Legality, docs/SPEC.md section 9. entries are encodings, of section 5, that the cases name by their place in the list, from 0.",
	"cases: prefix is a ledger from entry 0, every entry of which is legal. next comes after it: rule is the code of the first rule that it breaks, or ok.",
	"about is the rule that the case is there for. A name that starts with \"two rules\" breaks several.")

func makeLegality() legalityVectors {
	v, place := legalityVectors{vectorHead: legalityHead}, make(map[string]int)
	put := func(e refEntry) int {
		b := e.bytes()
		i, ok := place[string(b)]
		if !ok {
			i = len(v.Entries)
			place[string(b)] = i
			v.Entries = append(v.Entries, b)
		}
		return i
	}
	legalityCases{func(about, name, rule string, s *story, next refEntry) {
		c := legalityVector{About: about, Name: name, Prefix: []int{}, Rule: rule}
		for _, e := range s.entries {
			c.Prefix = append(c.Prefix, put(e))
		}
		c.Next = put(s.dated(next))
		v.Cases = append(v.Cases, c)
	}}.all()
	return v
}

func TestLegalityVectorsAreTheReferences(t *testing.T) {
	v := makeLegality()
	holdVectors(t, "legality", encodeVectors(t, v.vectorHead, "entries", v.Entries, "cases", v.Cases))
}

func loadLegality(t testing.TB) (v legalityVectors) {
	t.Helper()
	loadVectors(t, "legality", &v.vectorHead, &v)
	wantCases(t, "legality", 200, v.Cases, func(c legalityVector) string { return c.About + ": " + c.Name })
	return v
}

// TestLegalityVectors holds the state and the model against the cases, whose rules were written by hand.
func TestLegalityVectors(t *testing.T) {
	t.Parallel()
	v := loadLegality(t)
	var entries []Entry
	for i, b := range v.Entries {
		e, err := ParseEntry(b)
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
	ours := []string{RuleGenesisFirst, RuleTime, RulePair, RuleOrigin, RuleInstance, RuleLatch, RuleKill, RuleTable,
		RuleSerial, RuleCloseBy, RuleMixModes, RuleBeacon, RuleParent, RuleDisclosureKey, RuleNotOpen, RuleDeadline,
		RuleEarlier, RuleMix, RulePlace, RulePlaces, RuleCheckpoint, RuleOutcome, RuleForm, RuleKey, RuleOwner,
		RuleTwoPersons, RuleAct, RuleAdmins, RuleCredential, RuleTerms, RuleReveal, RuleCoDealer, RuleRound,
		RuleSetAside, RuleEntries}
	slices.Sort(ours)
	want := slices.Sorted(slices.Values(rules))
	if !slices.Equal(ours, want) || len(slices.Compact(want)) != len(rules) {
		t.Errorf("rules %q, want %q", ours, want)
	}
	err := illegal(RuleForm, "%d bytes", 7)
	if fmt.Sprint(err) != "form: 7 bytes" || !strings.HasPrefix(codeOf(err), "form") {
		t.Errorf("an illegal entry says %q", err)
	}
}

// TestPinOfLaterWitness: a co-dealer's policy with a witness key of a later type cannot be judged.
func TestPinOfLaterWitness(t *testing.T) {
	s := newStory(allSources)
	next := s.pin(func(k *refKey) {
		k.Policy = "witness w " + refVKey("witness.example/w", signer("w")) + "\nquorum w\n"
	})
	if err := fold(t, s.values()).Apply(s.dated(next).entry()); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v, want %v", err, ErrUnknown)
	}
}
